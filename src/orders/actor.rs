//! The user who updates orders.

/// The user who updates, for the history and the audit.
#[derive(Debug, Clone)]
pub(crate) struct Actor {
    /// The user's id.
    pub(crate) user_id: String,
    /// The client's address, if known.
    pub(crate) address: Option<String>,
}
