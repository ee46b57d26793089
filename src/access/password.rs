//! Passwords: Argon2id, on the blocking pool, a few at a time.

use std::sync::Arc;
use std::time::Duration;

use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{self, PasswordHasher, PasswordVerifier};
use argon2::{Algorithm, Argon2, Params, Version};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::{task, time};

/// How long a caller waits for its turn before it is told to come back. A hash takes some 20 ms, so a queue of this
/// length means that the service is flooded.
const LONGEST_WAIT: Duration = Duration::from_secs(3);

/// Hashes and verifies passwords with OWASP's parameters for Argon2id (19 MiB, 2 passes, 1 lane:
/// <https://cheatsheetseries.owasp.org/cheatsheets/Password_Storage_Cheat_Sheet.html>). Every hash holds memory and a
/// core, so only a few run at a time.
#[derive(Debug, Clone)]
pub struct Passwords {
    turns: Arc<Semaphore>,
    /// The hash of a password that nobody has: what an unknown user's password is verified against, so that the answer
    /// takes as long as a known one's.
    nobody: Arc<str>,
}

/// Why a password could not be hashed or verified; a wrong password is not an error.
#[derive(Debug, thiserror::Error)]
pub enum PasswordError {
    /// Too many are waiting.
    #[error("too many passwords are being verified")]
    Busy,
    /// The stored hash cannot be read, or the system gives no random salt.
    #[error("a password hash cannot be made or read")]
    Hash(#[from] password_hash::Error),
    /// The hashing thread ended without an answer.
    #[error("the hashing thread failed")]
    Thread(#[from] task::JoinError),
}

/// What came of verifying a password.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It is not the account's, or there is no such account.
    Wrong,
    /// It is the account's.
    Right {
        /// Its hash with today's parameters, where the stored one was made with others.
        rehashed: Option<String>,
    },
}

/// The right to use a core and the memory of a hash.
#[derive(Debug)]
pub struct HashPermit {
    permit: OwnedSemaphorePermit,
    nobody: Arc<str>,
}

impl Passwords {
    /// Makes the hash for unknown users; takes as long as verifying a password.
    ///
    /// `at_once` is how many hashes may run at the same time.
    pub fn new(at_once: usize) -> Result<Self, PasswordError> {
        // The salt is random, so the password may be known: it is no account's.
        let nobody = hash_now("nobody")?;
        Ok(Self { turns: Arc::new(Semaphore::new(at_once.max(1))), nobody: nobody.into() })
    }

    /// Waits for a turn, for a while.
    pub async fn turn(&self) -> Result<HashPermit, PasswordError> {
        match time::timeout(LONGEST_WAIT, Arc::clone(&self.turns).acquire_owned()).await {
            Ok(Ok(permit)) => Ok(HashPermit { permit, nobody: Arc::clone(&self.nobody) }),
            Ok(Err(_)) | Err(_) => Err(PasswordError::Busy),
        }
    }

    /// Whether the password is the account's. `hash` is `None` where there is no such account: the same work is done,
    /// and the answer is no.
    pub async fn verify(&self, password: String, hash: Option<Arc<str>>) -> Result<bool, PasswordError> {
        let verdict = self.turn().await?.verify(password, hash, |_| ()).await?;
        Ok(verdict != Verdict::Wrong)
    }

    /// The hash to store, as a PHC string with a random salt.
    pub async fn hash(&self, password: String) -> Result<String, PasswordError> {
        self.turn().await?.spend(move || hash_now(&password)).await
    }
}

impl HashPermit {
    /// Verifies a password as [`Passwords::verify`] does. `conclude` is told the verdict before the turn ends, even if
    /// nobody waits for the answer any more.
    pub async fn verify(
        self,
        password: String,
        hash: Option<Arc<str>>,
        conclude: impl FnOnce(&Verdict) + Send + 'static,
    ) -> Result<Verdict, PasswordError> {
        let known = hash.is_some();
        let hash = hash.unwrap_or_else(|| Arc::clone(&self.nobody));
        self.spend(move || {
            let verdict = match verify_now(&password, &hash)? && known {
                false => Verdict::Wrong,
                true if hash.starts_with(&prefix()) => Verdict::Right { rehashed: None },
                true => Verdict::Right { rehashed: Some(hash_now(&password)?) },
            };
            conclude(&verdict);
            Ok(verdict)
        })
        .await
    }

