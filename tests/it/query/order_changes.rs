//! The feed of orders that changed: no commit is missed, whenever it comes.

use std::collections::BTreeMap;

use orderql::catalog::Catalog;
use orderql::compile::compile;
use orderql::cursor::OrderingTag;
use orderql::limits::Limits;
use orderql::query::Request;
use orderql::sync_token::{Position, Snapshot, SyncToken, Walk};
use orderql::value::Timestamp;
use serde_json::{Value, json};
use tokio_postgres::Client;

use crate::support::database::Database;
use crate::support::http::{JSON, graphql_request};
use crate::support::query_plan::{connect_like_server, measure};
use crate::support::random::Random;
use crate::support::server::{Server, server_with_demo_user};
use orderql::limits::Profile;

struct Feed {
    server: Server,
    database: Database,
    token: String,
}

impl Feed {
    async fn start() -> Self {
        let profile = Profile { bucket_size: Some(1_000_000), ..Profile::DEFAULT };
        let (server, database, token) = server_with_demo_user(profile, &[]).await;
        Self { server, database, token }
    }

    fn ask(&self, arguments: &str) -> Value {
        let query = format!(
            "{{ orderChanges({arguments}) {{ edges {{ cursor node {{ orderId order {{ orderName }} }} }} \
             pageInfo {{ hasNextPage hasPreviousPage startCursor endCursor }} }} }}"
        );
        self.server.send(graphql_request(&self.token, JSON, &query)).json()
    }

    fn page(&self, arguments: &str) -> Value {
        let response = self.ask(arguments);
        assert!(response.get("errors").is_none(), "{arguments}: {response}");
        response["data"]["orderChanges"].clone()
    }

    fn now(&self) -> String {
        let page = self.page("first: 1");
        assert_eq!((&page["edges"], &page["pageInfo"]["hasNextPage"]), (&json!([]), &json!(false)));
        end(&page)
    }

    /// All changes after a token, in pages of this size, and the token after them.
    fn changes(&self, mut token: String, first: usize) -> (Vec<(String, Value)>, String) {
        let mut changes = Vec::new();
        loop {
            let page = self.page(&format!("first: {first}, after: \"{token}\""));
            let edges = page["edges"].as_array().unwrap();
            assert!(edges.len() <= first);
            for edge in edges {
                let (node, id) = (&edge["node"], edge["node"]["orderId"].as_str().unwrap());
                changes.push((id.to_owned(), node["order"].clone()));
            }
            token = end(&page);
            if page["pageInfo"]["hasNextPage"] == json!(false) {
                return (changes, token);
            }
        }
    }

    fn ids(&self, token: &str, first: usize) -> Vec<String> {
        self.changes(token.to_owned(), first).0.into_iter().map(|(id, _)| id).collect()
    }

    fn error(&self, arguments: &str) -> Value {
        let response = self.ask(arguments);
        let error = &response["errors"][0];
        assert!(error.is_object(), "{arguments}: {response}");
        json!({ "code": error["extensions"]["code"], "message": error["message"], "extensions": error["extensions"] })
    }
}

fn end(page: &Value) -> String {
    page["pageInfo"]["endCursor"].as_str().unwrap().to_owned()
}

async fn run(client: &Client, sql: &str) {
    client.batch_execute(sql).await.unwrap_or_else(|error| panic!("{sql}: {error:?}"));
}

