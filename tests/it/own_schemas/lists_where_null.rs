//! Lists without the rows that are marked as deleted: an index of the others finds them.

use orderql::catalog::Catalog;
use orderql::preflight::stored_types;
use orderql::query::Variables;
use serde_json::json;

use crate::own_schemas::{OwnSchema, rows};
use crate::support::query_plan::{connect_like_server, measure, plan_of};
use crate::support::query_runner::QueryRunner;

/// Sale 1 has 5,000 lines, of which every thousandth is not deleted. Sale 2 has deleted lines alone, and 3 has none.
const TABLES: &str = "
    CREATE TABLE sale (sale_id integer PRIMARY KEY);
    CREATE TABLE line (line_id bigint PRIMARY KEY, sale_id integer REFERENCES sale, kind text, \"deletedAt\" timestamptz);
    CREATE INDEX line_in_order ON line (sale_id, line_id) WHERE \"deletedAt\" IS NULL;
    CREATE INDEX line_of_kind ON line (sale_id, kind) WHERE kind IS NULL;
    CREATE TABLE note (note_id integer PRIMARY KEY, sale_id integer REFERENCES sale, removed_on date);
    CREATE INDEX note_of_sale ON note (sale_id) WHERE removed_on IS NULL AND sale_id IS NOT NULL;
    CREATE TABLE tag (tag_id integer PRIMARY KEY, sale_id integer REFERENCES sale);
    CREATE INDEX tag_of_sale ON tag (sale_id) WHERE sale_id IS NOT NULL;
    INSERT INTO sale SELECT generate_series(1, 3);
    INSERT INTO line SELECT n, 1, 'k' || n % 2000, CASE WHEN n % 1000 > 0 THEN now() END FROM generate_series(1, 5000) AS n;
    INSERT INTO line SELECT n, 2, 'k', now() FROM generate_series(5001, 5010) AS n;
    INSERT INTO note SELECT n, 1, CASE WHEN n % 1000 > 0 THEN current_date END FROM generate_series(1, 5000) AS n;
    INSERT INTO tag VALUES (1, 1), (2, NULL), (3, 1)";

const SCHEMA: &str = r#"
type Query {
  sale(saleId: ID!): Sale @point
  sales: [Sale] @sort(key: "SALE_ID")
}
type Sale @relation(name: "sale", key: ["sale_id"]) {
  saleId: ID!
  lines: [Line] @many(by: ["sale_id"], whereNull: "deletedAt") @sort(key: "LINE_ID")
  notes: [Note] @many(by: ["sale_id"], whereNull: "removed_on", atMost: 5) @sort(key: "NOTE_ID")
  kinds: Int! @aggregate(countDistinct: "kind", over: "lines")
}
type Line @relation(name: "line", key: ["line_id"]) { lineId: ID! }
type Note @relation(name: "note", key: ["note_id"]) { noteId: ID! }
"#;

const LISTS: &str = "{ sales(first: 3) { edges { node {
    lines(first: 9) { edges { node { lineId } } } notes(first: 9) { edges { node { noteId } } } kinds } } } }";