    async fn spend<T, F>(self, work: F) -> Result<T, PasswordError>
    where
        T: Send + 'static,
        F: FnOnce() -> Result<T, PasswordError> + Send + 'static,
    {
        task::spawn_blocking(move || {
            let outcome = work();
            // The turn ends with the work, not with the caller, who may have gone meanwhile.
            drop(self.permit);
            outcome
        })
        .await?
    }
}

/// What a hash with today's parameters begins with.
fn prefix() -> String {
    format!("$argon2id$v=19$m={},t={},p={}$", Params::DEFAULT_M_COST, Params::DEFAULT_T_COST, Params::DEFAULT_P_COST)
}

fn hasher() -> Argon2<'static> {
    Argon2::new(Algorithm::Argon2id, Version::V0x13, Params::DEFAULT)
}

fn hash_now(password: &str) -> Result<String, PasswordError> {
    let hash: PasswordHash = hasher().hash_password(password.as_bytes())?;
    Ok(hash.to_string())
}

fn verify_now(password: &str, hash: &str) -> Result<bool, PasswordError> {
    let hash = PasswordHash::new(hash).map_err(|_| password_hash::Error::EncodingInvalid)?;
    match hasher().verify_password(password.as_bytes(), &hash) {
        Ok(()) => Ok(true),
        Err(password_hash::Error::PasswordInvalid) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_hash_verifies_its_own_password_only() {
        let passwords = Passwords::new(2).unwrap();
        let hash: Arc<str> = passwords.hash("secret".into()).await.unwrap().into();
        assert!(hash.starts_with("$argon2id$v=19$m=19456,t=2,p=1$") && hash.starts_with(&prefix()), "{hash}");
        assert!(passwords.verify("secret".into(), Some(Arc::clone(&hash))).await.unwrap());
        assert!(!passwords.verify("Secret".into(), Some(hash)).await.unwrap());
    }

    #[tokio::test]
    async fn a_hash_of_other_parameters_is_made_anew() {
        let weaker = Argon2::new(Algorithm::Argon2id, Version::V0x13, Params::new(64, 1, 1, None).unwrap());
        let hash: PasswordHash = weaker.hash_password(b"secret").unwrap();
        let old: Arc<str> = hash.to_string().into();
        let turn = async || Passwords::new(1).unwrap().turn().await.unwrap();
        let verdict = turn().await.verify("wrong".into(), Some(Arc::clone(&old)), |_| ()).await.unwrap();
        assert_eq!(verdict, Verdict::Wrong);
        let verdict = turn().await.verify("secret".into(), Some(old), |_| ()).await.unwrap();
        let Verdict::Right { rehashed: Some(new) } = verdict else { panic!("{verdict:?}") };
        let verdict = turn().await.verify("secret".into(), Some(new.into()), |_| ()).await.unwrap();
        assert_eq!(verdict, Verdict::Right { rehashed: None });
    }

    #[tokio::test]
    async fn nobody_has_the_password_that_unknown_users_are_verified_against() {
        let passwords = Passwords::new(1).unwrap();
        assert!(!passwords.verify("nobody".into(), None).await.unwrap());
    }

    #[tokio::test]
    async fn a_hash_that_cannot_be_read_is_an_error_and_not_a_wrong_password() {
        let passwords = Passwords::new(1).unwrap();
        let outcome = passwords.verify("secret".into(), Some("{SHA}47b56994".into())).await;
        assert!(matches!(outcome, Err(PasswordError::Hash(_))), "{outcome:?}");
    }
}
