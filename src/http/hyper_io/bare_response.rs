//! JSON errors for heads that hyper rejects by itself.
//!
//! hyper 1.12 answers a malformed or too large head with a bare response that its service never sees, and has no hook to
//! change it. It is the last thing that hyper writes before it closes the connection. So `ConnectionIo` leaves it out and
//! writes an error like all others instead: with a JSON body and a request id, and with a line in the log.

use std::sync::LazyLock;

use hyper::StatusCode;
use hyper::header::HeaderName;
use memchr::memmem::Finder;

use crate::http::handler::Handler;
use crate::http::head_limits::MAX_TARGET_BYTES;
use crate::http::request_error::RequestError;
use crate::http::response::ResponseBody;

/// More bytes than the head of such a response has.
const MAX_BARE_HEAD: usize = 256;

/// A response that hyper writes by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BareResponse<'a> {
    /// The offset at which it begins in the written bytes. It is the rest of them.
    pub(crate) start: usize,
    status: StatusCode,
    /// Its header line `date: …`.
    date: &'a str,
}

impl<'a> BareResponse<'a> {
    /// hyper's own response, if the written bytes end with one. No response of the service looks like it, because each
    /// has a request id.
    pub(crate) fn find(written: &'a [u8]) -> Option<Self> {
        static STATUS_LINE: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new(b"HTTP/1.1 4"));
        let head = written.strip_suffix(b"\r\n\r\n")?;
        let last = head.len().saturating_sub(MAX_BARE_HEAD);
        let start = last + STATUS_LINE.find_iter(&head[last..]).last()?;
        let mut lines = str::from_utf8(&head[start..]).ok()?.split("\r\n");
        let status = lines.next()?.split(' ').nth(1)?.parse().ok()?;
        let mut date = "";
        for line in lines {
            match line.split_once(": ")? {
                ("connection", "close") | ("content-length", "0") => {}
                ("date", _) => date = line,
                _ => return None,
            }
        }
        Some(Self { start, status, date })
    }

    /// The bytes to write instead.
    pub(crate) fn replacement(&self, handler: &impl Handler) -> Vec<u8> {
        let response = handler.reject(match self.status {
            StatusCode::URI_TOO_LONG => RequestError::TargetTooLong { limit: MAX_TARGET_BYTES },
            StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE => RequestError::HeadTooLarge,
            _ => RequestError::MalformedHead,
        });
        let body = match response.body() {
            ResponseBody::Whole(body) => body.as_ref(),
            // No error is so large.
            ResponseBody::Chunks(_) | ResponseBody::Stream(_) => b"",
        };

        let mut bytes = format!("HTTP/1.1 {}\r\n", response.status()).into_bytes();
        let length = body.len().to_string();
        let mut line = |parts: &[&[u8]]| {
            bytes.extend_from_slice(&parts.concat());
            bytes.extend_from_slice(b"\r\n");
        };
        for (name, value) in response.headers() {
            line(&[HeaderName::as_str(name).as_bytes(), b": ", value.as_bytes()]);
        }
        line(&[b"content-length: ", length.as_bytes()]);
        if !self.date.is_empty() {
            line(&[self.date.as_bytes()]);
        }
        line(&[]);
        bytes.extend_from_slice(body);
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BARE: &str =
        "HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: 0\r\ndate: Sat, 21 Nov 2026\r\n\r\n";

    #[test]
    fn finds_hypers_own_response_behind_others() {
        let date = "date: Sat, 21 Nov 2026";
        let bare = |start| Some(BareResponse { start, status: StatusCode::BAD_REQUEST, date });
        assert_eq!(BareResponse::find(BARE.as_bytes()), bare(0));
        let other = "HTTP/1.1 404 Not Found\r\nx-request-id: 1\r\ncontent-length: 2\r\n\r\n{}";
        assert_eq!(BareResponse::find(format!("{other}{BARE}").as_bytes()), bare(other.len()));
        let large = BARE.replace("400 Bad Request", "431 Request Header Fields Too Large");
        assert_eq!(BareResponse::find(large.as_bytes()).unwrap().status.as_u16(), 431);
    }

    #[test]
    fn finds_no_response_of_the_service() {
        for other in [
            "",
            "\r\n\r\n",
            "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n",
            "HTTP/1.1 404 Not Found\r\nx-request-id: 1\r\ncontent-length: 0\r\n\r\n",
            "HTTP/1.1 406 Not Acceptable\r\nvary: Accept\r\ndate: now\r\n\r\n",
            "HTTP/1.1 400 Bad Request\r\ncontent-length: 5\r\n\r\n",
            "{\"name\":\"HTTP/1.1 400 Bad Request\"}\r\n0\r\n\r\n",
        ] {
            assert_eq!(BareResponse::find(other.as_bytes()), None, "{other}");
            assert_eq!(BareResponse::find(format!("{BARE}{other}x").as_bytes()), None, "{other}");
        }
    }
}
