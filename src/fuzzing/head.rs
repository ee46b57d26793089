//! Heads of requests: what the service reads from their fields; and hyper's bare responses.

use std::net::IpAddr;

use hyper::HeaderMap;
use hyper::header::HeaderValue;
use hyper::http::request::Parts;
use serde_json::{Map, Value};

use crate::api::credentials;
use crate::api::graphql::request::request_envelope::{self, GraphqlRequest};
use crate::api::negotiate;
use crate::http::address_range::AddressRange;
use crate::http::coding::{self, Codings};
use crate::http::hyper_io::bare_response::BareResponse;
use crate::http::request::client_address;
use crate::http::request::head as request_head;

/// Whether the service takes a head.
pub fn is_taken(head: &Parts) -> bool {
    request_head::check(head).is_ok()
}

/// The content type of the response; `None` if `Accept` excludes all.
pub fn media(headers: &HeaderMap) -> Option<HeaderValue> {
    negotiate::accepted(headers).ok().map(negotiate::Media::content_type)
}

/// Whether the body is declared to be JSON in UTF-8.
pub fn is_json(headers: &HeaderMap) -> bool {
    negotiate::require_json(headers).is_ok()
}

/// The content coding of the response, among the codings of a setting; `None` if there is no such setting, or if `Accept-Encoding` excludes
/// all.
pub fn coding(headers: &HeaderMap, codings: &str) -> Option<String> {
    let choice = coding::accepted(headers, &Codings::parse(codings)?).ok()?;
    Some(format!("{choice:?}"))
}

/// The name and password of Basic credentials.
pub fn basic(headers: &HeaderMap) -> Option<(String, String)> {
    credentials::basic(headers).map(|basic| (basic.user_id, basic.password))
}

/// The Bearer token.
pub fn bearer(headers: &HeaderMap) -> Option<&str> {
    credentials::bearer(headers)
}

/// The client's address behind trusted proxies.
pub fn client_address(head: &Parts, peer: IpAddr, trusted: &[IpAddr]) -> Option<IpAddr> {
    let trusted: Vec<_> = trusted.iter().filter_map(|address| AddressRange::parse(&address.to_string())).collect();
    Some(client_address::of(peer, &head.headers, &trusted))
}

/// A GraphQL request as the client sent it.
#[derive(Debug, PartialEq, Eq)]
pub struct Envelope {
    /// The query's text.
    pub query: Option<String>,
    /// The operation's name.
    pub operation_name: Option<String>,
    /// The values of variables.
    pub variables: Map<String, Value>,
    /// The client's additions to the protocol.
    pub extensions: Map<String, Value>,
}

impl From<GraphqlRequest> for Envelope {
    fn from(GraphqlRequest { query, operation_name, variables, extensions, .. }: GraphqlRequest) -> Self {
        // Both are objects, or absent.
        let members = |text: Option<Box<str>>| {
            text.map(|text| serde_json::from_str(&text).unwrap_or_default()).unwrap_or_default()
        };
        Self { query, operation_name, variables: members(variables), extensions: members(extensions) }
    }
}

/// The request in a target's query component. Fails with the message that the client gets.
pub fn envelope_of_target(component: Option<&str>) -> Result<Envelope, String> {
    request_envelope::from_target(component).map(Envelope::from).map_err(|error| error.to_string())
}

/// The request in a body.
pub fn envelope_of_body(body: &[u8]) -> Result<Envelope, String> {
    request_envelope::from_body(body).map(Envelope::from).map_err(|error| error.to_string())
}

/// The place where hyper's own response begins in written bytes.
pub fn bare_response(written: &[u8]) -> Option<usize> {
    BareResponse::find(written).map(|response| response.start)
}
