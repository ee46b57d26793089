//! What was done with accounts, and by whom: an event in the log and a row in `orderql.audit_event`.
//!
//! A change made by the command line is written in the change's own transaction. What the running service has to tell, it
//! hands to the [`trail`](crate::access::audit_writer), which writes it off the requests' way.

use std::net::IpAddr;

use serde_json::{Map, Value};
use tokio_postgres::{Error, GenericClient};

use crate::telemetry::emit;
use crate::telemetry::event::{self, Event};

/// What was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Name and password were right; a token was made.
    LoginSucceeded,
    /// Name and password were wrong.
    LoginFailed,
    /// So many were wrong that the account or the address has to wait.
    LoginLocked,
    /// A token was made on the command line.
    TokenMinted,
    /// An account was made.
    UserAdded,
    /// An account was removed.
    UserRemoved,
    /// An account was closed.
    UserDisabled,
    /// An account was opened again.
    UserEnabled,
    /// An account has another password.
    PasswordChanged,
    /// A group was made.
    GroupAdded,
    /// A group was removed.
    GroupRemoved,
    /// A user is now a member.
    GroupJoined,
    /// A user is no longer a member.
    GroupLeft,
    /// A group was given a grant.
    GrantAdded,
    /// A group lost a grant.
    GrantRemoved,
    /// A user is held to other limits.
    ProfileChanged,
}

/// An event, before it is written.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// Who did it.
    pub actor: String,
    /// From where, if it came over the network.
    pub address: Option<IpAddr>,
    /// What.
    pub action: Action,
    /// To which user or group. `None` for a login with a name that no account has: people type passwords there.
    pub subject: Option<String>,
    /// The particulars. Never a password or a token.
    pub details: Map<String, Value>,
}

/// An event as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored {
    /// When, as ISO-8601 in UTC with microseconds.
    pub at: String,
    /// Who did it.
    pub actor: String,
    /// From where.
    pub address: Option<String>,
    /// What, as [`Action::as_str`] has it.
    pub action: String,
    /// To whom.
    pub subject: Option<String>,
    /// The particulars, as JSON.
    pub details: String,
}

impl Action {
    /// The action as it is stored and logged.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::LoginSucceeded => "login.succeeded",
            Self::LoginFailed => "login.failed",
            Self::LoginLocked => "login.locked",
            Self::TokenMinted => "token.minted",
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
            Self::ProfileChanged => "profile.changed",
        }
    }
}

impl Entry {
    /// Writes the event to the log.
    pub fn log(&self) {
        emit(&Event::Audit(event::Audit {
            action: self.action.as_str(),
            actor: &self.actor,
            address: self.address,
            subject: self.subject.as_deref(),
            details: &self.details,
        }));
    }
}

/// Stores events, in one statement.
pub async fn store(client: &impl GenericClient, entries: &[Entry]) -> Result<(), Error> {
    let actors: Vec<_> = entries.iter().map(|entry| entry.actor.as_str()).collect();
    let addresses: Vec<_> = entries.iter().map(|entry| entry.address.map(|address| address.to_string())).collect();
    let actions: Vec<_> = entries.iter().map(|entry| entry.action.as_str()).collect();
    let subjects: Vec<_> = entries.iter().map(|entry| entry.subject.as_deref()).collect();
    let details: Vec<_> = entries.iter().map(|entry| Value::Object(entry.details.clone()).to_string()).collect();
    let insert = "
        INSERT INTO orderql.audit_event (actor, address, action, subject, details)
        SELECT actor, address::inet, action, subject, details::jsonb
        FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[])
             AS entry (actor, address, action, subject, details)";
    client.execute(insert, &[&actors, &addresses, &actions, &subjects, &details]).await?;
    Ok(())
}

/// The events since a time (as PostgreSQL reads it; all without one) in the order of their time, the latest `limit` of them.
pub async fn list(client: &impl GenericClient, since: Option<&str>, limit: i64) -> Result<Vec<Stored>, Error> {
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
            Ok(Stored {
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
