//! What an agent wants to spend on a query.

/// What a query may cost, and the bytes of its data.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    pub(super) max_cost: u64,
    pub(super) max_bytes: usize,
}
