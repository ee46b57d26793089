//! Every further scalar of a schema file: in responses, orders, searches, keys and cursors it has PostgreSQL's values.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use orderql::catalog::Catalog;
use serde_json::{Value, json};
use tokio_postgres::Client;

use crate::catalog::collection_roots::Root;
use crate::catalog::odd_values::assert_pages;
use crate::support::command::{orderql_on, run};
use crate::support::database::migrated_database;
use crate::support::server::Server;
use crate::support::test_folder::TestFolder;
use crate::support::users::{UNLIMITED_PROFILE, create_users};

/// A type of columns.
struct Sample {
    scalar: &'static str,
    /// In PostgreSQL.
    ty: &'static str,
    /// Values as PostgreSQL reads them, and as responses have them; without the latter, the field is null, with an error.
    values: &'static [(&'static str, Option<&'static str>)],
    /// Values of search strings and arguments.
    terms: &'static [&'static str],
    /// No values, in search strings and in quotes.
    wrong: &'static [&'static str],
    /// What the error says that they should be.
    expected: &'static str,
}

const SAMPLES: [Sample; 10] = [
    Sample {
        scalar: "Date",
        ty: "date",
        values: &[
            ("-infinity", None),
            ("4714-11-24 BC", Some("\"-4713-11-24\"")),
            ("0044-03-15 BC", Some("\"-0043-03-15\"")),
            ("0001-01-01", Some("\"0001-01-01\"")),
            ("2026-11-24", Some("\"2026-11-24\"")),
            ("9999-12-31", Some("\"9999-12-31\"")),
            ("10000-01-01", Some("\"+10000-01-01\"")),
            ("5874897-12-31", Some("\"+5874897-12-31\"")),
            ("infinity", None),
        ],
        terms: &["0001-01-01", "2026-11-24", "9999-12-31"],
        wrong: &["2026-02-30", "2026-11-24T00:00:00Z", "infinity"],
        expected: "a date, such as 2026-11-24",
    },
    // A domain over a domain, with a check that only known values fulfil.
    Sample {
        scalar: "Date",
        ty: "weekday",
        values: &[("2026-11-24", Some("\"2026-11-24\"")), ("2026-11-25", Some("\"2026-11-25\""))],
        terms: &["2026-11-24", "2026-11-25"],
        wrong: &["today"],
        expected: "a date, such as 2026-11-24",
    },
    Sample {
        scalar: "UUID",
        ty: "uuid",
        values: &[
            ("00000000-0000-0000-0000-000000000000", Some("\"00000000-0000-0000-0000-000000000000\"")),
            ("A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11", Some("\"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11\"")),
            ("ffffffff-ffff-ffff-ffff-ffffffffffff", Some("\"ffffffff-ffff-ffff-ffff-ffffffffffff\"")),
        ],
        terms: &["00000000-0000-0000-0000-000000000000", "a0eebc99-9C0B-4ef8-bb6d-6bb9bd380a11"],
        wrong: &["a0eebc999c0b4ef8bb6d6bb9bd380a11", "x"],
        expected: "a UUID",
    },
    Sample {
        scalar: "BigInt",
        ty: "int8",
        values: &[
            ("-9223372036854775808", Some("\"-9223372036854775808\"")),
            ("0", Some("\"0\"")),
            ("9007199254740993", Some("\"9007199254740993\"")),
            ("9223372036854775807", Some("\"9223372036854775807\"")),
        ],
        terms: &["-9223372036854775808", "0", "9007199254740993"],
        wrong: &["1.0", "9223372036854775808", "1e3"],
        expected: "a whole number of 64 bits",
    },
    Sample {
        scalar: "BigInt",
        ty: "int2",
        values: &[("-32768", Some("\"-32768\"")), ("7", Some("\"7\""))],
        terms: &["-32768", "7"],
        wrong: &["32768"],
        expected: "a whole number from -32768 to 32767",
    },
    Sample {
        scalar: "Float",
        ty: "float8",
        values: &[
            ("NaN", None),
            ("Infinity", None),
            ("-Infinity", None),
            ("-0", Some("0.0")),
            ("0", Some("0.0")),
            ("0.1", Some("0.1")),
            ("-1.5", Some("-1.5")),
            ("5e-324", Some("5e-324")),
            ("1.7976931348623157e308", Some("1.7976931348623157e308")),
        ],
        terms: &["-1.5", "0", "1e-1", "1.7976931348623157e308"],
        wrong: &["NaN", "Infinity", "1e309", "0x1"],
        expected: "a finite number",
    },
    Sample {
        scalar: "Float",
        ty: "float4",
        values: &[
            ("NaN", None),
            ("-Infinity", None),
            ("0", Some("0.0")),
            ("-0", Some("0.0")),
            ("0.1", Some("0.1")),
            ("16777217", Some("16777216.0")),
            ("3.4028235e38", Some("3.4028235e38")),
        ],
        terms: &["0", "0.1", "16777217"],
        wrong: &["1e39"],
        expected: "a finite number of 32 bits",
    },
    Sample {
        scalar: "Time",
        ty: "time",
        values: &[
            ("00:00", Some("\"00:00:00\"")),
            ("09:30:00.123456", Some("\"09:30:00.123456\"")),
            ("09:30:00.5", Some("\"09:30:00.5\"")),
            ("24:00", Some("\"24:00:00\"")),
        ],
        terms: &["00:00", "09:30:00.5", "24:00:00"],
        wrong: &["9:30", "25:00", "09:30Z", "09:30:00.1234567"],
        expected: "a time, such as 09:30:00",
    },
    Sample {
        scalar: "Interval",
        ty: "interval",
        values: &[
            ("0", Some("\"PT0S\"")),
            ("1 month", Some("\"P1M\"")),
            ("30 days", Some("\"P30D\"")),
            ("29 days 24 hours", Some("\"P29DT24H\"")),
            ("-1 month", Some("\"P-1M\"")),
            ("1 year 2 months 3 days 04:05:06.5", Some("\"P1Y2M3DT4H5M6.5S\"")),
            ("1 year -3 days -04:00", Some("\"P1Y-3DT-4H\"")),
            ("1 microsecond", Some("\"PT0.000001S\"")),
            ("-178000000 years", Some("\"P-178000000Y\"")),
            ("178000000 years 2147483647 days", Some("\"P178000000Y2147483647D\"")),
        ],
        terms: &["P-1M", "PT0S", "P30D", "P1Y2M3DT4H5M6.5S", "P178000000Y"],
        wrong: &["1d", "P1D1Y", "P", "P0.5D"],
        expected: "an ISO-8601 duration",
    },
    // A generated column.
    Sample {
        scalar: "Date",
        ty: "date GENERATED ALWAYS AS (day + 1) STORED",
        values: &[("2026-11-24", Some("\"2026-11-25\"")), ("2026-12-31", Some("\"2027-01-01\""))],
        terms: &["2026-11-25", "2027-01-01"],
        wrong: &["2026-11-31"],
        expected: "a date, such as 2026-11-24",
    },
];

