//! Follows the framing of HTTP/1.1 requests, to see what hyper hides from its service.
//!
//! A request with both `Content-Length` and `Transfer-Encoding` can be used to smuggle another one past a proxy that
//! believes the other header (RFC 9112, section 6.3). hyper 1.12 believes the encoding, drops the length from the headers
//! and closes the connection after the response. That is safe, but the service cannot distinguish such a request from
//! others, and would serve it. This server rejects it with 400. So it follows the bytes itself, with just enough of
//! HTTP/1.1 to know where each head begins and ends: pipelined requests arrive in one read, so a head cannot be found
//! without the end of the body before it. hyper decides what is well-formed. Where a message is not, hyper ends the
//! connection, and nothing more is followed here.
//!
//! `ConnectionIo` also needs to know whether a head is being received, for its time-out, and whether the client speaks
//! HTTP/2, which has no such ambiguity and no bare responses.

use memchr::{memchr, memchr_iter};

use crate::http::head_limits::MAX_HEAD_BYTES;

/// The beginning of an HTTP/2 connection (RFC 9113, section 3.4).
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// The state of a client's requests, followed byte by byte.
#[derive(Debug)]
pub(crate) struct Framing {
    state: State,
    /// Heads received so far.
    heads: u64,
    ambiguous_request: Option<u64>,
}

#[derive(Debug)]
enum State {
    /// The number of bytes that equal the beginning of an HTTP/2 preface.
    Preface(usize),
    Http2,
    /// The part of a head that was received; empty between two messages.
    Head(Vec<u8>),
    /// A body with this many bytes left.
    Sized(u64),
    /// The part of the line with a chunk's size that was received.
    ChunkSize(Vec<u8>),
    /// A chunk with this many bytes left, including its line end.
    Chunk(u64),
    /// The trailers, and whether their last line is empty so far.
    Trailers {
        line_is_empty: bool,
    },
    /// hyper closes the connection after this message, because it is malformed or ambiguous.
    Ended,
}

impl Framing {
    /// A connection on which nothing was sent yet.
    pub(crate) fn new() -> Self {
        Self { state: State::Preface(0), heads: 0, ambiguous_request: None }
    }

