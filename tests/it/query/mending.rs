//! Errors say enough to fix the query: the library, which reads nothing else of a response, fixes nearly all of them in one retry.
//!
//! The broken queries are in `tests/mending/broken.graphql`, as people and language models guess them. `mistakes` makes others of
//! the valid ones in `tests/mending/valid.graphql`.

pub mod mistakes;

use std::fs;
use std::path::Path;

use orderql::access::profile::Profile;
use orderql::catalog::Catalog;
use orderql::compile::compile;
use orderql::correction::corrected;
use orderql::correction::tokens::QueryText;
use orderql::limits::Limits;
use orderql::query::Request;
use serde_json::{Map, Value, json};

use crate::query::mending::mistakes::{CHANGES_MEANING, MISTAKES};
use crate::support::http::JSON;
use crate::support::server::{Server, server_with_demo_user};

/// How many queries there are at most for a kind of mistake.
const EACH: usize = 8;

/// The queries of a file.
pub fn queries(file: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mending").join(file);
    let text = fs::read_to_string(path).unwrap();
    text.split("\n\n").map(str::trim).filter(|query| !query.starts_with('#')).map(str::to_owned).collect()
}

/// What the queries' variables are, those that they declare and others.
pub fn variables() -> Map<String, Value> {
    let variables = json!({ "orderId": "10000", "after": null, "search": "statusId:ORDER_APPROVED", "party": "10000", "facility": "WH", "size": 10,
        "n": 10, "id": "10000", "unused": 1 });
    serde_json::from_value(variables).unwrap()
}

/// Whether a query is accepted.
fn is_valid(catalog: &Catalog, query: &str) -> bool {
    let request = Request { query: query.to_owned(), variables: variables(), operation_name: None };
    compile(catalog, &request, &Limits::DEFAULT).is_ok()
}

/// The errors of the server's response; none if the query was run.
fn errors(server: &Server, token: &str, request: &Request) -> Vec<Value> {
    let body = json!({ "query": request.query, "variables": request.variables });
    let response = server.post(token, JSON, body.to_string()).json();
    match response.get("errors") {
        Some(Value::Array(errors)) => errors.clone(),
        Some(other) => panic!("{other}"),
        None => {
            assert!(response["data"].is_object(), "{response}");
            Vec::new()
        }
    }
}

/// Broken queries, each with its kind of mistake and the valid query that it was.
pub fn broken(catalog: &Catalog) -> Vec<(&'static str, String, Option<String>)> {
    let valid = queries("valid.graphql");
    for query in &valid {
        assert!(is_valid(catalog, query), "{query}");
    }
    let mut broken: Vec<_> = queries("broken.graphql").into_iter().map(|query| ("by hand", query, None)).collect();
    for (kind, mistake) in MISTAKES {
        let made = (0..3).flat_map(|n| valid.iter().map(move |query| (query, n)));
        let made = made
            .filter_map(|(query, n)| Some((*kind, mistake(&QueryText::new(query.as_str()), n)?, Some(query.clone()))));
        broken.extend(made.filter(|(_, query, _)| !is_valid(catalog, query)).take(EACH));
    }
    broken
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_that_reads_only_the_errors_mends_nearly_all_queries_in_one_retry() {
    let broken = broken(&Catalog::built_in().unwrap());
    // Enough credits for all retries.
    let profile = Profile { bucket_size: Some(1_000_000_000), ..Profile::DEFAULT };
    let (server, _database, token) = server_with_demo_user(profile, &[]).await;
    let errors = |request: &Request| errors(&server, &token, request);
    let mut failed = Vec::new();
    let (mut mendable, mut misspelt, mut restored) = (0, 0, 0);
    let without_space = |text: &str| text.split([' ', ',', '\n']).collect::<String>();
    for (kind, query, valid) in &broken {
        let request = Request { query: query.clone(), variables: variables(), operation_name: None };
        let reported = errors(&request);
        assert!(!reported.is_empty(), "a broken query is rejected: {query}");
        let retry = corrected(&request, &reported).request;
        if CHANGES_MEANING.contains(kind) {
            assert!(!errors(&retry).is_empty(), "{kind}: {query}\n{}", retry.query);
            continue;
        }
        mendable += 1;
        if let [first, ..] = errors(&retry).as_slice() {
            failed.push(format!("{kind}\n  {query}\n  {}\n  {}\n  {}", reported[0], retry.query, first["message"]));
        }
        // Of those, the meaning is known.
        if let (Some(valid), true) =
            (valid, kind.starts_with("a field ") && kind.contains("letter") || kind.contains("case"))
        {
            misspelt += 1;
            restored += usize::from(without_space(&retry.query) == without_space(valid));
        }
    }
    println!(
        "{} broken queries, {} of {mendable} mended; {restored} of {misspelt} misspelt ones as they were",
        broken.len(),
        mendable - failed.len()
    );
    assert!(mendable >= 280, "{mendable} broken queries");
    assert!(failed.len() * 20 <= mendable, "{} of {mendable} are not mended:\n{}", failed.len(), failed.join("\n"));
    assert!(restored * 10 >= misspelt * 9, "{restored} of {misspelt} misspelt names are as they were");
}
