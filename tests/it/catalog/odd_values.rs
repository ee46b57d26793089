//! Pagination over values that JSON or this program's own types cannot hold: PostgreSQL's order, each row once.

use std::fmt::Write as _;

use serde_json::{Value, json};
use tokio_postgres::Client;

use crate::catalog::collection_roots::{Root, roots};
use crate::support::database::{Database, migrated_database};
use crate::support::server::Server;
use crate::support::test_folder::TestFolder;
use crate::support::users::{UNLIMITED_PROFILE, create_users};

const MOMENTS: &str = "'-infinity', '-infinity', '4714-11-24 00:00:00+00 BC', '0044-03-15 12:00:00+00 BC', \
    '0001-01-01 00:00:00+00', '9999-12-31 23:59:59.999999+00', '10000-01-01 00:00:00+00', '294246-12-31 00:00:00+00', \
    '294276-12-31 23:59:59.999999+00', 'infinity', 'infinity', NULL, NULL";

/// The values of `numeric` columns with a precision, which cannot be infinite.
const AMOUNTS: &str = "'NaN', 'NaN', -0.01, 0, 0.01, 999999999999, NULL, NULL";

const TEXTS: &str = r#"'', '', ' ', 'a', '"', '''', E'\n', E'a\tb', '\', '{}', '√©', 'é', '😀', NULL, NULL"#;

/// Columns whose types have no limits.
const TABLE: &str = "
    CREATE TABLE odd (id text PRIMARY KEY, amount numeric, whole numeric, big int8, moment timestamptz, local timestamp,
        name text);
    CREATE INDEX ON odd (amount, id);
    CREATE INDEX ON odd (whole, id);
    CREATE INDEX ON odd (big, id);
    CREATE INDEX ON odd (moment, id);
    CREATE INDEX ON odd (local, id);
    CREATE INDEX ON odd (name, id);";

const SCHEMA: &str = r#"
    type Query {
      odds: [Odd] @sort(key: "ID") @sort(key: "AMOUNT") @sort(key: "WHOLE") @sort(key: "BIG") @sort(key: "MOMENT")
        @sort(key: "LOCAL") @sort(key: "NAME")
    }
    type Odd @relation(name: "odd", key: ["id"]) {
      id: ID! amount: Decimal whole: Int big: Int moment: DateTime local: DateTime name: String
    }
"#;

