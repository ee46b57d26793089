//! Two servers on one database respond alike to every request: the same status, headers and bytes.
//!
//! `OTHER_PROGRAM=/tmp/orderql COMPARED_REQUESTS=100000 ./dev test same_responses` compares this program with another, such as one that was
//! built before a change. Without it, both servers are this program, and one remembers no plans and prices.
//! `COMPARED_SEED` sets another seed.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::{env, thread};

use orderql::access::profile::Profile;
use orderql::catalog::Catalog;
use orderql_generator::choices::{Choices, bytes_of_seed};
use orderql_generator::generate::{Settings, generate};
use orderql_generator::mistake::make_mistakes;
use serde_json::{Value, json};

use crate::execute::random_queries::pagination::leaves;
use crate::execute::random_queries::row_values::RowValues;
use crate::execute::random_queries::written;
use crate::support::built_in::collection_roots;
use crate::support::database::loaded_database;
use crate::support::http::Response;
use crate::support::naive_resolver::tables::Tables;
use crate::support::random::Random;
use crate::support::server::{Server, connection_string};
use crate::support::users::{UNLIMITED_PROFILE, create_users};

/// The choices of a query, at most.
const BYTES: usize = 1500;

/// Headers of a response that differ between requests.
const OF_REQUEST: [&str; 2] = ["date", "x-request-id"];

/// Users without limits and users with the usual limits on queries, one of each for each client. Their credits are there again before the
/// next request, so that the throttle's status is the same.
const USERS: [[&str; 2]; 4] = [["free", "usual"], ["free2", "usual2"], ["free3", "usual3"], ["free4", "usual4"]];

/// A request, and which of a client's users sends it.
struct Question {
    user: usize,
    headers: Vec<&'static str>,
    body: String,
}

#[tokio::test(flavor = "multi_thread")]
async fn two_servers_respond_alike_to_random_requests() {
    let requests = env::var("COMPARED_REQUESTS").map_or(400, |number| number.parse().unwrap());
    let seed: u64 = env::var("COMPARED_SEED").map_or(1, |number| number.parse().unwrap());
    let other_program = env::var_os("OTHER_PROGRAM").map(PathBuf::from);
    let database = loaded_database().await;
    let unlimited = Profile { restore_rate: Some(1_000_000_000), ..UNLIMITED_PROFILE };
    let usual = Profile { max_cost: None, max_depth: None, ..unlimited };
    let users: Vec<_> = USERS.iter().flat_map(|[free, limited]| [(*free, unlimited), (*limited, usual)]).collect();
    create_users(&mut database.connect().await, &users).await;
    let (catalog, url) = (Catalog::built_in().unwrap(), connection_string(&database.config()));
    let tables = Tables::read(&database.connect().await, &catalog).await;
    let exports = exports(&catalog);
    let flags: &[&str] = if other_program.is_some() { &[] } else { &["--query-cache", "1"] };
    let program = other_program.as_deref().unwrap_or(Path::new(env!("CARGO_BIN_EXE_orderql")));
    let servers = [Server::start_on(&url, &[]), Server::start_program(program, &url, flags)];

    let (sent, succeeded) = (AtomicU64::new(0), AtomicU64::new(0));
    let compare = |users: &[&str; 2]| {
        let tokens = users.map(|user| servers.each_ref().map(|server| server.token(user)));
        loop {
            let number = sent.fetch_add(1, Ordering::Relaxed);
            if number >= requests {
                return;
            }
            let question = match exports.get(usize::try_from(number).unwrap()) {
                Some(export) => Question::new(0, vec!["Accept: application/x-ndjson"], &json!({ "query": export })),
                None => Question::random(&catalog, &tables, seed << 32 | number),
            };
            let [own, other] = [0, 1].map(|index| question.ask(&servers[index], &tokens[question.user][index]));
            assert_eq!(
                comparable(&own),
                comparable(&other),
                "request {number}: {:?} {}",
                question.headers,
                question.body
            );
            assert!(usize::try_from(number).unwrap() >= exports.len() || own.status == 200, "{own:?}");
            succeeded.fetch_add(u64::from(!own.body.contains("\"errors\"")), Ordering::Relaxed);
        }
    };
    thread::scope(|scope| USERS.iter().for_each(|users| drop(scope.spawn(|| compare(users)))));
    let succeeded = succeeded.into_inner();
    println!("{requests} responses are alike, {succeeded} of them without errors");
    assert!(succeeded > requests / 4 && succeeded < requests);
}

impl Question {
    fn random(catalog: &Catalog, tables: &Tables, seed: u64) -> Self {
        let mut random = Random(seed);
        let bytes = bytes_of_seed(seed, 20 + random.below(BYTES));
        let mut choices = Choices::new(&bytes);
        let mut generated = generate(catalog, &RowValues(tables), Settings::default(), &mut choices);
        if random.chance(25) {
            make_mistakes(catalog, &mut generated, &mut choices);
        }
        let request = generated.request();
        let accept = *random.pick(&["Accept: application/json", "Accept: application/graphql-response+json"]);
        let reports = ["X-GraphQL-Cost-Include-Fields: true", "GraphQL-Cost: estimate", "Accept-Encoding: gzip"];
        let report = random.chance(20).then(|| *random.pick(&reports));
        let headers = [accept].into_iter().chain(report).collect();
        Self::new(random.below(2), headers, &written(&request))
    }

    fn new(user: usize, mut headers: Vec<&'static str>, body: &Value) -> Self {
        headers.push("Content-Type: application/json");
        Self { user, headers, body: body.to_string() }
    }

    /// Sends it. The body of the response is readable, however it is coded.
    fn ask(&self, server: &Server, token: &str) -> Response {
        let authorization = format!("Authorization: Bearer {token}");
        let headers: Vec<_> = self.headers.iter().copied().chain([authorization.as_str()]).collect();
        let (mut response, body) = server.request_bytes("POST /rest/s1/graphql", &headers, &self.body);
        response.body = String::from_utf8(body).unwrap_or_else(|error| format!("{:?}", error.as_bytes()));
        response
    }
}

/// All of a response but what differs between requests.
fn comparable(response: &Response) -> Response {
    let mut response = response.clone();
    response.headers.retain(|name, _| !OF_REQUEST.contains(&name.as_str()));
    response
}

/// An export of every collection.
fn exports(catalog: &Catalog) -> Vec<String> {
    let roots = collection_roots(catalog).into_iter();
    roots
        .map(|(root, connection)| {
            format!("{{ {root}(first: 20) {{ edges {{ node {{ {} }} }} }} }}", leaves(catalog, connection))
        })
        .collect()
}
