//! Follows the framing of the messages that a client sends, to see what hyper hides from its service.
//!
//! A request with both `Content-Length` and `Transfer-Encoding` is how requests are smuggled past a proxy that believes
//! the other one of the two (RFC 9112, section 6.3). hyper believes the encoding, drops the length and tells nobody. So
//! the bytes are read along here: just enough of HTTP/1.1 to know where each head begins and ends. hyper remains the
//! judge of what is well formed; where a message is not, it ends the connection, and what is followed here with it.

/// What an HTTP/2 connection begins with (RFC 9113, section 3.4).
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// A head longer than this is refused by hyper, whose buffer has this size.
pub const LONGEST_HEAD: usize = 32 * 1024;

/// Header fields that a request may have, which is hyper's own limit.
pub const MOST_HEADERS: usize = 100;

/// Where a client is in what it sends.
#[derive(Debug)]
pub struct Framing {
    state: State,
    heads: u64,
    conflict: Option<u64>,
}

#[derive(Debug)]
enum State {
    /// So many bytes were an HTTP/2 preface's.
    Preface(usize),
    /// HTTP/2, whose framing has no such trouble.
    Http2,
    /// The head as far as it has come, or nothing between two messages.
    Head(Vec<u8>),
    /// A body of which so many bytes are to come.
    Sized(u64),
    /// The line of a chunk's size.
    ChunkSize(Vec<u8>),
    /// A chunk of which so many bytes are to come, its line end included.
    Chunk(u64),
    /// The trailer, and whether its last line is empty so far.
    Trailer { line_is_empty: bool },
    /// It makes no sense, as hyper is finding out.
    Lost,
}

impl Framing {
    /// A connection on which nothing was sent yet.
    pub fn new() -> Self {
        Self { state: State::Preface(0), heads: 0, conflict: None }
    }

    /// Reads along.
    pub fn feed(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            bytes = self.step(bytes);
        }
    }

    /// Whether it is HTTP/2.
    pub fn is_http2(&self) -> bool {
        matches!(self.state, State::Http2)
    }

    /// Whether a head has begun and not ended.
    pub fn in_head(&self) -> bool {
        match &self.state {
            State::Preface(matched) => *matched > 0,
            State::Head(head) => !head.is_empty(),
            _ => false,
        }
    }

    /// The number, from 0, of the first request that had both a length and a transfer encoding.
    pub fn conflict(&self) -> Option<u64> {
        self.conflict
    }

    /// Takes what belongs to the present state, and returns what is left.
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
                // Most heads come whole, and need not be gathered.
                if head.is_empty()
                    && let Some((head, rest)) = whole_head(bytes)
                {
                    self.end_of_head(head);
                    return rest;
                }
                let (line, rest) = split_after_line(bytes);
                head.extend_from_slice(line);
                if head.len() > LONGEST_HEAD {
                    self.state = State::Lost;
                } else if matches!(head.as_slice(), b"\n" | b"\r\n") {
                    // Empty lines before a request are passed over (RFC 9112, section 2.2).
                    head.clear();
                } else if head.ends_with(b"\n\n") || head.ends_with(b"\n\r\n") {
                    let head = std::mem::take(head);
                    self.end_of_head(&head);
                }
                rest
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
                let (part, rest) = split_after_line(bytes);
                line.extend_from_slice(part);
                if line.ends_with(b"\n") {
                    self.state = match chunk_size(line) {
                        Some(0) => State::Trailer { line_is_empty: true },
                        Some(size) => State::Chunk(size.saturating_add(2)),
                        None => State::Lost,
                    };
                } else if line.len() > LONGEST_HEAD {
                    self.state = State::Lost;
                }
                rest
            }
            State::Trailer { line_is_empty } => {
                match bytes[0] {
                    b'\n' if *line_is_empty => self.state = State::Head(Vec::new()),
                    b'\n' => *line_is_empty = true,
                    b'\r' => {}
                    _ => *line_is_empty = false,
                }
                &bytes[1..]
            }
            State::Http2 | State::Lost => &[],
        }
    }

    fn end_of_head(&mut self, head: &[u8]) {
        let (mut encoded, mut length) = (false, None);
        for line in head.split(|byte| *byte == b'\n').skip(1) {
            let Some(colon) = line.iter().position(|byte| *byte == b':') else { continue };
            let (name, value) = (&line[..colon], line[colon + 1..].trim_ascii());
            if name.eq_ignore_ascii_case(b"transfer-encoding") {
                encoded = true;
            } else if name.eq_ignore_ascii_case(b"content-length") {
                length = Some(decimal(value));
            }
        }
        if encoded && length.is_some() && self.conflict.is_none() {
            self.conflict = Some(self.heads);
        }
        self.heads += 1;
        self.state = match length {
            _ if encoded => State::ChunkSize(Vec::new()),
            None | Some(Some(0)) => State::Head(Vec::new()),
            Some(Some(length)) => State::Sized(length),
            Some(None) => State::Lost,
        };
    }
}

