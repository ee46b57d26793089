//! How large search strings can be. Terms on indexed keys cost nothing, so credits do not limit them, and terms are counted
//! before the cost is known.

/// Terms of a search string.
pub(crate) const MAX_TERMS: usize = 50;

/// Distinct values of an in-list. A page holds 100 rows, so the rows of longer lists do not fit one page anyway.
pub(crate) const MAX_VALUES: usize = 100;

/// Words of a search in text. Each is looked for in every row that is examined.
pub(crate) const MAX_WORDS: usize = 16;

/// Terms of all search strings of a request.
pub(crate) const MAX_REQUEST_TERMS: usize = 200;

/// Distinct values of all search strings of a request.
pub(crate) const MAX_REQUEST_VALUES: usize = 1000;

/// The length of all search strings of a request, in bytes. A variable counts once for each root that uses it, because it
/// is parsed once for each.
pub(crate) const MAX_REQUEST_BYTES: usize = 64 * 1024;
