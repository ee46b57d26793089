//! `http_head`: the bytes of an HTTP/1.1 connection.
//!
//! - hyper and `httparse` agree on every request that hyper serves: its method and its body.
//! - hyper serves no request after one with both a length and a transfer encoding, whose body a proxy could end elsewhere.
//! - The service takes no request with two hosts.
//! - Credentials and addresses are from the fields that the request has; a GraphQL request in the target or the body, written
//!   anew, is read as the same.

use std::cell::RefCell;
use std::convert::Infallible;
use std::io::{self, IoSlice};
use std::net::{IpAddr, Ipv4Addr};
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use form_urlencoded::Serializer;
use http_body_util::{BodyExt, Empty};
use hyper::body::{Bytes, Incoming};
use hyper::http::request::Parts;
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, header};
use orderql::fuzzing::head::{
    Envelope, bare_response, basic, bearer, client_address, coding, envelope_of_body, envelope_of_target, is_json,
    is_taken, media,
};
use serde_json::json;

/// The service's limit on a head.
const MAX_HEAD: usize = 32 * 1024;
/// More than hyper asks to be polled again.
const POLLS: usize = 100_000;

/// Runs the target.
pub fn run(data: &[u8]) {
    if let Some(start) = bare_response(data) {
        assert!(data[start..].starts_with(b"HTTP/1.1 4"));
    }
    let served = serve(data);
    let count = served.len();
    let messages = messages(data);
    for (index, (mut head, body)) in served.into_iter().enumerate() {
        let Some(message) = messages.get(index) else { panic!("only hyper has request {index}: {head:?}") };
        assert_eq!(head.method.as_str(), message.method);
        let is_ambiguous = message.is_encoded && message.length.is_some();
        assert!(!is_ambiguous || index + 1 == count, "a request is served after request {index}: {message:?}");
        if let (Some(body), Some(expected)) = (&body, &message.body) {
            assert_eq!(body, expected);
        }
        check_head(&mut head);
        if let Some(body) = body {
            check_body(&body);
        }
        if head.method == hyper::Method::CONNECT || head.headers.contains_key(header::UPGRADE) {
            break;
        }
    }
}

/// The requests that hyper serves, and the bodies of those whose body it can read.
fn serve(data: &[u8]) -> Vec<(Parts, Option<Bytes>)> {
    let served = RefCell::new(Vec::new());
    let service = service_fn(|request: Request<Incoming>| {
        let (head, body) = request.into_parts();
        let index = served.borrow().len();
        served.borrow_mut().push((head, None));
        let served = &served;
        async move {
            if let Ok(body) = body.collect().await {
                served.borrow_mut()[index].1 = Some(body.to_bytes());
            }
            Ok::<_, Infallible>(Response::new(Empty::<Bytes>::new()))
        }
    });
    let mut builder = http1::Builder::new();
    builder.header_read_timeout(None).max_buf_size(MAX_HEAD);
    let mut connection = pin!(builder.serve_connection(Wire(data), service));
    let mut context = Context::from_waker(Waker::noop());
    // Everything is there, so whoever is not ready asks to be polled again.
    let is_done = (0..POLLS).any(|_| connection.as_mut().poll(&mut context).is_ready());
    assert!(is_done, "the connection hangs");
    served.take()
}

/// The client's end of a connection: bytes that were sent, and then the end. What is sent back is dropped.
struct Wire<'a>(&'a [u8]);

impl Read for Wire<'_> {
    fn poll_read(mut self: Pin<&mut Self>, _: &mut Context<'_>, mut to: ReadBufCursor<'_>) -> Poll<io::Result<()>> {
        let (part, rest) = self.0.split_at(self.0.len().min(to.remaining()));
        to.put_slice(part);
        self.0 = rest;
        Poll::Ready(Ok(()))
    }
}

impl Write for Wire<'_> {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Poll::Ready(Ok(parts.iter().map(|part| part.len()).sum()))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// A request as `httparse` reads it.
#[derive(Debug)]
struct Message<'a> {
    method: &'a str,
    is_encoded: bool,
    length: Option<usize>,
    /// `None` if it is not complete.
    body: Option<Vec<u8>>,
}

