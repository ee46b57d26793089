//! The numbers a caller is held to.

/// What one query of a caller may ask at most. The specification's defaults are [`Limits::default`]; an integration
/// user's profile may raise them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Credits that one query may be estimated at (`COST_EXCEEDED` above it).
    pub max_cost: u64,
    /// Rows that `first:` or `last:` may ask for, at the root and nested (`FIRST_TOO_LARGE` above it).
    pub max_page_size: u32,
    /// Levels of object nesting; `edges`, `node` and `pageInfo` add none (`DEPTH_EXCEEDED` above it).
    pub max_depth: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self { max_cost: 1000, max_page_size: 100, max_depth: 6 }
    }
}
