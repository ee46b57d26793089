//! Signing in: a name and a password become a token, and every attempt leaves a trace.

use std::net::IpAddr;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::access::audit::{Action, Entry};
use crate::access::audit_writer::{AuditWriter, Rehash};
use crate::access::grant_cache::GrantCache;
use crate::access::jwt::{IssuedToken, TokenError, Tokens};
use crate::access::lockout::{Locked, Lockout, Options};
use crate::access::password::{PasswordError, Passwords, Verdict};

/// Who tells of logins in the audit trail.
const ACTOR: &str = "service";

/// Verifies names and passwords.
#[derive(Debug)]
pub struct Logins {
    passwords: Passwords,
    lockout: Arc<Lockout>,
    trail: AuditWriter,
}

/// A name and a password that somebody sent. Has no `Debug`, so that it cannot be logged.
pub struct Attempt {
    /// The name.
    pub user_id: String,
    /// The password.
    pub password: String,
    /// Where it comes from, if that is known.
    pub address: Option<IpAddr>,
}

/// Why there is no token.
#[derive(Debug, thiserror::Error)]
pub enum LoginError {
    /// Name or password is wrong, or the account is disabled.
    #[error("the name or the password is wrong")]
    Wrong,
    /// Too many were wrong; this one was not looked at.
    #[error(transparent)]
    Locked(#[from] Locked),
    /// The password could not be verified.
    #[error("the password could not be verified")]
    Password(#[from] PasswordError),
    /// The token could not be made.
    #[error("the token could not be made")]
    Token(#[from] TokenError),
}

impl Logins {
    /// Nobody has signed in yet.
    pub fn new(passwords: Passwords, lockout: Options, trail: AuditWriter) -> Self {
        Self { passwords, lockout: Arc::new(Lockout::new(lockout)), trail }
    }

    /// A token for the account. Unknown, wrong and disabled are told alike, after the same work.
    pub async fn sign_in(
        &self,
        follower: &GrantCache,
        tokens: &Tokens,
        attempt: Attempt,
    ) -> Result<IssuedToken, LoginError> {
        let Attempt { user_id, password, address } = attempt;
        self.lockout.check(&user_id, address)?;
        let turn = self.passwords.turn().await?;
        // Others may have failed while this one waited; without this, all that wait would have a guess.
        self.lockout.check(&user_id, address)?;
        let hash = follower.current().password_hash(&user_id);
        let conclude = Conclusion {
            lockout: Arc::clone(&self.lockout),
            trail: self.trail.clone(),
            user_id: user_id.clone(),
            hash: hash.clone(),
            address,
        };
        if turn.verify(password, hash, move |verdict| conclude.draw(verdict)).await? == Verdict::Wrong {
            return Err(LoginError::Wrong);
        }
        let minted = tokens.mint(&user_id)?;
        let details = Map::from_iter([("tokenId".to_owned(), json!(minted.token_id))]);
        self.trail.tell(entry(Action::LoginSucceeded, Some(user_id), address, details));
        Ok(minted)
    }

    /// Where events go.
    pub fn trail(&self) -> &AuditWriter {
        &self.trail
    }
}

/// What a verdict is noted with, whether or not the client still waits for it.
struct Conclusion {
    lockout: Arc<Lockout>,
    trail: AuditWriter,
    user_id: String,
    hash: Option<Arc<str>>,
    address: Option<IpAddr>,
}

impl Conclusion {
    fn draw(self, verdict: &Verdict) {
        let Self { lockout, trail, user_id, hash, address } = self;
        match verdict {
            Verdict::Wrong => {
                let delay = lockout.failed(&user_id, address);
                // A name that no account has is some text that a stranger wrote, now and then a password.
                let subject = hash.is_some().then_some(user_id);
                trail.tell(entry(Action::LoginFailed, subject.clone(), address, Map::new()));
                if let Some(delay) = delay {
                    let details = Map::from_iter([("seconds".to_owned(), Value::from(delay.as_secs()))]);
                    trail.tell(entry(Action::LoginLocked, subject, address, details));
                }
            }
            Verdict::Right { rehashed } => {
                lockout.succeeded(&user_id, address);
                if let (Some(old), Some(new)) = (hash, rehashed) {
                    trail.rehash(Rehash { user_id, old, new: new.clone() });
                }
            }
        }
    }
}

fn entry(action: Action, subject: Option<String>, address: Option<IpAddr>, details: Map<String, Value>) -> Entry {
    Entry { actor: ACTOR.to_owned(), address, action, subject, details }
}