    /// Takes the next bytes that the client sent.
    pub(crate) fn feed(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            bytes = self.step(bytes);
        }
    }

    /// Whether the client speaks HTTP/2.
    pub(crate) fn is_http2(&self) -> bool {
        matches!(self.state, State::Http2)
    }

    /// Whether a head has begun and not ended.
    pub(crate) fn in_head(&self) -> bool {
        match &self.state {
            State::Preface(matched) => *matched > 0,
            State::Head(head) => !head.is_empty(),
            State::Http2
            | State::Sized(_)
            | State::ChunkSize(_)
            | State::Chunk(_)
            | State::Trailers { .. }
            | State::Ended => false,
        }
    }

    /// Whether the last request has arrived whole, and no other has begun.
    pub(crate) fn is_between_requests(&self) -> bool {
        matches!(&self.state, State::Head(head) if head.is_empty())
    }

    /// The index, from 0, of the request with both a length and a transfer encoding. It is the last one.
    pub(crate) fn ambiguous_request(&self) -> Option<u64> {
        self.ambiguous_request
    }

    /// Consumes the bytes that belong to the present state, and returns the rest.
    fn step<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        match &mut self.state {
            State::Preface(matched) => {
                if bytes[0] != PREFACE[*matched] {
                    self.state = State::Head(PREFACE[..*matched].to_vec());
                    return bytes;
                }
                *matched += 1;
                if *matched == PREFACE.len() {
                    self.state = State::Http2;
                }
                &bytes[1..]
            }
            State::Head(head) => {
                let head = std::mem::take(head);
                self.head(head, bytes)
            }
            State::Sized(left) | State::Chunk(left) => {
                let taken = usize::try_from(*left).unwrap_or(usize::MAX).min(bytes.len());
                *left -= taken as u64;
                if *left == 0 {
                    self.state = match self.state {
                        State::Chunk(_) => State::ChunkSize(Vec::new()),
                        _ => State::Head(Vec::new()),
                    };
                }
                &bytes[taken..]
            }
            State::ChunkSize(line) => {
                let line = std::mem::take(line);
                self.chunk_size(line, bytes)
            }
            State::Trailers { line_is_empty } => {
                match bytes[0] {
                    b'\n' if *line_is_empty => self.state = State::Head(Vec::new()),
                    b'\n' => *line_is_empty = true,
                    b'\r' => {}
                    _ => *line_is_empty = false,
                }
                &bytes[1..]
            }
            State::Http2 | State::Ended => &[],
        }
    }

    /// Consumes the next line of a head after its first part, or a whole head.
    fn head<'a>(&mut self, mut head: Vec<u8>, bytes: &'a [u8]) -> &'a [u8] {
        // Most heads arrive whole and need no buffer.
        if head.is_empty()
            && let Some(whole) = WholeHead::read(bytes)
        {
            self.end_of_head(&whole);
            return &bytes[whole.end..];
        }
        let (line, rest) = split_after_line(bytes);
        head.extend_from_slice(line);
        if matches!(head.as_slice(), b"\n" | b"\r\n") {
            // Empty lines before a request are ignored (RFC 9112, section 2.2).
            head.clear();
        }
        if head.len() > MAX_HEAD_BYTES {
            self.state = State::Ended;
        } else if head.ends_with(b"\n\n") || head.ends_with(b"\n\r\n") {
            match WholeHead::read(&head) {
                Some(whole) => self.end_of_head(&whole),
                None => self.state = State::Ended,
            }
        } else {
            self.state = State::Head(head);
        }
        rest
    }

    /// Consumes the line with a chunk's size after its first part, as far as it was received.
    fn chunk_size<'a>(&mut self, mut line: Vec<u8>, bytes: &'a [u8]) -> &'a [u8] {
        let (part, rest) = split_after_line(bytes);
        line.extend_from_slice(part);
        self.state = if line.ends_with(b"\n") {
            match chunk_size(&line) {
                Some(0) => State::Trailers { line_is_empty: true },
                Some(size) => State::Chunk(size.saturating_add(2)),
                None => State::Ended,
            }
        } else if line.len() > MAX_HEAD_BYTES {
            State::Ended
        } else {
            State::ChunkSize(line)
        };
        rest
    }

    fn end_of_head(&mut self, head: &WholeHead<'_>) {
        self.state = match (head.is_encoded, head.length.map(decimal)) {
            (true, Some(_)) => {
                self.ambiguous_request = Some(self.heads);
                State::Ended
            }
            (true, None) => State::ChunkSize(Vec::new()),
            (false, None | Some(Some(0))) => State::Head(Vec::new()),
            (false, Some(Some(length))) => State::Sized(length),
            (false, Some(None)) => State::Ended,
        };
        self.heads += 1;
    }
}

impl Default for Framing {
    fn default() -> Self {
        Self::new()
    }
}

/// The facts in a head about its body.
struct WholeHead<'a> {
    /// The bytes of the head, with the empty line.
    end: usize,
    /// Whether there is a `Transfer-Encoding`.
    is_encoded: bool,
    /// The last `Content-Length`.
    length: Option<&'a [u8]>,
}

