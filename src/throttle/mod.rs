//! Rate limiting and waiting: who runs what, and when.
//!
//! - [`bucket`]: one caller's credits; `memory_store` has the buckets of all callers, `shared_buckets` the buckets of several
//!   nodes, and `rate_limiter` debits either
//! - `caller_queue`: one caller's running and waiting requests, in their order; `queues` has the requests of all callers
//! - `query_throttle`: a query gets its place and pays, at once or after waiting for either
//! - `pace`: slows down free responses, such as rejections and reports of prices
//! - `fair_semaphore`: what all callers share is given to them in turn
//! - `metrics`: the metrics of buckets

pub(crate) mod bucket;
pub(crate) mod caller_queue;
pub(crate) mod fair_semaphore;
pub(crate) mod memory_store;
pub(crate) mod metrics;
pub(crate) mod pace;
pub(crate) mod query_throttle;
pub(crate) mod queues;
pub(crate) mod rate_limiter;
pub(crate) mod shared_buckets;
