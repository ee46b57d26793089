//! Checks of a request's head that hyper leaves to its user (RFC 9112, sections 3.2 and 6).

use hyper::header;
use hyper::http::request::Parts as Head;
use hyper::http::uri::Authority;
use hyper::{HeaderMap, Version};

use crate::http::head_limits::MAX_TARGET_BYTES;
use crate::http::request_error::RequestError;

/// Bytes of memory that a header field takes beside its name and value, about.
const FIELD_OVERHEAD: usize = 64;

/// Checks the head. Where a request has `Content-Length` beside `Transfer-Encoding`, hyper has removed the length, reads the body by its
/// encoding and closes the connection after the response, so that no other request can hide in it (RFC 9112, section 6.3).
pub(crate) fn check(head: &Head) -> Result<(), RequestError> {
    if head.uri.path().len() + head.uri.query().map_or(0, str::len) > MAX_TARGET_BYTES {
        return Err(RequestError::TargetTooLong { limit: MAX_TARGET_BYTES });
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
        Some(host) if !is_host(host.as_bytes()) => Err(RequestError::Host),
        _ => Ok(()),
    }
}

/// Whether the value of `Host` is empty, or an authority. Most are plain names, which need not be copied to be parsed.
fn is_host(value: &[u8]) -> bool {
    value.is_empty() || is_plain(value) || Authority::try_from(value).is_ok()
}

/// Whether a host is a name or an IPv4 address, with a port or without.
fn is_plain(host: &[u8]) -> bool {
    let mut parts = host.splitn(2, |byte| *byte == b':');
    let is_of_name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-');
    let is_name = parts.next().is_some_and(|name| !name.is_empty() && name.iter().all(is_of_name));
    is_name && parts.next().is_none_or(|port| !port.is_empty() && port.iter().all(u8::is_ascii_digit))
}

/// Bytes of memory that the head takes, about.
pub(crate) fn memory(head: &Head) -> usize {
    let fields = head.headers.iter().map(|(name, value)| name.as_str().len() + value.len() + FIELD_OVERHEAD);
    head.uri.path().len() + head.uri.query().map_or(0, str::len) + fields.sum::<usize>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_hosts_are_authorities() {
        for host in ["localhost", "a-b.example.com", "192.0.2.1:8080", "a:0", "A.", "-", "a:99999"] {
            assert!(is_plain(host.as_bytes()) && Authority::try_from(host).is_ok(), "{host}");
        }
        for host in ["", ":", ":80", "a:", "a:b", "a:1:2", "[::1]:80", "a b", "a_b", "user@a", "a/b"] {
            assert!(!is_plain(host.as_bytes()), "{host}");
        }
    }
}
