//! Views, materialized views, partitioned tables and tables of other servers: drafted with declared keys, checked, and read page by page as
//! in SQL.

use serde_json::Value;
use tokio_postgres::Client;

use crate::own_schemas::{OwnSchema, rows};
use crate::support::server::connection_string;

const TABLES: &str = "
    CREATE TABLE product (product_id integer PRIMARY KEY, name text NOT NULL, made timestamptz NOT NULL);
    CREATE INDEX ON product (name, product_id);
    CREATE TABLE stock (product_id integer NOT NULL REFERENCES product, place text NOT NULL, quantity integer, PRIMARY KEY (product_id, place));
    CREATE INDEX ON stock (place, product_id);
    CREATE SCHEMA sales;
    CREATE VIEW sales.stock_level AS
        SELECT stock.product_id, stock.place, stock.quantity * 2 AS doubled, product.name
        FROM stock JOIN product USING (product_id);
    CREATE TABLE event (event_id bigint NOT NULL, at timestamptz NOT NULL, what text, PRIMARY KEY (at, event_id)) PARTITION BY RANGE (at);
    CREATE TABLE event_old PARTITION OF event FOR VALUES FROM (MINVALUE) TO ('2026-02-01');
    CREATE TABLE event_new PARTITION OF event FOR VALUES FROM ('2026-02-01') TO (MAXVALUE);
    CREATE TABLE part (part_id text PRIMARY KEY, place text) PARTITION BY HASH (part_id);
    CREATE TABLE part_0 PARTITION OF part FOR VALUES WITH (MODULUS 2, REMAINDER 0);
    CREATE TABLE part_1 PARTITION OF part FOR VALUES WITH (MODULUS 2, REMAINDER 1);
    CREATE INDEX ON part (place, part_id);
    INSERT INTO product SELECT n, 'name ' || n % 7, '2026-01-01'::timestamptz + n * interval '1 hour' FROM generate_series(1, 60) AS n;
    INSERT INTO stock SELECT n, 'place ' || p, NULLIF(n * p, 8) FROM generate_series(1, 60) AS n, generate_series(1, 3) AS p WHERE (n + p) % 4 > 0;
    INSERT INTO event SELECT n % 40, '2026-01-01'::timestamptz + n * interval '1 day', CASE WHEN n % 3 > 0 THEN 'event ' || n END FROM generate_series(1, 90) AS n;
    INSERT INTO part SELECT 'part ' || n, CASE WHEN n % 5 > 0 THEN 'place ' || n % 5 END FROM generate_series(1, 80) AS n;
    CREATE MATERIALIZED VIEW product_count AS SELECT name, count(*)::integer AS products, max(product_id) AS newest FROM product GROUP BY name;
    CREATE INDEX ON product_count (name);
    CREATE MATERIALIZED VIEW newest AS SELECT DISTINCT ON (name) name, product_id FROM product ORDER BY name, product_id DESC;
    CREATE UNIQUE INDEX ON newest (product_id);
    CREATE INDEX ON newest (name, product_id)";

/// Makes a table of this database one of another server. Returns false if PostgreSQL has no such tables here.
async fn add_foreign_table(own: &OwnSchema) -> bool {
    let is_there = "SELECT count(*) FROM pg_available_extensions WHERE name = 'postgres_fdw'";
    if own.client.query_one(is_there, &[]).await.unwrap().get::<_, i64>(0) == 0 {
        return false;
    }
    let name = own.database.name();
    let sql = format!(
        "CREATE EXTENSION postgres_fdw;
         CREATE SERVER shop FOREIGN DATA WRAPPER postgres_fdw OPTIONS ({}, dbname '{name}');
         CREATE USER MAPPING FOR CURRENT_USER SERVER shop OPTIONS (password_required 'false');
         CREATE FOREIGN TABLE remote_product (product_id integer NOT NULL, name text, made timestamptz)
             SERVER shop OPTIONS (schema_name 'public', table_name 'product')",
        host(&connection_string(&own.database.config()))
    );
    own.client.batch_execute(&sql).await.unwrap_or_else(|error| panic!("{sql}: {error:?}"));
    true
}

/// The server of an address, as options of a foreign server.
fn host(address: &str) -> String {
    let option = |name: &str| {
        let (_, rest) = address.split_once(&format!("{name}="))?;
        Some(format!("{name} '{}'", rest.split(' ').next()?))
    };
    ["host", "port"].into_iter().filter_map(option).collect::<Vec<_>>().join(", ")
}

