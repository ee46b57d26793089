//! Logins: a name and a password are exchanged for a token. Every attempt leaves an audit event.

use std::net::IpAddr;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::access::audit::{Action, AuditEvent};
use crate::access::audit_writer::{AuditWriter, Rehash};
use crate::access::grant_cache::GrantCache;
use crate::access::lockout::{Locked, Lockout, LockoutOptions};
use crate::access::password::{PasswordError, Passwords, Verdict};
use crate::access::tokens::error::TokenError;
use crate::access::tokens::jwt::{IssuedToken, Tokens};

/// The actor of the audit events of logins.
const ACTOR: &str = "service";

/// Verifies names and passwords.
#[derive(Debug)]
pub(crate) struct Logins {
    passwords: Passwords,
    lockout: Arc<Lockout>,
    audit: AuditWriter,
}

/// A name and a password that a client sent. Has no `Debug`, so that it cannot be logged.
pub(crate) struct Attempt {
    /// The name.
    pub(crate) user_id: String,
    /// The password.
    pub(crate) password: String,
    /// The client's address, if it is known.
    pub(crate) address: Option<IpAddr>,
}

/// Why a login failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LoginError {
    /// Name or password is wrong, or the account is disabled.
    #[error("the name or the password is wrong")]
    Wrong,
    /// Too many passwords were wrong. This one was not verified.
    #[error(transparent)]
    Locked(#[from] Locked),
    /// The password could not be verified.
    #[error("the password could not be verified")]
    Password(#[from] PasswordError),
    /// No token could be issued.
    #[error("the token could not be made")]
    Token(#[from] TokenError),
}

impl Logins {
    /// Starts without failed logins.
    pub(crate) fn new(passwords: Passwords, lockout: LockoutOptions, audit: AuditWriter) -> Self {
        Self { passwords, lockout: Arc::new(Lockout::new(lockout)), audit }
    }

    /// Issues a token for the account. An unknown name, a wrong password and a disabled account fail alike, after the same
    /// work, so that a client does not learn which names exist.
    pub(crate) async fn sign_in(
        &self,
        grants: &GrantCache,
        tokens: &Tokens,
        attempt: Attempt,
    ) -> Result<IssuedToken, LoginError> {
        let Attempt { user_id, password, address } = attempt;
        self.lockout.check(&user_id, address)?;
        let permit = self.passwords.permit().await?;
        // Checked again, because other attempts may have failed while this one waited. Without it, every attempt that
        // waits would be a guess.
        self.lockout.check(&user_id, address)?;
        let hash = grants.current().password_hash(&user_id);
        let recorder = Recorder {
            lockout: Arc::clone(&self.lockout),
            audit: self.audit.clone(),
            user_id: user_id.clone(),
            hash: hash.clone(),
            address,
        };
        if permit.verify(password, hash, move |verdict| recorder.record(verdict)).await? == Verdict::Wrong {
            return Err(LoginError::Wrong);
        }
        let issued = tokens.issue(&user_id)?;
        let details = Map::from_iter([("tokenId".to_owned(), json!(issued.token_id))]);
        self.audit.record(event(Action::LoginSucceeded, Some(user_id), address, details));
        Ok(issued)
    }
}

/// Records a verdict, whether or not the client still waits for it.
struct Recorder {
    lockout: Arc<Lockout>,
    audit: AuditWriter,
    user_id: String,
    hash: Option<Arc<str>>,
    address: Option<IpAddr>,
}

impl Recorder {
    fn record(self, verdict: &Verdict) {
        let Self { lockout, audit, user_id, hash, address } = self;
        match verdict {
            Verdict::Wrong => {
                let delay = lockout.failed(&user_id, address);
                // The name of an unknown account is not recorded: people sometimes type a password there.
                let subject = hash.is_some().then_some(user_id);
                audit.record(event(Action::LoginFailed, subject.clone(), address, Map::new()));
                if let Some(delay) = delay {
                    let details = Map::from_iter([("seconds".to_owned(), Value::from(delay.as_secs()))]);
                    audit.record(event(Action::LoginLocked, subject, address, details));
                }
            }
            Verdict::Right { rehashed } => {
                lockout.succeeded(&user_id, address);
                if let (Some(old), Some(new)) = (hash, rehashed) {
                    audit.rehash(Rehash { user_id, old, new: new.clone() });
                }
            }
        }
    }
}

fn event(action: Action, subject: Option<String>, address: Option<IpAddr>, details: Map<String, Value>) -> AuditEvent {
    AuditEvent { actor: ACTOR.to_owned(), address, action, subject, details }
}
