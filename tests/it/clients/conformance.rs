//! The server beside the programs that others wrote for GraphQL: its reference implementation, the audit of
//! GraphQL over HTTP, the clients that people use, and a generator of types. The other half of these tests is the
//! Node project in `tests/conformance`.
//!
//! Without Node they pass and say so; with `ORDERQL_REQUIRE_NODE` set they fail instead.

use std::env;
use std::io::{self, Write as _};

use orderql::access::profile::Profile;

use crate::clients::node;
use crate::clients::node::Node;
use crate::support::database::loaded_database;
use crate::support::server::Server;
use crate::support::users::create_users;

/// The one test whose output is shown when it passes (`.config/nextest.toml`), so that nobody takes what was skipped for
/// what was shown.
#[test]
fn node_and_its_packages_are_there() {
    if let Some(Node(version)) = node_or_skip() {
        say(&format!("runs with Node {version}"));
    }
}

#[tokio::test]
async fn documents_are_as_valid_as_for_graphql_js() {
    passes("verdicts/verdicts.test.js").await;
}

#[tokio::test]
async fn introspection_tells_the_published_schema() {
    passes("introspection.test.js").await;
}

#[tokio::test]
async fn http_is_as_the_audit_wants_it() {
    passes("wire.test.js").await;
}

#[tokio::test]
async fn apollo_client_walks_through_orders() {
    passes("clients/apollo.test.js").await;
}

#[tokio::test]
async fn urql_walks_through_orders() {
    passes("clients/urql.test.js").await;
}

#[tokio::test]
async fn relay_walks_through_orders() {
    passes("clients/relay.test.js").await;
}

#[tokio::test]
async fn generated_types_compile() {
    passes("types/types.test.js").await;
}

/// Runs a file of tests against a server of its own; what Node has to say is told where a test fails.
async fn passes(file: &str) {
    if node_or_skip().is_none() {
        return;
    }
    let database = loaded_database().await;
    // Tests of queries are not held up by what they cost.
    let profile = Profile { bucket_size: Some(1_000_000_000), ..Profile::DEFAULT };
    create_users(&mut database.connect().await, &[("walker", profile)]).await;
    let server = Server::start(&database, &[]);
    let url = format!("http://{}", server.address);
    if let Err(output) = node::test(file, &[("ORDERQL_URL", &url), ("ORDERQL_TOKEN", &server.token("walker"))]) {
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

/// Straight to the stream: what goes through `eprintln!` is kept back where a test passes.
#[allow(clippy::explicit_write, reason = "the macro does something else")]
fn say(what: &str) {
    writeln!(io::stderr(), "conformance: {what}").unwrap();
}
