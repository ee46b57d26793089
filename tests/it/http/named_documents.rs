//! Documents that clients name in place of a text, and callers who may send no other ones.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use crate::http::graphql_get::target;
use crate::support::command::{orderql_on, run};
use crate::support::database::{Database, migrated_database};
use crate::support::http::{Response, bearer};
use crate::support::server::{Server, connection_string, wait_until};
use crate::support::test_folder::TestFolder;
use crate::support::users::{UNLIMITED_PROFILE, create_users};

const ONE: &str = "query One($id: ID!) { order(orderId: $id) { ...O } }";
const FRAGMENT: &str = "fragment O on Order { orderId }";
/// The hash of `{__typename}`.
const TYPENAME: &str = "ecf4edb46db40b5132295c0291d62fb65d6759a9eedfa4d5d612dd5ec54a6b38";

fn write(folder: &TestFolder, files: &[(&str, &str)]) {
    for (name, text) in files {
        fs::write(folder.path().join(name), text).unwrap();
    }
}

fn post(server: &Server, token: &str, body: &Value) -> Response {
    server.request("POST /rest/s1/graphql", &[token, "Content-Type: application/json"], body.to_string())
}

async fn database() -> Database {
    let database = migrated_database().await;
    create_users(&mut database.connect().await, &[("demo", UNLIMITED_PROFILE)]).await;
    database
}

fn command(database: &Database, line: &str) {
    let result = run(orderql_on(database).args(line.split(' ')), "");
    assert!(result.succeeded, "{line}: {}", result.stderr);
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_name_documents_by_id_operation_and_hash() {
    let (database, folder) = (database().await, TestFolder::create("named-documents"));
    write(&folder, &[("one.graphql", ONE), ("fragments.graphql", FRAGMENT)]);
    let server = Server::start(&database, &["--documents", &folder.path().display().to_string()]);
    let token = bearer(&server.token("demo"));
    let named = post(&server, &token, &json!({ "documentId": "One", "variables": { "id": "NONE" } }));
    assert_eq!((named.status, named.json()["data"].clone()), (200, json!({ "order": null })));
    let line = format!("GET {}", target(&[("documentId", "One"), ("variables", "{\"id\":\"NONE\"}")]));
    assert_eq!(server.request(&line, &[&token], "").json()["data"], json!({ "order": null }));
    for (body, message) in [
        (json!({ "documentId": "Two" }), "there is no document \"Two\""),
        (
            json!({ "documentId": "One", "query": "{ __typename }" }),
            "the request has both \"query\" and \"documentId\"",
        ),
        (json!({ "documentId": 1 }), "\"documentId\" must be a string or null"),
    ] {
        let refused = post(&server, &token, &body);
        assert_eq!((refused.status, refused.code().as_str()), (400, "BAD_USER_INPUT"), "{body}");
        assert!(refused.body.contains(&message.replace('"', "\\\"")), "{}", refused.body);
    }
    drop(server);

    let manifest = folder.path().join("relay.json");
    fs::write(&manifest, r#"{"short": "{__typename}"}"#).unwrap();
    let server = Server::start(&database, &["--documents", &manifest.display().to_string()]);
    let token = bearer(&server.token("demo"));
    let by_hash = json!({ "extensions": { "persistedQuery": { "version": 1, "sha256Hash": TYPENAME } } });
    for body in [json!({ "documentId": "short" }), json!({ "documentId": format!("sha256:{TYPENAME}") }), by_hash] {
        assert_eq!(post(&server, &token, &body).json()["data"], json!({ "__typename": "Query" }), "{body}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_group_may_be_limited_to_documents() {
    let (database, folder) = (database().await, TestFolder::create("documents-alone"));
    write(&folder, &[("one.graphql", ONE), ("fragments.graphql", FRAGMENT)]);
    command(&database, "grant remove API /graphql");
    command(&database, "grant add API /graphql/documents");
    let server = Server::start(&database, &["--documents", &folder.path().display().to_string()]);
    let token = bearer(&server.token("demo"));
    let named = post(&server, &token, &json!({ "documentId": "One", "variables": { "id": "NONE" } }));
    assert_eq!(named.json()["data"], json!({ "order": null }), "{named:?}");
    let text = format!("{ONE} {FRAGMENT}");
    let by_hash = json!({ "extensions": { "persistedQuery": { "version": 1, "sha256Hash": TYPENAME } } });
    for body in [json!({ "query": text, "variables": { "id": "NONE" } }), json!({ "query": "{ __typename }" }), by_hash]
    {
        let refused = post(&server, &token, &body);
        assert_eq!((refused.status, refused.code().as_str()), (400, "DOCUMENT_REQUIRED"), "{body}");
    }
    let export = ["Content-Type: application/json", "Accept: application/x-ndjson", &token];
    let query = json!({ "query": "{ orders(first: 1) { edges { cursor } } }" });
    let refused = server.request("POST /rest/s1/graphql", &export, query.to_string());
    assert!(refused.body.contains("DOCUMENT_REQUIRED"), "{refused:?}");
    // One of a user's groups is enough.
    command(&database, "grant add API /graphql");
    wait_until(|| post(&server, &token, &json!({ "query": "{ __typename }" })).status == 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broken_document_names_itself_before_the_server_starts() {
    let (database, folder) = (migrated_database().await, TestFolder::create("broken-documents"));
    write(
        &folder,
        &[
            ("a.graphql", "query A { orders(first: 1) { edges { cursor } } }"),
            ("b.graphql", "\nquery B { ordres { edges { cursor } } }"),
        ],
    );
    let mut serve = Command::new(env!("CARGO_BIN_EXE_orderql"));
    let path = folder.path().display().to_string();
    let address = connection_string(&database.config());
    let flags = ["serve", "--listen", "127.0.0.1:0", "--database-url", &address, "--documents", &path];
    let output = serve.args(flags).output().unwrap();
    let expected = format!(
        "orderql: the schema refuses documents that clients name\n- {path}/b.graphql:2:11: B: GRAPHQL_VALIDATION_FAILED: "
    );
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr.contains(&expected), "{stderr}");
}
