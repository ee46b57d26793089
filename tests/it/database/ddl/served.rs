//! A server whose tables are changed, and what it answers.

use std::ops::Deref;

use serde_json::Value;

use crate::database::ddl::changes::QUERIES;
use crate::own_schemas::OwnSchema;
use crate::support::http::GRAPHQL_JSON;
use crate::support::server::{Server, connection_string};

/// A server of the schema, and a token.
pub(super) struct Served {
    pub(super) server: Server,
    pub(super) token: String,
}

impl Deref for Served {
    type Target = Server;

    fn deref(&self) -> &Server {
        &self.server
    }
}

impl Served {
    pub(super) fn start(own: &OwnSchema, token: Option<String>) -> Self {
        let database = connection_string(&own.database.config());
        let flags = ["--schema", &own.file(), "--admin-listen", "0", "--bucket-size", "1000000000"];
        let server = Server::start_with_common_key(&database, &flags);
        let token = token.unwrap_or_else(|| server.token("demo"));
        Self { server, token }
    }

    /// What the request is answered: its data, or the code of its error.
    pub(super) fn answer(&self, query: &str) -> Value {
        let response = self.query_as(GRAPHQL_JSON, &self.token, query);
        if response.status == 200 && response.code().is_empty() {
            return response.json()["data"].take();
        }
        if response.code() == "SCHEMA_CHANGED" {
            assert_eq!(response.status, 503, "{response:?}");
        }
        response.code().into()
    }

    pub(super) fn answers(&self) -> Vec<Value> {
        QUERIES.iter().map(|query| self.answer(query)).collect()
    }
}

/// The answer of a request that the tables do not fit.
pub(super) fn changed() -> Value {
    "SCHEMA_CHANGED".into()
}
