//! What a connection is for, as PostgreSQL's views show it in `application_name`.

/// What a connection is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Queries,
    /// Order updates.
    Updates,
    /// Reading accounts and grants.
    Accounts,
    /// Receiving notifications of changed accounts, and questions about keys.
    Notifications,
    /// Asking how far the server is.
    Positions,
    /// Asking how long statements wait for locks.
    Locks,
    /// Writing the audit trail.
    Audit,
    /// Reading the known values of search keys.
    Vocabularies,
    /// Removing old rows of the audit trails.
    Retention,
    /// Writing the ticks of change feeds.
    Changes,
    Command,
}

/// The beginning of the names, unless the operator's address has another one.
const PREFIX: &str = "orderql";

impl Role {
    /// The name of connections with this role. `prefix` is that of the operator's address.
    pub(super) fn application_name(self, prefix: Option<&str>) -> String {
        let role = match self {
            Self::Queries => "queries",
            Self::Updates => "updates",
            Self::Accounts => "accounts",
            Self::Notifications => "notifications",
            Self::Positions => "positions",
            Self::Locks => "locks",
            Self::Audit => "audit",
            Self::Vocabularies => "vocabularies",
            Self::Retention => "retention",
            Self::Changes => "changes",
            Self::Command => "command",
        };
        format!("{}-{role}", prefix.unwrap_or(PREFIX))
    }
}