/// An order of a root, and its rows as PostgreSQL sorts them.
struct Ordering<'a> {
    root: &'a Root,
    arguments: String,
    rows: Vec<String>,
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_through_every_value_that_postgresql_can_store() {
    let database = migrated_database().await;
    let mut client = database.connect().await;
    create_users(&mut client, &[("demo", UNLIMITED_PROFILE)]).await;
    client.batch_execute("SET session_replication_role = replica").await.unwrap();
    client.batch_execute(TABLE).await.unwrap();
    let roots = roots();
    for root in &roots {
        insert_odd_rows(&client, root).await;
    }
    assert_pages(&client, &Server::start(&database, &[]), &roots).await;

    insert_unlimited(&client).await;
    let (_folder, server) = start_with_schema(&database);
    let names = ["ID", "AMOUNT", "WHOLE", "BIG", "MOMENT", "LOCAL", "NAME"];
    let root = Root {
        name: "odds".to_owned(),
        from: "odd AS t",
        id: "id",
        search_keys: Vec::new(),
        sort_keys: names.map(str::to_owned).to_vec(),
    };
    assert_pages(&client, &server, &[root]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn shows_a_null_and_the_reason_for_values_that_graphql_cannot_hold() {
    let database = migrated_database().await;
    let mut client = database.connect().await;
    create_users(&mut client, &[("demo", UNLIMITED_PROFILE)]).await;
    let digits = format!("{}.{}", "9".repeat(500), "1".repeat(500));
    let rows = format!(
        "INSERT INTO odd VALUES
            ('1', 'NaN', 'NaN', 2147483648, '-infinity', 'infinity', ''),
            ('2', '-Infinity', 0.5, -2147483649, '10000-01-01 00:00:00+00', '0044-03-15 BC', E'\"\\n😀'),
            ('3', {digits}, 12.00, 7, '294276-12-31 23:59:59.999999+00', '4714-11-24 BC', NULL)"
    );
    client.batch_execute(&format!("{TABLE} {rows}")).await.unwrap();
    let (_folder, server) = start_with_schema(&database);
    let query = "{ odds(first: 3) { edges { node { id amount whole big moment local name } } } }";
    let response = server.query(&server.token("demo"), query);
    assert_eq!(response.status, 200);
    let body = response.json();
    let expected = [
        json!({ "id": "1", "amount": null, "whole": null, "big": null, "moment": null, "local": null, "name": "" }),
        json!({
            "id": "2", "amount": null, "whole": null, "big": null, "moment": "+10000-01-01T00:00:00Z",
            "local": "-0043-03-15T00:00:00Z", "name": "\"\n😀"
        }),
        json!({
            "id": "3", "amount": digits, "whole": 12, "big": 7, "moment": "+294276-12-31T23:59:59.999999Z",
            "local": "-4713-11-24T00:00:00Z", "name": null
        }),
    ];
    for (edge, node) in body["data"]["odds"]["edges"].as_array().unwrap().iter().zip(expected) {
        assert_eq!(edge["node"], node);
    }
    let decimal = "the database has NaN or an infinity here, which a Decimal cannot be";
    let int = "the database has a number here that is not a whole number of 32 bits";
    let moment = "the database has infinity or -infinity here, which a DateTime cannot be";
    let nulls = [
        (0, "amount", decimal),
        (0, "whole", int),
        (0, "big", int),
        (0, "moment", moment),
        (0, "local", moment),
        (1, "amount", decimal),
        (1, "whole", int),
        (1, "big", int),
    ];
    let expected = nulls.map(|(row, field, message)| {
        json!({
            "message": message,
            "path": ["odds", "edges", row, "node", field],
            "extensions": { "code": "UNREPRESENTABLE_VALUE" },
        })
    });
    assert_eq!(body["errors"], json!(expected));
}

fn start_with_schema(database: &Database) -> (TestFolder, Server) {
    let folder = TestFolder::create("odd-values");
    let schema = folder.path().join("schema.graphql");
    std::fs::write(&schema, SCHEMA).unwrap();
    let server = Server::start(database, &["--schema", schema.to_str().unwrap()]);
    (folder, server)
}

/// Inserts a row of the root's table for each odd value of each nullable sort column.
async fn insert_odd_rows(client: &Client, root: &Root) {
    let table = match root.name.as_str() {
        "parties" => "person",
        "rejectionReasons" => "enumeration",
        // Views of it.
        "orderItems" | "shipGroups" => "orderql.item_place",
        // Its rows are those of several tables together.
        "shippedShipments" => return,
        _ => root.from.split(' ').next().unwrap(),
    };
    let columns = "SELECT attname::text, format_type(atttypid, NULL), attnotnull AND NOT atthasdef
        FROM pg_attribute WHERE attrelid = $1::text::regclass AND attnum > 0 AND NOT attisdropped";
    let columns = client.query(columns, &[&table]).await.unwrap();
    let columns: Vec<(String, String, bool)> = columns.iter().map(|row| (row.get(0), row.get(1), row.get(2))).collect();
    let keys = root.id_columns();
    for sort_key in &root.sort_keys {
        let column = root.sort_column(sort_key);
        if keys.contains(&column) {
            continue;
        }
        let ty = &columns.iter().find(|(name, ..)| *name == column).unwrap().1;
        let values = match ty.as_str() {
            "timestamp with time zone" => MOMENTS,
            "numeric" => AMOUNTS,
            _ => TEXTS,
        };
        let required =
            columns.iter().filter(|(name, _, required)| *required && *name != column && !keys.contains(name));
        let required: Vec<_> = required
            .map(|(name, ty, _)| match ty.as_str() {
                "timestamp with time zone" => (name.as_str(), "'2026-01-01 00:00:00+00'".to_owned()),
                "numeric" | "integer" | "bigint" => (name.as_str(), "1".to_owned()),
                _ => (name.as_str(), "'N'".to_owned()),
            })
            .collect();
        let mut names: Vec<_> = keys.iter().map(String::as_str).chain([column.as_str()]).collect();
        // Every third key has characters that text formats escape.
        let key = "CASE n % 3 WHEN 0 THEN E'\"\\'\\n\\\\é😀' ELSE '' END || right($1, 6) || lpad(n::text, 2, '0')";
        let mut select: Vec<_> = keys.iter().map(|_| key.replace("$1", &format!("'{column}'"))).collect();
        select.push(format!("v::{ty}"));
        if table == "enumeration" {
            names.push("enum_type_id");
            select.push("'REPORT_NO_VAR'".to_owned());
        }
        for (name, value) in required {
            names.push(name);
            select.push(value);
        }
        if root.name == "shipGroups" {
            for (name, value) in [("status_id", "'ITEM_APPROVED'"), ("has_group", "true"), ("is_order_open", "true")] {
                if let Some(index) = names.iter().position(|other| *other == name) {
                    names.remove(index);
                    select.remove(index);
                }
                names.push(name);
                select.push(value.to_owned());
            }
        }
        let is_null_allowed =
            "SELECT NOT attnotnull FROM pg_attribute WHERE attrelid = $1::text::regclass AND attname = $2";
        let is_null_allowed: bool = client.query_one(is_null_allowed, &[&table, &column]).await.unwrap().get(0);
        let elements = format!(
            "unnest(ARRAY[{values}]::text[]) WITH ORDINALITY AS v(v, n) WHERE {is_null_allowed} OR v IS NOT NULL"
        );
        let insert = |table: &str, names: &str, select: &str| {
            format!("INSERT INTO {table} ({names}) SELECT {select} FROM {elements};")
        };
        let mut sql = insert(table, &names.join(", "), &select.join(", "));
        if table == "person" {
            // Triggers copy names to the relation of the root.
            let party = insert("party", "party_id", &select[0]);
            sql =
                format!("SET session_replication_role = origin; {party} {sql} SET session_replication_role = replica;");
        }
        client.batch_execute(&sql).await.unwrap_or_else(|error| panic!("{error:?}\n{sql}"));
    }
}

/// Inserts a row for each odd value of each column without limits.
async fn insert_unlimited(client: &Client) {
    let numbers = "'NaN', 'NaN', repeat('9', 500) || '.' || repeat('1', 500), '-' || repeat('9', 1000), \
        repeat('9', 1000), '1e130000', '-1e130000', '1e-16000', '0', '0.0', '9223372036854775808', NULL, NULL";
    // Infinities are new in version 14.
    let version: i32 =
        client.query_one("SELECT current_setting('server_version_num')::int4", &[]).await.unwrap().get(0);
    let infinities = if version >= 140_000 { "'infinity', 'infinity', '-infinity', '-infinity', " } else { "" };
    let numbers = format!("{infinities}{numbers}");
    // The index holds long texts compressed.
    let texts = format!("repeat('x', 8000), repeat('x', 8001), repeat('😀', 2000), {TEXTS}");
    let big = "'-9223372036854775808', '9223372036854775807', '0', NULL, NULL";
    let mut sql = String::new();
    for (column, ty, values) in [
        ("amount", "numeric", numbers.as_str()),
        ("whole", "numeric", &numbers),
        ("big", "int8", big),
        ("moment", "timestamptz", MOMENTS),
        ("local", "timestamp", MOMENTS),
        ("name", "text", &texts),
    ] {
        let _ = write!(
            sql,
            "INSERT INTO odd (id, {column}) SELECT '{column}' || n, v::{ty}
                FROM unnest(ARRAY[{values}]::text[]) WITH ORDINALITY AS v(v, n);"
        );
    }
    client.batch_execute(&sql).await.unwrap();
}

/// Pages through every order of the roots in both directions, from either end, with several page sizes. The orders proceed
/// together, each as a field of one request.
/// Panics unless the pages of the roots, of several sizes, forwards and backwards, have PostgreSQL's rows in its order.
pub async fn assert_pages(client: &Client, server: &Server, roots: &[Root]) {
    let token = server.token("demo");
    let mut orderings = Vec::new();
    for root in roots {
        for sort_key in &root.sort_keys {
            for (reverse, direction) in [(false, "ASC NULLS LAST"), (true, "DESC NULLS LAST")] {
                let mut order = vec![format!("t.{} {direction}", root.sort_column(sort_key))];
                order.extend(root.id_columns().iter().map(|column| format!("t.{column} {direction}")));
                let sql = format!("SELECT {} FROM {} ORDER BY {}", root.id_sql(), root.from, order.join(", "));
                let rows: Vec<String> = client.query(&sql, &[]).await.unwrap().iter().map(|row| row.get(0)).collect();
                let arguments = format!("sortKey: {sort_key}, reverse: {reverse}");
                orderings.push(Ordering { root, arguments, rows });
            }
        }
    }
    for size in [1, 2, 3, 7, 100] {
        for (end, beyond, flag, cursor) in
            [("first", "after", "hasNextPage", "endCursor"), ("last", "before", "hasPreviousPage", "startCursor")]
        {
            let mut seen: Vec<Vec<String>> = orderings.iter().map(|_| Vec::new()).collect();
            let mut cursors = vec![Some(Value::Null); orderings.len()];
            // Pages that repeat rows might never end.
            let most = orderings.iter().map(|ordering| ordering.rows.len() / size + 1).max().unwrap();
            for _ in 0..=most {
                let mut query = String::new();
                for (index, (ordering, from)) in orderings.iter().zip(&cursors).enumerate() {
                    let (Some(from), Ordering { root: Root { name, id, .. }, arguments, .. }) = (from, ordering) else {
                        continue;
                    };
                    let _ = write!(
                        query,
                        "o{index}: {name}({arguments}, {end}: {size}, {beyond}: {from}) {{
                            edges {{ node {{ {id} }} }} pageInfo {{ {flag} {cursor} }} }} "
                    );
                }
                if query.is_empty() {
                    break;
                }
                let body = server.query(&token, &format!("{{ {query} }}")).json();
                assert_eq!(body.get("errors"), None, "{query}");
                for (index, from) in cursors.iter_mut().enumerate().filter(|(_, from)| from.is_some()) {
                    let page = &body["data"][format!("o{index}")];
                    let edges = page["edges"].as_array().unwrap();
                    let at = if end == "first" { seen[index].len() } else { 0 };
                    seen[index].splice(at..at, edges.iter().map(|edge| orderings[index].root.id_of(edge)));
                    let info = &page["pageInfo"];
                    *from = (info[flag] == true).then(|| info[cursor].clone());
                }
            }
            for (Ordering { root, arguments, rows }, seen) in orderings.iter().zip(&seen) {
                assert_eq!(seen, rows, "{} {arguments}, {end} {size}", root.name);
            }
        }
    }
}
