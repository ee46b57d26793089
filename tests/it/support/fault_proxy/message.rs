//! The messages of PostgreSQL's protocol: a type, a length that counts itself, and a body.

use std::fmt;

/// A message after the first packet.
#[derive(Clone, Copy)]
pub struct Message<'a> {
    /// All bytes.
    pub bytes: &'a [u8],
}

/// The first complete message and the bytes after it.
pub fn split_message(bytes: &[u8]) -> Option<(Message<'_>, &[u8])> {
    let length = u32::from_be_bytes(*bytes.get(1..)?.first_chunk()?);
    let (bytes, rest) = bytes.split_at_checked(1 + usize::try_from(length).unwrap())?;
    Some((Message { bytes }, rest))
}

impl<'a> Message<'a> {
    pub fn kind(self) -> u8 {
        self.bytes[0]
    }

    pub fn body(self) -> &'a [u8] {
        &self.bytes[5..]
    }

    /// The offset of the statement's name in a Parse, Describe or Bind; `None` if the statement has none.
    pub fn statement_name(self) -> Option<usize> {
        let offset = match self.kind() {
            b'P' => 5,
            b'D' => 6,
            // After the portal's name.
            b'B' => 6 + self.body().iter().position(|byte| *byte == 0)?,
            _ => return None,
        };
        (self.bytes.get(offset) != Some(&0)).then_some(offset)
    }

    /// The offset of the SQLSTATE in an `ErrorResponse`.
    pub fn sql_state(self) -> Option<usize> {
        let mut offset = 5;
        while self.kind() == b'E' && *self.bytes.get(offset)? != 0 {
            if self.bytes[offset] == b'C' {
                return Some(offset + 1);
            }
            offset += 1 + self.bytes[offset + 1..].iter().position(|byte| *byte == 0)? + 1;
        }
        None
    }

    /// The offset of the number of fields, columns or parameters.
    pub fn count(self, is_from_client: bool) -> Option<usize> {
        match self.kind() {
            b'B' if is_from_client => {
                let name = self.statement_name()?;
                Some(name + self.bytes[name..].iter().position(|byte| *byte == 0)? + 1)
            }
            b'D' | b'T' | b't' if !is_from_client => Some(5),
            _ => None,
        }
    }

    /// The offsets of the bytes of values in a `DataRow`.
    pub fn values(self) -> Vec<usize> {
        let mut offsets = Vec::new();
        let mut offset = 7;
        while let Some(length) = self.bytes.get(offset..).and_then(|bytes| bytes.first_chunk()) {
            let length = usize::try_from(i32::from_be_bytes(*length)).unwrap_or(0);
            offset += 4;
            offsets.extend(offset..offset + length);
            offset += length;
        }
        offsets
    }
}

impl fmt::Display for Message<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = String::from_utf8_lossy(&self.body()[..self.body().len().min(60)]).into_owned();
        write!(f, "{} of {} bytes {text:?}", char::from(self.kind()), self.bytes.len())
    }
}
