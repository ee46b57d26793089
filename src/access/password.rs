//! Hashes passwords with Argon2id and verifies them, on the blocking pool, a few at a time.

use std::sync::Arc;

use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{self, PasswordHasher, PasswordVerifier};
use argon2::{Algorithm, Argon2, Params, Version};
use tokio::task;

use crate::access::hash_queue::{HashPlaces, HashQueue, NoTurn};
use crate::access::lockout::{Standing, Visitor};
use crate::throttle::fair_semaphore::FairPermit;

/// Hashes and verifies passwords with OWASP's parameters for Argon2id (19 MiB, 2 passes, 1 lane:
/// <https://cheatsheetseries.owasp.org/cheatsheets/Password_Storage_Cheat_Sheet.html>). Every hash takes memory and a
/// core, so only a few run at a time.
#[derive(Debug, Clone)]
pub struct Passwords {
    queue: HashQueue,
    /// The hash that the password of an unknown user is verified against, so that the login takes as long as the login of a known user.
    dummy: Arc<str>,
}

/// Why a password could not be hashed or verified. A wrong password is not an error.
#[derive(Debug, thiserror::Error)]
pub enum PasswordError {
    /// Too many callers wait.
    #[error("too many passwords are being verified")]
    Busy,
    /// Too many passwords of the same account, or from the same address, are being verified.
    #[error("too many passwords of the account or from the address are being verified")]
    TooManyAtOnce,
    /// The stored hash cannot be read, or the system gives no random salt.
    #[error("a password hash cannot be made or read")]
    Hash(#[from] password_hash::Error),
    /// The hashing thread ended without a result.
    #[error("the hashing thread failed")]
    Thread(#[from] task::JoinError),
}

/// The result of verifying a password.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It is not the account's, or there is no such account.
    Wrong,
    /// It is the account's.
    Right {
        /// Its hash with the current parameters, if the stored one was made with others.
        rehashed: Option<String>,
    },
}

/// The right to use a core and the memory of a hash.
#[derive(Debug)]
pub(crate) struct HashPermit {
    turn: FairPermit,
    /// None for commands.
    places: Option<HashPlaces>,
    dummy: Arc<str>,
}

impl Passwords {
    /// Allows this many hashes at the same time. Takes as long as verifying a password, to make the hash for unknown users.
    pub fn new(concurrency: usize) -> Result<Self, PasswordError> {
        // The password need not be secret: the result does not matter for an unknown user.
        let dummy = hash_now("nobody")?;
        Ok(Self { queue: HashQueue::new(concurrency), dummy: dummy.into() })
    }

    /// Waits for a permit, in a place of the visitor's account and address.
    pub(crate) async fn permit(&self, visitor: &Visitor, standing: Standing) -> Result<HashPermit, PasswordError> {
        let places = self.queue.enter(visitor, standing)?;
        let turn = self.queue.turn(standing).await?;
        Ok(HashPermit { turn, places: Some(places), dummy: Arc::clone(&self.dummy) })
    }

    /// Waits for a permit for a command.
    async fn permit_for_command(&self) -> Result<HashPermit, PasswordError> {
        let turn = self.queue.turn(Standing::Known).await?;
        Ok(HashPermit { turn, places: None, dummy: Arc::clone(&self.dummy) })
    }

    /// Whether the password is the account's. `hash` is `None` if there is no such account; then the same work is done, and
    /// the result is false.
    pub async fn verify(&self, password: String, hash: Option<Arc<str>>) -> Result<bool, PasswordError> {
        let verdict = self.permit_for_command().await?.verify(password, hash, |_| ()).await?;
        Ok(verdict != Verdict::Wrong)
    }

    /// The hash to store, as a PHC string with a random salt.
    pub async fn hash(&self, password: String) -> Result<String, PasswordError> {
        self.permit_for_command().await?.run(move || hash_now(&password)).await
    }
}

impl HashPermit {
    /// Verifies a password as [`Passwords::verify`] does. Calls `record` with the verdict before the permit is returned, even
    /// if the caller no longer waits.
    pub(crate) async fn verify(
        self,
        password: String,
        hash: Option<Arc<str>>,
        record: impl FnOnce(&Verdict) + Send + 'static,
    ) -> Result<Verdict, PasswordError> {
        let known = hash.is_some();
        let hash = hash.unwrap_or_else(|| Arc::clone(&self.dummy));
        self.run(move || {
            let verdict = match verify_now(&password, &hash)? && known {
                false => Verdict::Wrong,
                true if hash.starts_with(&prefix()) => Verdict::Right { rehashed: None },
                true => Verdict::Right { rehashed: Some(hash_now(&password)?) },
            };
            record(&verdict);
            Ok(verdict)
        })
        .await
    }

    async fn run<T, F>(self, work: F) -> Result<T, PasswordError>
    where
        T: Send + 'static,
        F: FnOnce() -> Result<T, PasswordError> + Send + 'static,
    {
        task::spawn_blocking(move || {
            let result = work();
            // Returned when the work ends and not when the caller does, which may have been cancelled.
            drop((self.turn, self.places));
            result
        })
        .await?
    }
}

impl From<NoTurn> for PasswordError {
    fn from(error: NoTurn) -> Self {
        match error {
            NoTurn::Full => Self::TooManyAtOnce,
            NoTurn::TooLate => Self::Busy,
        }
    }
}

/// The beginning of every hash with the current parameters.
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
    async fn a_hash_with_other_parameters_is_replaced() {
        let weaker = Argon2::new(Algorithm::Argon2id, Version::V0x13, Params::new(64, 1, 1, None).unwrap());
        let hash: PasswordHash = weaker.hash_password(b"secret").unwrap();
        let old: Arc<str> = hash.to_string().into();
        let permit = async || Passwords::new(1).unwrap().permit_for_command().await.unwrap();
        let verdict = permit().await.verify("wrong".into(), Some(Arc::clone(&old)), |_| ()).await.unwrap();
        assert_eq!(verdict, Verdict::Wrong);
        let verdict = permit().await.verify("secret".into(), Some(old), |_| ()).await.unwrap();
        let Verdict::Right { rehashed: Some(new) } = verdict else { panic!("{verdict:?}") };
        let verdict = permit().await.verify("secret".into(), Some(new.into()), |_| ()).await.unwrap();
        assert_eq!(verdict, Verdict::Right { rehashed: None });
    }

    #[tokio::test]
    async fn an_unknown_user_has_no_password() {
        let passwords = Passwords::new(1).unwrap();
        assert!(!passwords.verify("nobody".into(), None).await.unwrap());
    }

    #[tokio::test]
    async fn a_malformed_hash_is_an_error_and_not_a_wrong_password() {
        let passwords = Passwords::new(1).unwrap();
        let result = passwords.verify("secret".into(), Some("{SHA}47b56994".into())).await;
        assert!(matches!(result, Err(PasswordError::Hash(_))), "{result:?}");
    }
}
