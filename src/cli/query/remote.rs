//! Asks a running server.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use http_body_util::Full;
use hyper::{Request as HttpRequest, Uri};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use thiserror::Error;

use crate::cli::admin::password;
use crate::cli::http_client::{Answer, ServerAddress, send};
use crate::cli::outcome::Outcome;
use crate::cli::query::response::Ordered;
use crate::http::socket::tls;
use crate::query::Request;

/// How long the server may take: longer than the deadline of any query.
const TIMEOUT: Duration = Duration::from_mins(10);

/// The address of a server, as it is written.
#[derive(Debug, Clone)]
pub(super) enum Url {
    Plain(String),
    Encrypted(String),
    Unix(String),
}

/// A server to ask.
pub(super) struct Server {
    address: ServerAddress,
    host: String,
}

/// Who asks: with a token, or as a user whose token is asked for when it is needed.
pub(super) struct Caller {
    token: Option<String>,
    credentials: Option<Credentials>,
}

struct Credentials {
    user: String,
    password: String,
}

/// Why there is no response to show.
#[derive(Debug, Error)]
pub(super) enum RemoteError {
    #[error("name a caller: --token, ORDERQL_TOKEN, or --user")]
    NoCredentials,
    #[error("{user} cannot sign in: {reason}")]
    SignIn { user: String, reason: String },
    #[error("the server's response is no JSON (status {0})")]
    NotJson(u16, #[source] serde_json::Error),
}

/// Parses the address of a server. Paths are the service's own.
pub(super) fn url(text: &str) -> Result<Url, String> {
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

/// Who asks. Asks for a password if a user is to sign in.
pub(super) fn caller(token: Option<String>, user: Option<String>) -> Outcome<Caller> {
    match (token.filter(|token| !token.is_empty()), user) {
        (Some(token), _) => Ok(Caller { token: Some(token), credentials: None }),
        (None, Some(user)) => {
            Ok(Caller { token: None, credentials: Some(Credentials { user, password: password()? }) })
        }
        (None, None) => Err(RemoteError::NoCredentials.into()),
    }
}

impl Server {
    /// The server there. One with TLS is trusted if an authority of the file, or of the system, has signed its certificate.
    pub(super) fn new(url: Url, authorities: Option<&Path>) -> Outcome<Self> {
        let (address, host) = match url {
            Url::Plain(address) => (ServerAddress::Plain(address.clone()), address),
            Url::Encrypted(address) => {
                (ServerAddress::Encrypted(address.clone(), Arc::new(tls::client(authorities)?)), address)
            }
            Url::Unix(path) => (ServerAddress::Unix(path.into()), "localhost".to_owned()),
        };
        Ok(Self { address, host })
    }

    /// Sends the query and returns the response. A user signs in first, and once more when the token has expired.
    pub(super) async fn ask(&self, caller: &mut Caller, request: &Request) -> Outcome<Ordered> {
        if let Some(token) = &caller.token {
            let response = self.send(token, request).await?;
            let code =
                response.get("errors").and_then(|errors| errors.values().first()?.get("extensions")?.get("code"));
            let is_expired = code.is_some_and(|code| code.to_value() == "UNAUTHENTICATED");
            if !is_expired || caller.credentials.is_none() {
                return Ok(response);
            }
        }
        let Some(Credentials { user, password }) = &caller.credentials else {
            return Err(RemoteError::NoCredentials.into());
        };
        let token = self.sign_in(user, password).await?;
        self.send(caller.token.insert(token), request).await
    }

    async fn send(&self, token: &str, request: &Request) -> Outcome<Ordered> {
        let body = json!({
            "query": request.query, "operationName": request.operation_name, "variables": request.variables,
        });
        let sent = HttpRequest::post("/rest/s1/graphql")
            .header("host", &self.host)
            .header("authorization", format!("Bearer {token}"))
            .header("content-type", "application/json")
            .header("accept", "application/json")
            .body(Full::new(Bytes::from(body.to_string())))?;
        Ok(parse(&send(&self.address, sent, TIMEOUT).await?)?)
    }

    async fn sign_in(&self, user: &str, password: &str) -> Outcome<String> {
        let sent = HttpRequest::post("/auth/token")
            .header("host", &self.host)
            .header("authorization", format!("Basic {}", BASE64_STANDARD.encode(format!("{user}:{password}"))))
            .body(Full::new(Bytes::new()))?;
        let answer: Value = parse(&send(&self.address, sent, TIMEOUT).await?)?;
        let reason = || answer["errors"][0]["message"].as_str().unwrap_or("there is no token").to_owned();
        let token = answer["access_token"].as_str().map(str::to_owned);
        Ok(token.ok_or_else(|| RemoteError::SignIn { user: user.to_owned(), reason: reason() })?)
    }
}

fn parse<T: DeserializeOwned>(answer: &Answer) -> Result<T, RemoteError> {
    serde_json::from_slice(&answer.body).map_err(|error| RemoteError::NotJson(answer.status.as_u16(), error))
}