#[tokio::test(flavor = "multi_thread")]
async fn reads_every_kind_of_relation_page_by_page() {
    let own = OwnSchema::create("relation-kinds", TABLES, "").await;
    let has_foreign = add_foreign_table(&own).await;
    let without = own.run(&["schema", "draft"]).stdout;
    for line in [
        "# product_count: a materialized view without a unique index has no key that PostgreSQL knows; declare it: --key product_count=COLUMN,…",
        "# sales.stock_level: a view has no key that PostgreSQL knows; declare it: --key sales.stock_level=COLUMN,…",
    ] {
        assert!(without.contains(line), "{line}\n{without}");
    }
    let (view, materialized) = ("sales.stock_level=product_id,place", "product_count=name");
    let mut arguments = vec!["schema", "draft", "--key", view, "--key", materialized];
    if has_foreign {
        arguments.extend(["--key", "remote_product=product_id"]);
    }
    let drafted = own.run(&arguments);
    assert!(drafted.succeeded, "{}", drafted.stderr);
    let draft = drafted.stdout;
    own.write(&draft);
    assert_eq!(own.check(), "", "{draft}");
    let updated = own.run(&["schema", "draft", "--update", &own.file()]);
    assert_eq!(updated.stdout, draft, "{}", updated.stderr);
    for line in [
        "type StockLevel @relation(name: \"sales.stock_level\", key: [\"product_id\", \"place\"]) {",
        // By the indexes of its tables.
        "  stockLevels: [StockLevel]\n    @search(key: \"productId\"",
        "    # no index begins with doubled, to search and sort by: an index on the table of its columns (doubled, product_id, place)",
        "  productCount(name: ID!): ProductCount @point",
        "  # a materialized view has no constraints: delete the type if rows have a null in its key (product_id)\n}",
        "type Event @relation(name: \"event\", key: [\"at\", \"event_id\"]) {",
    ] {
        assert!(draft.contains(line), "{line}\n{draft}");
    }
    let served = own.serve(&["--bucket-size", "1000000000"]);
    let mut lists = vec![
        ("stockLevels", "PRODUCT_ID", "name", "sales.stock_level", "product_id, place"),
        ("stockLevels", "PLACE", "productId", "sales.stock_level", "place, product_id"),
        ("productCounts", "NAME", "products", "product_count", "name"),
        ("newests", "NAME", "productId", "newest", "name, product_id"),
        ("events", "AT", "what", "event", "at, event_id"),
        ("parts", "PLACE", "partId", "part", "place, part_id"),
        ("parts", "PART_ID", "place", "part", "part_id"),
    ];
    if has_foreign {
        lists.push(("remoteProducts", "PRODUCT_ID", "name", "remote_product", "product_id"));
    }
    for (root, sort_key, field, relation, order) in lists {
        for (reverse, size, backward) in [(false, 7, false), (true, 30, true), (false, 100, true), (true, 11, false)] {
            let arguments = format!("sortKey: {sort_key}, reverse: {reverse}");
            let pages = served.pages(root, &arguments, field, size, backward);
            let expected = expected(&own.client, relation, field, order, reverse).await;
            assert_eq!(pages.values, expected, "{root}({arguments}) by {size}");
        }
    }
    let one = served.query(
        "{ stockLevel(productId: 8, place: \"place 1\") { doubled name } productCount(name: \"name 3\") { products newest }
           event(at: \"2026-03-01T00:00:00Z\", eventId: 19) { what } part(partId: \"part 9\") { place }
           stockLevels(first: 9, query: \"place:'place 2' productId:5,4,3,2,1\") { edges { node { productId } } } }",
    );
    assert_eq!(one["data"]["stockLevel"]["name"], "name 1", "{one}");
    assert_eq!(one["data"]["stockLevel"]["doubled"], Value::Null, "{one}");
    assert_eq!(one["data"]["productCount"]["products"], 9, "{one}");
    assert_eq!(one["data"]["event"]["what"], "event 59", "{one}");
    assert_eq!(one["data"]["part"]["place"], "place 4", "{one}");
    let found = "SELECT product_id::text AS value FROM sales.stock_level WHERE place = 'place 2' AND product_id <= 5 ORDER BY product_id, place";
    let edges = one["data"]["stockLevels"]["edges"].as_array().unwrap();
    let found_ids: Vec<_> = edges.iter().map(|edge| edge["node"]["productId"].clone()).collect();
    assert_eq!(found_ids, rows(&own.client, found).await);
    if has_foreign {
        let one = served.query("{ remoteProduct(productId: 9) { name } }");
        assert_eq!(one["data"]["remoteProduct"]["name"], "name 2", "{one}");
    }
}

/// The field of all rows of a relation in the order of a list: nulls last in both directions.
async fn expected(client: &Client, relation: &str, field: &str, order: &str, reverse: bool) -> Vec<Value> {
    let column: String = field
        .chars()
        .flat_map(|c| if c.is_uppercase() { vec!['_', c.to_ascii_lowercase()] } else { vec![c] })
        .collect();
    let direction = if reverse { "DESC NULLS LAST" } else { "ASC" };
    let order: Vec<_> = order.split(", ").map(|column| format!("{column} {direction}")).collect();
    let id = if field.ends_with("Id") { "::text" } else { "" };
    rows(client, &format!("SELECT {column}{id} AS value FROM {relation} ORDER BY {}", order.join(", "))).await
}
