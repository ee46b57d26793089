//! The benchmarks' client for HTTP/1.1 and PostgreSQL's protocol: it writes requests that were made beforehand, and reads
//! of a response only where it ends and whether it is an error.
//!
//! It is our own because it shares the machine with what it measures. With 32 connections, a request takes it 7 µs of CPU
//! time, and hyper's client 10 to 13 µs.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;

use memchr::memmem::{self, Finder};
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use crate::error::{BenchError, Result};

/// A server that does not respond within this time has failed.
const TIMEOUT: Duration = Duration::from_mins(1);

/// The whole HTTP request of a GraphQL query.
pub fn graphql_request(path: &str, bearer: Option<&str>, query: &str, variables: &Value) -> Vec<u8> {
    let body = json!({ "query": query, "variables": variables }).to_string();
    let authorization = bearer.map(|token| format!("Authorization: Bearer {token}\r\n")).unwrap_or_default();
    format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\n{authorization}Accept: application/json\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

/// How a response ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Status {
    /// With what was asked for.
    Ok,
    /// With an error: its HTTP status and GraphQL error code, or PostgreSQL's message.
    Error(String),
}

/// Where a server is reached.
#[derive(Debug, Clone)]
pub enum Endpoint {
    /// HTTP on loopback.
    Http(SocketAddr),
    /// PostgreSQL on a Unix socket, and the messages that open a session; each is sent after the response to the last.
    Postgres(PathBuf, Rc<Vec<Vec<u8>>>),
}

/// A byte stream of either kind.
trait Stream: AsyncRead + AsyncWrite + Unpin {}

impl<T: AsyncRead + AsyncWrite + Unpin> Stream for T {}

/// A connection that sends one request at a time.
pub struct AsyncConnection {
    stream: Box<dyn Stream>,
    reader: ResponseReader,
    response: Vec<u8>,
}

impl AsyncConnection {
    /// Connects, and opens a session where the protocol has one.
    pub async fn open(endpoint: &Endpoint) -> Result<Self> {
        let failed = || BenchError::io("connect to the server");
        match endpoint {
            Endpoint::Http(address) => {
                let stream = tokio::net::TcpStream::connect(address).await.map_err(failed())?;
                stream.set_nodelay(true).map_err(failed())?;
                Ok(Self::over_http(stream))
            }
            Endpoint::Postgres(socket, session) => {
                let stream = tokio::net::UnixStream::connect(socket).await.map_err(failed())?;
                let (reader, response) = (ResponseReader::postgres(), Vec::with_capacity(1 << 16));
                let mut connection = Self { stream: Box::new(stream), reader, response };
                for message in session.iter() {
                    if let Status::Error(response) = connection.send(message).await? {
                        return Err(BenchError::Response { server: "PostgreSQL".to_owned(), response });
                    }
                }
                Ok(connection)
            }
        }
    }

    /// A connection to an HTTP server that is open already.
    pub fn over_http(stream: tokio::net::TcpStream) -> Self {
        Self { stream: Box::new(stream), reader: ResponseReader::http(), response: Vec::with_capacity(1 << 16) }
    }

    /// Sends a request and reads the response.
    pub async fn send(&mut self, request: &[u8]) -> Result<Status> {
        let broken = || BenchError::io("use a connection any more");
        self.response.clear();
        self.stream.write_all(request).await.map_err(broken())?;
        loop {
            if self.stream.read_buf(&mut self.response).await.map_err(broken())? == 0 {
                return Err(broken()(io::ErrorKind::UnexpectedEof.into()));
            }
            if let Some(status) = self.reader.status(&self.response) {
                return Ok(status);
            }
        }
    }

    /// The last response, as far as it was received.
    pub fn response(&self) -> &[u8] {
        &self.response
    }
}

/// A blocking connection over HTTP, for requests that are not measured.
pub struct Connection {
    stream: TcpStream,
    server: String,
}

impl Connection {
    /// Connects to a server, which error messages call by this name.
    pub fn open(server: impl Into<String>, address: SocketAddr) -> Result<Self> {
        let server = server.into();
        let stream = TcpStream::connect(address).and_then(|stream| {
            stream.set_read_timeout(Some(TIMEOUT))?;
            stream.set_nodelay(true)?;
            Ok(stream)
        });
        let stream = stream.map_err(BenchError::io(format!("connect to {server}")))?;
        Ok(Self { stream, server })
    }

    /// Sends a request; the status of the response, and its body.
    pub fn send(&mut self, request: &[u8]) -> Result<(Status, Vec<u8>)> {
        let failed = || BenchError::io(format!("get a response of {}", self.server));
        self.stream.write_all(request).map_err(failed())?;
        let (mut reader, mut response, mut part) = (ResponseReader::http(), Vec::new(), [0; 1 << 14]);
        loop {
            let read = self.stream.read(&mut part).map_err(failed())?;
            if read == 0 {
                return Err(failed()(io::ErrorKind::UnexpectedEof.into()));
            }
            response.extend_from_slice(&part[..read]);
            if let Some(status) = reader.status(&response) {
                let body = body(&response).ok_or_else(|| self.unexpected(&response))?;
                return Ok((status, body));
            }
        }
    }

