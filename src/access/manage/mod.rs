//! Manages callers: users, groups, grants, scopes and profiles, a file each.
//!
//! Every change is one transaction with its event in the audit trail. Running servers are notified when it commits. A
//! change that is already in force writes nothing and is not an error; the functions return whether anything changed.

mod change;
pub(crate) mod error;
pub(crate) mod grants;
pub(crate) mod groups;
pub(crate) mod operator;
pub(crate) mod profiles;
pub(crate) mod scopes;
pub(crate) mod users;
