//! The rate limit: a bucket of credits per caller, and where the buckets are kept.

pub mod bucket;
pub mod buckets;
