//! Recognizes HTTP/2 by the first bytes of a connection. hyper does so, too, and does not say what it found.

/// The beginning of an HTTP/2 connection (RFC 9113, section 3.4).
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// The protocol that the client speaks.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Protocol {
    /// So many bytes of the preface were received, and nothing else.
    Unknown {
        received: usize,
    },
    Http1,
    Http2,
}

impl Default for Protocol {
    fn default() -> Self {
        Self::Unknown { received: 0 }
    }
}

impl Protocol {
    /// Takes the next bytes that the client sent.
    pub(super) fn observe(&mut self, bytes: &[u8]) {
        let Self::Unknown { received } = self else { return };
        let rest = &PREFACE[*received..];
        let compared = bytes.len().min(rest.len());
        if bytes[..compared] != rest[..compared] {
            *self = Self::Http1;
        } else if compared == rest.len() {
            *self = Self::Http2;
        } else {
            *received += compared;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The protocol that is recognized in the text at once and byte by byte, which must be the same.
    fn of(text: &str) -> Protocol {
        let (mut whole, mut dribbled) = (Protocol::default(), Protocol::default());
        whole.observe(text.as_bytes());
        text.as_bytes().chunks(1).for_each(|byte| dribbled.observe(byte));
        assert_eq!(whole, dribbled);
        whole
    }

    #[test]
    fn http2_begins_with_its_whole_preface() {
        assert_eq!(of("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), Protocol::Http2);
        assert_eq!(of("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0"), Protocol::Http2);
        assert_eq!(of("PRI * HTTP/2.0"), Protocol::Unknown { received: 14 });
        assert_eq!(of("PRINT / HTTP/1.1\r\n\r\n"), Protocol::Http1);
        assert_eq!(of("GET / HTTP/1.1\r\n\r\nPRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), Protocol::Http1);
    }
}
