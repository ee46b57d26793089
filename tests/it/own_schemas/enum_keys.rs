//! Enums of the database in keys and foreign keys: drafted, found by arguments, joined, and paged through in the order of their declaration.

use serde_json::{Value, json};

use crate::own_schemas::{OwnSchema, Served, rows};

const TABLES: &str = "
    CREATE TYPE size AS ENUM ('small', 'medium', 'large', 'xxl');
    CREATE DOMAIN fitting AS size;
    CREATE TABLE price (size size PRIMARY KEY, amount numeric(8, 2) NOT NULL);
    CREATE TABLE shirt (
        colour text NOT NULL,
        size size NOT NULL REFERENCES price,
        stock integer,
        fits fitting,
        PRIMARY KEY (size, colour)
    );
    CREATE INDEX ON shirt (colour, size);
    CREATE INDEX ON shirt (fits, size, colour);
    CREATE TABLE sold (
        sold_id integer PRIMARY KEY,
        size size,
        colour text,
        FOREIGN KEY (size, colour) REFERENCES shirt (size, colour)
    );
    CREATE INDEX ON sold (size, colour, sold_id);
    CREATE INDEX ON sold (size, sold_id);
    INSERT INTO price SELECT size, 10 + ordinality FROM unnest(enum_range(NULL::size)) WITH ORDINALITY AS s (size, ordinality);
    INSERT INTO shirt SELECT 'colour ' || n, size, n, size FROM unnest(enum_range(NULL::size)) AS s (size), generate_series(1, 9) AS n;
    INSERT INTO sold
        SELECT n, CASE WHEN n % 7 > 0 THEN (enum_range(NULL::size))[1 + n % 4] END, 'colour ' || 1 + n % 9
        FROM generate_series(1, 200) AS n";

#[tokio::test(flavor = "multi_thread")]
async fn a_draft_has_enums_in_keys_and_joins() {
    let own = OwnSchema::create("enum-keys", TABLES, "").await;
    let draft = own.run(&["schema", "draft"]).stdout;
    for line in [
        "  price(size: Size!): Price @point\n",
        "  shirt(size: Size!, colour: ID!): Shirt @point\n",
        "type Shirt @relation(name: \"shirt\", key: [\"size\", \"colour\"]) {\n",
        "  size: Size!\n",
        "  price: Price @one(by: [\"size\"])\n",
        "  shirts: [Shirt] @many(by: [\"size\"])\n",
        "  solds: [Sold] @many(by: [\"size\", \"colour\"])\n",
        "    @search(key: \"size\", inOrderOf: [\"COLOUR\"])\n",
        "    @sort(key: \"SIZE\")\n",
        "  fits: Size\n",
        "    # no search and no order by fits: fitting is not compared\n",
    ] {
        assert!(draft.contains(line), "{line}\n{draft}");
    }
    own.write(&draft);
    assert_eq!(own.check(), "", "{draft}");
    assert_eq!(own.run(&["schema", "draft", "--update", &own.file()]).stdout, draft);

    let served = own.serve(&["--bucket-size", "1000000000"]);
    let name = "upper(size::text)";
    for (root, field, sort_key, table, value, order) in [
        ("shirts", "size", "SIZE", "shirt", name, "shirt.size, colour"),
        ("shirts", "colour", "COLOUR", "shirt", "colour", "colour, shirt.size"),
        ("solds", "soldId", "SIZE", "sold", "sold_id::text", "sold.size, sold_id"),
        ("prices", "size", "SIZE", "price", name, "price.size"),
    ] {
        for (reverse, backward, size) in [(false, false, 7), (true, false, 5), (false, true, 50), (true, true, 3)] {
            let direction = if reverse { "DESC NULLS LAST" } else { "ASC" };
            let order: Vec<_> = order.split(", ").map(|column| format!("{column} {direction}")).collect();
            let sql = format!("SELECT {value} AS value FROM {table} ORDER BY {}", order.join(", "));
            let pages = served.pages(root, &format!("sortKey: {sort_key}, reverse: {reverse}"), field, size, backward);
            assert_eq!(pages.values, rows(&own.client, &sql).await, "{root} by {sort_key} {reverse} {backward}");
        }
    }
    joins(&own, &served).await;
}

