//! Ruling callers: users, groups, grants and profiles, a file each.
//!
//! Every change is one transaction with its row in the audit trail, and running servers hear of it when it commits. Asking
//! for what is so already changes nothing, writes nothing and is no error: each function says whether it changed something.

use std::fmt;

use serde_json::{Map, Value};
use tokio_postgres::error::SqlState;
use tokio_postgres::{Error, GenericClient, Transaction};

use crate::access::audit::{self, Action, Entry};
use crate::access::password::PasswordError;
use crate::nearest::closest;

pub mod grants;
pub mod groups;
pub mod profiles;
pub mod users;

/// The longest name of a user or group, in bytes.
const LONGEST_NAME: usize = 255;

/// Who makes a change.
#[derive(Debug, Clone)]
pub struct Operator {
    /// The name in the audit trail.
    pub name: String,
}

/// What a name names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A user.
    User,
    /// A user group.
    Group,
    /// Something that access is granted to, by its path.
    Artifact,
}

/// Why something cannot be done.
#[derive(Debug, thiserror::Error)]
pub enum ManageError {
    /// There is no such thing.
    #[error("there is no {kind} `{name}`{}", .nearest.as_ref().map(|nearest| format!("; did you mean `{nearest}`?")).unwrap_or_default())]
    Unknown {
        /// What was looked for.
        kind: Kind,
        /// By which name.
        name: String,
        /// The one with the most similar name, if it is similar at all.
        nearest: Option<String>,
    },
    /// There is one already.
    #[error("there is a {kind} `{name}` already")]
    Exists {
        /// What.
        kind: Kind,
        /// By which name.
        name: String,
    },
    /// A name that could not be used.
    #[error(
        "`{}` cannot be a {kind}'s name: it takes 1 to {LONGEST_NAME} bytes, without a colon, control characters, or \
         space at its ends", .name.escape_debug()
    )]
    BadName {
        /// What was to be named.
        kind: Kind,
        /// So.
        name: String,
    },
    /// An empty password, or one with characters that cannot be sent.
    #[error("a password takes 1 to 1024 bytes without control characters")]
    BadPassword,
    /// A time that cannot be read.
    #[error("the time cannot be read; write it as 2026-05-01, 2026-05-01T12:00Z, or 1 hour ago")]
    BadTime,
    /// The schema is missing or old.
    #[error("the database lacks the tables of accounts; run `orderql migrate` first")]
    NotMigrated,
    /// The database refused, or cannot be reached.
    #[error("the database refused")]
    Database(#[source] Error),
    /// The password cannot be hashed.
    #[error("the password cannot be hashed")]
    Password(#[from] PasswordError),
}

impl Kind {
    /// Every name there is.
    const fn names(self) -> &'static str {
        match self {
            Self::User => "SELECT user_id FROM orderql.user_account",
            Self::Group => "SELECT group_id FROM orderql.user_group",
            Self::Artifact => "SELECT path FROM orderql.artifact_group",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::User => "user",
            Self::Group => "group",
            Self::Artifact => "artifact",
        })
    }
}

impl From<Error> for ManageError {
    fn from(error: Error) -> Self {
        match error.code() {
            Some(&SqlState::UNDEFINED_TABLE | &SqlState::UNDEFINED_COLUMN | &SqlState::INVALID_SCHEMA_NAME) => {
                Self::NotMigrated
            }
            Some(&SqlState::INVALID_DATETIME_FORMAT | &SqlState::DATETIME_FIELD_OVERFLOW) => Self::BadTime,
            _ => Self::Database(error),
        }
    }
}

/// Refuses a name that could not be sent as a Basic credential, or would be mistaken for another.
fn check_name(kind: Kind, name: &str) -> Result<(), ManageError> {
    let good = (1..=LONGEST_NAME).contains(&name.len())
        && !name.chars().any(|c| c.is_control() || c == ':')
        && name.trim() == name;
    if good { Ok(()) } else { Err(ManageError::BadName { kind, name: name.to_owned() }) }
}

/// Says that there is no such thing, and which one was probably meant.
async fn unknown(client: &impl GenericClient, kind: Kind, name: &str) -> ManageError {
    let mut names: Vec<String> = match client.query(kind.names(), &[]).await {
        Ok(rows) => rows.iter().filter_map(|row| row.try_get(0).ok()).collect(),
        Err(error) => return error.into(),
    };
    names.sort_unstable();
    let folded: Vec<String> = names.iter().map(|name| name.to_lowercase()).collect();
    let wanted = name.to_lowercase();
    // A third of the letters may be wrong, and one more.
    let max_distance = 1 + wanted.chars().count() / 3;
    let closest = closest(&wanted, folded.iter().map(String::as_str));
    let nearest = closest.filter(|closest| closest.distance <= max_distance);
    let nearest = nearest.map(|closest| names.swap_remove(closest.index));
    ManageError::Unknown { kind, name: name.to_owned(), nearest }
}

/// Refuses a thing that is not there.
async fn require(client: &impl GenericClient, kind: Kind, name: &str) -> Result<(), ManageError> {
    let select = format!("SELECT FROM ({}) AS known (name) WHERE name = $1", kind.names());
    match client.query_opt(&select, &[&name]).await? {
        Some(_) => Ok(()),
        None => Err(unknown(client, kind, name).await),
    }
}

/// Commits the change with its row in the audit trail; where nothing changed, neither is written.
async fn commit<const N: usize>(
    transaction: Transaction<'_>,
    operator: &Operator,
    changed: bool,
    action: Action,
    subject: &str,
    details: [(&str, Value); N],
) -> Result<bool, ManageError> {
    if changed {
        let details: Map<_, _> = details.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
        let (actor, subject) = (operator.name.clone(), Some(subject.to_owned()));
        let entry = Entry { actor, address: None, action, subject, details };
        audit::store(&transaction, &[entry]).await?;
    }
    transaction.commit().await?;
    Ok(changed)
}
