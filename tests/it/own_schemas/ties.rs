//! Orders by a column that has an index without the key: rows are read by the column, and sorted.

use orderql::catalog::Catalog;
use orderql::catalog::scope::RowScope;
use orderql::preflight::stored_types;
use orderql::query::Variables;
use orderql::schema_file::SchemaFile;
use orderql::seal::Secret;
use serde_json::{Value, json};

use crate::own_schemas::{OwnSchema, rows};
use crate::support::plan_shape::Indexes;
use crate::support::query_plan::{connect_like_server, measure, plan_of};
use crate::support::query_runner::QueryRunner;

/// Events of two shops. One, two or three have the same moment, also next to each other, and three have no place. Ids are in another order
/// than moments.
const TABLES: &str = "
    CREATE TABLE shop (shop_id integer PRIMARY KEY);
    CREATE TABLE event (event_id integer PRIMARY KEY, shop_id integer NOT NULL REFERENCES shop, at timestamptz NOT NULL, place integer,
        kind text NOT NULL);
    CREATE INDEX event_at ON event (at);
    CREATE INDEX event_place ON event (place DESC);
    CREATE INDEX event_shop_at ON event (shop_id, at);
    CREATE INDEX event_kind_at ON event (kind, at, event_id);
    CREATE TABLE spot (shop_id integer, place integer, PRIMARY KEY (shop_id, place));
    INSERT INTO spot SELECT 1 + n % 2, n FROM generate_series(0, 19) AS n;
    CREATE TABLE visit (visit_id integer PRIMARY KEY, shop_id integer NOT NULL, place integer, at timestamptz NOT NULL);
    CREATE INDEX visit_of_place ON visit (shop_id, place, at);
    CREATE INDEX visit_of_shop ON visit (shop_id, at);
    CREATE INDEX visit_at ON visit (place, at);
    INSERT INTO visit SELECT n, 1 + n % 2, n % 500, '2026-01-01Z'::timestamptz - interval '1 s' * (n / 1500)
        FROM generate_series(1, 6000) AS n;
    INSERT INTO shop VALUES (1), (2);
    INSERT INTO event
        SELECT 37 * n % 101, 1 + n % 2, '2026-01-01Z'::timestamptz + interval '1 h' * moment, NULLIF(n / 3, 4), 'k' || n % 3
        FROM (SELECT row_number() OVER ()::integer AS n, moment FROM unnest('{3,1,3,2,3,3,1,2,3,3,1}'::integer[])
              WITH ORDINALITY AS of_moment (size, moment), generate_series(1, size)) AS event;
    ALTER TABLE event ADD CHECK (event_id > 0)";

const SCHEMA: &str = r#"
type Query {
  shop(shopId: ID!): Shop @point
  shops: [Shop] @sort(key: "SHOP_ID")
  spots: [Spot] @sort(key: "SHOP_ID")
  events: [Event]
    @search(key: "at", compare: [EQUALS, IN, RANGE])
    @search(key: "kind", inOrderOf: ["AT"])
    @search(key: "place", compare: [EQUALS, IN, RANGE])
    @search(key: "shopId", indexed: false)
    @sort(key: "EVENT_ID")
    @sort(key: "AT", ties: 3)
    @sort(key: "PLACE", ties: 3)
}
type Shop @relation(name: "shop", key: ["shop_id"]) {
  shopId: ID!
  events: [Event] @many(by: ["shop_id"]) @sort(key: "AT", ties: 3)
}
type Event @relation(name: "event", key: ["event_id"]) {
  eventId: ID!
  shopId: ID!
  at: DateTime!
  place: Int
  kind: String!
}
type Spot @relation(name: "spot", key: ["shop_id", "place"]) {
  shopId: ID!
  place: Int!
  visits: [Visit] @many(by: ["shop_id", "place"]) @sort(key: "AT", ties: 3)
}
type Visit @relation(name: "visit", key: ["visit_id"]) { visitId: ID! at: DateTime! }
"#;

/// Runs queries on the database of a schema file.
async fn runner(own: &OwnSchema, schema: &str, rows: RowScope) -> QueryRunner {
    let catalog = Catalog::parse(schema).unwrap();
    let stored = stored_types(&own.client, &catalog).await.unwrap();
    let catalog = SchemaFile::parse(schema).unwrap().limit(catalog.with_stored_types(&stored), rows.limiting());
    QueryRunner::with_catalog(&own.database.config(), 2, catalog).among(rows)
}

/// A list in an order: the beginning of a query for it, the end, the path to it, and its rows in SQL.
struct List {
    before: &'static str,
    after: &'static str,
    path: &'static str,
    order: String,
    sql: String,
}

