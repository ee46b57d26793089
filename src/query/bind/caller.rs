//! Whom a request is compiled for.

use crate::catalog::scope::RowScope;
use crate::limits::Limits;

/// A caller, as far as the compiler knows it.
#[derive(Debug, Clone, Copy)]
pub struct Caller<'a> {
    /// The limits of its queries.
    pub limits: &'a Limits,
    /// The rows that it sees.
    pub rows: &'a RowScope,
}

/// A caller whose rows nothing limits.
impl<'a> From<&'a Limits> for Caller<'a> {
    fn from(limits: &'a Limits) -> Self {
        Self { limits, rows: RowScope::all() }
    }
}
