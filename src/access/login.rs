//! Logins: a name and a password are exchanged for a token. Every attempt leaves an audit event.

use std::net::IpAddr;
use std::sync::Arc;

use serde_json::{Map, Value, json};
use tokio::runtime::Handle;

use crate::access::audit::{Action, AuditEvent};
use crate::access::audit_repeats::REASON;
use crate::access::audit_writer::{AuditWriter, Rehash};
use crate::access::grant_cache::GrantCache;
use crate::access::grants::Grants;
use crate::access::lockout::{Locked, LockoutOptions, Visitor};
use crate::access::metrics::{LOCKS, LOGINS, LoginResult};
use crate::access::password::{HashPermit, PasswordError, Passwords, Verdict};
use crate::access::shared_lockout::SharedLockout;
use crate::access::tokens::error::TokenError;
use crate::access::tokens::jwt::{IssuedToken, Tokens};
use crate::shared_store::connection::SharedStore;

/// The actor of the audit events of logins.
const ACTOR: &str = "service";

/// Verifies names and passwords.
#[derive(Debug)]
pub(crate) struct Logins {
    passwords: Passwords,
    lockout: Arc<SharedLockout>,
    audit: AuditWriter,
}

/// A name and a password that a client sent. Has no `Debug`, so that it cannot be logged.
pub(crate) struct LoginAttempt {
    /// The name.
    pub(crate) user_id: String,
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
    /// Starts without failed logins, except for the failed logins in a store that other nodes share.
    pub(crate) fn new(
        passwords: Passwords,
        lockout: LockoutOptions,
        store: Option<SharedStore>,
        audit: AuditWriter,
    ) -> Self {
        Self { passwords, lockout: Arc::new(SharedLockout::new(lockout, store)), audit }
    }

    /// Issues a token for the account. An unknown name, a wrong password and a disabled account fail alike, after the same
    /// work, so that a client does not learn which names exist.
    pub(crate) async fn sign_in(
        &self,
        grants: &GrantCache,
        tokens: &Tokens,
        attempt: LoginAttempt,
    ) -> Result<IssuedToken, LoginError> {
        let LoginAttempt { user_id, password, address } = attempt;
        let visitor = self.lockout.visitor(&user_id, address);
        let admitted = self.admit(&visitor).await;
        let known = grants.current();
        let hash = known.password_hash(&user_id);
        let permit = admitted.inspect_err(|error| {
            let subject = hash.is_some().then(|| user_id.clone());
            self.refused(Refusal::of(error), subject, address);
        })?;
        let recorder = VerdictRecorder {
            lockout: Arc::clone(&self.lockout),
            audit: self.audit.clone(),
            visitor,
            user_id: user_id.clone(),
            hash: hash.clone(),
            address,
        };
        if permit.verify(password, hash, move |verdict| recorder.record(verdict)).await? == Verdict::Wrong {
            return Err(LoginError::Wrong);
        }
        let tokens_from = |grants: &Grants| grants.principal(&user_id).map(|account| account.tokens_from);
        // The account may have been closed or replaced meanwhile.
        let now = tokens_from(&grants.current()).filter(|now| Some(*now) == tokens_from(&known));
        let issued = tokens.issue(&user_id, now.ok_or(LoginError::Wrong)?)?;
        let details = Map::from_iter([("tokenId".to_owned(), json!(issued.token_id))]);
        LOGINS.of((LoginResult::Succeeded,)).increment();
        self.audit.record(event(Action::LoginSucceeded, Some(user_id), address, details));
        Ok(issued)
    }

    /// Locks accounts and addresses by other options from now on.
    pub(crate) fn set_lockout(&self, options: LockoutOptions) {
        self.lockout.set_options(options);
    }

    /// Records a login without a name and a password.
    pub(crate) fn refuse_without_credentials(&self, address: Option<IpAddr>) {
        let refusal = Refusal { reason: "no credentials", result: LoginResult::NoCredentials };
        self.refused(refusal, None, address);
    }

    /// Waits until a password may be verified. Fails if the visitor is locked, or has too many passwords verified already.
    async fn admit(&self, visitor: &Visitor) -> Result<HashPermit, LoginError> {
        let standing = self.lockout.check(visitor).await?;
        let permit = self.passwords.permit(visitor, standing).await?;
        // Checked again, because other attempts may have failed while this one waited. Without it, every attempt that
        // waits would be a guess.
        self.lockout.check(visitor).await?;
        Ok(permit)
    }

    fn refused(&self, refusal: Refusal, subject: Option<String>, address: Option<IpAddr>) {
        LOGINS.of((refusal.result,)).increment();
        let details = Map::from_iter([(REASON.to_owned(), json!(refusal.reason))]);
        self.audit.record_repeatable(event(Action::LoginRefused, subject, address, details));
    }
}

/// Why no password was verified.
#[derive(Clone, Copy)]
struct Refusal {
    /// For the audit trail.
    reason: &'static str,
    /// For the metrics.
    result: LoginResult,
}

impl Refusal {
    const fn of(error: &LoginError) -> Self {
        let (reason, result) = match error {
            LoginError::Locked(_) => ("locked", LoginResult::Locked),
            LoginError::Password(PasswordError::TooManyAtOnce) => ("too many at once", LoginResult::TooMany),
            LoginError::Password(PasswordError::Busy) => ("overloaded", LoginResult::Overloaded),
            LoginError::Wrong | LoginError::Password(_) | LoginError::Token(_) => ("failed", LoginResult::Failed),
        };
        Self { reason, result }
    }
}

/// Records a verdict, whether or not the client still waits for it.
struct VerdictRecorder {
    lockout: Arc<SharedLockout>,
    audit: AuditWriter,
    visitor: Visitor,
    user_id: String,
    hash: Option<Arc<str>>,
    address: Option<IpAddr>,
}

impl VerdictRecorder {
    /// Runs on a thread that may block.
    fn record(self, verdict: &Verdict) {
        let Self { lockout, audit, visitor, user_id, hash, address } = self;
        match verdict {
            Verdict::Wrong => {
                LOGINS.of((LoginResult::Wrong,)).increment();
                let delay = Handle::current().block_on(lockout.failed(&visitor));
                // The name of an unknown account is not recorded: people sometimes type a password there.
                let subject = hash.is_some().then_some(user_id);
                audit.record_repeatable(event(Action::LoginFailed, subject.clone(), address, Map::new()));
                if let Some(delay) = delay {
                    LOCKS.of(()).increment();
                    let details = Map::from_iter([("seconds".to_owned(), Value::from(delay.as_secs()))]);
                    audit.record_repeatable(event(Action::LoginLocked, subject, address, details));
                }
            }
            Verdict::Right { rehashed } => {
                Handle::current().block_on(lockout.succeeded(&visitor));
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
