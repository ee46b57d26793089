//! The server against programs of others: graphql-js, the audit of GraphQL over HTTP, popular clients, and a generator of
//! types. The other half of these tests is the Node project in `tests/conformance`.
//!
//! Without Node the tests pass with a message. With `ORDERQL_REQUIRE_NODE` set they fail instead.

use std::env;
use std::io::{self, Write as _};

use orderql::access::profile::Profile;

use crate::clients::node;
use crate::clients::node::Node;
use crate::support::database::loaded_database;
use crate::support::server::Server;
use crate::support::users::create_users;

/// nextest shows the output of this test even if it passes (`.config/nextest.toml`), so that skipped tests are visible.
#[test]
fn finds_node_and_its_packages() {
    if let Some(Node(version)) = node_or_skip() {
        say(&format!("runs with Node {version}"));
    }
}

#[tokio::test]
async fn validates_documents_like_graphql_js() {
    passes("validation/validation.test.js").await;
}

#[tokio::test]
async fn tools_read_the_published_schema_by_introspection() {
    passes("introspection.test.js").await;
}

#[tokio::test]
async fn passes_the_audit_of_graphql_over_http() {
    passes("http.test.js").await;
}

#[tokio::test]
async fn apollo_client_pages_through_orders() {
    passes("clients/apollo.test.js").await;
}

#[tokio::test]
async fn urql_pages_through_orders() {
    passes("clients/urql.test.js").await;
}

#[tokio::test]
async fn relay_pages_through_orders() {
    passes("clients/relay.test.js").await;
}

#[tokio::test]
async fn generated_types_compile() {
    passes("types/types.test.js").await;
}

/// Runs a file of Node tests against a server. Panics with Node's output if one of them fails.
async fn passes(file: &str) {
    if node_or_skip().is_none() {
        return;
    }
    let database = loaded_database().await;
    // A large bucket, because these tests are not about costs.
    let profile = Profile { bucket_size: Some(1_000_000_000), ..Profile::DEFAULT };
    create_users(&mut database.connect().await, &[("demo", profile)]).await;
    let server = Server::start(&database, &[]);
    let url = format!("http://{}", server.address);
    if let Err(output) = node::test(file, &[("ORDERQL_URL", &url), ("ORDERQL_TOKEN", &server.token("demo"))]) {
        panic!("{file} fails:\n{output}");
    }
}

fn node_or_skip() -> Option<Node> {
    match Node::ready() {
        Ok(node) => Some(node),
        Err(missing) if env::var_os("ORDERQL_REQUIRE_NODE").is_some_and(|value| !value.is_empty()) => {
            panic!("ORDERQL_REQUIRE_NODE is set, and {missing}")
        }
        Err(missing) => {
            say(&format!("skipped, {missing}"));
            None
        }
    }
}

/// Writes to the stream itself, because the test harness hides the output of `eprintln!` in passing tests.
#[allow(clippy::explicit_write, reason = "the harness captures the macro's output")]
pub fn say(what: &str) {
    writeln!(io::stderr(), "conformance: {what}").unwrap();
}