impl Sample {
    fn is_generated(&self) -> bool {
        self.ty.contains("GENERATED")
    }

    /// The type without what generates values.
    fn plain_type(&self) -> &str {
        self.ty.split(' ').next().unwrap()
    }

    /// A table of values, and one whose key has their type.
    fn tables(&self, number: usize) -> String {
        let (ty, plain) = (self.ty, self.plain_type());
        let mut sql = format!(
            "CREATE TABLE s{number} (id text PRIMARY KEY, day date, value {ty});
             CREATE INDEX ON s{number} (value, id);
             CREATE TABLE k{number} (value {plain} PRIMARY KEY);"
        );
        let column = if self.is_generated() { "day" } else { "value" };
        // Each value twice, and nulls.
        let values = self.values.iter().map(|(sql, _)| format!("'{sql}'"));
        let values = values.chain(["NULL".to_owned()]).collect::<Vec<_>>();
        for (row, value) in values.iter().chain(&values).enumerate() {
            let _ = write!(sql, "INSERT INTO s{number} (id, {column}) VALUES ('{row:03}', {value});");
        }
        sql + &format!("INSERT INTO k{number} SELECT DISTINCT value FROM s{number} WHERE value IS NOT NULL;")
    }

    fn roots(&self, number: usize) -> String {
        format!(
            "s{number}s: [S{number}] @search(key: \"value\", compare: [EQUALS, IN, RANGE], inOrderOf: [\"ID\"]) @sort(key: \"ID\") \
               @sort(key: \"VALUE\")
             k{number}(value: {}!): K{number} @point
             k{number}s: [K{number}] @sort(key: \"VALUE\")\n",
            self.scalar
        )
    }

    fn types(&self, number: usize) -> String {
        let scalar = self.scalar;
        format!(
            "type S{number} @relation(name: \"s{number}\", key: [\"id\"]) {{ id: ID! value: {scalar} }}
             type K{number} @relation(name: \"k{number}\", key: [\"value\"]) {{
               value: {scalar}! things: [S{number}] @many(by: [\"value\"])
             }}\n"
        )
    }
}

const DOCUMENTS: &str = "
    CREATE TABLE list (id text PRIMARY KEY, tags text[] NOT NULL, days date[], amounts numeric(8, 2)[], flags bool[], objects jsonb[],
        codes varchar(3)[], moments timestamp[], wholes int2[], numbers real[]);
    INSERT INTO list VALUES
        ('1', ARRAY['a', '\"', ''], ARRAY['2026-11-24', NULL]::date[], ARRAY[1.5, 2]::numeric[], ARRAY[true, false],
         ARRAY['{\"a\": 1}', NULL]::jsonb[], ARRAY['x'], ARRAY['2026-11-24 09:30']::timestamp[], ARRAY[7, -7], ARRAY[0.1]),
        ('2', '{}', NULL, '[5:6]={1,2}', '{}', '{}', '{}', '{}', '{}', '{}'),
        ('3', ARRAY['a'], ARRAY['infinity'::date], ARRAY['NaN'::numeric], ARRAY[NULL::bool], NULL, ARRAY[NULL::text], NULL, '{{1,2},{3,4}}',
         array_fill(1, ARRAY[1001]));
    CREATE TABLE document (id text PRIMARY KEY, json json, binary_json jsonb, bytes bytea);
    INSERT INTO document VALUES
        ('1', E'{\"a\" : 1,\\r\\n\"a\":\\t[1.50, \"\\\\u0000\\\\n\"]}', '{\"b\": 1.50, \"a\": null}', '\\x00ff0701'),
        ('2', 'null', '\"x\"', ''),
        ('3', NULL, NULL, NULL),
        ('4', to_json(repeat('x', 1048576)), (repeat('[', 200) || repeat(']', 200))::jsonb, convert_to('é', 'UTF8'));";

fn schema() -> String {
    let mut text = String::from("type Query {\n");
    SAMPLES.iter().enumerate().for_each(|(number, sample)| text.push_str(&sample.roots(number)));
    text.push_str("documents: [Document] @sort(key: \"ID\") lists: [List] @sort(key: \"ID\")\n}\n");
    SAMPLES.iter().enumerate().for_each(|(number, sample)| text.push_str(&sample.types(number)));
    text + "type Document @relation(name: \"document\", key: [\"id\"]) {
        id: ID! json: JSON binaryJson: JSON bytes: Bytes
    }
    type List @relation(name: \"list\", key: [\"id\"]) {
        id: ID! tags: [String!]! days: [Date] amounts: [Decimal!] flags: [Boolean!] objects: [JSON] codes: [ID!] moments: [DateTime]
        wholes: [Int!] numbers: [Float]
    }"
}

#[tokio::test(flavor = "multi_thread")]
async fn scalars_have_the_values_and_the_order_of_postgresql() {
    let database = migrated_database().await;
    let mut client = database.connect().await;
    create_users(&mut client, &[("demo", UNLIMITED_PROFILE)]).await;
    client
        .batch_execute("CREATE DOMAIN day AS date; CREATE DOMAIN weekday AS day CHECK (extract(isodow FROM VALUE) < 6)")
        .await
        .unwrap();
    for (number, sample) in SAMPLES.iter().enumerate() {
        let sql = sample.tables(number);
        client.batch_execute(&sql).await.unwrap_or_else(|error| panic!("{error:?}\n{sql}"));
    }
    client.batch_execute(DOCUMENTS).await.unwrap();
    let folder = TestFolder::create("scalars");
    let file = folder.path().join("schema.graphql");
    std::fs::write(&file, schema()).unwrap();
    let checked = run(orderql_on(&database).args(["schema", "check"]).arg(&file), "");
    assert!(checked.succeeded, "{}", checked.stderr);
    let server = Server::start(&database, &["--schema", file.to_str().unwrap()]);
    let token = server.token("demo");
    let query = |text: &str| server.query(&token, text).json();

    publishes(&query, &server.get("/rest/s1/graphql/sdl").body);
    let mut roots = Vec::new();
    for (number, sample) in SAMPLES.iter().enumerate() {
        reads(&query, number, sample);
        searches(&query, &client, number, sample).await;
        joins(&query, &client, number, sample).await;
        refuses(&query, number, sample);
        roots.push(Root {
            name: format!("s{number}s"),
            from: Box::leak(format!("s{number} AS t").into_boxed_str()),
            id: "id",
            search_keys: Vec::new(),
            sort_keys: ["ID", "VALUE"].map(str::to_owned).to_vec(),
        });
    }
    assert_pages(&client, &server, &roots).await;
    documents(&server, &token);
    lists(&query);
}

/// The schema has the types that it uses.
fn publishes(query: &impl Fn(&str) -> Value, sdl: &str) {
    for scalar in ["BigInt", "Date", "Time", "Interval", "UUID", "Bytes", "JSON"] {
        assert!(sdl.contains(&format!("\nscalar {scalar} @specifiedBy(url: \"https://")), "{scalar}\n{sdl}");
    }
    // GraphQL defines it.
    assert!(!sdl.contains("scalar Float"));
    let body = query("{ __type(name: \"Float\") { kind specifiedByURL } }");
    assert_eq!(body["data"]["__type"], json!({ "kind": "SCALAR", "specifiedByURL": null }), "{body}");
    assert!(Catalog::built_in().unwrap().named("Float").is_none());
}

/// The ids of a page's nodes.
fn ids(page: &Value) -> Vec<String> {
    let edges = page["edges"].as_array().unwrap_or_else(|| panic!("{page}"));
    edges.iter().map(|edge| edge["node"]["id"].as_str().unwrap().to_owned()).collect()
}

fn reads(query: &impl Fn(&str) -> Value, number: usize, sample: &Sample) {
    let body =
        query(&format!("{{ s{number}s(first: {}) {{ edges {{ node {{ value }} }} }} }}", sample.values.len() + 1));
    let unwritable = sample.values.iter().filter(|(_, json)| json.is_none()).count();
    assert_eq!(body["errors"].as_array().map_or(0, Vec::len), unwritable, "{body}");
    let edges = body["data"][format!("s{number}s")]["edges"].as_array().unwrap();
    for (edge, (sql, json)) in edges.iter().zip(sample.values) {
        let expected: Value = json.map_or(Value::Null, |json| serde_json::from_str(json).unwrap());
        assert_eq!(edge["node"]["value"], expected, "{sql}");
    }
    assert_eq!(edges.last().unwrap()["node"]["value"], Value::Null);
}

async fn searches(query: &impl Fn(&str) -> Value, client: &Client, number: usize, sample: &Sample) {
    let ty = sample.plain_type();
    let terms = sample.terms;
    let literal = |term: &str| format!("'{term}'::{ty}");
    let mut cases = Vec::new();
    for term in terms {
        for (comparator, operator) in [("", "="), (">", ">"), (">=", ">="), ("<", "<"), ("<=", "<=")] {
            cases.push((format!("value:{comparator}{term}"), format!("value {operator} {}", literal(term))));
        }
    }
    let list: Vec<_> = terms.iter().map(|term| literal(term)).collect();
    cases.push((format!("value:{}", terms.join(",")), format!("value IN ({})", list.join(", "))));
    for (search, condition) in cases {
        let sql = format!("SELECT id FROM s{number} WHERE {condition} ORDER BY");
        for (order, sort_key) in [("id", "ID"), ("value, id", "VALUE")] {
            let rows = client.query(&format!("{sql} {order}"), &[]).await.unwrap();
            let expected: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
            let body = query(&format!(
                "{{ s{number}s(first: 50, sortKey: {sort_key}, query: \"{search}\") {{ edges {{ node {{ id }} }} }} }}"
            ));
            assert_eq!(ids(&body["data"][format!("s{number}s")]), expected, "{search} {sort_key}");
        }
    }
}

/// A point argument, as a literal and as a variable with a default, finds the row; its nested pages and their cursors go by the value.
async fn joins(query: &impl Fn(&str) -> Value, client: &Client, number: usize, sample: &Sample) {
    let (scalar, ty) = (sample.scalar, sample.plain_type());
    for term in sample.terms {
        let literal = if scalar == "Float" { (*term).to_owned() } else { format!("\"{term}\"") };
        let sql = format!("SELECT id FROM s{number} WHERE value = '{term}'::{ty} ORDER BY id");
        let rows = client.query(&sql, &[]).await.unwrap();
        let expected: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
        let mut found = Vec::new();
        let mut after = Value::Null;
        loop {
            let body = query(&format!(
                "query ($v: {scalar}! = {literal}) {{ a: k{number}(value: $v) {{ value }} k{number}(value: {literal}) {{
                    value things(first: 1, after: {after}) {{ edges {{ node {{ id }} }} pageInfo {{ hasNextPage endCursor }} }} }} }}"
            ));
            let row = &body["data"][format!("k{number}")];
            if expected.is_empty() {
                assert_eq!(*row, Value::Null, "{body}");
                break;
            }
            assert!(!row["value"].is_null() && body["data"]["a"]["value"] == row["value"], "{term}: {body}");
            found.extend(ids(&row["things"]));
            if row["things"]["pageInfo"]["hasNextPage"] != true {
                break;
            }
            after = row["things"]["pageInfo"]["endCursor"].clone();
        }
        // A key of an interval is one of several that are equal.
        assert_eq!(found, expected, "{term}");
    }
}

