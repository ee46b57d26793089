//! `extensions` of GraphQL responses: the `cost_extension`, the `executed_plan`, the `scope_extension` where rows are limited, the
//! `sync_extension` of changes, and each `warning` of a value that may be misspelt or of totals
//! of fewer rows than match.

pub(crate) mod cost_extension;
pub(crate) mod executed_plan;
pub(crate) mod scope_extension;
pub(crate) mod sync_extension;
pub(crate) mod warning;