#[tokio::test]
async fn delivers_each_order_that_changed_once() {
    let feed = Feed::start().await;
    let client = feed.database.connect().await;
    let token = feed.now();
    assert_eq!(feed.ids(&token, 10), Vec::<String>::new());
    run(&client, "INSERT INTO order_header (order_id, order_name) VALUES ('X1', 'a'), ('X2', 'b'), ('X3', 'c')").await;
    run(&client, "INSERT INTO order_item (order_id, order_item_seq_id) VALUES ('X2', '1')").await;
    run(&client, "UPDATE order_header SET order_name = 'z' WHERE order_id = 'X1'").await;
    run(&client, "DELETE FROM order_header WHERE order_id = 'X3'").await;
    run(&client, "BEGIN; UPDATE order_header SET order_name = 'lost' WHERE order_id = 'X2'; ROLLBACK").await;
    let expected = [
        ("X2".to_owned(), json!({ "orderName": "b" })),
        ("X1".to_owned(), json!({ "orderName": "z" })),
        ("X3".to_owned(), Value::Null),
    ];
    for first in 1..=7 {
        let (changes, last) = feed.changes(token.clone(), first);
        assert_eq!(changes, expected, "{first}");
        assert_eq!(feed.ids(&last, first), Vec::<String>::new());
    }
    // The cursor of a row is a token, too: the rows after it follow.
    let page = feed.page(&format!("first: 3, after: \"{token}\""));
    let cursor = page["edges"][0]["cursor"].as_str().unwrap();
    assert_eq!(page["pageInfo"]["startCursor"], json!(cursor));
    assert_eq!(feed.ids(cursor, 5), ["X1", "X3"]);
    let sync = &feed.ask(&format!("first: 1, after: \"{token}\""))["extensions"]["sync"];
    assert!(sync["lagSeconds"].as_f64().is_some() && sync.get("oldestWriterSeconds").is_some(), "{sync}");
}

#[tokio::test]
async fn a_change_of_a_row_in_between_is_one_of_its_orders() {
    let feed = Feed::start().await;
    let client = feed.database.connect().await;
    run(
        &client,
        "INSERT INTO order_header (order_id) VALUES ('X1'), ('X2'), ('X3');
         INSERT INTO order_item (order_id, order_item_seq_id) VALUES ('X1', '1'), ('X2', '1'), ('X3', '1');
         INSERT INTO shipment (shipment_id, primary_order_id) VALUES ('XS', 'X3');
         INSERT INTO return_header (return_id) VALUES ('XR');
         INSERT INTO return_item (return_id, return_item_seq_id, order_id) VALUES ('XR', '1', 'X2'), ('XR', '2', 'X1')",
    )
    .await;
    let token = feed.now();
    run(&client, "INSERT INTO shipment_package (shipment_id, shipment_package_seq_id) VALUES ('XS', '1')").await;
    run(&client, "UPDATE return_header SET status_id = NULL WHERE return_id = 'XR'").await;
    for first in 1..=3 {
        assert_eq!(feed.ids(&token, first), ["X3", "X1", "X2"], "{first}");
    }
}

#[tokio::test]
async fn a_commit_that_comes_late_is_not_missed() {
    let feed = Feed::start().await;
    let (early, late) = (feed.database.connect().await, feed.database.connect().await);
    run(&late, "BEGIN; INSERT INTO order_header (order_id) VALUES ('XLATE')").await;
    let token = feed.now();
    run(&early, "INSERT INTO order_header (order_id) VALUES ('XEARLY')").await;
    let (changes, token) = feed.changes(token, 3);
    assert_eq!(changes.into_iter().map(|(id, _)| id).collect::<Vec<_>>(), ["XEARLY"]);
    let now = feed.now();
    run(&late, "COMMIT").await;
    assert_eq!(feed.ids(&token, 3), ["XLATE"]);
    assert_eq!(feed.ids(&now, 3), ["XLATE"]);
}

