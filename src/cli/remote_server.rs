//! A server that commands ask, at the address that they are given.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::Uri;
use hyper::http::request::Builder;

use crate::cli::http_client::{Answer, ServerAddress, send};
use crate::cli::outcome::Outcome;
use crate::http::socket::tls;

/// How long the server may take: longer than the deadline of any query.
const TIMEOUT: Duration = Duration::from_mins(10);

/// The address of a server, as it is written.
#[derive(Debug, Clone)]
pub(crate) enum Url {
    Plain(String),
    Encrypted(String),
    Unix(String),
}

/// A server to ask.
#[derive(Debug)]
pub(crate) struct RemoteServer {
    address: ServerAddress,
    host: String,
}

/// Parses the address of a server. Paths are the service's own.
pub(crate) fn url(text: &str) -> Result<Url, String> {
    if let Some(path) = text.strip_prefix("unix:") {
        return Ok(Url::Unix(path.to_owned()));
    }
    let wrong = || "http://HOST:PORT, https://HOST:PORT or unix:/PATH is wanted".to_owned();
    let uri: Uri = text.parse().map_err(|_| wrong())?;
    let host = uri.host().ok_or_else(wrong)?;
    match uri.scheme_str() {
        Some("http") => Ok(Url::Plain(format!("{host}:{}", uri.port_u16().unwrap_or(80)))),
        Some("https") => Ok(Url::Encrypted(format!("{host}:{}", uri.port_u16().unwrap_or(443)))),
        _ => Err(wrong()),
    }
}

impl RemoteServer {
    /// The server there. One with TLS is trusted if an authority of the file, or of the system, has signed its certificate.
    pub(crate) fn new(url: Url, authorities: Option<&Path>) -> Outcome<Self> {
        let (address, host) = match url {
            Url::Plain(address) => (ServerAddress::Plain(address.clone()), address),
            Url::Encrypted(address) => {
                (ServerAddress::Encrypted(address.clone(), Arc::new(tls::client(authorities)?)), address)
            }
            Url::Unix(path) => (ServerAddress::Unix(path.into()), "localhost".to_owned()),
        };
        Ok(Self { address, host })
    }

    /// Sends a request, which needs no `Host`, and returns the response.
    pub(crate) async fn send(&self, request: Builder, body: impl Into<Bytes>) -> Outcome<Answer> {
        let request = request.header("host", &self.host).body(Full::new(body.into()))?;
        Ok(send(&self.address, request, TIMEOUT).await?)
    }
}
