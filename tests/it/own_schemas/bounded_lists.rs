//! Lists that are short by nature: an index on the foreign key alone finds their rows, all of which are read and sorted.

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

/// The sales 1 to 4 have 0, 1, 5 and 6 lines, the fifth has 5 whose notes are alike or null, and each of many others has one. PostgreSQL
/// has no statistics.
const TABLES: &str = "
    CREATE TABLE sale (sale_id integer PRIMARY KEY, shop integer NOT NULL, number integer NOT NULL, UNIQUE (shop, number));
    CREATE TABLE line (line_id bigint PRIMARY KEY, sale_id integer REFERENCES sale, place integer NOT NULL, note text);
    CREATE INDEX line_sale ON line (sale_id);
    CREATE TABLE event (event_id integer PRIMARY KEY, shop integer, number integer,
        FOREIGN KEY (shop, number) REFERENCES sale (shop, number));
    CREATE INDEX event_shop ON event (shop);
    CREATE INDEX event_sale ON event (shop, number);
    CREATE TABLE receipt (receipt_id integer PRIMARY KEY, sale_id integer NOT NULL UNIQUE REFERENCES sale);
    INSERT INTO sale SELECT n, n % 2, n FROM generate_series(1, 3000) AS n;
    INSERT INTO line SELECT 100 * sale_id + n, sale_id, 10 - n, CASE WHEN sale_id <> 5 THEN 'n' || n % 3 WHEN n > 2 THEN 'same' END
        FROM (VALUES (2, 1), (3, 5), (4, 6), (5, 5)) AS sale (sale_id, lines), generate_series(1, lines) AS n;
    INSERT INTO line SELECT 100 * n, n, 1, NULL FROM generate_series(6, 3000) AS n;
    INSERT INTO event SELECT n, (n + 1) % 2, 1 + n % 1000 FROM generate_series(1, 3000) AS n;
    INSERT INTO receipt SELECT n, 3001 - n FROM generate_series(1, 3000) AS n";

const SCHEMA: &str = r#"
type Query {
  sale(saleId: ID!): Sale @point
  sales: [Sale] @sort(key: "SALE_ID")
  lines: [Line] @sort(key: "LINE_ID")
}
type Sale @relation(name: "sale", key: ["sale_id"]) {
  saleId: ID!
  lines: [Line] @many(by: ["sale_id"], atMost: 5) @sort(key: "LINE_ID") @sort(key: "PLACE") @sort(key: "NOTE")
  events: [Event] @many(by: ["shop", "number"], atMost: 101)
}
type Line @relation(name: "line", key: ["line_id"]) {
  lineId: ID!
  place: Int
  note: String
  sale: Sale @one(by: ["sale_id"])
}
type Event @relation(name: "event", key: ["event_id"]) { eventId: ID! }
"#;

/// Runs queries on the database of a schema file.
async fn runner(own: &OwnSchema, schema: &str, rows: RowScope) -> QueryRunner {
    let catalog = Catalog::parse(schema).unwrap();
    let stored = stored_types(&own.client, &catalog).await.unwrap();
    let catalog = SchemaFile::parse(schema).unwrap().limit(catalog.with_stored_types(&stored), rows.limiting());
    QueryRunner::with_catalog(&own.database.config(), 2, catalog).among(rows)
}

