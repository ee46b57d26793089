//! Limits of a request's head that are not configurable.

/// Bytes that a head may have. hyper's buffer has this size.
pub(crate) const MAX_HEAD_BYTES: usize = 32 * 1024;

/// Header fields that a request may have. This is hyper's default.
pub(crate) const MAX_HEADERS: usize = 100;

/// Bytes that a request's target may have. Longer queries must be sent by POST.
pub(crate) const MAX_TARGET_BYTES: usize = 8 * 1024;
