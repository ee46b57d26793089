//! The audit trail: logins and changes of accounts, as events in the log and rows of `orderql.audit_event`.
//!
//! A command writes the event of a change in the change's own transaction. The running service passes its events to
//! `audit_writer`, which stores them outside the request path.

use std::net::IpAddr;

use serde_json::{Map, Value};
use tokio_postgres::{Error, GenericClient};

use crate::telemetry::emit;
use crate::telemetry::event::Event;

/// The kind of event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Action {
    /// Name and password were right; a token was issued.
    LoginSucceeded,
    /// Name and password were wrong.
    LoginFailed,
    /// A login was refused without a look at its password. The details have the reason.
    LoginRefused,
    /// Too many were wrong, so the account or the address was locked.
    LoginLocked,
    /// A token was issued by the command line.
    TokenIssued,
    /// A key that signs tokens was created.
    KeyAdded,
    /// A key was removed.
    KeyRetired,
    /// Old rows of the audit trails were removed.
    AuditPruned,
    /// An account was created.
    UserAdded,
    /// An account was removed.
    UserRemoved,
    /// An account was disabled.
    UserDisabled,
    /// An account was enabled again.
    UserEnabled,
    /// The password of an account was changed.
    PasswordChanged,
    /// A group was created.
    GroupAdded,
    /// A group was removed.
    GroupRemoved,
    /// A user became a member of a group.
    GroupJoined,
    /// A user is no longer a member of a group.
    GroupLeft,
    /// A group was granted access.
    GrantAdded,
    /// A grant was withdrawn.
    GrantRemoved,
    /// A group was given values in a scope.
    ScopeAdded,
    /// Values in a scope were taken from a group.
    ScopeRemoved,
    /// A user's limits were changed.
    ProfileChanged,
}

/// An event before it is stored.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct AuditEvent {
    /// Who did it.
    pub(crate) actor: String,
    /// The client's address, if it came over the network.
    pub(crate) address: Option<IpAddr>,
    /// The kind of event.
    pub(crate) action: Action,
    /// The user, group or key that it was done to. `None` for a login with an unknown name: people sometimes type a password
    /// there.
    pub(crate) subject: Option<String>,
    /// Particulars. Never a password or a token.
    pub(crate) details: Map<String, Value>,
}

/// An event as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StoredEvent {
    /// When, as ISO-8601 in UTC with microseconds.
    pub(crate) at: String,
    /// Who did it.
    pub(crate) actor: String,
    /// The client's address.
    pub(crate) address: Option<String>,
    /// The action, as in [`Action::as_str`].
    pub(crate) action: String,
    /// The user or group that it was done to.
    pub(crate) subject: Option<String>,
    /// Particulars, as JSON.
    pub(crate) details: String,
}

impl Action {
    /// The action as it is stored and logged. Stored rows have these names, so they do not change.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::LoginSucceeded => "login.succeeded",
            Self::LoginFailed => "login.failed",
            Self::LoginRefused => "login.refused",
            Self::LoginLocked => "login.locked",
            Self::TokenIssued => "token.minted",
            Self::KeyAdded => "key.added",
            Self::KeyRetired => "key.retired",
            Self::AuditPruned => "audit.pruned",
            Self::UserAdded => "user.added",
            Self::UserRemoved => "user.removed",
            Self::UserDisabled => "user.disabled",
            Self::UserEnabled => "user.enabled",
            Self::PasswordChanged => "password.changed",
            Self::GroupAdded => "group.added",
            Self::GroupRemoved => "group.removed",
            Self::GroupJoined => "group.joined",
            Self::GroupLeft => "group.left",
            Self::GrantAdded => "grant.added",
            Self::GrantRemoved => "grant.removed",
            Self::ScopeAdded => "scope.added",
            Self::ScopeRemoved => "scope.removed",
            Self::ProfileChanged => "profile.changed",
        }
    }
}

impl AuditEvent {
    /// Logs the event.
    pub(crate) fn log(&self) {
        emit(&Event::Audit {
            action: self.action.as_str(),
            actor: &self.actor,
            address: self.address,
            subject: self.subject.as_deref(),
            details: &self.details,
        });
    }
}

/// Stores events with one statement.
pub(crate) async fn store(client: &impl GenericClient, events: &[AuditEvent]) -> Result<(), Error> {
    let actors: Vec<_> = events.iter().map(|event| event.actor.as_str()).collect();
    let addresses: Vec<_> = events.iter().map(|event| event.address.map(|address| address.to_string())).collect();
    let actions: Vec<_> = events.iter().map(|event| event.action.as_str()).collect();
    let subjects: Vec<_> = events.iter().map(|event| event.subject.as_deref()).collect();
    let details: Vec<_> = events.iter().map(|event| Value::Object(event.details.clone()).to_string()).collect();
    let insert = "
        INSERT INTO orderql.audit_event (actor, address, action, subject, details)
        SELECT actor, address::inet, action, subject, details::jsonb
        FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[])
             AS entry (actor, address, action, subject, details)";
    client.execute(insert, &[&actors, &addresses, &actions, &subjects, &details]).await?;
    Ok(())
}

/// The latest events, the oldest first: events since a time in PostgreSQL's form, or all, and `limit` of them at most.
pub(crate) async fn list(
    client: &impl GenericClient,
    since: Option<&str>,
    limit: i64,
) -> Result<Vec<StoredEvent>, Error> {
    let select = "
        SELECT to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"') AS at, actor, host(address) AS address,
               action, subject, details::text AS details
        FROM (
            SELECT * FROM orderql.audit_event
            WHERE at >= coalesce($1::text::timestamptz, '-infinity')
            ORDER BY at DESC, event_id DESC LIMIT $2
        ) AS latest
        ORDER BY latest.at, latest.event_id";
    let rows = client.query(select, &[&since, &limit]).await?;
    rows.iter()
        .map(|row| {
            Ok(StoredEvent {
                at: row.try_get("at")?,
                actor: row.try_get("actor")?,
                address: row.try_get("address")?,
                action: row.try_get("action")?,
                subject: row.try_get("subject")?,
                details: row.try_get("details")?,
            })
        })
        .collect()
}