#[tokio::test(flavor = "multi_thread")]
async fn a_list_where_a_column_is_null_has_no_deleted_rows_and_reads_none() {
    let own = OwnSchema::create("where-null", TABLES, SCHEMA).await;
    assert_eq!(own.check(), "");
    let catalog = Catalog::parse(SCHEMA).unwrap();
    let stored = stored_types(&own.client, &catalog).await.unwrap();
    let runner = QueryRunner::with_catalog(&own.database.config(), 2, catalog.with_stored_types(&stored));
    let edges = |key: &str, ids: &[u32]| {
        let node = |id: &u32| json!({ "node": { key: id.to_string() } });
        json!({ "edges": ids.iter().map(node).collect::<Vec<_>>() })
    };
    let sale = |ids: &[u32], kinds: u32| json!({ "lines": edges("lineId", ids), "notes": edges("noteId", ids), "kinds": kinds });
    let all = [1000, 2000, 3000, 4000, 5000];
    let expected = json!([sale(&all, 2), sale(&[], 0), sale(&[], 0)].map(|sale| json!({ "node": sale })));
    assert_eq!(runner.data(LISTS).await["sales"]["edges"], expected);
    for (list, key) in [("lines", "lineId"), ("notes", "noteId")] {
        for reverse in [false, true] {
            let mut ids = all.to_vec();
            if reverse {
                ids.reverse();
            }
            let (mut seen, mut position) = (Vec::new(), String::new());
            for at in [0, 2, 4] {
                let page =
                    "edges { node { ID } } pageInfo { hasNextPage hasPreviousPage endCursor }".replace("ID", key);
                let order = if reverse { "reverse: true, " } else { "" };
                let query = format!("{{ sale(saleId: 1) {{ {list}({order}first: 2{position}) {{ {page} }} }} }}");
                let page = &runner.data(&query).await["sale"][list];
                seen.extend(page["edges"].as_array().unwrap().iter().map(|edge| edge["node"][key].clone()));
                let (info, end) = (&page["pageInfo"], at + 2 >= ids.len());
                assert_eq!((&info["hasNextPage"], &info["hasPreviousPage"]), (&json!(!end), &json!(at > 0)), "{query}");
                position = format!(", after: {}", info["endCursor"]);
            }
            assert_eq!(seen, ids.iter().map(u32::to_string).collect::<Vec<_>>(), "{list} {reverse}");
        }
    }
    // Thousands of deleted rows are not read, whatever PostgreSQL believes of the tables.
    let client = connect_like_server(&own.database).await;
    let oids = "SELECT string_agg(oid::text, ',') FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'i')";
    let relations = format!("{{{}}}", rows(&own.client, oids).await[0].as_str().unwrap());
    for statistics in ["", "ANALYZE", "UPDATE pg_class SET reltuples = 1e9, relpages = 1e7 WHERE relname LIKE 'line%'"]
    {
        own.client.batch_execute(statistics).await.unwrap();
        let plan = runner.compile(LISTS, Variables::new()).plan;
        let planned = plan_of(&client, &plan).await;
        for index in ["line_in_order", "note_of_sale"] {
            assert!(planned.text().contains(&format!("\"Index Name\": \"{index}\"")), "{}", planned.text());
        }
        let measured = measure(&client, &plan, &relations).await;
        assert!(measured.rows <= 60, "{} rows: {}", measured.rows, plan.sql());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_check_wants_an_index_of_the_rows_alone_and_the_draft_takes_it() {
    let own = OwnSchema::create("where-null-check", TABLES, SCHEMA).await;
    let draft = own.run(&["schema", "draft"]).stdout;
    for part in [
        "  # lines has no rows with a value in deletedAt: their index has none\n  \
           lines: [Line] @many(by: [\"sale_id\"], whereNull: \"deletedAt\")\n",
        "  # notes is null if it has more than 200 rows; an index in its order lifts this limit: CREATE INDEX CONCURRENTLY ON \"note\" \
         (\"sale_id\", \"note_id\") WHERE \"removed_on\" IS NULL;\n  \
           notes: [Note] @many(by: [\"sale_id\"], whereNull: \"removed_on\", atMost: 200)\n",
        // What equals a value is not null.
        "  tags: [Tag] @many(by: [\"sale_id\"], atMost: 200)\n",
    ] {
        assert!(draft.contains(part), "{part}\n{draft}");
    }
    let file = own.file();
    own.write(&draft);
    assert_eq!(own.check(), "", "{draft}");
    assert_eq!(own.run(&["schema", "draft", "--update", &file]).stdout, draft);
    let tags = own.serve(&[]).query("{ sale(saleId: 1) { tags(first: 9) { edges { node { tagId } } } } }");
    let edges = json!([{ "node": { "tagId": "1" } }, { "node": { "tagId": "3" } }]);
    assert_eq!(tags["data"]["sale"]["tags"]["edges"], edges, "{tags}");
    own.write(SCHEMA);
    let too_long = own.serve(&[]);
    own.client.batch_execute("UPDATE note SET removed_on = NULL WHERE note_id < 3").await.unwrap();
    let response = too_long.query("{ sale(saleId: 1) { notes(first: 1) { edges { node { noteId } } } } }");
    assert_eq!(response["data"]["sale"]["notes"], json!(null), "{response}");
    let message = response["errors"][0]["message"].as_str().unwrap();
    assert!(message.contains("(\"sale_id\", \"note_id\") WHERE \"removed_on\" IS NULL;"), "{message}");
    // Indexes of all rows, or of the rows with other nulls, do not do.
    let indexes = "DROP INDEX line_in_order, note_of_sale; CREATE INDEX ON line (sale_id, line_id); CREATE INDEX ON note (sale_id);
        CREATE INDEX ON line (sale_id, line_id) WHERE kind IS NULL";
    own.client.batch_execute(indexes).await.unwrap();
    let errors = own.run(&["schema", "check", &file]).stderr;
    for missing in [
        "no index serves Sale.lines: CREATE INDEX CONCURRENTLY ON \"line\" (\"sale_id\", \"line_id\") WHERE \"deletedAt\" IS NULL;",
        "no index serves Sale.notes: CREATE INDEX CONCURRENTLY ON \"note\" (\"sale_id\") WHERE \"removed_on\" IS NULL;",
        "no index serves Sale.kinds: CREATE INDEX CONCURRENTLY ON \"line\" (\"sale_id\") WHERE \"deletedAt\" IS NULL;",
    ] {
        assert_eq!(errors.matches(missing).count(), 1, "{missing}\n{errors}");
    }
    // Neither do they where PostgreSQL has to say it: of a view.
    own.client
        .batch_execute("ALTER TABLE note RENAME TO notes; CREATE VIEW note AS SELECT * FROM notes")
        .await
        .unwrap();
    let errors = own.run(&["schema", "check", &file]).stderr;
    assert!(errors.contains("no index serves Sale.notes: the view note needs one"), "{errors}");
    own.client.batch_execute("CREATE INDEX ON notes (sale_id) WHERE removed_on IS NULL").await.unwrap();
    let errors = own.run(&["schema", "check", &file]).stderr;
    assert!(!errors.contains("Sale.notes"), "{errors}");
    own.client.batch_execute("ALTER TABLE line DROP COLUMN \"deletedAt\"").await.unwrap();
    let errors = own.run(&["schema", "check", &file]).stderr;
    assert!(errors.contains("deletedAt"), "{errors}");
}
