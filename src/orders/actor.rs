//! The user who updates orders.

/// The user who updates, for the history and the audit.
#[derive(Debug, Clone)]
pub(crate) struct Actor {
    /// The user's id.
    pub(crate) user_id: String,
    /// The client's address, if known.
    pub(crate) address: Option<String>,
    /// The rows that the user may change.
    pub(crate) scope: UpdateScope,
}

/// The rows that a user may change; `None` for all.
#[derive(Debug, Clone, Default)]
pub(crate) struct UpdateScope {
    /// The stores whose orders the user may change.
    pub(crate) stores: Option<Vec<String>>,
    /// The facilities whose shipments the user may change: the shipments that leave them.
    pub(crate) facilities: Option<Vec<String>>,
}
