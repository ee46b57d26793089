//! Answers to heads that are no HTTP, or too large.
//!
//! hyper refuses them by itself, with an empty answer that its service never sees. It writes that answer last before it
//! closes the connection; so the wire can leave it out and send one like all others: with an id, an error in JSON and a
//! line in the log.

use hyper::StatusCode;
use hyper::header::HeaderName;

use crate::http::access_log::AccessLogEntry;
use crate::http::api_error::ApiError;
use crate::http::error_response;
use crate::http::request_error::RequestError;
use crate::http::response::Content;
use crate::http::service::{LONGEST_TARGET, Service};

/// The answer that hyper gives by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refusal<'a> {
    /// Where it begins in what hyper writes; it goes on to the end.
    pub start: usize,
    status: StatusCode,
    /// Its line with the date.
    date: &'a str,
}

/// hyper's own answer, if this is what the bytes end with. No answer of the service looks like it: each has an id.
pub fn find(written: &[u8]) -> Option<Refusal<'_>> {
    const BEGINNING: &[u8] = b"HTTP/1.1 4";
    let head = written.strip_suffix(b"\r\n\r\n")?;
    let start = head.windows(BEGINNING.len()).rposition(|window| window == BEGINNING)?;
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
    Some(Refusal { start, status, date })
}

/// What the service says in its place, head and body. Writes its line in the log.
pub fn answer(service: &Service, refusal: Refusal<'_>) -> Vec<u8> {
    let error = ApiError::from(match refusal.status {
        StatusCode::URI_TOO_LONG => RequestError::TargetTooLong { limit: LONGEST_TARGET },
        StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE => RequestError::HeadTooLarge,
        _ => RequestError::MalformedHead,
    });
    let mut record = AccessLogEntry::of_unread(service.ids.next());
    let answer = error_response::plain(&error);
    record.code = Some(error.code);
    record.status = Some(answer.status().as_u16());
    let body = match answer.body() {
        Content::Whole(body) => body.as_ref(),
        // No error is as large.
        Content::Parts(_) => b"",
    };

    let mut bytes = format!("HTTP/1.1 {}\r\n", answer.status()).into_bytes();
    let length = body.len().to_string();
    let mut line = |parts: &[&[u8]]| {
        bytes.extend_from_slice(&parts.concat());
        bytes.extend_from_slice(b"\r\n");
    };
    for (name, value) in answer.headers() {
        line(&[HeaderName::as_str(name).as_bytes(), b": ", value.as_bytes()]);
    }
    line(&[b"x-request-id: ", record.id.as_bytes()]);
    line(&[b"content-length: ", length.as_bytes()]);
    if !refusal.date.is_empty() {
        line(&[refusal.date.as_bytes()]);
    }
    line(&[]);
    bytes.extend_from_slice(body);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: &str =
        "HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: 0\r\ndate: Sat, 21 Nov 2026\r\n\r\n";

    #[test]
    fn hypers_own_answer_is_found_behind_others() {
        let date = "date: Sat, 21 Nov 2026";
        let own = |start| Some(Refusal { start, status: StatusCode::BAD_REQUEST, date });
        assert_eq!(find(OWN.as_bytes()), own(0));
        let other = "HTTP/1.1 404 Not Found\r\nx-request-id: 1\r\ncontent-length: 2\r\n\r\n{}";
        assert_eq!(find(format!("{other}{OWN}").as_bytes()), own(other.len()));
        let large = OWN.replace("400 Bad Request", "431 Request Header Fields Too Large");
        assert_eq!(find(large.as_bytes()).unwrap().status.as_u16(), 431);
    }

    #[test]
    fn no_answer_of_the_service_is_taken_for_it() {
        for other in [
            "",
            "\r\n\r\n",
            "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n",
            "HTTP/1.1 404 Not Found\r\nx-request-id: 1\r\ncontent-length: 0\r\n\r\n",
            "HTTP/1.1 406 Not Acceptable\r\nvary: Accept\r\ndate: now\r\n\r\n",
            "HTTP/1.1 400 Bad Request\r\ncontent-length: 5\r\n\r\n",
            "{\"name\":\"HTTP/1.1 400 Bad Request\"}\r\n0\r\n\r\n",
        ] {
            assert_eq!(find(other.as_bytes()), None, "{other}");
            assert_eq!(find(format!("{OWN}{other}x").as_bytes()), None, "{other}");
        }
    }
}
