//! Conditional requests (RFC 9110, section 13.1.2): whether the client has what it asks for.

use hyper::{HeaderMap, header};

/// Whether `If-None-Match` has the strong tag, by the weak comparison.
pub(crate) fn is_known(headers: &HeaderMap, tag: &str) -> bool {
    let values = headers.get_all(header::IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
    values
        .flat_map(|value| value.split(','))
        .map(str::trim)
        .any(|entry| entry == "*" || entry.strip_prefix("W/").unwrap_or(entry) == tag)
}
