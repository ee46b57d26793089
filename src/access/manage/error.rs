//! Why callers cannot be listed or changed.

use std::fmt;

use tokio_postgres::Error;
use tokio_postgres::error::SqlState;

use crate::access::password::PasswordError;

/// The longest name of a user or group, in bytes.
pub(super) const LONGEST_NAME: usize = 255;

/// A kind of object with a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NameKind {
    User,
    /// A user group.
    Group,
    /// A thing that access can be granted to. Its path is its name.
    Artifact,
}

/// Why callers cannot be listed or changed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ManageError {
    /// Nothing has this name.
    #[error("there is no {kind} `{name}`{}", .nearest.as_ref().map(|nearest| format!("; did you mean `{nearest}`?")).unwrap_or_default())]
    Unknown {
        /// The kind of object that was looked for.
        kind: NameKind,
        name: String,
        /// The most similar name, if one is similar.
        nearest: Option<String>,
    },
    /// The path is not one of an artifact, and no name of a grant.
    #[error("nothing that can be granted is called `{path}`; what can be granted: {}", .known.join(", "))]
    UnknownArtifact {
        path: String,
        /// All paths, and the names that were granted once.
        known: Vec<String>,
    },
    /// The name is taken.
    #[error("there is a {kind} `{name}` already")]
    Exists {
        /// The kind of object with the name.
        kind: NameKind,
        name: String,
    },
    /// The name is not valid.
    #[error(
        "`{}` cannot be a {kind}'s name: it takes 1 to {LONGEST_NAME} bytes, without a colon, control characters, or \
         space at its ends", .name.escape_debug()
    )]
    BadName {
        /// The kind of object that was to be named.
        kind: NameKind,
        name: String,
    },
    /// The password is empty or too long, or has characters that cannot be sent.
    #[error("a password takes 1 to 1024 bytes without control characters")]
    BadPassword,
    /// The user could send queries that the user's bucket can never cover.
    #[error(
        "max-cost would be {max_cost} and bucket-size {bucket_size}; a query that costs more than a full bucket holds can \
         never run; set --bucket-size to {max_cost} or more, or --max-cost to {bucket_size} or less{}",
        if *.has_default { " (one of them is the server's default, as far as this command's settings show)" } else { "" }
    )]
    CostAboveBucket {
        /// Credits that one query could cost.
        max_cost: u64,
        /// Credits in the user's full bucket.
        bucket_size: u64,
        /// Whether one of the numbers is the server's default.
        has_default: bool,
    },
    /// The text is not a time.
    #[error("the time cannot be read; write it as 2026-05-01, 2026-05-01T12:00Z, or 1 hour ago")]
    BadTime,
    /// The schema `orderql` is missing or old.
    #[error("the database lacks the tables of accounts; run `orderql migrate` first")]
    NotMigrated,
    /// The database reported an error, or cannot be reached.
    #[error("the database reported an error")]
    Database(#[source] Error),
    /// The password cannot be hashed.
    #[error("the password cannot be hashed")]
    Password(#[from] PasswordError),
}

impl NameKind {
    /// The statement that selects all names.
    pub(super) const fn select_names(self) -> &'static str {
        match self {
            Self::User => "SELECT user_id FROM orderql.user_account",
            Self::Group => "SELECT group_id FROM orderql.user_group",
            Self::Artifact => "SELECT path FROM orderql.artifact_group",
        }
    }
}

impl fmt::Display for NameKind {
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
