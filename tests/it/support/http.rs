//! HTTP/1.1 as bytes: heads of requests, and responses.

use std::collections::HashMap;
use std::io::{ErrorKind, Read};
use std::net::TcpStream;

use serde_json::{Value, json};

/// The media type whose responses have the status 200 for every well-formed GraphQL request.
pub const JSON: &str = "application/json";

/// The media type whose responses have a status that depends on the error.
pub const GRAPHQL_JSON: &str = "application/graphql-response+json";

/// A complete response. Its header names are in lower case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    pub status: u16,
    pub headers: HashMap<String, String>,
    pub body: String,
}

impl Response {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }

    /// The body as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The code of the first error, or an empty text.
    pub fn code(&self) -> String {
        self.json()["errors"][0]["extensions"]["code"].as_str().unwrap_or_default().to_owned()
    }

    /// `extensions.cost.throttleStatus`.
    pub fn throttle_status(&self) -> Value {
        self.json()["extensions"]["cost"]["throttleStatus"].take()
    }

    /// The credits that the caller has left, from `extensions.cost.throttleStatus`.
    pub fn available(&self) -> u64 {
        self.throttle_status()["currentlyAvailable"].as_u64().unwrap_or_else(|| panic!("{self:?}"))
    }
}

/// The header that carries a token.
pub fn bearer(token: &str) -> String {
    format!("Authorization: Bearer {token}")
}

/// A complete GraphQL request on a connection of its own.
pub fn graphql_request(token: &str, accept: &str, query: &str) -> String {
    with_body(&graphql_head(token, accept), &json!({ "query": query }).to_string())
}

/// The head of a GraphQL request, up to its length.
pub fn graphql_head(token: &str, accept: &str) -> String {
    format!(
        "POST /rest/s1/graphql HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {token}\r\nAccept: {accept}\r\n\
         Content-Type: application/json\r\n"
    )
}

/// Completes a head that has not ended with the body's length and the body. The server closes the connection afterwards.
pub fn with_body(head: &str, body: &str) -> String {
    format!("{head}Content-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len())
}

/// Reads until the server closes the connection.
pub fn read_to_end(stream: TcpStream) -> String {
    String::from_utf8_lossy(&read_bytes(stream)).into_owned()
}

fn read_bytes(mut stream: TcpStream) -> Vec<u8> {
    let mut bytes = Vec::new();
    match stream.read_to_end(&mut bytes) {
        Ok(_) => {}
        // A connection that the server cuts off may be reset after the last bytes.
        Err(error) if error.kind() == ErrorKind::ConnectionReset => {}
        Err(error) => panic!("{error} after {:?}", String::from_utf8_lossy(&bytes)),
    }
    bytes
}

/// Reads byte by byte until the text has arrived, and returns what was read.
pub fn read_until(mut stream: &TcpStream, text: &str) -> String {
    let mut read = String::new();
    while !read.ends_with(text) {
        let mut byte = [0];
        stream.read_exact(&mut byte).unwrap_or_else(|error| panic!("{error} after {read:?}"));
        read.push(char::from(byte[0]));
    }
    read
}

/// Reads complete responses until the server closes the connection.
pub fn read_responses(stream: TcpStream) -> Vec<Response> {
    let text = read_to_end(stream);
    let mut rest = text.as_str();
    let mut responses = Vec::new();
    while let Some((head, after)) = rest.split_once("\r\n\r\n") {
        let (status, headers) = parse_head(head);
        let (body, next) = match (status, headers.get("content-length")) {
            (100..=199 | 204 | 304, _) => (String::new(), after),
            (_, Some(length)) => {
                let (body, next) = after.split_at(length.parse().unwrap());
                (body.to_owned(), next)
            }
            (_, None) if headers.contains_key("transfer-encoding") => {
                let (body, next) = join_chunks(after.as_bytes());
                (String::from_utf8(body).unwrap(), str::from_utf8(next).unwrap())
            }
            (_, None) => (String::new(), after),
        };
        responses.push(Response { status, headers, body });
        rest = next;
    }
    assert_eq!(rest, "", "an incomplete response");
    responses
}

/// Reads the only response of a connection that the server closes, and returns its body as bytes.
pub fn read_last_response(stream: TcpStream) -> (Response, Vec<u8>) {
    let bytes = read_bytes(stream);
    let end = bytes.windows(4).position(|window| window == b"\r\n\r\n");
    let end = end.unwrap_or_else(|| panic!("no response: {:?}", String::from_utf8_lossy(&bytes)));
    let (status, headers) = parse_head(str::from_utf8(&bytes[..end]).unwrap());
    let body = &bytes[end + 4..];
    let body = match headers.get("transfer-encoding") {
        Some(_) => join_chunks(body).0,
        None => body.to_vec(),
    };
    (Response { status, headers, body: String::new() }, body)
}

fn parse_head(head: &str) -> (u16, HashMap<String, String>) {
    let mut lines = head.split("\r\n");
    let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
    let mut headers = HashMap::new();
    for line in lines {
        let (name, value) = line.split_once(": ").unwrap_or((line, ""));
        let previous = headers.insert(name.to_ascii_lowercase(), value.to_owned());
        assert_eq!(previous, None, "the header {name} comes twice");
    }
    (status, headers)
}

/// Joins the chunks of a body and returns what follows it. Panics if a chunk is incomplete.
fn join_chunks(mut bytes: &[u8]) -> (Vec<u8>, &[u8]) {
    let mut body = Vec::new();
    loop {
        let end = bytes.windows(2).position(|window| window == b"\r\n").unwrap();
        let size = usize::from_str_radix(str::from_utf8(&bytes[..end]).unwrap(), 16).unwrap();
        let chunk = &bytes[end + 2..];
        body.extend_from_slice(&chunk[..size]);
        bytes = chunk[size..].strip_prefix(b"\r\n").unwrap();
        if size == 0 {
            return (body, bytes);
        }
    }
}
