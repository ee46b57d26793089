//! Rows that are not deleted: a view of them, found by the index that has these rows alone.

use crate::own_schemas::{OwnSchema, rows};

const TABLES: &str = "
    CREATE TABLE cart (cart_id integer PRIMARY KEY);
    CREATE TABLE line (line_id integer PRIMARY KEY, cart_id integer REFERENCES cart, deleted_at timestamptz);
    CREATE INDEX ON line (cart_id, line_id) WHERE deleted_at IS NULL;
    CREATE VIEW live_line AS SELECT line_id, cart_id FROM line WHERE deleted_at IS NULL;
    INSERT INTO cart SELECT generate_series(1, 3);
    INSERT INTO line SELECT n, n % 3 + 1, CASE WHEN n % 4 = 0 THEN now() END FROM generate_series(1, 40) AS n";

const SCHEMA: &str = r#"
    type Query { carts: [Cart] @sort(key: "CART_ID") }
    type Cart @relation(name: "cart", key: ["cart_id"]) { cartId: ID! lines: [Line] @many(by: ["cart_id"]) }
    type Line @relation(name: "live_line", key: ["line_id"]) { lineId: ID! }"#;

#[tokio::test(flavor = "multi_thread")]
async fn a_list_of_a_view_of_live_rows_takes_the_index_of_these_rows() {
    let own = OwnSchema::create("soft-deletes", TABLES, SCHEMA).await;
    assert_eq!(own.check(), "");
    let response = own
        .serve(&[])
        .query("{ carts(first: 3) { edges { node { lines(first: 50) { edges { node { lineId } } } } } } }");
    let mut lines = Vec::new();
    for cart in response["data"]["carts"]["edges"].as_array().unwrap_or_else(|| panic!("{response}")) {
        let edges = cart["node"]["lines"]["edges"].as_array().unwrap();
        lines.extend(edges.iter().map(|edge| edge["node"]["lineId"].clone()));
    }
    let sql = "SELECT line.line_id::text FROM line WHERE deleted_at IS NULL ORDER BY cart_id, line.line_id";
    assert_eq!(lines, rows(&own.client, sql).await);
    own.write(&SCHEMA.replace("live_line", "line"));
    let refused = "no index serves Cart.lines: CREATE INDEX CONCURRENTLY ON \"line\" (\"cart_id\", \"line_id\");";
    assert!(own.check().contains(refused), "{}", own.check());
    let draft = own.run(&["schema", "draft", "--key", "live_line=line_id"]).stdout;
    assert!(draft.contains("    @search(key: \"cartId\", "), "{draft}");
}