#[tokio::test]
async fn a_commit_between_two_pages_is_delivered_after_them() {
    let feed = Feed::start().await;
    let (client, late) = (feed.database.connect().await, feed.database.connect().await);
    let token = feed.now();
    run(&late, "BEGIN; INSERT INTO order_header (order_id) VALUES ('X0')").await;
    run(&client, "INSERT INTO order_header (order_id) VALUES ('X1'), ('X2'), ('X3')").await;
    let page = feed.page(&format!("first: 1, after: \"{token}\""));
    run(&late, "COMMIT").await;
    run(&client, "UPDATE order_header SET order_name = 'new' WHERE order_id = 'X2'").await;
    let (changes, last) = feed.changes(end(&page), 1);
    let new = json!({ "orderName": "new" });
    assert_eq!(changes, [("X2".to_owned(), new.clone()), ("X3".to_owned(), json!({ "orderName": null }))]);
    assert_eq!(feed.changes(last, 5).0, [("X0".to_owned(), json!({ "orderName": null })), ("X2".to_owned(), new)]);
}

#[tokio::test]
async fn a_copy_that_follows_random_histories_is_always_exact() {
    let feed = Feed::start().await;
    let mut random = Random(36);
    let mut writers = Vec::new();
    for _ in 0..4 {
        writers.push((feed.database.connect().await, false));
    }
    let (mut copy, mut token) = (BTreeMap::new(), feed.now());
    let follow = |copy: &mut BTreeMap<String, Value>, token: &mut String, first| {
        let (changes, last) = feed.changes(token.clone(), first);
        *token = last;
        for (id, order) in changes {
            if order.is_null() {
                copy.remove(&id)
            } else {
                copy.insert(id, order["orderName"].clone())
            };
        }
    };
    for step in 0..400 {
        let index = random.below(writers.len());
        let (writer, is_open) = &mut writers[index];
        match (*is_open, random.below(6)) {
            (false, 0..=2) => run(writer, "BEGIN").await,
            (true, 0) => run(writer, "ROLLBACK").await,
            (true, 1) => run(writer, "COMMIT").await,
            (_, 5) => {
                follow(&mut copy, &mut token, random.below(7) + 1);
                continue;
            }
            // Each writer has rows of its own, so that none waits for another.
            _ => {
                let id = format!("X{index}{}", random.below(5));
                let name = format!("{step}");
                let sql = match random.below(3) {
                    0 => format!("DELETE FROM order_header WHERE order_id = '{id}'"),
                    _ => format!(
                        "INSERT INTO order_header (order_id, order_name) VALUES ('{id}', '{name}')
                         ON CONFLICT (order_id) DO UPDATE SET order_name = EXCLUDED.order_name"
                    ),
                };
                let sql = if *is_open && random.chance(30) {
                    format!("SAVEPOINT a; {sql}; ROLLBACK TO a; SAVEPOINT b; {sql}; RELEASE b")
                } else {
                    sql
                };
                run(writer, &sql).await;
                continue;
            }
        }
        *is_open = !*is_open;
    }
    for (writer, is_open) in &writers {
        if *is_open {
            run(writer, "COMMIT").await;
        }
    }
    follow(&mut copy, &mut token, 3);
    let client = feed.database.connect().await;
    let rows =
        client.query("SELECT order_id, order_name FROM order_header WHERE order_id LIKE 'X%'", &[]).await.unwrap();
    let table: BTreeMap<String, Value> = rows.iter().map(|row| (row.get(0), json!(row.get::<_, String>(1)))).collect();
    assert_eq!(copy, table);
}

