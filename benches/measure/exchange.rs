//! Single requests over HTTP, for what is asked before and between measurements.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::{Value, json};

use super::Fault;
use super::framing::head;

/// Who does not answer within this time does not answer.
const PATIENCE: Duration = Duration::from_mins(1);

/// The whole request that asks a GraphQL query.
pub fn request(path: &str, bearer: Option<&str>, query: &str, variables: &Value) -> Vec<u8> {
    let body = json!({ "query": query, "variables": variables }).to_string();
    let authorization = bearer.map(|token| format!("Authorization: Bearer {token}\r\n")).unwrap_or_default();
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\n{authorization}Accept: application/json\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), body.as_bytes()].concat()
}

/// A connection that is kept.
pub struct Line {
    stream: TcpStream,
    name: String,
}

impl Line {
    /// Connects to a server of that name.
    pub fn to(name: &str, address: SocketAddr) -> Result<Self, Fault> {
        let stream = TcpStream::connect(address).and_then(|stream| {
            stream.set_read_timeout(Some(PATIENCE))?;
            stream.set_nodelay(true)?;
            Ok(stream)
        });
        let stream = stream.map_err(Fault::system(format!("{name} cannot be connected to")))?;
        Ok(Self { stream, name: name.to_owned() })
    }

    /// The body of the answer to a request.
    pub fn body(&mut self, request: &[u8]) -> Result<Vec<u8>, Fault> {
        let broken = || Fault::system(format!("{} does not answer", self.name));
        self.stream.write_all(request).map_err(broken())?;
        let (mut bytes, mut part) = (Vec::new(), [0; 1 << 14]);
        loop {
            let read = self.stream.read(&mut part).map_err(broken())?;
            bytes.extend_from_slice(&part[..read]);
            if let Some(body) = whole_body(&bytes) {
                return Ok(body);
            }
            if read == 0 {
                let what = String::from_utf8_lossy(&bytes).into_owned();
                return Err(Fault::Answer { from: self.name.clone(), what: format!("half of something: {what}") });
            }
        }
    }

    /// The answer as JSON.
    pub fn json(&mut self, request: &[u8]) -> Result<Value, Fault> {
        let body = self.body(request)?;
        serde_json::from_slice(&body).map_err(|error| Fault::Answer {
            from: self.name.clone(),
            what: format!("what is no JSON ({error}): {}", String::from_utf8_lossy(&body)),
        })
    }

    /// The `data` of an answer without errors.
    pub fn data(&mut self, request: &[u8]) -> Result<Value, Fault> {
        let mut answer = self.json(request)?;
        if answer["errors"].is_null() && !answer["data"].is_null() {
            return Ok(answer["data"].take());
        }
        Err(Fault::Answer { from: self.name.clone(), what: answer.to_string() })
    }
}

fn whole_body(bytes: &[u8]) -> Option<Vec<u8>> {
    let (start, length) = head(bytes)?;
    let rest = &bytes[start..];
    match length {
        Some(length) => rest.get(..length).map(<[u8]>::to_vec),
        None => chunks(rest),
    }
}

fn chunks(mut rest: &[u8]) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let end = rest.windows(2).position(|pair| pair == b"\r\n")?;
        let size = usize::from_str_radix(std::str::from_utf8(&rest[..end]).ok()?.trim(), 16).ok()?;
        body.extend_from_slice(rest.get(end + 2..end + 2 + size)?);
        rest = rest.get(end + 4 + size..)?;
        if size == 0 {
            return Some(body);
        }
    }
}