/// The requests, up to the first that is malformed or incomplete.
fn messages(mut data: &[u8]) -> Vec<Message<'_>> {
    let mut messages = Vec::new();
    loop {
        let mut headers = [httparse::EMPTY_HEADER; 100];
        let mut request = httparse::Request::new(&mut headers);
        let Ok(httparse::Status::Complete(head)) = request.parse(data) else { return messages };
        let named = |wanted: &str| request.headers.iter().find(|header| header.name.eq_ignore_ascii_case(wanted));
        let is_encoded = named("transfer-encoding").is_some();
        let length = named("content-length").map(|header| str::from_utf8(header.value).unwrap_or_default());
        let length = length.map(|text| text.trim().parse::<usize>().unwrap_or(usize::MAX));
        let method = request.method.unwrap_or_default();
        data = &data[head..];
        let body = if is_encoded {
            chunked(data)
        } else {
            data.split_at_checked(length.unwrap_or(0)).map(|(body, rest)| (body.to_vec(), rest))
        };
        let (body, rest) = body.map_or((None, &[][..]), |(body, rest)| (Some(body), rest));
        data = rest;
        let is_complete = body.is_some();
        messages.push(Message { method, is_encoded, length, body });
        if !is_complete {
            return messages;
        }
    }
}

/// A body in chunks, and what follows its trailers.
fn chunked(mut data: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let mut body = Vec::new();
    loop {
        let httparse::Status::Complete((used, size)) = httparse::parse_chunk_size(data).ok()? else { return None };
        data = &data[used..];
        if size == 0 {
            return Some((body, after_trailers(data)?));
        }
        let (chunk, rest) = data.split_at_checked(usize::try_from(size).ok()?)?;
        body.extend_from_slice(chunk);
        data = rest.strip_prefix(b"\r\n")?;
    }
}

/// What follows the first empty line. As hyper, which goes on with the next request after trailers that are malformed: the
/// request before has no body then.
fn after_trailers(mut data: &[u8]) -> Option<&[u8]> {
    loop {
        let end = data.iter().position(|byte| *byte == b'\r')?;
        data = data[end..].strip_prefix(b"\r\n")?;
        if end == 0 {
            return Some(data);
        }
    }
}

fn check_head(head: &mut Parts) {
    if is_taken(head) {
        assert!(head.headers.get_all(header::HOST).iter().count() <= 1);
    }
    let headers = &head.headers;
    if headers.get_all(header::ACCEPT).iter().next().is_none() {
        assert_eq!(media(headers).expect("one is accepted"), "application/json; charset=utf-8");
    }
    media(headers);
    is_json(headers);
    for codings in ["on", "off", "gzip,br"] {
        coding(headers, codings);
    }
    let sent = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if let Some((user_id, password)) = basic(headers) {
        assert!(!user_id.contains(':'));
        assert!(!user_id.chars().chain(password.chars()).any(char::is_control));
        assert_eq!(bearer(headers), None);
    }
    if let Some(token) = bearer(headers) {
        assert!(!token.is_empty() && sent.trim_end().ends_with(token));
    }
    if let Ok(envelope) = envelope_of_target(head.uri.query()) {
        assert_eq!(envelope_of_target(Some(&target(&envelope))), Ok(envelope));
    }
    let peer = IpAddr::V4(Ipv4Addr::LOCALHOST);
    let lists: Vec<_> =
        head.headers.get_all("x-forwarded-for").iter().map(|list| list.to_str().unwrap_or_default()).collect();
    let last = lists.last().and_then(|list| list.rsplit(',').next()?.trim().parse::<IpAddr>().ok());
    let expected = last.unwrap_or(peer);
    assert_eq!(client_address(head, peer, &[]), Some(peer), "a list that no proxy sent is believed");
    if expected != peer {
        assert_eq!(client_address(head, peer, &[peer]), Some(expected));
    }
}

fn check_body(body: &[u8]) {
    let Ok(envelope) = envelope_of_body(body) else { return };
    let Envelope { query, operation_name, variables, extensions } = &envelope;
    let mut object = json!({ "operationName": operation_name, "variables": variables, "extensions": extensions });
    if let Some(query) = query {
        object["query"] = json!(query);
    }
    assert_eq!(envelope_of_body(object.to_string().as_bytes()), Ok(envelope));
}

/// A GraphQL request as the query component of a target.
fn target(Envelope { query, operation_name, variables, extensions }: &Envelope) -> String {
    let mut serializer = Serializer::new(String::new());
    if let Some(query) = query {
        serializer.append_pair("query", query);
    }
    serializer.append_pair("operationName", operation_name.as_deref().unwrap_or_default());
    serializer.append_pair("variables", &json!(variables).to_string());
    serializer.append_pair("extensions", &json!(extensions).to_string());
    serializer.finish()
}