/// The ids and flags of all pages of the lines of a sale.
async fn pages(runner: &QueryRunner, sale: i32, order: &str, size: usize, backward: bool) -> Vec<Value> {
    let (take, from, more, next) = if backward {
        ("last", "before", "hasPreviousPage", "startCursor")
    } else {
        ("first", "after", "hasNextPage", "endCursor")
    };
    let (mut pages, mut position, id) = (Vec::new(), String::new(), sale.to_string());
    loop {
        let data = runner
            .data(&format!(
                "{{ sale(saleId: {sale}) {{ lines({take}: {size} {position} {order}) {{ edges {{ cursor node {{ lineId sale {{ saleId }} }} }}
                 pageInfo {{ hasNextPage hasPreviousPage startCursor endCursor }} }} }} }}"
            ))
            .await;
        let page = &data["sale"]["lines"];
        let edges = page["edges"].as_array().unwrap_or_else(|| panic!("{data}"));
        let ids: Vec<_> = edges.iter().map(|edge| edge["node"]["lineId"].clone()).collect();
        assert!(edges.iter().all(|edge| edge["node"]["sale"]["saleId"] == *id), "{page}");
        let info = &page["pageInfo"];
        let cursors = [edges.first(), edges.last()].map(|edge| edge.map_or(Value::Null, |edge| edge["cursor"].clone()));
        assert_eq!([info["startCursor"].clone(), info["endCursor"].clone()], cursors);
        pages.push(json!([ids, info["hasPreviousPage"], info["hasNextPage"]]));
        if info[more] == false {
            return pages;
        }
        position = format!("{from}: {}", info[next]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_pages_of_a_bounded_list_are_those_of_the_table() {
    let own = OwnSchema::create("bounded-pages", TABLES, SCHEMA).await;
    assert_eq!(own.check(), "");
    let runner = runner(&own, SCHEMA, RowScope::default()).await;
    for (sale, lines) in [(1, 0), (2, 1), (3, 5), (5, 5)] {
        for (key, columns) in [("LINE_ID", "line_id"), ("PLACE", "place, line_id"), ("NOTE", "note, line_id")] {
            for (reverse, direction) in [(false, "ASC"), (true, "DESC NULLS LAST")] {
                let order = columns.replace(',', &format!(" {direction},"));
                let sql = format!("SELECT line_id::text FROM line WHERE sale_id = {sale} ORDER BY {order} {direction}");
                let ids = rows(&own.client, &sql).await;
                assert_eq!(ids.len(), lines);
                for size in [1, 2, 5, 7] {
                    let order = format!("sortKey: {key}, reverse: {reverse}");
                    let page = |at: usize, end: usize| json!([ids[at..end], at > 0, end < lines]);
                    let starts = (0..lines.max(1)).step_by(size);
                    let forward: Vec<_> = starts.clone().map(|at| page(at, lines.min(at + size))).collect();
                    assert_eq!(pages(&runner, sale, &order, size, false).await, forward, "{sale} {order} {size}");
                    let backward: Vec<_> = starts
                        .map(|taken| page(lines.saturating_sub(taken + size), lines - taken.min(lines)))
                        .collect();
                    assert_eq!(pages(&runner, sale, &order, size, true).await, backward, "{sale} {order} {size}");
                }
            }
        }
    }
    // Between two cursors, whatever is counted: flags know of the rows at both.
    let all = runner.data("{ sale(saleId: 3) { lines(first: 5) { edges { cursor } } } }").await;
    let cursor = |index: usize| all["sale"]["lines"]["edges"][index]["cursor"].to_string();
    for (from, to, ids) in [(0, 4, vec!["302", "303", "304"]), (2, 3, vec![]), (3, 1, vec![])] {
        let (after, before) = (cursor(from), cursor(to));
        let data = runner
            .data(&format!(
                "{{ sale(saleId: 3) {{ lines(first: 5, after: {after}, before: {before}) {{ edges {{ node {{ lineId }} }}
                 pageInfo {{ hasNextPage hasPreviousPage }} count }} }} }}"
            ))
            .await;
        let edges: Vec<_> = ids.iter().map(|id| json!({ "node": { "lineId": id } })).collect();
        let info = json!({ "hasNextPage": true, "hasPreviousPage": true });
        assert_eq!(data["sale"]["lines"], json!({ "edges": edges, "pageInfo": info, "count": null }));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_with_too_many_rows_is_null_and_the_rest_of_the_response_stays() {
    let own = OwnSchema::create("bounded-overflow", TABLES, SCHEMA).await;
    let runner = runner(&own, SCHEMA, RowScope::default()).await;
    let cursor = &runner.data("{ sale(saleId: 3) { lines(last: 1) { edges { cursor } } } }").await["sale"]["lines"];
    let cursor = cursor["edges"][0]["cursor"].to_string();
    let served = own.serve(&[]);
    let lines = "{ edges { node { lineId sale { lines(first: 9) { edges { cursor } } } } } }";
    // The cursor of another sale finds no page, but too many rows all the same.
    for arguments in ["first: 1", "last: 9, sortKey: NOTE, reverse: true", &format!("first: 1, after: {cursor}")] {
        let query = format!(
            "{{ sales(first: 5) {{ edges {{ node {{ saleId lines({arguments}) {lines}
             more: lines({arguments}) {{ __typename }} events(first: 1) {{ edges {{ node {{ eventId }} }} }} }} }} }} }}"
        );
        let response = served.query(&query);
        let edges = response["data"]["sales"]["edges"].as_array().unwrap_or_else(|| panic!("{response}"));
        assert_eq!(edges.len(), 5);
        for (index, edge) in edges.iter().enumerate() {
            let node = &edge["node"];
            let is_long = index == 3;
            assert_eq!(node["saleId"], (index + 1).to_string());
            assert_eq!((node["lines"].is_null(), node["more"].is_null()), (is_long, is_long), "{arguments} {node}");
            let (shop, number) = ((index + 1) % 2, index + 1);
            let events = format!("SELECT min(event_id)::text FROM event WHERE (shop, number) = ({shop}, {number})");
            let events = rows(&own.client, &events).await;
            assert_eq!(node["events"]["edges"][0]["node"]["eventId"], events[0], "{node}");
        }
        let errors = response["errors"].as_array().unwrap_or_else(|| panic!("{response}"));
        assert_eq!(errors.len(), 2, "{response}");
        for (error, key) in errors.iter().zip(["lines", "more"]) {
            assert_eq!(error["path"], json!(["sales", "edges", 3, "node", key]));
            assert_eq!(error["extensions"]["code"], "LIST_TOO_LONG");
            let message = error["message"].as_str().unwrap();
            let order = if arguments.contains("NOTE") { "\"note\", " } else { "" };
            let index = format!("CREATE INDEX CONCURRENTLY ON \"line\" (\"sale_id\", {order}\"line_id\");");
            assert!(message.contains("more than 5 rows") && message.contains(&index), "{message}");
        }
        // The same while rows arrive, and whatever the lists are in.
        let data = runner.data(&query).await;
        assert_eq!(&data, &response["data"]);
    }
    let export =
        served.export("{ sales(first: 5) { edges { node { saleId lines(first: 1) { edges { cursor } } } } } }");
    let null = json!({ "saleId": "4", "lines": null });
    assert_eq!(export.iter().filter(|line| **line == null).count(), 1, "{export:?}");
    let error = export.iter().find_map(|line| line.get("@errors")).unwrap_or_else(|| panic!("{export:?}"));
    assert_eq!((&error[0]["node"], &error[0]["path"]), (&json!(4), &json!(["lines"])), "{error}");
    assert_eq!(export.last().unwrap()["@end"]["complete"], true);
    // A limit that is raised, or an index that makes it needless, mends the list.
    own.client.batch_execute("DELETE FROM line WHERE line_id = 406").await.unwrap();
    let mended = served.query("{ sale(saleId: 4) { lines(first: 9) { edges { node { lineId } } } } }");
    assert_eq!(mended["data"]["sale"]["lines"]["edges"].as_array().unwrap().len(), 5, "{mended}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bounded_list_reads_the_rows_of_its_parents_by_the_index_of_the_foreign_key() {
    let own = OwnSchema::create("bounded-plans", TABLES, SCHEMA).await;
    let runner = runner(&own, SCHEMA, RowScope::default()).await;
    let client = connect_like_server(&own.database).await;
    let ids = "SELECT string_agg(oid::text, ',') FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'i')";
    let relations = format!("{{{}}}", rows(&own.client, ids).await[0].as_str().unwrap());
    let cursors = "{ sale(saleId: 3) { lines(first: 2, sortKey: NOTE) { edges { cursor } } } }";
    let cursor = runner.data(cursors).await["sale"]["lines"]["edges"][1]["cursor"].to_string();
    let between = format!("lines(first: 1, sortKey: NOTE, after: {cursor}, before: {cursor})");
    // Without statistics, with those of few rows, and with those of many.
    for statistics in
        ["", "ANALYZE", "UPDATE pg_class SET reltuples = 1e9, relpages = 1e7 WHERE relname IN ('line', 'line_sale')"]
    {
        own.client.batch_execute(statistics).await.unwrap();
        for (arguments, index) in [
            ("lines(first: 2)", "line_sale"),
            ("lines(last: 3, sortKey: PLACE, reverse: true)", "line_sale"),
            (&between, "line_sale"),
            ("events(first: 2)", "event_sale"),
        ] {
            let query = format!(
                "{{ sales(first: 30) {{ edges {{ node {{ saleId {arguments} {{ edges {{ cursor }} pageInfo {{ hasNextPage hasPreviousPage }} }} }} }} }} }}"
            );
            let plan = runner.compile(&query, Variables::new()).plan;
            let planned = plan_of(&client, &plan).await;
            let shape = Indexes::read(&client).await.check(planned.json(), true);
            assert_eq!(shape, Ok(()), "{}\n{}", plan.sql(), planned.text());
            let text = planned.text();
            assert!(text.contains(&format!("\"Index Name\": \"{index}\"")), "{text}");
            let bound = plan.row_bounds().examined;
            let at_most = if index == "line_sale" { 5 } else { 101 };
            assert!(bound >= 30 * (at_most + 1) && bound < 31 * (at_most + 1 + 31 + 40), "{bound}");
            let measured = measure(&client, &plan, &relations).await;
            // An entry of the index, and its row.
            assert!(measured.rows <= 2 * bound, "{} of {bound}: {}", measured.rows, plan.sql());
        }
    }
    let explained =
        own.run(&["explain", "--schema", &own.file(), "{ sale(saleId: 3) { lines(first: 2) { edges { cursor } } } }"]);
    for line in [
        "By index (sale_id), sorted; null if there are more than 5 rows",
        "Examines 6 rows at most",
        "1 to read the list",
    ] {
        assert!(explained.stdout.contains(line), "{line}\n{}{}", explained.stdout, explained.stderr);
    }
    let response = own.serve(&[]).query("{ sales(first: 3) { edges { node { saleId lines(first: 2) { edges { node { lineId } } } events(first: 1) { __typename } } } } }");
    // A sale, its id, two lines and their ids, 1 for up to 10 lines; an event, and 11 for up to 110.
    assert_eq!(response["extensions"]["cost"]["requestedQueryCost"], 3 * (1 + 1 + 2 * 2 + 1 + 1 + 11), "{response}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_caller_of_a_scope_sees_the_rows_of_a_bounded_list_that_are_in_it() {
    let own = OwnSchema::create("bounded-scope", TABLES, SCHEMA).await;
    let scope = r#"key: ["line_id"]) @scope(name: "note", by: "note") {"#;
    let schema = SCHEMA.replace(r#"key: ["line_id"]) {"#, scope);
    let notes = RowScope::new([("note", Some(vec!["n1", "same"]))].into_iter(), Secret::default());
    let runner = runner(&own, &schema, notes).await;
    for (sale, expected) in [(1, "[]"), (2, "[201]"), (3, "[301, 304]"), (4, "null"), (5, "[503, 504, 505]")] {
        let query = format!(
            "{{ sale(saleId: {sale}) {{ lines(first: 9, sortKey: NOTE) {{ edges {{ node {{ lineId }} }} pageInfo {{ hasNextPage }} }} }} }}"
        );
        let data = runner.data(&query).await;
        let lines = &data["sale"]["lines"];
        let edges = lines["edges"].as_array();
        let ids =
            edges.map(|edges| edges.iter().map(|edge| edge["node"]["lineId"].as_str().unwrap()).collect::<Vec<_>>());
        let found = ids.map_or("null".to_owned(), |ids| format!("[{}]", ids.join(", ")));
        assert_eq!(found, expected, "{sale}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_null_that_cannot_be_written_makes_the_list_null() {
    let schema = SCHEMA.replace("note: String", "note: String!");
    let own = OwnSchema::create("bounded-nulls", TABLES, &schema).await;
    let served = own.serve(&["--schema-constraints", "trusted"]);
    let response = served.query("{ sale(saleId: 5) { saleId lines(first: 2) { edges { node { note } } } } }");
    assert_eq!(response["data"]["sale"], json!({ "saleId": "5", "lines": null }), "{response}");
    assert_eq!(response["errors"][0]["path"], json!(["sale", "lines", "edges", 0, "node", "note"]), "{response}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_check_and_the_draft_know_which_lists_need_a_bound() {
    let own = OwnSchema::create("bounded-check", TABLES, SCHEMA).await;
    let check = |index: &'static str| {
        let own = &own;
        async move {
            own.client.batch_execute(index).await.unwrap();
            own.run(&["schema", "check", &own.file()])
        }
    };
    assert_eq!(check("").await.stdout, "The database fits the schema.\n");
    let refunds = "CREATE TABLE refund (refund_id integer PRIMARY KEY, shop integer, number integer,
            FOREIGN KEY (shop, number) REFERENCES sale (shop, number));
        CREATE INDEX ON refund (number, shop);
        INSERT INTO refund SELECT n, 1, 7 FROM generate_series(1, 3) AS n";
    own.client.batch_execute(refunds).await.unwrap();
    let draft = own.run(&["schema", "draft"]).stdout;
    for lines in [
        "  # lines is null if it has more than 200 rows; an index in its order lifts this limit: CREATE INDEX CONCURRENTLY ON \"line\" (\"sale_id\", \"line_id\");\n  \
           lines: [Line] @many(by: [\"sale_id\"], atMost: 200)\n",
        "  events: [Event] @many(by: [\"shop\", \"number\"], atMost: 200)\n",
        "  receipts: [Receipt] @many(by: [\"sale_id\"], atMost: 1)\n",
        // In the order of the index.
        "  refunds: [Refund] @many(by: [\"number\", \"shop\"], atMost: 200)\n",
    ] {
        assert!(draft.contains(lines), "{lines}\n{draft}");
    }
    let file = own.file();
    own.write(&draft);
    assert_eq!(own.check(), "", "{draft}");
    assert_eq!(own.run(&["schema", "draft", "--update", &file]).stdout, draft);
    let sale = own.serve(&[]).query(
        "{ sale(saleId: 7) { receipts(first: 2) { edges { node { receiptId } } } refunds(last: 2) { edges { node { refundId } } } } }",
    );
    assert_eq!(sale["data"]["sale"]["receipts"]["edges"], json!([{ "node": { "receiptId": "2994" } }]));
    let refund = |id: &str| json!({ "node": { "refundId": id } });
    assert_eq!(sale["data"]["sale"]["refunds"]["edges"], json!([refund("2"), refund("3")]));
    // A file that names the columns in another order has the list, too.
    own.write(&draft.replace("by: [\"number\", \"shop\"]", "by: [\"shop\", \"number\"]"));
    assert!(!own.run(&["schema", "draft", "--update", &file]).stdout.contains("[\"number\", \"shop\"]"));
    own.write(SCHEMA);
    // Of its three orders, one has an index, then all.
    assert_eq!(check("CREATE INDEX by_key ON line (sale_id, line_id)").await.stdout, "The database fits the schema.\n");
    let needless =
        check("CREATE INDEX ON line (sale_id, place, line_id); CREATE INDEX ON line (sale_id, note, line_id)");
    let text = needless.await.stdout;
    assert!(text.contains("- Sale.lines: an index has its rows in order, so that it needs no `atMost`\n"), "{text}");
    let none = check(
        "DROP INDEX line_sale, by_key, line_sale_id_place_line_id_idx, line_sale_id_note_line_id_idx; DROP INDEX event_sale",
    );
    let errors = none.await.stderr;
    for index in [
        "no index serves Sale.lines: CREATE INDEX CONCURRENTLY ON \"line\" (\"sale_id\");",
        "no index serves Sale.events: CREATE INDEX CONCURRENTLY ON \"event\" (\"shop\", \"number\");",
    ] {
        assert_eq!(errors.matches(index).count(), 1, "{errors}");
    }
}
