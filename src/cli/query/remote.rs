//! Asks a running server.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use hyper::Request as HttpRequest;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use thiserror::Error;

use crate::cli::admin::password;
use crate::cli::http_client::Answer;
use crate::cli::outcome::Outcome;
use crate::cli::query::nesting;
use crate::cli::query::response::Ordered;
use crate::cli::remote_server::RemoteServer;
use crate::query::Request;

/// Who asks: with a token, or as a user whose token is asked for when it is needed.
pub(super) struct CallerIdentity {
    token: Option<String>,
    credentials: Option<Credentials>,
}

struct Credentials {
    user: String,
    password: String,
}

/// Why there is no response to show.
#[derive(Debug, Error)]
pub(crate) enum RemoteError {
    #[error("name a caller: --token, ORDERQL_TOKEN, or --user")]
    NoCredentials,
    #[error("{user} cannot sign in: {reason}")]
    SignIn { user: String, reason: String },
    #[error("the server's response is no JSON (status {0})")]
    NotJson(u16, #[source] serde_json::Error),
}

/// Who asks. Asks for a password if a user is to sign in.
pub(super) fn caller(token: Option<String>, user: Option<String>) -> Outcome<CallerIdentity> {
    match (token.filter(|token| !token.is_empty()), user) {
        (Some(token), _) => Ok(CallerIdentity { token: Some(token), credentials: None }),
        (None, Some(user)) => {
            Ok(CallerIdentity { token: None, credentials: Some(Credentials { user, password: password()? }) })
        }
        (None, None) => Err(RemoteError::NoCredentials.into()),
    }
}

/// Sends the query and returns the response. A user signs in first, and once more when the token has expired.
pub(super) async fn ask(
    server: &RemoteServer,
    caller: &mut CallerIdentity,
    request: &Request,
    headers: &[(&str, &str)],
) -> Outcome<Ordered> {
    if let Some(token) = &caller.token {
        let response = send(server, token, request, headers).await?;
        let code = response.get("errors").and_then(|errors| errors.values().first()?.get("extensions")?.get("code"));
        let is_expired = code.is_some_and(|code| code.to_value() == "UNAUTHENTICATED");
        if !is_expired || caller.credentials.is_none() {
            return Ok(response);
        }
    }
    let Some(Credentials { user, password }) = &caller.credentials else {
        return Err(RemoteError::NoCredentials.into());
    };
    let token = sign_in(server, user, password).await?;
    send(server, caller.token.insert(token), request, headers).await
}

async fn send(server: &RemoteServer, token: &str, request: &Request, headers: &[(&str, &str)]) -> Outcome<Ordered> {
    graphql(server, &format!("Bearer {token}"), request, headers).await
}

/// Sends a query with an `Authorization` and further headers, and returns the response.
pub(crate) async fn graphql(
    server: &RemoteServer,
    authorization: &str,
    request: &Request,
    headers: &[(&str, &str)],
) -> Outcome<Ordered> {
    let body = json!({
        "query": request.query, "operationName": request.operation_name, "variables": request.variables,
    });
    let sent = HttpRequest::post("/rest/s1/graphql")
        .header("authorization", authorization)
        .header("content-type", "application/json")
        .header("accept", "application/json");
    let sent = headers.iter().fold(sent, |sent, (name, value)| sent.header(*name, *value));
    Ok(parse(&server.send(sent, body.to_string()).await?)?)
}

async fn sign_in(server: &RemoteServer, user: &str, password: &str) -> Outcome<String> {
    let credentials = BASE64_STANDARD.encode(format!("{user}:{password}"));
    let sent = HttpRequest::post("/auth/token").header("authorization", format!("Basic {credentials}"));
    let answer: Value = parse(&server.send(sent, "").await?)?;
    let reason = || answer["errors"][0]["message"].as_str().unwrap_or("there is no token").to_owned();
    let token = answer["access_token"].as_str().map(str::to_owned);
    Ok(token.ok_or_else(|| RemoteError::SignIn { user: user.to_owned(), reason: reason() })?)
}

fn parse<T: DeserializeOwned>(answer: &Answer) -> Result<T, RemoteError> {
    serde_json::from_slice(&nesting::cut(&answer.body))
        .map_err(|error| RemoteError::NotJson(answer.status.as_u16(), error))
}
