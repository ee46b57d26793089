//! How large a search string can be.

/// Terms of a search string. Terms on indexed keys cost nothing, so they need a limit of their own.
pub(super) const MAX_TERMS: usize = 50;

/// Elements of an in-list.
pub(super) const MAX_ELEMENTS: usize = 1000;

/// The length of a search string, in bytes. A document can use one variable hundreds of times, and each use is parsed.
pub(super) const MAX_LENGTH: usize = 64 * 1024;