#[tokio::test]
async fn rejects_tokens_that_mean_nothing_here() {
    let feed = Feed::start().await;
    let client = feed.database.connect().await;
    let token = feed.now();
    let mut changed = token.clone();
    changed.replace_range(9..10, if &token[9..10] == "A" { "B" } else { "A" });
    for wrong in ["", "no token", &changed] {
        let error = feed.error(&format!("first: 1, after: \"{wrong}\""));
        assert_eq!(error["code"], "BAD_USER_INPUT", "{error}");
    }
    let both = feed.error(&format!("first: 1, after: \"{token}\", since: \"2026-05-01T00:00:00Z\""));
    assert_eq!(both["message"], "`orderChanges` takes `after:` or `since:`, not both");
    assert_eq!(feed.error("first: 1, since: \"yesterday\"")["code"], "BAD_USER_INPUT");
    let early = feed.error("first: 1, since: \"2001-01-01T00:00:00Z\"");
    assert_eq!((&early["code"], &early["extensions"]["reason"]), (&json!("SYNC_TOKEN_INVALID"), &json!("since")));
    run(&client, "UPDATE orderql.sync_state SET counter = counter + 1").await;
    let other = feed.error(&format!("first: 1, after: \"{token}\""));
    assert_eq!((&other["code"], &other["extensions"]["reason"]), (&json!("SYNC_TOKEN_INVALID"), &json!("epoch")));
    assert_eq!(feed.ids(&feed.now(), 1), Vec::<String>::new());
    let query = "{ orderChanges { edges { cursor } } }";
    let missing = feed.server.send(graphql_request(&feed.token, JSON, query)).json();
    assert_eq!(missing["errors"][0]["extensions"]["code"], "GRAPHQL_VALIDATION_FAILED", "{missing}");
}

/// Stores the present snapshot.
const TICK: &str = "
    INSERT INTO orderql.sync_tick (at, epoch, system_identifier, timeline, lsn, snapshot)
    SELECT now(), epoch, 1, timeline, pg_current_wal_insert_lsn(), pg_current_snapshot() FROM orderql.sync_epoch()";

/// The checksum of a token is no secret.
#[tokio::test]
async fn rejects_forged_tokens_of_transactions_far_ahead() {
    let feed = Feed::start().await;
    let tag = OrderingTag::new("orderChanges", "CHANGE");
    let token = SyncToken::decode(&feed.now(), tag).unwrap();
    let position = |xid| Position { xid, via: String::new(), id: "A".into(), key: None };
    for bits in [32, 48, 61] {
        let far = (1 << bits) + 3;
        let snapshot = |text: String| Snapshot::parse(&text).unwrap();
        for from in [format!("{far}:{far}:"), format!("5:{far}:"), format!("5:{far}:7,9,{}", far - 3)] {
            let forged = SyncToken { from: snapshot(from.clone()), ..token.clone() };
            let error = feed.error(&format!("first: 1, after: \"{}\"", forged.text(tag)));
            assert_eq!(error["extensions"]["reason"], "ahead", "{from}: {error}");
        }
        for (to, xid) in [(format!("5:{far}:"), 6), (token.from.to_string(), far)] {
            let walk = Walk { to: snapshot(to.clone()), at: Timestamp(0), position: position(xid) };
            let forged = SyncToken { walk: Some(walk), ..token.clone() };
            let response = feed.ask(&format!("first: 1, after: \"{}\"", forged.text(tag)));
            let code = &response["errors"][0]["extensions"]["code"];
            assert!(code == "SYNC_TOKEN_INVALID" || response.get("errors").is_none(), "{to} {xid}: {response}");
        }
    }
}

#[tokio::test]
async fn begins_with_the_last_snapshot_before_a_time() {
    let feed = Feed::start().await;
    let client = feed.database.connect().await;
    run(&client, TICK).await;
    run(&client, "INSERT INTO order_header (order_id) VALUES ('X1')").await;
    let page = feed.page("first: 5, since: \"2100-01-01T00:00:00Z\"");
    assert_eq!((&page["edges"], &page["pageInfo"]["hasNextPage"]), (&json!([]), &json!(true)));
    assert_eq!(feed.ids(&end(&page), 5), ["X1"]);
}

