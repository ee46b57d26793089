//! What callers see who do not hold all grants of the schema file, on a running server.

use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};

use orderql::catalog::Catalog;
use orderql::schema_file::BUILT_IN;
use orderql_generator::redaction::redacted;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::support::command::{orderql_on, run};
use crate::support::database::{Database, migrated_database, sampled_database};
use crate::support::http::{GRAPHQL_JSON, JSON, Response, bearer, graphql_head, with_body};
use crate::support::server::{Server, wait_until};
use crate::support::test_folder::TestFolder;
use crate::support::users::{UNLIMITED_PROFILE, create_users};

const NOTES: &str = "{ order(orderId: \"1\") { notes(first: 1) { edges { node { noteInfo } } } } }";

/// Runs a command that changes accounts.
fn command(database: &Database, arguments: &str) -> String {
    let result = run(orderql_on(database).args(arguments.split(' ')), "");
    assert!(result.succeeded, "{arguments}: {}", result.stderr);
    result.stdout
}

/// Adds the users `demo`, who holds all grants of the built-in schema, and `store`, whose group may use the API alone.
async fn add_users(database: &Database) {
    create_users(&mut database.connect().await, &[("demo", UNLIMITED_PROFILE), ("store", UNLIMITED_PROFILE)]).await;
    for arguments in [
        "group add STORES",
        "grant add STORES /graphql",
        "group scope STORES store *",
        "group scope STORES facility *",
        "group join STORES store",
        "group leave API store",
    ] {
        command(database, arguments);
    }
}

fn is_answered(response: &Response) -> bool {
    response.json()["errors"] == Value::Null
}

