//! The rate limit: a bucket of credits per caller, where the buckets are kept, and how many queries a caller
//! runs at the same time.

pub mod bucket;
pub mod buckets;
pub mod running;