fn lists() -> Vec<List> {
    let mut lists = Vec::new();
    for (key, columns) in [("AT", "at, event_id"), ("PLACE", "place, event_id")] {
        for (reverse, direction) in [(false, "ASC"), (true, "DESC NULLS LAST")] {
            let by = format!("{} {direction}", columns.replace(',', &format!(" {direction},")));
            let order = format!("sortKey: {key}, reverse: {reverse}");
            let sql = |shop: &str| format!("SELECT event_id::text AS id FROM event WHERE {shop} ORDER BY {by}");
            lists.push(List { before: "{ ", after: " }", path: "/events", order: order.clone(), sql: sql("TRUE") });
            if key == "AT" {
                let (before, after) = ("{ shop(shopId: 2) { ", " } }");
                lists.push(List { before, after, path: "/shop/events", order, sql: sql("shop_id = 2") });
            }
        }
    }
    lists
}

impl List {
    /// A page: its cursors, and its ids with its flags.
    async fn page(&self, runner: &QueryRunner, arguments: &str) -> (Vec<String>, Value) {
        let Self { before, after, path, order, .. } = self;
        let query = format!(
            "{before}events({arguments} {order}) {{ edges {{ cursor node {{ eventId }} }} pageInfo {{ hasPreviousPage hasNextPage }} }}{after}"
        );
        let data = runner.data(&query).await;
        let page = data.pointer(path).unwrap();
        let edges = page["edges"].as_array().unwrap_or_else(|| panic!("{query}: {data}"));
        let ids: Vec<_> = edges.iter().map(|edge| edge["node"]["eventId"].clone()).collect();
        let info = &page["pageInfo"];
        let cursors = edges.iter().map(|edge| edge["cursor"].to_string()).collect();
        (cursors, json!([ids, info["hasPreviousPage"], info["hasNextPage"]]))
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_in_an_order_with_ties_are_those_of_the_table() {
    let own = OwnSchema::create("ties-pages", TABLES, SCHEMA).await;
    assert_eq!(own.check(), "");
    let runner = runner(&own, SCHEMA, RowScope::default()).await;
    for list in lists() {
        let ids = rows(&own.client, &list.sql).await;
        let count = ids.len();
        for size in [1, 2, 3, 4, 7, 24, 25, 26] {
            let (mut position, mut at) = (String::new(), 0);
            while at < count {
                let (cursors, page) = list.page(&runner, &format!("first: {size} {position}")).await;
                let end = count.min(at + size);
                assert_eq!(page, json!([ids[at..end], at > 0, end < count]), "{} {size} {at}", list.order);
                position = format!("after: {}", cursors.last().unwrap());
                at = end;
            }
            let (mut position, mut end) = (String::new(), count);
            while end > 0 {
                let (cursors, page) = list.page(&runner, &format!("last: {size} {position}")).await;
                let at = end.saturating_sub(size);
                assert_eq!(page, json!([ids[at..end], at > 0, end < count]), "{} {size} {end}", list.order);
                position = format!("before: {}", cursors[0]);
                end = at;
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_of_rows_that_equal_its_parent_in_two_columns_is_that_of_the_table() {
    let own = OwnSchema::create("ties-pairs", TABLES, SCHEMA).await;
    assert_eq!(own.check(), "");
    let runner = runner(&own, SCHEMA, RowScope::default()).await;
    let list = "visits(first: 9, reverse: true) { edges { node { visitId } } }";
    let query = format!("{{ spots(first: 99) {{ edges {{ node {{ shopId place {list} }} }} }} }}");
    let data = runner.data(&query).await;
    let mut visits = 0;
    for edge in data["spots"]["edges"].as_array().unwrap() {
        let node = &edge["node"];
        let sql = format!(
            "SELECT visit_id::text FROM visit WHERE (shop_id, place) = ({}, {}) ORDER BY at DESC, visit.visit_id DESC LIMIT 9",
            node["shopId"].as_str().unwrap(),
            node["place"]
        );
        let edges = rows(&own.client, &sql).await.into_iter().map(|id| json!({ "node": { "visitId": id } }));
        assert_eq!(node["visits"]["edges"], edges.collect::<Value>(), "{node}");
        visits += node["visits"]["edges"].as_array().unwrap().len();
    }
    assert!(visits > 50, "{visits}");
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_lie_between_cursors_whose_rows_may_be_gone() {
    let own = OwnSchema::create("ties-cursors", TABLES, SCHEMA).await;
    let runner = runner(&own, SCHEMA, RowScope::default()).await;
    let removed = "DELETE FROM event WHERE event_id IN (37, 74, 10, 47, 84)";
    for list in lists() {
        own.client.batch_execute("CREATE TABLE kept AS TABLE event").await.unwrap();
        let all = rows(&own.client, &list.sql).await;
        let (cursors, _) = list.page(&runner, "first: 40").await;
        assert_eq!(cursors.len(), all.len());
        own.client.batch_execute(removed).await.unwrap();
        let left = rows(&own.client, &list.sql).await;
        let is_left = |id: &&Value| left.contains(id);
        for after in 0..all.len() {
            for before in 0..all.len() {
                let between: Vec<_> = all[..before].iter().skip(after + 1).filter(is_left).collect();
                let has_previous = all[..=after].iter().any(|id| is_left(&id));
                let has_next = all[before..].iter().any(|id| is_left(&id));
                let arguments = format!("after: {}, before: {}", cursors[after], cursors[before]);
                let (_, page) = list.page(&runner, &format!("first: 2, {arguments}")).await;
                let first = &between[..between.len().min(2)];
                let place = format!("{} {after} {before}", list.order);
                assert_eq!(page, json!([first, has_previous, between.len() > 2 || has_next]), "{place}");
                let (_, page) = list.page(&runner, &format!("last: 2, {arguments}")).await;
                let last = &between[between.len().saturating_sub(2)..];
                assert_eq!(page, json!([last, between.len() > 2 || has_previous, has_next]), "{place}");
            }
        }
        let restored = "INSERT INTO event TABLE kept ON CONFLICT DO NOTHING; DROP TABLE kept";
        own.client.batch_execute(restored).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn too_many_rows_with_one_value_make_the_connection_null_where_they_are_read() {
    let own = OwnSchema::create("ties-overflow", TABLES, SCHEMA).await;
    let served = own.serve(&[]);
    let page = |arguments: &str| {
        served.query(&format!(
            "{{ events({arguments} sortKey: AT) {{ edges {{ cursor node {{ eventId }} }} pageInfo {{ hasNextPage hasPreviousPage }} }}
             shops(first: 2) {{ edges {{ node {{ shopId events(first: 1) {{ edges {{ node {{ eventId }} }} }} }} }} }} }}"
        ))
    };
    let whole = page("first: 25");
    assert_eq!(whole["data"]["events"]["edges"].as_array().unwrap().len(), 25, "{whole}");
    // The fifth moment has three rows. A fourth makes it one too many.
    own.client
        .batch_execute("INSERT INTO event SELECT 200, 1, at, 50, 'k0' FROM (SELECT DISTINCT at FROM event ORDER BY at OFFSET 4 LIMIT 1) AS fifth")
        .await
        .unwrap();
    let cursor = |index: usize| whole["data"]["events"]["edges"][index]["cursor"].to_string();
    let all = rows(&own.client, "SELECT event_id::text AS id FROM event ORDER BY at, event_id").await;
    // Pages among, before and after these rows, which are the tenth to the thirteenth.
    for (arguments, expected) in [
        ("first: 25", None),
        ("last: 26", None),
        (&format!("first: 1, after: {}", cursor(9)), None),
        (&format!("last: 1, before: {}", cursor(11)), None),
        // The flag before the page reads them.
        (&format!("last: 1, after: {}", cursor(10)), None),
        ("first: 1", Some(&all[..1])),
        ("last: 1", Some(&all[25..])),
        (&format!("first: 2, after: {}", cursor(12)), Some(&all[14..16])),
    ] {
        let response = page(arguments);
        let events = &response["data"]["events"];
        let edges = events["edges"].as_array();
        let ids: Option<Vec<_>> = edges.map(|edges| edges.iter().map(|edge| edge["node"]["eventId"].clone()).collect());
        assert_eq!(ids.as_deref(), expected, "{arguments} {response}");
        let shops = response["data"]["shops"]["edges"].as_array().unwrap();
        assert!(shops.iter().all(|shop| shop["node"]["events"]["edges"].is_array()), "{response}");
        let errors = &response["errors"];
        if expected.is_some() {
            assert_eq!(errors, &Value::Null, "{response}");
            continue;
        }
        assert_eq!(errors.as_array().unwrap().len(), 1, "{response}");
        assert_eq!(
            (&errors[0]["path"], &errors[0]["extensions"]["code"]),
            (&json!(["events"]), &json!("LIST_TOO_LONG"))
        );
        let message = errors[0]["message"].as_str().unwrap();
        let index = "CREATE INDEX CONCURRENTLY ON \"event\" (\"at\", \"event_id\");";
        assert!(
            message.contains("more than 3 rows") && message.contains(index) && message.contains("`ties`"),
            "{message}"
        );
    }
    // An export in this order is rejected, and others are not.
    let (code, message) = {
        let query = "{ events(first: 2, sortKey: AT) { edges { node { eventId } } } }";
        let response = served.server.query_as("application/x-ndjson", &served.token, query).json();
        let error = &response["errors"][0];
        (error["extensions"]["code"].clone(), error["message"].clone())
    };
    assert_eq!(code, "BAD_USER_INPUT");
    assert!(message.as_str().unwrap().contains("give another `sortKey`"), "{message}");
    let lines = served.export("{ events(first: 2) { edges { node { eventId } } } }");
    assert_eq!(lines.len(), 27, "{lines:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn searches_in_an_order_with_ties_find_the_rows_that_match() {
    let own = OwnSchema::create("ties-search", TABLES, SCHEMA).await;
    let served = own.serve(&[]);
    for (query, condition) in [
        ("kind:k1", "kind = 'k1'"),
        ("shopId:2", "shop_id = 2"),
        ("shopId:2 kind:k0,k2", "shop_id = 2 AND kind <> 'k1'"),
        (
            "at:>='2026-01-01T03:00:00Z' at:<'2026-01-01T08:00:00Z'",
            "at >= '2026-01-01T03:00Z' AND at < '2026-01-01T08:00Z'",
        ),
        ("at:'2026-01-01T05:00:00Z'", "at = '2026-01-01T05:00Z'"),
        ("at:'2026-01-01T05:00:00Z','2026-01-01T06:00:00Z'", "at IN ('2026-01-01T05:00Z', '2026-01-01T06:00Z')"),
        ("at:>'2026-01-01T03:00:00Z' shopId:1", "at > '2026-01-01T03:00Z' AND shop_id = 1"),
        ("place:>2 shopId:1", "place > 2 AND shop_id = 1"),
        ("place:3", "place = 3"),
    ] {
        for (key, columns) in [("AT", "at, event_id"), ("PLACE", "place, event_id")] {
            for (reverse, direction) in [(false, "ASC"), (true, "DESC NULLS LAST")] {
                let by = columns.replace(',', &format!(" {direction},"));
                let sql = format!("SELECT event_id::text AS id FROM event WHERE {condition} ORDER BY {by} {direction}");
                let ids = rows(&own.client, &sql).await;
                let arguments = format!("query: \"{query}\", sortKey: {key}, reverse: {reverse}");
                for size in [1, 2, 5] {
                    for backward in [false, true] {
                        let pages = served.pages("events", &arguments, "eventId", size, backward);
                        assert_eq!(pages.values, ids, "{arguments} {size} {backward}");
                    }
                }
                let counted = served.query(&format!("{{ events(first: 1, countUpTo: 100, {arguments}) {{ count }} }}"));
                assert_eq!(counted["data"]["events"]["count"], ids.len(), "{arguments} {counted}");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_caller_of_a_scope_sees_the_rows_of_an_order_with_ties_that_are_in_it() {
    let own = OwnSchema::create("ties-scope", TABLES, SCHEMA).await;
    let schema = SCHEMA.replace(r#"key: ["event_id"]) {"#, r#"key: ["event_id"]) @scope(name: "kind", by: "kind") {"#);
    let kinds = RowScope::new([("kind", Some(vec!["k1"]))].into_iter(), Secret::default());
    let runner = runner(&own, &schema, kinds).await;
    for list in lists() {
        let seen = rows(&own.client, &list.sql.replace(" WHERE ", " WHERE kind = 'k1' AND ")).await;
        let (_, page) = list.page(&runner, "first: 20").await;
        assert_eq!(page, json!([seen, false, false]), "{}", list.order);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_with_ties_reads_the_index_on_its_column() {
    let own = OwnSchema::create("ties-plans", TABLES, SCHEMA).await;
    own.client
        .batch_execute(
            "INSERT INTO event SELECT 1000 + n, 1 + n % 2, '2027-01-01Z'::timestamptz + interval '1 s' * (n / 3), 100 + n / 3, 'k' || n % 3
             FROM generate_series(0, 5999) AS n",
        )
        .await
        .unwrap();
    let runner = runner(&own, SCHEMA, RowScope::default()).await;
    let client = connect_like_server(&own.database).await;
    let ids = "SELECT string_agg(oid::text, ',') FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'i')";
    let relations = format!("{{{}}}", rows(&own.client, ids).await[0].as_str().unwrap());
    let cursor = runner.data("{ events(first: 999, sortKey: AT) { edges { cursor } } }").await["events"]["edges"][500]
        ["cursor"]
        .to_string();
    let between = format!("{{ events(first: 5, sortKey: AT, after: {cursor}, before: {cursor})");
    for statistics in ["", "ANALYZE", "UPDATE pg_class SET reltuples = 1e9, relpages = 1e7 WHERE relname LIKE 'event%'"]
    {
        own.client.batch_execute(statistics).await.unwrap();
        for (query, close, index) in [
            ("{ events(first: 5, sortKey: AT)", " }", "event_at"),
            (between.as_str(), " }", "event_at"),
            ("{ events(last: 5, sortKey: PLACE, reverse: true)", " }", "event_place"),
            ("{ events(last: 5, sortKey: AT, query: \"shopId:1\")", " }", "event_at"),
            ("{ events(first: 5, sortKey: AT, query: \"kind:k1\")", " }", "event_kind_at"),
            ("{ shop(shopId: 1) { events(first: 5)", " } }", "event_shop_at"),
            ("{ spots(first: 9) { edges { node { visits(first: 5)", " } } } }", "visit_of_place"),
            ("{ shops(first: 2) { edges { node { events(last: 5, reverse: true)", " } } } }", "event_shop_at"),
        ] {
            let query = format!("{query} {{ edges {{ cursor }} pageInfo {{ hasNextPage hasPreviousPage }} }}{close}");
            let plan = runner.compile(&query, Variables::new()).plan;
            let planned = plan_of(&client, &plan).await;
            let shape = Indexes::read(&client).await.check(planned.json(), true);
            assert_eq!(shape, Ok(()), "{}\n{}", plan.sql(), planned.text());
            let text = planned.text();
            assert!(text.contains(&format!("\"Index Name\": \"{index}\"")), "{}\n{text}", plan.sql());
            let bound = plan.row_bounds().examined;
            let measured = measure(&client, &plan, &relations).await;
            // An entry of the index, and its row.
            assert!(measured.rows <= 2 * bound, "{} of {bound}: {}", measured.rows, plan.sql());
        }
    }
    let explained =
        own.run(&["explain", "--schema", &own.file(), "{ events(first: 5, sortKey: AT) { edges { cursor } } }"]);
    for line in [
        "In order (at)",
        "Sorted by the key; null if more than 3 rows have one value of the last column",
        "Examines 12 rows at most",
        "1 to read the list",
    ] {
        assert!(explained.stdout.contains(line), "{line}\n{}{}", explained.stdout, explained.stderr);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_check_and_the_draft_know_which_orders_need_ties() {
    let own = OwnSchema::create("ties-check", TABLES, SCHEMA).await;
    let draft = own.run(&["schema", "draft"]).stdout;
    let sort = "    # events is null in the order of AT if more than 200 rows have one value; an index in its order lifts this limit: \
                CREATE INDEX CONCURRENTLY ON \"event\" (\"at\", \"event_id\");\n    @sort(key: \"AT\", ties: 200)\n";
    assert!(draft.contains(sort) && !draft.contains("PLACE"), "{draft}");
    assert!(draft.contains("no index sorts by place: CREATE INDEX"), "{draft}");
    let file = own.file();
    own.write(&draft);
    assert_eq!(own.check(), "", "{draft}");
    assert_eq!(own.run(&["schema", "draft", "--update", &file]).stdout, draft);
    let script = own.run(&["schema", "draft", "--indexes", "searches"]).stdout;
    assert!(script.contains("ON \"event\" (\"at\", \"event_id\");"), "{script}");
    own.write(SCHEMA);
    own.client.batch_execute("CREATE INDEX ON event (at, event_id)").await.unwrap();
    let text = own.run(&["schema", "check", &file]).stdout;
    assert!(
        text.contains("- Query.events(sortKey: AT): an index has its rows in order, so that it needs no `ties`\n"),
        "{text}"
    );
    assert!(!text.contains("Shop.events"), "{text}");
    let totals = r#"type Query { eventTotals: [Event] @totals(of: "events") @group(key: "kind")"#;
    let error = Catalog::parse(&SCHEMA.replace("type Query {", totals)).unwrap_err().to_string();
    assert!(error.contains("@totals are of a root without `ties`"), "{error}");
    own.client.batch_execute("DROP INDEX event_at, event_at_event_id_idx, event_shop_at").await.unwrap();
    let errors = own.check();
    for index in [
        "no index serves events(sortKey: AT): CREATE INDEX CONCURRENTLY ON \"event\" (\"at\");",
        "no index serves Shop.events: CREATE INDEX CONCURRENTLY ON \"event\" (\"shop_id\", \"at\");",
    ] {
        assert!(errors.contains(index), "{errors}");
    }
}
