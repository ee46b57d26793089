//! The operator who makes a change.

/// The operator who makes a change.
#[derive(Debug, Clone)]
pub(crate) struct Operator {
    /// The name in the audit trail.
    pub(crate) name: String,
}