/// Rows are found from both ends of a foreign key, page by page.
async fn joins(own: &OwnSchema, served: &Served) {
    let found = served.query(
        "{ price(size: XXL) { amount shirts(first: 2) { edges { node { size fits colour price { amount } } } } } }",
    );
    let shirts = json!([
        { "node": { "size": "XXL", "fits": "XXL", "colour": "colour 1", "price": { "amount": "14.00" } } },
        { "node": { "size": "XXL", "fits": "XXL", "colour": "colour 2", "price": { "amount": "14.00" } } }
    ]);
    assert_eq!(found["data"]["price"], json!({ "amount": "14.00", "shirts": { "edges": shirts } }), "{found}");
    let expected =
        rows(&own.client, "SELECT sold_id::text FROM sold WHERE size = 'medium' AND colour = 'colour 2' ORDER BY 1")
            .await;
    let (mut after, mut ids) = (String::new(), Vec::new());
    loop {
        let page = served.query(&format!(
            "{{ shirt(size: MEDIUM, colour: \"colour 2\") {{ solds(first: 2 {after}) {{
                edges {{ node {{ soldId shirt {{ stock }} }} }} pageInfo {{ hasNextPage endCursor }} }} }} }}"
        ));
        let page = &page["data"]["shirt"]["solds"];
        for edge in page["edges"].as_array().unwrap_or_else(|| panic!("{page}")) {
            ids.push(edge["node"]["soldId"].clone());
            assert_eq!(edge["node"]["shirt"]["stock"], 2, "{edge}");
        }
        if page["pageInfo"]["hasNextPage"] != Value::Bool(true) {
            break;
        }
        after = format!("after: {}", page["pageInfo"]["endCursor"]);
    }
    ids.sort_by_key(ToString::to_string);
    assert_eq!(ids, expected);
    assert!(expected.len() > 2);
    let none = served.query("{ solds(first: 1, sortKey: SIZE, reverse: true, query: \"size:SMALL\") { edges { node { size shirt { stock } } } } }");
    assert_eq!(none["data"]["solds"]["edges"][0]["node"]["size"], "SMALL", "{none}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_check_refuses_joins_of_two_enums_and_orders_by_a_domain() {
    let other = "; CREATE TYPE length AS ENUM ('small', 'medium', 'large', 'xxl');
        CREATE TABLE trouser (trouser_id integer PRIMARY KEY, length length)";
    let schema = r#"
type Query { trouser(trouserId: ID!): Trouser @point }
type Trouser @relation(name: "trouser", key: ["trouser_id"]) {
  trouserId: ID!
  length: Size
  price: Price @one(by: ["length"], to: ["size"])
}
type Price @relation(name: "price", key: ["size"]) { size: Size! amount: Decimal! }
enum Size { SMALL @value(text: "small") MEDIUM @value(text: "medium") LARGE @value(text: "large") XXL @value(text: "xxl") }
"#;
    let own = OwnSchema::create("enum-join", &format!("{TABLES}{other}"), schema).await;
    let refused = own.check();
    for sort in ["", " @sort(key: \"FITS\")"] {
        let shirts = format!(
            "type Query {{ shirts: [Shirt] @sort(key: \"COLOUR\"){sort} }}
            type Shirt @relation(name: \"shirt\", key: [\"colour\", \"size\"]) {{ size: Size! colour: ID! fits: Size }}
            enum Size {{"
        );
        own.write(
            &schema
                .replace("type Query { trouser(trouserId: ID!): Trouser @point }", "")
                .replace("enum Size {", &shirts),
        );
        let error = "shirt.fits is of type fitting, which shirts(sortKey: FITS) cannot compare with Size values";
        assert_eq!(own.check().contains(error), !sort.is_empty(), "{}", own.check());
    }
    let errors = refused;
    assert!(errors.contains("trouser.length") && errors.contains("price.size"), "{errors}");
}
