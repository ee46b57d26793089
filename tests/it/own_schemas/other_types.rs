//! Columns of types without a scalar of their own are read as PostgreSQL writes them.

use serde_json::{Value, json};

use crate::own_schemas::{OwnSchema, rows};

const TABLES: &str = "
    CREATE TYPE size AS (width integer, unit text);
    CREATE DOMAIN address AS inet NOT NULL;
    CREATE TABLE host (
        host_id integer PRIMARY KEY,
        ip address,
        network cidr,
        card macaddr,
        ports int4range,
        hours tstzrange,
        place point,
        price money,
        opens timetz,
        flags bit varying,
        path jsonpath,
        size size,
        others inet[],
        kind \"char\" NOT NULL
    );
    CREATE INDEX ON host (ip, host_id);
    CREATE TABLE net (net cidr PRIMARY KEY);
    INSERT INTO host VALUES
        (1, '10.0.0.1', '10.0.0.0/8', '08:00:2b:01:02:03', '[1,5)', '[2026-01-01 00:00:00+00,)', '(1.5,-2)', 12.5, '09:00+02', B'0101', '$.a',
         ROW(7, 'mm \"x\"'), ARRAY['::1', '10.0.0.2/24', NULL]::inet[], 'x'),
        (2, '::1', NULL, NULL, 'empty', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{}', 'y');";

const EXTENSIONS: &str = "
    CREATE EXTENSION citext;
    CREATE EXTENSION hstore;
    CREATE EXTENSION ltree;
    CREATE TABLE page (page_id integer PRIMARY KEY, title citext NOT NULL, tags hstore NOT NULL, place ltree);
    INSERT INTO page VALUES (1, 'Straße', 'a=>1, \"b c\"=>NULL', 'top.a_b'), (2, '', '', NULL)";

#[tokio::test(flavor = "multi_thread")]
async fn values_of_other_types_are_read_as_the_database_writes_them() {
    let own = OwnSchema::create("other-types", TABLES, "").await;
    let draft = own.run(&["schema", "draft"]).stdout;
    for part in [
        "  ip: String!\n",
        "  ports: String\n",
        "  size: String\n",
        "  others: [String]\n",
        "  kind: String!\n",
        "    # no search and no order by ip: address is not compared\n",
        "# net: its key has columns that cannot be read in order: net: cidr is not compared\n",
    ] {
        assert!(draft.contains(part), "{part}\n{draft}");
    }
    own.write(&draft);
    assert_eq!(own.check(), "", "{draft}");
    let served = own.serve(&[]);
    let columns =
        ["ip", "network", "card", "ports", "hours", "place", "price", "opens", "flags", "path", "size", "kind"];
    let response =
        served.query(&format!("{{ hosts(first: 9) {{ edges {{ node {{ {} others }} }} }} }}", columns.join(" ")));
    for column in columns {
        let read: Vec<_> = (0..2).map(|row| response["data"]["hosts"]["edges"][row]["node"][column].clone()).collect();
        let sql = format!("SELECT {column}::text FROM host ORDER BY host_id");
        assert_eq!(read, rows(&own.client, &sql).await, "{column}: {response}");
    }
    assert_eq!(response["data"]["hosts"]["edges"][0]["node"]["others"], json!(["::1/128", "10.0.0.2/24", null]));
    own.write(&draft.replace("  hosts: [Host]\n", "  hosts: [Host]\n    @search(key: \"ip\")\n"));
    assert!(
        own.check().contains("host.ip is of type address, which hosts(query: \"ip:…\") cannot compare"),
        "{}",
        own.check()
    );
    own.write(&draft.replace("  card: String\n", "  card: JSON\n"));
    assert!(
        own.check().contains("host.card is of type macaddr, which Host.card cannot answer as JSON"),
        "{}",
        own.check()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn values_of_extensions_are_read_as_text_and_sets_of_keys_as_json() {
    let own = OwnSchema::create("extensions", "", "").await;
    let known = "SELECT count(*) FROM pg_available_extensions WHERE name IN ('citext', 'hstore', 'ltree')";
    if own.client.query_one(known, &[]).await.unwrap().get::<_, i64>(0) < 3 {
        return;
    }
    own.client.batch_execute(EXTENSIONS).await.unwrap();
    let draft = own.run(&["schema", "draft"]).stdout;
    for part in ["  title: String!\n", "  tags: JSON\n", "  place: String\n"] {
        assert!(draft.contains(part), "{part}\n{draft}");
    }
    own.write(&draft);
    assert_eq!(own.check(), "", "{draft}");
    let response = own.serve(&[]).query("{ pages(first: 9) { edges { node { title tags place } } } }");
    let nodes: Vec<_> = (0..2).map(|row| response["data"]["pages"]["edges"][row]["node"].clone()).collect();
    let expected = [
        json!({ "title": "Straße", "tags": { "a": "1", "b c": null }, "place": "top.a_b" }),
        json!({ "title": "", "tags": {}, "place": Value::Null }),
    ];
    assert_eq!(nodes, expected, "{response}");
}