impl<'a> WholeHead<'a> {
    /// Reads the lines up to the first empty one; `None` if there is none, if nothing is before it, or if the head is too long.
    fn read(bytes: &'a [u8]) -> Option<Self> {
        let (mut begin, mut is_encoded, mut length) = (0, false, None);
        for end in memchr_iter(b'\n', bytes).map(|end| end + 1) {
            let line = &bytes[begin..end];
            if matches!(line, b"\n" | b"\r\n") {
                return (begin > 0 && end <= MAX_HEAD_BYTES).then_some(Self { end, is_encoded, length });
            }
            // Every request is read here once more, so few lines are looked at. The first one has no header.
            if begin > 0
                && matches!(line.first(), Some(b't' | b'T' | b'c' | b'C'))
                && let Some(colon) = memchr(b':', line)
            {
                let (name, value) = (&line[..colon], line[colon + 1..].trim_ascii());
                if name.eq_ignore_ascii_case(b"transfer-encoding") {
                    is_encoded = true;
                } else if name.eq_ignore_ascii_case(b"content-length") {
                    length = Some(value);
                }
            }
            begin = end;
        }
        None
    }
}

fn split_after_line(bytes: &[u8]) -> (&[u8], &[u8]) {
    let end = memchr(b'\n', bytes).map_or(bytes.len(), |end| end + 1);
    bytes.split_at(end)
}

fn chunk_size(line: &[u8]) -> Option<u64> {
    let digits = line.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
    u64::from_str_radix(str::from_utf8(&line[..digits]).ok()?, 16).ok()
}

fn decimal(digits: &[u8]) -> Option<u64> {
    // `parse` accepts a sign.
    digits.iter().all(u8::is_ascii_digit).then(|| str::from_utf8(digits).ok()?.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Feeds the text at once and byte by byte; both must lead to the same state.
    fn follow(text: &str) -> Framing {
        let (mut whole, mut dribbled) = (Framing::new(), Framing::new());
        whole.feed(text.as_bytes());
        for byte in text.as_bytes() {
            dribbled.feed(&[*byte]);
        }
        assert_eq!(format!("{whole:?}"), format!("{dribbled:?}"));
        whole
    }

    #[test]
    fn sees_a_length_beside_an_encoding_in_either_order_and_case() {
        for head in [
            "POST / HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
            "POST / HTTP/1.1\r\nTRANSFER-ENCODING: chunked\r\nHost: a\r\ncontent-length:5\r\n\r\n",
            "\r\n\r\nPOST / HTTP/1.1\nContent-Length: 0\nTransfer-Encoding: chunked\n\n",
        ] {
            assert_eq!(follow(head).ambiguous_request(), Some(0), "{head}");
        }
    }

    #[test]
    fn does_not_take_bodies_for_heads() {
        let decoy = "\r\n\r\nPOST / HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n";
        let sized = format!("POST / HTTP/1.1\r\nContent-Length: {}\r\n\r\n{decoy}", decoy.len());
        let chunked = format!(
            "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n{:x};note=\"x\"\r\n{decoy}\r\n0\r\nSum: 1\r\n\r\n",
            decoy.len()
        );
        let plain = "GET / HTTP/1.1\r\nHost: a\r\n\r\n".to_owned();
        let honest = follow(&[&sized, &chunked, &plain, &chunked, &sized].map(String::as_str).concat());
        assert_eq!((honest.ambiguous_request(), honest.heads, honest.in_head()), (None, 5, false));
        let smuggled = follow(&[sized.as_str(), &chunked, decoy, &sized].concat());
        assert_eq!((smuggled.ambiguous_request(), smuggled.heads), (Some(2), 3));
    }

    #[test]
    fn recognises_http2_by_its_whole_preface() {
        let mut framing = follow("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
        assert!(framing.is_http2());
        framing.feed(b"POST / HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n");
        assert_eq!(framing.ambiguous_request(), None);
        assert!(follow("PRI * HTTP/2.0").in_head());
        assert_eq!(follow("PRINT / HTTP/1.1\r\n\r\n").heads, 1);
    }

    #[test]
    fn ends_at_a_malformed_message() {
        for malformed in [
            "POST / HTTP/1.1\r\nContent-Length: +5\r\n\r\n",
            "POST / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n",
            "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
        ] {
            assert!(matches!(follow(malformed).state, State::Ended), "{malformed}");
        }
        assert!(matches!(follow(&"x".repeat(MAX_HEAD_BYTES + 1)).state, State::Ended));
    }
}