fn refuses(query: &impl Fn(&str) -> Value, number: usize, sample: &Sample) {
    let quoted = sample.wrong.iter().map(|wrong| {
        let literal = if sample.scalar == "Float" { "1e39".to_owned() } else { format!("\"{wrong}\"") };
        (format!("{{ k{number}(value: {literal}) {{ value }} }}"), "BAD_USER_INPUT")
    });
    let searched = sample.wrong.iter().map(|wrong| {
        (format!("{{ s{number}s(first: 1, query: \"value:{wrong}\") {{ edges {{ cursor }} }} }}"), "MALFORMED_QUERY")
    });
    let is_double = sample.ty == "float8";
    for (text, code) in quoted.filter(|_| !is_double).chain(searched) {
        let body = query(&text);
        let error = &body["errors"][0];
        assert_eq!(error["extensions"]["code"], code, "{text}: {body}");
        assert!(error["message"].as_str().unwrap().contains(sample.expected), "{text}: {body}");
    }
    // Values of other kinds.
    let other = if sample.scalar == "Float" { "\"1\"" } else { "true" };
    let body = query(&format!("{{ k{number}(value: {other}) {{ value }} }}"));
    assert_eq!(body["errors"][0]["extensions"]["code"], "GRAPHQL_VALIDATION_FAILED", "{body}");
}

