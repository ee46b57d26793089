//! Rate limiting: a bucket of credits for each caller, and a limit on the queries and the order updates that a caller
//! runs at the same time.

pub mod bucket;
pub(crate) mod memory_store;
pub(crate) mod rate_limiter;
pub(crate) mod running;