    /// Sends a request; the response as JSON.
    pub fn json(&mut self, request: &[u8]) -> Result<Value> {
        let (_, body) = self.send(request)?;
        serde_json::from_slice(&body).map_err(|_| self.unexpected(&body))
    }

    /// Sends a query; the `data` of a response without errors.
    pub fn data(&mut self, request: &[u8]) -> Result<Value> {
        let mut response = self.json(request)?;
        if response["errors"].is_null() && !response["data"].is_null() {
            return Ok(response["data"].take());
        }
        Err(self.unexpected(response.to_string().as_bytes()))
    }

    /// The error for a response that cannot be used.
    pub fn unexpected(&self, response: &[u8]) -> BenchError {
        BenchError::Response { server: self.server.clone(), response: String::from_utf8_lossy(response).into_owned() }
    }
}

/// Finds the end of one response after the other while their bytes arrive.
struct ResponseReader {
    protocol: Protocol,
    errors: Finder<'static>,
}

enum Protocol {
    /// The head, once it is complete.
    Http { head: Option<Head> },
    /// The length of the messages that were read, and the last error among them.
    Postgres { read: usize, error: Option<String> },
}

/// What ends the body of an HTTP response.
#[derive(Clone, Copy)]
struct Head {
    status: u16,
    /// The length of the head.
    length: usize,
    /// `None` where the body is chunked.
    content_length: Option<usize>,
}

impl ResponseReader {
    fn http() -> Self {
        Self { protocol: Protocol::Http { head: None }, errors: Finder::new(b"\"errors\"") }
    }

    fn postgres() -> Self {
        Self { protocol: Protocol::Postgres { read: 0, error: None }, ..Self::http() }
    }

    /// The status of the response once all of it has arrived; the next call begins a new response.
    fn status(&mut self, bytes: &[u8]) -> Option<Status> {
        match &mut self.protocol {
            Protocol::Http { head } => {
                if head.is_none() {
                    *head = parse_head(bytes);
                }
                let Head { status, length, content_length } = (*head)?;
                let body = &bytes[length..];
                let is_complete = match content_length {
                    Some(length) => body.len() >= length,
                    None => body == b"0\r\n\r\n" || body.ends_with(b"\r\n0\r\n\r\n"),
                };
                if !is_complete {
                    return None;
                }
                *head = None;
                if status == 200 && self.errors.find(body).is_none() {
                    return Some(Status::Ok);
                }
                Some(Status::Error(match error_code(body) {
                    Some(code) => format!("{status} {code}"),
                    None => status.to_string(),
                }))
            }
            Protocol::Postgres { read, error } => {
                while let Some([kind, length @ ..]) = bytes.get(*read..*read + 5) {
                    let end = *read + 1 + u32::from_be_bytes(length.try_into().ok()?) as usize;
                    let message = bytes.get(*read + 5..end)?;
                    *read = end;
                    match kind {
                        b'E' => *error = Some(error_message(message)),
                        // Ready for the next query.
                        b'Z' => {
                            *read = 0;
                            return Some(error.take().map_or(Status::Ok, Status::Error));
                        }
                        _ => {}
                    }
                }
                None
            }
        }
    }
}

fn parse_head(bytes: &[u8]) -> Option<Head> {
    let mut headers = [httparse::EMPTY_HEADER; 32];
    let mut response = httparse::Response::new(&mut headers);
    let httparse::Status::Complete(length) = response.parse(bytes).ok()? else { return None };
    let content_length = response.headers.iter().find(|header| header.name.eq_ignore_ascii_case("content-length"));
    let content_length = content_length.and_then(|header| std::str::from_utf8(header.value).ok()?.trim().parse().ok());
    Some(Head { status: response.code?, length, content_length })
}

/// The body of a complete response.
fn body(response: &[u8]) -> Option<Vec<u8>> {
    let head = parse_head(response)?;
    let mut rest = &response[head.length..];
    if let Some(length) = head.content_length {
        return Some(rest.get(..length)?.to_vec());
    }
    let mut body = Vec::new();
    while let httparse::Status::Complete((start, size)) = httparse::parse_chunk_size(rest).ok()? {
        let end = start + usize::try_from(size).ok()?;
        body.extend_from_slice(rest.get(start..end)?);
        rest = rest.get(end + 2..)?;
        if size == 0 {
            return Some(body);
        }
    }
    None
}

/// The first error code of a GraphQL response.
fn error_code(body: &[u8]) -> Option<String> {
    let start = memmem::find(body, b"\"code\":\"")? + 8;
    let code = body[start..].split(|byte| *byte == b'"').next()?;
    Some(String::from_utf8_lossy(code).into_owned())
}

/// The text of PostgreSQL's error message.
fn error_message(message: &[u8]) -> String {
    let mut fields = message.split(|byte| *byte == 0);
    let text = fields.find_map(|field| field.strip_prefix(b"M"));
    String::from_utf8_lossy(text.unwrap_or(b"an error")).into_owned()
}
