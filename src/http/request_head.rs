//! Checks of a request's head that hyper leaves to its user (RFC 9112, sections 3.2 and 6).

use hyper::header;
use hyper::http::request::Parts as Head;
use hyper::http::uri::Authority;
use hyper::{HeaderMap, Version};

use crate::http::head_limits::MAX_TARGET_BYTES;
use crate::http::request_error::RequestError;

/// Bytes of memory that a header field takes beside its name and value, about.
const FIELD_OVERHEAD: usize = 64;

/// Checks the head. `is_ambiguous`: it has `Content-Length` beside `Transfer-Encoding`, which hyper hides.
pub(crate) fn check(head: &Head, is_ambiguous: bool) -> Result<(), RequestError> {
    if head.uri.path().len() + head.uri.query().map_or(0, str::len) > MAX_TARGET_BYTES {
        return Err(RequestError::TargetTooLong { limit: MAX_TARGET_BYTES });
    }
    if is_ambiguous {
        return Err(RequestError::AmbiguousLength);
    }
    check_host(&head.headers, head.version)?;
    let mut codings = head.headers.get_all(header::TRANSFER_ENCODING).into_iter();
    match (codings.next(), codings.next()) {
        (None, _) => Ok(()),
        (Some(coding), None) if coding.as_bytes().eq_ignore_ascii_case(b"chunked") => Ok(()),
        _ => Err(RequestError::TransferEncoding),
    }
}

fn check_host(headers: &HeaderMap, version: Version) -> Result<(), RequestError> {
    let mut hosts = headers.get_all(header::HOST).into_iter();
    let (host, second) = (hosts.next(), hosts.next());
    // HTTP/2 has the authority in the target, and HTTP/1.0 has none.
    if second.is_some() || (host.is_none() && version == Version::HTTP_11) {
        return Err(RequestError::Host);
    }
    match host {
        Some(host) if !host.is_empty() && Authority::try_from(host.as_bytes()).is_err() => Err(RequestError::Host),
        _ => Ok(()),
    }
}

/// Bytes of memory that the head takes, about.
pub(crate) fn memory(head: &Head) -> usize {
    let fields = head.headers.iter().map(|(name, value)| name.as_str().len() + value.len() + FIELD_OVERHEAD);
    head.uri.path().len() + head.uri.query().map_or(0, str::len) + fields.sum::<usize>()
}
