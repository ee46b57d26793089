//! Values of PostgreSQL that JSON does not have: null with an error in their field alone, in responses and on the command line. What is written is
//! found by a search.

use serde_json::{Value, json};

use crate::own_schemas::{OwnSchema, rows};
use crate::support::server::connection_string;

const TABLES: &str = r#"
    CREATE TABLE odd (
        odd_id integer PRIMARY KEY,
        single real NOT NULL,
        double double precision NOT NULL,
        amount numeric NOT NULL,
        price numeric(10, 2) NOT NULL,
        moment timestamp NOT NULL,
        zoned timestamptz NOT NULL,
        day date NOT NULL,
        document json NOT NULL,
        name text NOT NULL
    );
    CREATE INDEX ON odd (name, odd_id);
    INSERT INTO odd VALUES
        (1, 'NaN', 'infinity', 'NaN', 'NaN', 'infinity', '-infinity', 'infinity', '"\ud800"', ''),
        (2, 1, 2, 3, 4, '2026-01-01', '2026-01-01Z', '2026-01-01', '"\ud83d\ude00"', 'two')"#;

const FIELDS: [&str; 8] = ["single", "double", "amount", "price", "moment", "zoned", "day", "document"];

#[tokio::test(flavor = "multi_thread")]
async fn a_value_that_json_has_not_is_null_in_its_field_alone() {
    let own = OwnSchema::create("unrepresentable", TABLES, "").await;
    let draft = own.run(&["schema", "draft"]).stdout;
    own.write(&draft);
    assert_eq!(own.check(), "", "{draft}");
    assert!(draft.contains("  oddId: ID!\n") && draft.contains("  name: String!\n"), "{draft}");
    let served = own.serve(&[]);
    let query = format!("{{ odds(first: 2) {{ edges {{ cursor node {{ oddId {} }} }} }} }}", FIELDS.join(" "));
    let response = served.query(&query);
    let address = connection_string(&own.database.config());
    let of_command = own.run(&["query", "--json", "--database-url", &address, "--schema", &own.file(), &query]);
    assert!(!of_command.succeeded, "{}", of_command.stdout);
    let of_command: Value = serde_json::from_str(&of_command.stdout).unwrap();
    for response in [&response, &of_command] {
        let edges = &response["data"]["odds"]["edges"];
        assert!(edges[0]["cursor"].is_string(), "{response}");
        assert_eq!(edges[0]["node"]["oddId"], "1", "{response}");
        assert_eq!(edges[1]["node"]["document"], "😀", "{response}");
        let errors = response["errors"].as_array().unwrap_or_else(|| panic!("{response}"));
        for (error, field) in errors.iter().zip(FIELDS) {
            assert_eq!(edges[0]["node"][field], Value::Null, "{field}");
            assert_ne!(edges[1]["node"][field], Value::Null, "{field}");
            assert_eq!(error["path"], json!(["odds", "edges", 0, "node", field]));
            assert_eq!(error["extensions"]["code"], "UNREPRESENTABLE_VALUE");
        }
        assert_eq!(errors.len(), FIELDS.len(), "{response}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_export_has_a_value_that_json_has_not_as_null_in_its_field_alone() {
    let own = OwnSchema::create("unrepresentable-export", TABLES, "").await;
    own.write(&own.run(&["schema", "draft"]).stdout);
    let lines =
        own.serve(&[]).export(&format!("{{ odds(first: 2) {{ edges {{ node {{ oddId {} }} }} }} }}", FIELDS.join(" ")));
    for field in FIELDS {
        assert_eq!((&lines[0]["oddId"], &lines[0][field]), (&json!("1"), &Value::Null), "{field}");
        assert_ne!(lines[1][field], Value::Null, "{field}");
    }
    let errors = lines[2]["@errors"].as_array().unwrap_or_else(|| panic!("{lines:?}"));
    for (error, field) in errors.iter().zip(FIELDS) {
        assert_eq!((&error["node"], &error["path"]), (&json!(1), &json!([field])), "{error}");
        assert_eq!(error["extensions"]["code"], "UNREPRESENTABLE_VALUE", "{error}");
    }
    assert_eq!(errors.len(), FIELDS.len());
    assert_eq!(lines[3]["@end"]["complete"], true, "{lines:?}");
    assert_eq!(lines.len(), 4, "{lines:?}");
}

const LARGE: &str = "
    CREATE TABLE pool (pool_id integer PRIMARY KEY, posts integer[] NOT NULL, grid text[] NOT NULL, file bytea NOT NULL);
    INSERT INTO pool VALUES
        (1, '{1}', '{a}', 'x'),
        (2, array_fill(1, ARRAY[1001]), '{{a,b},{c,d}}', convert_to(repeat('x', 1048577), 'UTF8')),
        (3, '{}', '{}', '')";

#[tokio::test(flavor = "multi_thread")]
async fn a_draft_reads_the_rows_beside_a_row_with_a_large_value() {
    let own = OwnSchema::create("large-values", LARGE, "").await;
    own.write(&own.run(&["schema", "draft"]).stdout);
    assert_eq!(own.check(), "");
    let response = own.serve(&[]).query("{ pools(first: 3) { edges { node { poolId posts grid file } } } }");
    let node = |index: usize| response["data"]["pools"]["edges"][index]["node"].clone();
    assert_eq!(node(0), json!({ "poolId": "1", "posts": [1], "grid": ["a"], "file": "eA==" }), "{response}");
    assert_eq!(node(1), json!({ "poolId": "2", "posts": null, "grid": null, "file": null }));
    assert_eq!(node(2), json!({ "poolId": "3", "posts": [], "grid": [], "file": "" }));
    let codes: Vec<_> =
        response["errors"].as_array().unwrap().iter().map(|error| &error["extensions"]["code"]).collect();
    assert_eq!(codes, ["UNREPRESENTABLE_VALUE", "UNREPRESENTABLE_VALUE", "VALUE_TOO_LARGE"], "{response}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_empty_text_is_searched_for_in_quotes() {
    let own = OwnSchema::create("empty-text", TABLES, "").await;
    own.write(&own.run(&["schema", "draft"]).stdout);
    let served = own.serve(&[]);
    for (search, ids) in [
        ("name:''", json!(["1"])),
        ("name:two,''", json!(["1", "2"])),
        ("name:'' oddId:1", json!(["1"])),
        ("name:'' oddId:2", json!([])),
    ] {
        let found = served.pages("odds", &format!("query: \"{search}\""), "oddId", 1, false);
        assert_eq!(json!(found.values), ids, "{search}");
    }
    for search in ["name:", "name:two,", "oddId:''"] {
        let (code, message) =
            served.error(&format!("{{ odds(first: 1, query: \"{search}\") {{ edges {{ cursor }} }} }}"));
        assert_eq!(code, "MALFORMED_QUERY", "{search}: {message}");
    }
}

const TIMES: &str = "
    CREATE TABLE past (past_id integer PRIMARY KEY, day date, moment timestamptz);
    CREATE INDEX ON past (day, past_id);
    CREATE INDEX ON past (moment, past_id);
    INSERT INTO past VALUES
        (1, '4714-11-24 BC', '4714-11-24 00:00:00+00 BC'),
        (2, '0001-12-31 BC', '0002-01-01 00:00:00.5+00 BC'),
        (3, '2026-02-28', '2026-02-28 12:00:00+00'),
        (4, '10000-01-01', '10000-01-01 00:00:00+00'),
        (5, '5874897-12-31', '294276-12-31 23:59:59.999999+00')";

#[tokio::test(flavor = "multi_thread")]
async fn every_date_and_moment_is_found_as_it_is_written() {
    let own = OwnSchema::create("past", TIMES, "").await;
    own.write(&own.run(&["schema", "draft"]).stdout);
    assert_eq!(own.check(), "");
    let served = own.serve(&[]);
    for (field, days) in [
        ("day", ["-4713-11-24", "0000-12-31", "2026-02-28", "+10000-01-01", "+5874897-12-31"]),
        (
            "moment",
            [
                "-4713-11-24T00:00:00Z",
                "-0001-01-01T00:00:00.5Z",
                "2026-02-28T12:00:00Z",
                "+10000-01-01T00:00:00Z",
                "+294276-12-31T23:59:59.999999Z",
            ],
        ),
    ] {
        let order = format!("sortKey: {}", field.to_uppercase());
        assert_eq!(served.pages("pasts", &order, field, 2, false).values, days);
        for (index, written) in days.iter().enumerate() {
            let found = |sign: &str| {
                let arguments = format!("{order}, query: \"{field}:{sign}'{written}'\"");
                json!(served.pages("pasts", &arguments, "pastId", 1, false).values)
            };
            let id = index + 1;
            for sign in ["=", ">", "<="] {
                let sql = format!("SELECT past_id::text FROM past WHERE past_id {sign} {id} ORDER BY past_id");
                assert_eq!(
                    found(if sign == "=" { "" } else { sign }),
                    json!(rows(&own.client, &sql).await),
                    "{written}"
                );
            }
        }
    }
}
