//! The server that is asked, as the caller, and its schema as the caller sees it.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use std::{fs, io};

use hyper::header::{AUTHORIZATION, ETAG, IF_NONE_MATCH};
use hyper::http::request::Parts;
use hyper::{Request as HttpRequest, StatusCode};
use serde_json::Value;
use thiserror::Error;
use tokio::task::spawn_blocking;

use crate::cli::http_client::Answer;
use crate::cli::mcp::checked_tokens::CheckedTokens;
use crate::cli::mcp::reply::ToolRefusal;
use crate::cli::outcome::Outcome;
use crate::cli::query::remote::graphql;
use crate::cli::query::response::Ordered;
use crate::cli::remote_server::RemoteServer;
use crate::outline::Outline;
use crate::query::Request;

/// The most schemas that are kept: callers with different grants see different ones.
const MAX_SCHEMAS: usize = 16;

/// How long a query may wait for its credits, in place of a refusal that the agent would have to wait for.
const PREFER: (&str, &str) = ("prefer", "wait=20");

/// The source of the caller's token.
#[derive(Debug)]
pub(super) enum TokenSource {
    Token(String),
    /// A file that is read each time.
    File(PathBuf),
    /// The `Authorization` of the agent's request.
    OfRequest,
}

/// There is no token.
#[derive(Debug, Error)]
pub(super) enum CredentialsError {
    #[error("the token's file cannot be read")]
    File(#[from] io::Error),
    #[error("the request has no Authorization")]
    Missing,
}

/// The server.
#[derive(Debug)]
pub(super) struct ToolBackend {
    server: RemoteServer,
    credentials: TokenSource,
    /// By their entity tags; the one that was used last at the end.
    schemas: Mutex<TaggedSchemas>,
    checked: CheckedTokens,
}

/// Schemas with their entity tags.
type TaggedSchemas = VecDeque<(String, Arc<Outline>)>;

/// A request's caller, as an `Authorization`.
pub(super) struct Authorization(String);

impl ToolBackend {
    pub(super) fn new(server: RemoteServer, credentials: TokenSource) -> Self {
        Self { server, credentials, schemas: Mutex::default(), checked: CheckedTokens::default() }
    }

    /// The caller of a request. Only requests over HTTP have a head.
    pub(super) fn caller(&self, head: Option<&Parts>) -> Result<Authorization, CredentialsError> {
        Ok(Authorization(match &self.credentials {
            TokenSource::Token(token) => format!("Bearer {token}"),
            TokenSource::File(file) => format!("Bearer {}", fs::read_to_string(file)?.trim()),
            TokenSource::OfRequest => {
                let value = head.and_then(|head| head.headers.get(AUTHORIZATION)?.to_str().ok());
                value.ok_or(CredentialsError::Missing)?.to_owned()
            }
        }))
    }

    /// The status with which the server rejects an `Authorization`, if it does.
    pub(super) async fn rejection(&self, authorization: &str) -> Outcome<Option<StatusCode>> {
        let now = Instant::now();
        if self.checked.contains(authorization, now) {
            return Ok(None);
        }
        // With the tags of the schemas, so that the response has none of them.
        let known = self.schemas().clone();
        let status = self.fetch_schema(&Authorization(authorization.to_owned()), &known).await?.status;
        if matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
            return Ok(Some(status));
        }
        self.checked.add(authorization, now);
        Ok(None)
    }

    /// The price of a query, or its errors.
    pub(super) async fn price(&self, caller: &Authorization, request: &Request) -> Result<Ordered, ToolRefusal> {
        self.graphql(caller, request, &[("graphql-cost", "validate")]).await
    }

    /// Runs a query.
    pub(super) async fn run(&self, caller: &Authorization, request: &Request) -> Result<Ordered, ToolRefusal> {
        self.graphql(caller, request, &[PREFER]).await
    }

    async fn graphql(
        &self,
        caller: &Authorization,
        request: &Request,
        headers: &[(&str, &str)],
    ) -> Result<Ordered, ToolRefusal> {
        graphql(&self.server, &caller.0, request, headers).await.map_err(|error| ToolRefusal::unreachable(&*error))
    }

    /// The schema as the caller sees it.
    pub(super) async fn schema(&self, caller: &Authorization) -> Result<Arc<Outline>, ToolRefusal> {
        let known = self.schemas().clone();
        let answer = self.fetch_schema(caller, &known).await.map_err(|error| ToolRefusal::unreachable(&*error))?;
        let tag = answer.headers.get(ETAG).and_then(|tag| tag.to_str().ok()).unwrap_or_default().to_owned();
        let schema = match answer.status {
            StatusCode::NOT_MODIFIED => {
                known.iter().find(|(known, _)| *known == tag).map(|(_, schema)| Arc::clone(schema))
            }
            StatusCode::OK => {
                let parse = move || Outline::parse(str::from_utf8(&answer.body).ok()?).ok().map(Arc::new);
                // It takes more than a millisecond.
                spawn_blocking(parse).await.ok().flatten()
            }
            _ => {
                let body: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
                return Err(ToolRefusal::by_server(&body["errors"]));
            }
        };
        let schema =
            schema.ok_or_else(|| ToolRefusal::new("SERVER_UNREACHABLE", "the server's schema cannot be read"))?;
        self.keep(tag, &schema);
        Ok(schema)
    }

    async fn fetch_schema(&self, caller: &Authorization, known: &TaggedSchemas) -> Outcome<Answer> {
        let tags: Vec<_> = known.iter().map(|(tag, _)| tag.as_str()).collect();
        let request = HttpRequest::get("/rest/s1/graphql/sdl").header(AUTHORIZATION, &caller.0);
        let request = if tags.is_empty() { request } else { request.header(IF_NONE_MATCH, tags.join(", ")) };
        self.server.send(request, "").await
    }

    fn keep(&self, tag: String, schema: &Arc<Outline>) {
        let mut schemas = self.schemas();
        schemas.retain(|(known, _)| *known != tag);
        schemas.push_back((tag, Arc::clone(schema)));
        if schemas.len() > MAX_SCHEMAS {
            schemas.pop_front();
        }
    }

    /// A panic elsewhere cannot leave them inconsistent.
    fn schemas(&self) -> MutexGuard<'_, TaggedSchemas> {
        self.schemas.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
