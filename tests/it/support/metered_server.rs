//! A server for tests of debits and of statements.

use orderql::access::profile::Profile;
use orderql::database::connection::connect::connect;
use serde_json::{Value, json};
use tokio_postgres::Client;

use crate::support::database::{Database, loaded_database};
use crate::support::http::{GRAPHQL_JSON, JSON, Response};
use crate::support::server::Server;
use crate::support::statement_log::StatementLog;
use crate::support::users::create_users;

/// A server whose buckets are never refilled. PostgreSQL logs its statements.
pub struct MeteredServer {
    pub server: Server,
    pub token: String,
    log: StatementLog,
    database: Database,
}

/// A query that costs 4 credits.
pub const PROBE: &str = "{ order(orderId: \"ORDER_SPLIT\") { orderId statusId grandTotal } }";

/// The application name of the connections for queries. Its other connections have other names.
const POOL: &str = "orderql-queries";

impl MeteredServer {
    /// Starts a server on the demo orders, for `demo` with that profile and for `guest`.
    pub async fn start(profile: Profile, flags: &[&str]) -> Self {
        let database = loaded_database().await;
        create_users(&mut database.connect().await, &[("demo", profile), ("guest", Profile::DEFAULT)]).await;
        let log = StatementLog::start(&database).await;
        let server =
            Server::start(&database, &[&["--restore-rate", "0", "--shared-connections", "off"], flags].concat());
        let token = server.token("demo");
        Self { server, token, log, database }
    }

    /// A connection whose application name is not the server's.
    pub async fn connect(&self) -> Client {
        let mut config = self.database.config();
        connect(config.application_name("test")).await.unwrap()
    }

    /// Sends a body to the GraphQL endpoint.
    pub fn query(&self, accept: &str, body: &Value) -> Response {
        self.server.post(&self.token, accept, body.to_string())
    }

    /// The credits of `demo`. Reading them costs 4 credits.
    pub fn available(&self) -> u64 {
        self.query(JSON, &json!({ "query": PROBE })).available()
    }

    /// The statements that PostgreSQL has received from the server.
    pub fn statements(&self) -> Vec<String> {
        self.log.lines(POOL)
    }

    /// Sends a request that the server must reject, accepting either media type, and returns `errors`. Checks everything
    /// else: status, `data`, no statement, no debit, and no `extensions` of an executed query.
    pub fn rejects(&self, body: &Value) -> Vec<Value> {
        let before = self.statements().len();
        let (available, statements) = (self.available(), self.statements());
        assert!(statements.len() > before, "the log contains executed statements");
        let older = self.query(JSON, body);
        let newer = self.query(GRAPHQL_JSON, body);
        assert_eq!(self.statements(), statements, "{body}");
        assert_eq!(self.available(), available - 4, "{body}");

        assert_eq!((older.status, newer.status), (200, 400), "{body}: {older:?}");
        assert_eq!(older.header("content-type"), Some("application/json; charset=utf-8"));
        assert_eq!(newer.header("content-type"), Some("application/graphql-response+json; charset=utf-8"));
        let (older, newer) = (older.json(), newer.json());
        assert_eq!(older.get("data"), Some(&Value::Null), "{body}");
        assert_eq!(newer.get("data"), None, "{body}");
        assert_eq!(older["errors"], newer["errors"]);
        assert_eq!((older.get("extensions"), newer.get("extensions")), (None, None), "{older}");
        for entry in older["errors"].as_array().unwrap() {
            assert!(!entry["message"].as_str().unwrap().is_empty(), "{entry}");
        }
        older["errors"].as_array().unwrap().clone()
    }
}

/// Panics unless there is exactly one error and its `extensions` contain these entries.
pub fn assert_extensions(errors: &[Value], expected: &Value, query: &str) {
    assert_eq!(errors.len(), 1, "{query}: {errors:?}");
    for (name, value) in expected.as_object().unwrap() {
        assert_eq!(errors[0]["extensions"].get(name), Some(value), "{query}: {errors:?}");
    }
}
