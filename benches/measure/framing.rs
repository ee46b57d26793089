//! Where an answer ends, and whether it is a good one: as little reading as tells that, since who measures shares the
//! machine with what is measured.

use memchr::memmem;

/// How answers are delimited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// HTTP/1.1 with JSON in it.
    Http,
    /// PostgreSQL's messages, up to the one that tells of its readiness for more.
    Postgres,
}

/// A whole answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// What was asked for.
    Good,
    /// Something else: its status and code, as short as that.
    Bad(String),
}

/// Reads one answer after the other as their bytes arrive.
#[derive(Debug)]
pub struct Reader {
    framing: Framing,
    /// How far PostgreSQL's messages have been looked at.
    looked_at: usize,
    /// What was wrong before the end.
    bad: Option<String>,
    /// Where HTTP's body begins, and how long it is, or that its chunks tell.
    body: Option<(usize, Option<usize>)>,
    errors: memmem::Finder<'static>,
}

impl Reader {
    /// Has read nothing.
    pub fn new(framing: Framing) -> Self {
        Self { framing, looked_at: 0, bad: None, body: None, errors: memmem::Finder::new(b"\"errors\"") }
    }

    /// The verdict on the answer, once all of it is there. What is read next is another one.
    pub fn look(&mut self, bytes: &[u8]) -> Option<Verdict> {
        let verdict = match self.framing {
            Framing::Http => self.http(bytes),
            Framing::Postgres => self.messages(bytes),
        };
        if verdict.is_some() {
            (self.looked_at, self.bad, self.body) = (0, None, None);
        }
        verdict
    }

    fn http(&mut self, bytes: &[u8]) -> Option<Verdict> {
        let (start, length) = match self.body {
            Some(body) => body,
            None => *self.body.insert(head(bytes)?),
        };
        let body = &bytes[start..];
        let is_whole = match length {
            Some(length) => body.len() >= length,
            None => body == b"0\r\n\r\n" || body.ends_with(b"\r\n0\r\n\r\n"),
        };
        if !is_whole {
            return None;
        }
        let status = String::from_utf8_lossy(bytes.get(9..12).unwrap_or_default());
        if status == "200" && self.errors.find(body).is_none() {
            return Some(Verdict::Good);
        }
        Some(Verdict::Bad(match code(body) {
            Some(code) => format!("{status} {code}"),
            None => status.into_owned(),
        }))
    }

    fn messages(&mut self, bytes: &[u8]) -> Option<Verdict> {
        while let Some([kind, length @ ..]) = bytes.get(self.looked_at..self.looked_at + 5) {
            let length = u32::from_be_bytes(length.try_into().unwrap_or_default()) as usize;
            let end = self.looked_at + 1 + length;
            if end > bytes.len() {
                return None;
            }
            match kind {
                b'E' => self.bad = Some(reported(&bytes[self.looked_at + 5..end])),
                b'Z' => return Some(self.bad.take().map_or(Verdict::Good, Verdict::Bad)),
                _ => {}
            }
            self.looked_at = end;
        }
        None
    }
}

/// Where the body begins, and how long it is, or that its chunks tell. Nothing while the head is not whole.
pub fn head(bytes: &[u8]) -> Option<(usize, Option<usize>)> {
    let end = memmem::find(bytes, b"\r\n\r\n")? + 4;
    let length = bytes[..end].split(|byte| *byte == b'\n').find_map(|line| {
        let (name, value) = line.split_at(line.iter().position(|byte| *byte == b':')?);
        let value = name.eq_ignore_ascii_case(b"content-length").then(|| String::from_utf8_lossy(&value[1..]))?;
        value.trim().parse().ok()
    });
    Some((end, length))
}

/// The first error code of a GraphQL answer.
fn code(body: &[u8]) -> Option<String> {
    let after = memmem::find(body, b"\"code\":\"")? + 8;
    let code = body[after..].split(|byte| *byte == b'"').next()?;
    Some(String::from_utf8_lossy(code).into_owned())
}

/// What a message about an error says.
fn reported(fields: &[u8]) -> String {
    let mut fields = fields.split(|byte| *byte == 0);
    let message = fields.find_map(|field| field.strip_prefix(b"M"));
    String::from_utf8_lossy(message.unwrap_or(b"an error")).into_owned()
}