impl Default for Framing {
    fn default() -> Self {
        Self::new()
    }
}

/// What comes up to an empty line, and what comes after it; `None` where there is none, or nothing before it.
fn whole_head(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut lines = bytes.split_inclusive(|byte| *byte == b'\n');
    let mut length = 0;
    let empty = lines.by_ref().inspect(|line| length += line.len()).position(|line| matches!(line, b"\n" | b"\r\n"))?;
    (empty > 0 && length <= LONGEST_HEAD).then(|| bytes.split_at(length))
}

fn split_after_line(bytes: &[u8]) -> (&[u8], &[u8]) {
    let end = bytes.iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |end| end + 1);
    bytes.split_at(end)
}

fn chunk_size(line: &[u8]) -> Option<u64> {
    let digits = line.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
    u64::from_str_radix(str::from_utf8(&line[..digits]).ok()?, 16).ok()
}

fn decimal(digits: &[u8]) -> Option<u64> {
    // `parse` would take a sign.
    digits.iter().all(u8::is_ascii_digit).then(|| str::from_utf8(digits).ok()?.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Feeds the text whole and byte by byte; both must come to the same.
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
    fn a_length_beside_an_encoding_is_seen_in_either_order_and_case() {
        for head in [
            "POST / HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
            "POST / HTTP/1.1\r\nTRANSFER-ENCODING: chunked\r\nHost: a\r\ncontent-length:5\r\n\r\n",
            "\r\n\r\nPOST / HTTP/1.1\nContent-Length: 0\nTransfer-Encoding: chunked\n\n",
        ] {
            assert_eq!(follow(head).conflict(), Some(0), "{head}");
        }
    }

    #[test]
    fn bodies_are_not_taken_for_heads() {
        let decoy = "\r\n\r\nPOST / HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n";
        let sized = format!("POST / HTTP/1.1\r\nContent-Length: {}\r\n\r\n{decoy}", decoy.len());
        let chunked = format!(
            "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n{:x};note=\"x\"\r\n{decoy}\r\n0\r\nSum: 1\r\n\r\n",
            decoy.len()
        );
        let plain = "GET / HTTP/1.1\r\nHost: a\r\n\r\n".to_owned();
        let honest = follow(&[&sized, &chunked, &plain, &chunked, &sized].map(String::as_str).concat());
        assert_eq!((honest.conflict(), honest.heads, honest.in_head()), (None, 5, false));
        let smuggled = follow(&[&sized, &chunked, decoy].concat());
        assert_eq!(smuggled.conflict(), Some(2));
    }

    #[test]
    fn http2_is_recognised_by_its_whole_preface() {
        let mut framing = follow("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
        assert!(matches!(framing.state, State::Http2));
        framing.feed(b"POST / HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n");
        assert_eq!(framing.conflict(), None);
        assert!(follow("PRI * HTTP/2.0").in_head());
        assert_eq!(follow("PRINT / HTTP/1.1\r\n\r\n").heads, 1);
    }

    #[test]
    fn nonsense_is_lost_and_stays_so() {
        for nonsense in [
            "POST / HTTP/1.1\r\nContent-Length: +5\r\n\r\n",
            "POST / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n",
            "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
        ] {
            assert!(matches!(follow(nonsense).state, State::Lost), "{nonsense}");
        }
        assert!(matches!(follow(&"x".repeat(LONGEST_HEAD + 1)).state, State::Lost));
    }
}