/// JSON and bytes are read, on one line each, and not compared.
fn documents(server: &Server, token: &str) {
    let text = "{ documents(first: 10) { edges { node { id json binaryJson bytes } } } }";
    let response = server.query(token, text);
    assert!(response.body.contains(r#""json":{"a" : 1,  "a":"#), "{}", response.body);
    let body = response.json();
    let nodes: Vec<_> =
        body["data"]["documents"]["edges"].as_array().unwrap().iter().map(|edge| &edge["node"]).collect();
    assert_eq!(nodes[0]["binaryJson"], json!({ "a": null, "b": 1.5 }), "{body}");
    assert_eq!(nodes[0]["bytes"], "AP8HAQ==");
    assert_eq!(*nodes[1], json!({ "id": "2", "json": null, "binaryJson": "x", "bytes": "" }));
    assert_eq!(*nodes[2], json!({ "id": "3", "json": null, "binaryJson": null, "bytes": null }));
    assert_eq!(*nodes[3], json!({ "id": "4", "json": null, "binaryJson": null, "bytes": "w6k=" }));
    let errors = body["errors"].as_array().unwrap();
    let codes: BTreeSet<_> = errors.iter().map(|error| error["extensions"]["code"].as_str().unwrap()).collect();
    assert_eq!((errors.len(), codes), (2, BTreeSet::from(["UNREPRESENTABLE_VALUE", "VALUE_TOO_LARGE"])), "{body}");
    let export = server.query_as("application/x-ndjson", token, text);
    let lines: Vec<_> = export.body.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()).collect();
    assert_eq!(lines.iter().filter(|line| line["id"].is_string()).count(), 4, "{}", export.body);
    let sorted =
        server.query(token, "{ documents(first: 1, sortKey: ID, query: \"json:x\") { edges { cursor } } }").json();
    assert!(sorted["errors"][0]["extensions"]["code"].is_string(), "{sorted}");
}

/// Arrays are lists; one that a list cannot be is null, with an error.
fn lists(query: &impl Fn(&str) -> Value) {
    let fields = "id tags days amounts flags objects codes moments wholes numbers";
    let body = query(&format!(
        "{{ lists(first: 9) {{ edges {{ node {{ {fields} }} }} }} __type(name: \"List\") {{ fields {{ name type {{ \
        kind ofType {{ kind name ofType {{ kind ofType {{ name }} }} }} }} }} }} }}"
    ));
    let nodes: Vec<_> = body["data"]["lists"]["edges"].as_array().unwrap().iter().map(|edge| &edge["node"]).collect();
    assert_eq!(
        *nodes[0],
        json!({
            "id": "1", "tags": ["a", "\"", ""], "days": ["2026-11-24", null], "amounts": ["1.50", "2.00"], "flags": [true, false],
            "objects": [{ "a": 1 }, null], "codes": ["x"], "moments": ["2026-11-24T09:30:00Z"], "wholes": [7, -7], "numbers": [0.1],
        })
    );
    assert_eq!(
        *nodes[1],
        json!({
            "id": "2", "tags": [], "days": null, "amounts": ["1.00", "2.00"], "flags": [], "objects": [], "codes": [], "moments": [],
            "wholes": [], "numbers": [],
        })
    );
    assert_eq!(
        *nodes[2],
        json!({
            "id": "3", "tags": ["a"], "days": null, "amounts": null, "flags": null, "objects": null, "codes": null, "moments": null,
            "wholes": null, "numbers": null,
        })
    );
    let errors = body["errors"].as_array().unwrap();
    let fields: Vec<_> = errors.iter().map(|error| error["path"][4].as_str().unwrap()).collect();
    assert_eq!(fields, ["days", "amounts", "flags", "codes", "wholes", "numbers"], "{body}");
    assert_eq!(errors[0]["extensions"]["code"], "UNREPRESENTABLE_VALUE");
    let tags = json!({ "kind": "NON_NULL", "ofType": { "kind": "LIST", "name": null, "ofType": { "kind": "NON_NULL", "ofType": { "name": "String" } } } });
    assert_eq!(body["data"]["__type"]["fields"][1]["type"], tags, "{body}");
}
