//! The server against programs of others: graphql-js, the audit of GraphQL over HTTP, popular clients, and a generator of
//! types. The other half of these tests is the Node project in `tests/conformance`.
//!
//! Without Node the tests pass with a message. With `ORDERQL_REQUIRE_NODE` set they fail instead.

use std::env;
use std::fs;
use std::io::{self, Write as _};
use std::path::Path;
use std::process::Command;

use orderql::access::profile::Profile;
use orderql::query::parse::print::print;
use serde_json::{Value, json};

use crate::clients::node;
use crate::clients::node::Node;
use crate::support::database::loaded_database;
use crate::support::server::Server;
use crate::support::test_folder::TestFolder;
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

/// The documents of `tests/validation`, and some with values of every kind.
#[test]
fn prints_documents_like_graphql_js() {
    if node_or_skip().is_none() {
        return;
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/validation");
    let entries = ["valid", "invalid"].map(|name| fs::read_dir(folder.join(name)).unwrap());
    let files = entries.into_iter().flatten().map(|entry| entry.unwrap().path());
    let files = files.filter(|path| path.extension() == Some("graphql".as_ref()));
    let texts = files.map(|path| fs::read_to_string(path).unwrap()).chain(ODD_DOCUMENTS.map(str::to_owned));
    let documents: Vec<_> =
        texts.filter_map(|text| Some(json!({ "printed": print(&text).ok()?, "text": text }))).collect();
    let folder = TestFolder::create("printed");
    let file = folder.path().join("documents.json");
    fs::write(&file, Value::from(documents).to_string()).unwrap();
    if let Err(output) = node::test("print.test.js", &[("ORDERQL_PRINTED", file.to_str().unwrap())]) {
        panic!("{output}");
    }
}

/// Strings and block strings with what is escaped or has lines of its own, long arguments, variables with all kinds of values.
const ODD_DOCUMENTS: [&str; 6] = [
    r#"{ a(b: "\u00e9\b\t\n\f\r\"\\\/\u007f\u0085") a(b: """a""") a(b: """ a""") a(b: """a\ """) a(b: """\"""""") a(b: "") }"#,
    "{ a(b: \"\"\"a\n b\"\"\") c: a(b: \"\"\"\n  one\n    two\n\n  three\n\"\"\") d(e: \"\"\"\"\"\") }",
    "{ a { b(c: \"0123456789012345678901234567890123456789\", d: \"01234567890123456789012345678901\") b(c: [[1, 2], []], d: {}) } }",
    "{ a { b(c: \"ééééééééééééééééééééééééééééééééééééééé\", d: \"😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀\", e: [{f: \"\"\"x\ny\"\"\"}]) { c } } }",
    "query($a: [[I!]]! = [[1, -2.5e-3], null] @x(y: E) @z, $b: I = {x: {y: true}, z: \"\"\"a\nb\"\"\"}) @q { a @r(s: $a) ... @t { u } }",
    "subscription S { a } mutation ($a: A) @b { a(b: $a) { ...F @c } } fragment F on T @d { ... on U @e { on type query } }",
];

#[test]
fn linters_find_nothing_in_the_published_schema() {
    if node_or_skip().is_none() {
        return;
    }
    let folder = TestFolder::create("linted");
    let file = folder.path().join("published.graphql");
    let printed = Command::new(env!("CARGO_BIN_EXE_orderql")).args(["schema", "print"]).output().unwrap();
    fs::write(&file, printed.stdout).unwrap();
    if let Err(output) = node::test("lint/lint.test.js", &[("ORDERQL_SDL", file.to_str().unwrap())]) {
        panic!("{output}");
    }
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
