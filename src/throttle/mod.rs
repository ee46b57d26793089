//! Rate limiting and waiting: who runs what, and when.
//!
//! - [`bucket`]: one caller's credits; `memory_store` has those of all callers, `shared_buckets` those that several nodes
//!   share, and `rate_limiter` debits them wherever they are stored
//! - `caller_queue`: one caller's running and waiting requests, in their order; `queues` has those of all callers
//! - `query_throttle`: a query gets its place and pays, at once or after waiting for either
//! - `pace`: what is free, refusals and reports of prices, is not given to a caller as fast as it asks
//! - `fair_semaphore`: what all callers share is given to them in turn

pub mod bucket;
pub(crate) mod caller_queue;
pub(crate) mod fair_semaphore;
pub(crate) mod memory_store;
pub(crate) mod metrics;
pub(crate) mod pace;
pub(crate) mod query_throttle;
pub(crate) mod queues;
pub(crate) mod rate_limiter;
pub(crate) mod shared_buckets;
