//! PostgreSQL's own statistics: the documented query finds the statement of a query.

use std::fs;
use std::path::Path;

use orderql::database::connection::connect::connect;
use tokio_postgres::SimpleQueryMessage;

use crate::database::postgres::Postgres;
use crate::support::command::{orderql, run};
use crate::support::server::{Server, connection_string};

const QUERY: &str = "query Both { \
    some: orders(first: 3, query: \"statusId:ORDER_APPROVED orderName:abc\") \
    { edges { node { orderId shipGroups(first: 2) { edges { node { shipGroupSeqId } } } } } pageInfo { hasNextPage } } \
    order(orderId: \"NONE\") { orderId orderItemCount } }";

/// The query in the documentation, with this text in place of psql's variable.
fn documented_query(explained: &str) -> String {
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/reference.md")).unwrap();
    let (_, after) = text.split_once("\\set explained").unwrap();
    let (_, query) = after.split_once('\n').unwrap();
    query.split_once("```").unwrap().0.replace(":'explained'", &format!("$json${explained}$json$"))
}

#[tokio::test(flavor = "multi_thread")]
async fn the_documented_query_finds_the_statement_of_a_query() {
    let settings = [("shared_preload_libraries", "pg_stat_statements"), ("pg_stat_statements.track", "all")];
    let postgres = Postgres::start_with("statistics", &settings).await;
    let client = connect(&postgres.config()).await.unwrap();
    client.batch_execute("CREATE EXTENSION pg_stat_statements").await.unwrap();
    let server = Server::start_on(&connection_string(&postgres.config()), &[]);
    let token = server.token("demo");
    for _ in 0..3 {
        assert_eq!(server.query(&token, QUERY).code(), "");
    }
    let explained = run(orderql().args(["explain", "--json", QUERY]), "");
    assert!(explained.succeeded, "{}", explained.stderr);
    let messages = client.simple_query(&documented_query(&explained.stdout)).await.unwrap();
    let rows = messages.iter().filter_map(|message| match message {
        SimpleQueryMessage::Row(row) => row.get("calls"),
        _ => None,
    });
    assert_eq!(rows.collect::<Vec<_>>(), ["3"]);
    server.stop();
}
