//! `GET /config`: the settings in force, and where each comes from. Secrets are not shown.
//!
//! A web page in an operator's browser could have its own name resolve to this server's address (DNS rebinding). Then it would be allowed
//! to read responses from that name. So the settings are not shown under names that anybody can register.

use std::net::IpAddr;

use hyper::StatusCode;
use hyper::header;
use hyper::http::request::Parts as Head;
use hyper::http::uri::Authority;
use serde_json::Value;

use crate::api::errors::endpoint_error::EndpointError;
use crate::api::negotiate::Media;
use crate::http::response::{HttpResponse, json_response};

/// Responds with the settings.
pub(crate) fn respond(settings: &Value, head: &Head) -> Result<HttpResponse, EndpointError> {
    let header = head.headers.get(header::HOST).and_then(|host| Authority::try_from(host.as_bytes()).ok());
    // HTTP/2 has it in the target.
    let hosts = [head.uri.host(), header.as_ref().map(Authority::host)];
    if !hosts.into_iter().flatten().all(is_address_or_label) {
        return Err(EndpointError::RegisteredName);
    }
    Ok(json_response(StatusCode::OK, Media::Json.content_type(), settings))
}

/// Whether a host is an address, or a name of one label, such as `localhost`.
fn is_address_or_label(host: &str) -> bool {
    !host.contains('.') || host.trim_matches(['[', ']']).parse::<IpAddr>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_and_single_labels_are_nobodys_domains() {
        for host in ["localhost", "orderql-1", "127.0.0.1", "[::1]", "[::ffff:10.0.0.1]", ""] {
            assert!(is_address_or_label(host), "{host}");
        }
        for host in ["example.com", "localhost.", "127.0.0.1.nip.io", "10.0.0.1.", "a.b"] {
            assert!(!is_address_or_label(host), "{host}");
        }
    }
}