/// A folder with the built-in schema without what needs a grant.
fn redacted_file() -> (TestFolder, String) {
    let folder = TestFolder::create("views");
    let path = folder.path().join("redacted.graphql");
    fs::write(&path, redacted(BUILT_IN, |_| false).unwrap()).unwrap();
    let path = path.to_str().unwrap().to_owned();
    (folder, path)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hidden_field_is_answered_as_if_it_did_not_exist() {
    let database = sampled_database().await;
    add_users(&database).await;
    let (_folder, path) = redacted_file();
    let (full, without) = (Server::start(&database, &[]), Server::start(&database, &["--schema", &path]));
    let tokens = [&full, &without].map(|server| server.token("store"));
    let first = r"{ orders(first: 1) { edges { node { orderId } } } }";
    let id = full.query(&tokens[0], first).json()["data"]["orders"]["edges"][0]["node"]["orderId"].clone();
    assert!(id.is_string(), "{id}");
    let queries = [
        NOTES.to_owned(),
        "{ order(orderId: \"1\") { note paymentPreference contactMech } }".to_owned(),
        "{ orders(first: 1, query: \"emailAddress:a phone:1 emailAdress:a\") { edges { node { orderId } } } }"
            .to_owned(),
        "{ shipGroups(first: 1) { edges { node { shipGroup { giftMessage shipToAddres { city } } } } } }".to_owned(),
        "{ a: __type(name: \"OrderNote\") { name } b: __type(name: \"Order\") { fields { name description } } }"
            .to_owned(),
        "{ __schema { description types { name fields { name args { name description } type { name } } } } }"
            .to_owned(),
        "fragment F on Payment { amount } { order(orderId: 1) { ...F } }".to_owned(),
        format!(
            "{{ order(orderId: {id}) {{ statusId orderItems(first: 3) {{ edges {{ cursor node {{ productId }} }} }} }} }}"
        ),
        format!(
            "{{ order(orderId: {id}) {{ shipGroups(first: 9) {{ edges {{ node {{ facilityId }} }} }} status {{ description }} }} }}"
        ),
    ];
    // The bucket may have got a part of its credits back between two requests.
    let without_bucket = |mut response: Response| {
        let status = response.status;
        let mut body: Value = serde_json::from_str(&std::mem::take(&mut response.body)).unwrap();
        if let Some(cost) = body.pointer_mut("/extensions/cost") {
            cost.as_object_mut().unwrap().remove("throttleStatus");
        }
        (status, body.to_string())
    };
    for query in &queries {
        let body = json!({ "query": query }).to_string();
        for headers in [&[][..], &["GraphQL-Cost: validate"], &["X-GraphQL-Cost-Include-Fields: true"]] {
            let [seen, expected] = [(&full, &tokens[0]), (&without, &tokens[1])].map(|(server, token)| {
                let token = bearer(token);
                let headers = [&[token.as_str(), "Content-Type: application/json"], headers].concat();
                without_bucket(server.request("POST /rest/s1/graphql", &headers, &body))
            });
            assert_eq!(seen, expected, "{query}");
        }
        let refused = full.query_as(GRAPHQL_JSON, &tokens[0], query);
        if refused.status == 400 {
            assert_eq!(refused.body, without.query_as(GRAPHQL_JSON, &tokens[1], query).body, "{query}");
        }
    }
    assert!(is_answered(&full.query(&full.token("demo"), NOTES)));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_sdl_is_what_the_caller_sees() {
    let database = migrated_database().await;
    add_users(&database).await;
    let (_folder, path) = redacted_file();
    let (full, without) =
        (Server::start(&database, &["--publish-granted", "off"]), Server::start(&database, &["--schema", &path]));
    let whole = Server::start(&database, &[]).get("/rest/s1/graphql/sdl");
    assert_eq!(whole.body, Catalog::built_in().unwrap().sdl(), "the setting is on by default");
    let line = "GET /rest/s1/graphql/sdl";
    let public = full.get("/rest/s1/graphql/sdl");
    assert_eq!(public.body, without.get("/rest/s1/graphql/sdl").body);
    assert_eq!(public.header("etag"), without.get("/rest/s1/graphql/sdl").header("etag"));
    assert!(public.header("vary").is_some_and(|vary| vary.contains("Authorization")));
    let as_user = |user: &str| full.request(line, &[&bearer(&full.token(user))], "");
    assert_eq!(as_user("store").body, public.body);
    assert_eq!(as_user("demo").body, Catalog::built_in().unwrap().sdl());
    let tag = public.header("etag").unwrap();
    let demo = bearer(&full.token("demo"));
    assert_eq!(full.request(line, &[&demo, &format!("If-None-Match: {tag}")], "").status, 200);
    assert_eq!(full.request(line, &["Authorization: Bearer wrong"], "").status, 401);
    assert_eq!(full.request(line, &["Authorization: Basic eDp5"], "").body, public.body);
    // So is its short form.
    let short =
        |user: &str| full.request(&format!("{line}?descriptions=short"), &[&bearer(&full.token(user))], "").body;
    assert_eq!(short("store"), full.get("/rest/s1/graphql/sdl?descriptions=short").body);
    assert!(short("demo").contains("noteInfo") && !short("store").contains("noteInfo"));
}

#[tokio::test(flavor = "multi_thread")]
async fn grants_that_are_given_and_withdrawn_reach_running_servers() {
    let database = migrated_database().await;
    add_users(&database).await;
    let server = Server::start(&database, &[]);
    let token = server.token("store");
    let sees = || is_answered(&server.query(&token, NOTES));
    assert!(!sees());
    assert_eq!(command(&database, "grant add STORES NOTES"), "STORES may see NOTES\n");
    wait_until(sees);
    assert!(!is_answered(
        &server.query(&token, "{ order(orderId: 1) { paymentPreferences(first: 1) { edges { cursor } } } }")
    ));
    assert_eq!(command(&database, "grant remove STORES NOTES"), "STORES may not see NOTES\n");
    wait_until(|| !sees());
    // A caller has what one of several groups has.
    command(&database, "group add WRITERS");
    command(&database, "grant add WRITERS NOTES");
    command(&database, "group join WRITERS store");
    wait_until(sees);
    let audit = command(&database, "audit --json --limit 20");
    for expected in ["grant.added", "grant.removed", "NOTES"] {
        assert!(audit.contains(expected), "{audit}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_persisted_text_is_found_by_those_who_see_the_same() {
    let database = migrated_database().await;
    add_users(&database).await;
    let server = Server::start(&database, &[]);
    let mut hash = String::new();
    for byte in Sha256::digest(NOTES) {
        write!(hash, "{byte:02x}").unwrap();
    }
    let extensions = json!({"persistedQuery": {"version": 1, "sha256Hash": hash}});
    let post = |user: &str, body: Value| server.post(&server.token(user), JSON, body.to_string());
    let stored = post("demo", json!({"query": NOTES, "extensions": extensions}));
    assert!(is_answered(&stored), "{}", stored.body);
    assert!(is_answered(&post("demo", json!({"extensions": extensions}))));
    assert_eq!(post("store", json!({"extensions": extensions})).code(), "PERSISTED_QUERY_NOT_FOUND");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cursor_of_a_hidden_sort_key_is_rejected() {
    let database = sampled_database().await;
    add_users(&database).await;
    let folder = TestFolder::create("totals");
    let path = folder.path().join("schema.graphql");
    let text = BUILT_IN.replacen("grandTotal: Decimal\n", "grandTotal: Decimal @grant(to: [\"TOTALS\"])\n", 1);
    fs::write(&path, text).unwrap();
    let path = path.to_str().unwrap();
    command(&database, &format!("grant --schema {path} add API TOTALS"));
    let server = Server::start(&database, &["--schema", path]);
    let page = |user: &str, arguments: &str| {
        server.query(&server.token(user), &format!("{{ orders(first: 1{arguments}) {{ pageInfo {{ endCursor }} }} }}"))
    };
    let first = page("demo", ", sortKey: GRAND_TOTAL").json();
    let cursor = first["data"]["orders"]["pageInfo"]["endCursor"].as_str().unwrap().to_owned();
    assert!(is_answered(&page("demo", &format!(", sortKey: GRAND_TOTAL, after: \"{cursor}\""))));
    let rejected = page("store", &format!(", sortKey: GRAND_TOTAL, after: \"{cursor}\""));
    assert_eq!(rejected.code(), "GRAPHQL_VALIDATION_FAILED");
    let rejected = page("store", &format!(", after: \"{cursor}\""));
    assert_eq!(rejected.code(), "BAD_USER_INPUT");
    assert!(rejected.body.contains("it was made for another connection, sort key or direction"), "{}", rejected.body);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_export_ends_when_its_caller_loses_a_grant() {
    let database = sampled_database().await;
    add_users(&database).await;
    // All pages take a minute.
    command(&database, "profile set demo --max-cost 200 --bucket-size 200 --restore-rate 200");
    let server = Server::start(&database, &[]);
    let query = "query($after: String) { orders(first: 20, after: $after) { edges { node { orderId notes(first: 1) {
        edges { node { noteInfo } } } } } } }";
    let mut stream = server.connect();
    let body = json!({ "query": query }).to_string();
    let head = graphql_head(&server.token("demo"), "application/x-ndjson");
    stream.write_all(with_body(&head, &body).as_bytes()).unwrap();
    let mut reader = BufReader::with_capacity(64, stream);
    let mut line = String::new();
    while !line.contains("orderId") {
        line.clear();
        reader.read_line(&mut line).unwrap();
    }
    // Another grant is nothing to it.
    command(&database, "grant add API /graphql/plan");
    command(&database, "grant remove API NOTES");
    let mut rest = String::new();
    reader.read_to_string(&mut rest).unwrap();
    let end = rest.lines().find(|line| line.contains("@end")).unwrap_or_else(|| panic!("{rest}"));
    assert!(end.contains("FORBIDDEN") && end.contains("lost a grant") && end.contains("cursor"), "{end}");
}