#[tokio::test]
async fn a_token_of_what_a_promotion_lost_gets_one_of_what_survived() {
    let feed = Feed::start().await;
    let client = feed.database.connect().await;
    // The database is a copy of another one, whose timelines are not its own.
    run(&client, "SELECT orderql.sync_reset()").await;
    let survived = feed.now();
    let tick: i64 = client.query_one(&format!("{TICK} RETURNING tick_id"), &[]).await.unwrap().get(0);
    run(&client, "INSERT INTO order_header (order_id) VALUES ('X1')").await;
    let lost = feed.now();
    // As after a promotion: the same ids on another timeline, without the server's later ticks.
    let promote = "UPDATE orderql.sync_state SET timeline_offset = timeline_offset + 1";
    run(&client, &format!("DELETE FROM orderql.sync_tick WHERE tick_id > {tick}; {promote}")).await;
    assert_eq!(feed.ids(&survived, 2), ["X1"]);
    let error = feed.error(&format!("first: 1, after: \"{lost}\""));
    assert_eq!(error["code"], "SYNC_REWOUND", "{error}");
    assert!(error["extensions"]["at"].as_str().unwrap().ends_with('Z'), "{error}");
    assert_eq!(feed.ids(error["extensions"]["token"].as_str().unwrap(), 2), ["X1"]);
}

#[tokio::test]
async fn what_a_token_has_seen_is_on_disk() {
    let feed = Feed::start().await;
    let client = feed.database.connect().await;
    let token = feed.now();
    run(&client, "INSERT INTO order_header (order_id) VALUES ('X0'), ('X1')").await;
    let first = end(&feed.page(&format!("first: 1, after: \"{token}\"")));
    // The next page shows data that is newer than the snapshot of the first.
    run(&client, "SET synchronous_commit = off; UPDATE order_header SET order_name = 'new' WHERE order_id = 'X1'")
        .await;
    let written = "SELECT (pg_current_wal_insert_lsn() - '0/0')::bigint";
    let flushed = "SELECT (pg_current_wal_flush_lsn() - '0/0')::bigint";
    let written: i64 = client.query_one(written, &[]).await.unwrap().get(0);
    assert_eq!(feed.page(&format!("first: 1, after: \"{first}\""))["edges"][0]["node"]["order"]["orderName"], "new");
    let flushed: i64 = client.query_one(flushed, &[]).await.unwrap().get(0);
    assert!(flushed >= written, "{flushed} {written}");
}

/// Blocks of PostgreSQL that a page without changes reads, at most: the ends of the indexes of marks, and what an epoch is made of.
const BLOCKS: u64 = 20;

#[tokio::test]
async fn a_page_without_changes_reads_a_handful_of_blocks() {
    let feed = Feed::start().await;
    let client = feed.database.connect().await;
    run(
        &client,
        "INSERT INTO order_header (order_id) SELECT 'X' || n FROM generate_series(1, 5000) AS n;
         INSERT INTO shipment (shipment_id, primary_order_id) SELECT order_id, order_id FROM order_header WHERE order_id LIKE 'X%';
         INSERT INTO shipment_item (shipment_id, shipment_item_seq_id) SELECT shipment_id, '1' FROM shipment WHERE shipment_id LIKE 'X%'",
    )
    .await;
    let token = feed.now();
    let query = "query($after: String) { orderChanges(first: 50, after: $after) {
        edges { node { orderId order { orderName grandTotal } } } pageInfo { hasNextPage endCursor } } }";
    let variables = serde_json::from_value(json!({ "after": token })).unwrap();
    let request = Request { query: query.to_owned(), variables, ..Request::default() };
    let compiled = compile(&Catalog::built_in().unwrap(), &request, &Limits::default()).unwrap();
    let reader = connect_like_server(&feed.database).await;
    // A session knows the tables and functions after its first page.
    measure(&reader, &compiled.plan, "{0}").await;
    let measured = measure(&reader, &compiled.plan, "{0}").await;
    let blocks = |name: &str| measured.plan.json()[name].as_u64().unwrap();
    let read = blocks("Shared Hit Blocks") + blocks("Shared Read Blocks");
    assert!(read <= BLOCKS, "{read} blocks\n{}", measured.plan.text());
    assert_eq!(measured.plan.all().iter().filter(|node| node.kind() == "Seq Scan" && node.is_scan()).count(), 0);
}
