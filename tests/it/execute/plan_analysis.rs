//! What a query takes in PostgreSQL, over HTTP and on the command line.

use orderql::access::profile::Profile;
use serde_json::{Value, json};

use crate::support::command::{orderql, run};
use crate::support::database::{Database, sampled_database};
use crate::support::http::{Response, bearer};
use crate::support::server::{Server, connection_string, wait_until};
use crate::support::users::create_users;

/// Branches with and without others below, of lookups and of pages, of one from its back, and of a search.
const QUERY: &str = "{
    orders(first: 3, sortKey: GRAND_TOTAL, query: \"orderTypeId:SALES_ORDER\") {
        edges { node { orderId orderItemCount
            shipGroups(first: 2) { edges { node { facilityId
                orderItems(first: 2) { edges { node { productId } } pageInfo { hasNextPage } } } } }
            statuses(last: 1) { edges { cursor node { statusId } } } } } }
    facilities(first: 2, sortKey: FACILITY_NAME) { edges { node { facilityName } } }
    order(orderId: \"NONE\") { orderItems(first: 1) { edges { node { productId } } } } }";

const BRANCHES: usize = 7;

fn send(server: &Server, token: &str, header: &str, query: &str) -> Response {
    let body = json!({ "query": query }).to_string();
    server.request("POST /rest/s1/graphql", &[&bearer(token), "Content-Type: application/json", header], body)
}

async fn server() -> (Server, Database, String) {
    let database = sampled_database().await;
    create_users(&mut database.connect().await, &[("demo", Profile::DEFAULT)]).await;
    let server = Server::start(&database, &["--restore-rate", "0"]);
    let token = server.token("demo");
    (server, database, token)
}

#[tokio::test(flavor = "multi_thread")]
async fn an_analysis_has_what_each_branch_took_and_is_paid_like_the_query() {
    let (server, database, token) = server().await;
    let refused = send(&server, &token, "GraphQL-Cost: analyze", QUERY);
    assert_eq!((refused.status, refused.code().as_str()), (403, "FORBIDDEN"));
    let client = database.connect().await;
    client.execute("INSERT INTO orderql.artifact_grant VALUES ('API', 'PLAN')", &[]).await.unwrap();
    wait_until(|| send(&server, &token, "GraphQL-Cost: plan", QUERY).status == 200);

    let executed = send(&server, &token, "X-GraphQL-Include-Plan: true", QUERY).json();
    let analyzed = send(&server, &token, "GraphQL-Cost: analyze", QUERY).json();
    assert_eq!(analyzed["data"], Value::Null);
    let available = |body: &Value| body["extensions"]["cost"]["throttleStatus"]["currentlyAvailable"].as_u64().unwrap();
    let cost = executed["extensions"]["cost"]["requestedQueryCost"].as_u64().unwrap();
    assert_eq!(analyzed["extensions"]["cost"]["requestedQueryCost"], cost);
    assert_eq!(available(&analyzed), available(&executed) - cost);

    let plan = &analyzed["extensions"]["plan"];
    assert!(plan["milliseconds"].is_f64() && plan["planningMilliseconds"].is_f64(), "{plan}");
    assert!(plan["statement"]["sql"].as_str().unwrap().contains("\"order_header\""));
    let (branches, written) = (&plan["branches"], &executed["extensions"]["plan"]["branches"]);
    assert_eq!(branches.as_array().unwrap().len(), BRANCHES);
    for (branch, written) in branches.as_array().unwrap().iter().zip(written.as_array().unwrap()) {
        let actual = &branch["actual"];
        assert!(actual["milliseconds"].is_f64() && actual["buffersRead"].is_u64(), "{branch}");
        let number = |name: &str| actual[name].as_u64().unwrap();
        let has_rows = written["rows"].as_u64() > Some(0);
        assert_eq!(number("rows") > 0, has_rows, "{branch} {written}");
        assert!(!has_rows || number("buffersHit") + number("buffersRead") > 0, "{branch}");
    }

    // A query without a statement has a plan without one.
    let constant = send(&server, &token, "GraphQL-Cost: analyze", "{ __typename }").json();
    assert_eq!(constant["extensions"]["plan"]["statement"], Value::Null, "{constant}");
    assert_eq!(send(&server, &token, "GraphQL-Cost: analyse", QUERY).code(), "BAD_USER_INPUT");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_analysis_takes_every_value_that_a_search_takes() {
    let (server, database, token) = server().await;
    let client = database.connect().await;
    client.execute("INSERT INTO orderql.artifact_grant VALUES ('API', 'PLAN')", &[]).await.unwrap();
    wait_until(|| send(&server, &token, "GraphQL-Cost: plan", QUERY).status == 200);
    for search in [
        r#"orderName:\"a'; DROP TABLE order_header; --\""#,
        r#"statusId:\"a\\\\'b\",\"c{d}\",NULL"#,
        "orderDate:>=2026-01-01 grandTotal:<12.50",
    ] {
        let query = format!("{{ orders(first: 1, query: \"{search}\") {{ edges {{ cursor }} }} }}");
        let analyzed = send(&server, &token, "GraphQL-Cost: analyze", &query).json();
        assert!(analyzed["extensions"]["plan"]["milliseconds"].is_f64(), "{analyzed}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn explain_analyzes_on_a_database() {
    let database = sampled_database().await;
    let address = connection_string(&database.config());
    let explain = |more: &[&str]| {
        let result =
            run(orderql().args(["explain", "--analyze", "--database-url", &address]).args(more).arg(QUERY), "");
        assert!(result.succeeded, "{}", result.stderr);
        result.stdout
    };
    let text = explain(&[]);
    assert_eq!(text.matches("    Took ").count(), BRANCHES, "{text}");
    assert!(text.contains("Statement took "), "{text}");
    let json: Value = serde_json::from_str(&explain(&["--json"])).unwrap();
    assert!(json["plan"]["branches"][0]["actual"]["rows"].is_u64(), "{json}");
}
