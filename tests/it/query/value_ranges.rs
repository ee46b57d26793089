//! Values that no row can have, because their columns cannot hold them: in arguments, search strings and forged cursors.

use orderql::access::profile::Profile;
use orderql::cursor::{Encoder, OrderingTag};
use orderql::value::Timestamp;
use serde_json::{Value, json};

use crate::support::database::{Database, migrated_database};
use crate::support::http::{JSON, Response};
use crate::support::server::Server;
use crate::support::test_folder::TestFolder;
use crate::support::users::create_users;

/// A table with a column of whole numbers of each width.
const TABLE: &str = "
    CREATE TABLE bin (bin_id int2 PRIMARY KEY, slots int4, volume int8, weight numeric);
    CREATE INDEX ON bin (slots, bin_id);
    CREATE INDEX ON bin (volume, bin_id);
    CREATE INDEX ON bin (weight, bin_id);
    INSERT INTO bin VALUES (1, 10, 100, 1000), (2, 20, 200, 2000)";

const SCHEMA: &str = r#"
    type Query {
      bin(binId: Int!): Bin @point
      bins: [Bin]
        @search(key: "binId", compare: [EQUALS, IN, RANGE]) @search(key: "slots", compare: [EQUALS, IN, RANGE])
        @search(key: "volume", compare: [EQUALS, IN, RANGE]) @search(key: "weight", compare: [EQUALS, IN, RANGE])
        @sort(key: "BIN_ID") @sort(key: "SLOTS")
    }
    type Bin @relation(name: "bin", key: ["bin_id"]) { binId: Int! slots: Int volume: Int weight: Int }
"#;

/// A cursor with these key values, and a valid checksum.
fn cursor(tag: OrderingTag, write: impl FnOnce(&mut Encoder)) -> String {
    let (mut encoder, mut text) = (Encoder::default(), Vec::new());
    encoder.begin(tag);
    write(&mut encoder);
    encoder.finish(&mut text);
    String::from_utf8(text).unwrap()
}

/// The process ids of the server's connections.
async fn connections(database: &Database) -> Vec<i32> {
    let connections = "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name = 'orderql' ORDER BY pid";
    let rows = database.connect().await.query(connections, &[]).await.unwrap();
    rows.iter().map(|row| row.get(0)).collect()
}

fn assert_bad_input(response: &Response, expected: &str) {
    let entry = &response.json()["errors"][0];
    assert_eq!(entry["extensions"]["code"], expected, "{response:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn rejects_whole_numbers_that_their_columns_cannot_hold() {
    let database = migrated_database().await;
    let mut client = database.connect().await;
    client.batch_execute(TABLE).await.unwrap();
    create_users(&mut client, &[("demo", Profile::DEFAULT)]).await;
    drop(client);
    let folder = TestFolder::create("value-ranges");
    let schema = folder.path().join("schema.graphql");
    std::fs::write(&schema, SCHEMA).unwrap();
    let server = Server::start(&database, &["--pool-size", "1", "--schema", schema.to_str().unwrap()]);
    let token = server.token("demo");

    let bins = |query: &str| {
        let response = server
            .query(&token, &format!("{{ bins(first: 9, query: \"{query}\") {{ edges {{ node {{ binId }} }} }} }}"));
        let edges = response.json()["data"]["bins"]["edges"].as_array().cloned();
        (response, edges.map(|edges| edges.len()))
    };
    assert_eq!(bins("slots:10,20").1, Some(2));
    let before = connections(&database).await;
    assert!(!before.is_empty());

    // Within its range, a number is compared, whether or not a row has it.
    for (query, rows) in [
        ("binId:32767", 0),
        ("binId:>-32768", 2),
        ("slots:2147483647", 0),
        ("slots:<2147483647", 2),
        ("volume:<9223372036854775807", 2),
        ("weight:<9223372036854775807", 2),
    ] {
        assert_eq!(bins(query).1, Some(rows), "{query}");
    }
    for (query, range) in [
        ("binId:32768", "a whole number from -32768 to 32767"),
        ("binId:1,-32769", "a whole number from -32768 to 32767"),
        ("slots:<2147483648", "a whole number from -2147483648 to 2147483647"),
        ("slots:1,2147483648", "a whole number from -2147483648 to 2147483647"),
        ("volume:9223372036854775808", "a whole number of 64 bits"),
        ("weight:9223372036854775808", "a whole number of 64 bits"),
    ] {
        let (response, _) = bins(query);
        assert_bad_input(&response, "MALFORMED_QUERY");
        assert_eq!(response.json()["errors"][0]["extensions"]["expected"], range, "{query}");
    }
    let response = server.query(&token, "{ bin(binId: 40000) { slots } }");
    assert_bad_input(&response, "BAD_USER_INPUT");
    assert_eq!(
        response.json()["errors"][0]["message"],
        "the argument `binId` of `bin` expects a whole number from -32768 to 32767"
    );
    let body = json!({ "query": "query($n: Int!) { bin(binId: $n) { slots } }", "variables": { "n": -40000 } });
    assert_bad_input(&server.post(&token, JSON, body.to_string()), "BAD_USER_INPUT");
    for (sort_key, slots, bin) in [("BIN_ID", None, 32768), ("SLOTS", Some(1 << 31), 1), ("SLOTS", Some(1), -32769)] {
        let after = cursor(OrderingTag::new("bins", sort_key), |encoder| {
            slots.into_iter().chain([bin]).for_each(|number| encoder.int(number));
        });
        let query = format!("{{ bins(first: 1, sortKey: {sort_key}, after: \"{after}\") {{ edges {{ cursor }} }} }}");
        assert_bad_input(&server.query(&token, &query), "BAD_USER_INPUT");
    }
    assert_eq!(connections(&database).await, before, "no connection was given up");
    drop(server);
}

#[tokio::test(flavor = "multi_thread")]
async fn rejects_forged_cursors_whose_values_postgresql_cannot_hold() {
    let database = migrated_database().await;
    create_users(&mut database.connect().await, &[("demo", Profile::DEFAULT)]).await;
    let server = Server::start(&database, &["--pool-size", "1"]);
    let token = server.token("demo");
    let query = |sort_key: &str, after: &str| {
        let query = format!("{{ orders(first: 1, sortKey: {sort_key}, after: \"{after}\") {{ edges {{ cursor }} }} }}");
        server.query(&token, &query)
    };
    let date = |micros: i64| {
        cursor(OrderingTag::new("orders", "ORDER_DATE"), |encoder| {
            encoder.timestamp(Timestamp(micros));
            encoder.text(b"A");
        })
    };
    let earliest = -210_866_803_200_000_000;
    for micros in [earliest, -1, 0, 253_402_300_800_000_000, i64::MAX] {
        assert_eq!(query("ORDER_DATE", &date(micros)).json()["data"], json!({ "orders": { "edges": [] } }), "{micros}");
    }
    let before = connections(&database).await;
    for micros in [earliest - 1, i64::MIN + 946_684_800_000_000, i64::MIN + 1, i64::MIN] {
        assert_bad_input(&query("ORDER_DATE", &date(micros)), "BAD_USER_INPUT");
    }
    let total = |write: &dyn Fn(&mut Encoder)| cursor(OrderingTag::new("orders", "GRAND_TOTAL"), write);
    let forged: [&dyn Fn(&mut Encoder); 10] = [
        &|encoder| encoder.decimal("NaN"),
        &|encoder| encoder.decimal("1e9"),
        &|encoder| encoder.decimal(&"9".repeat(40)),
        &|encoder| encoder.decimal(""),
        &|encoder| encoder.int(1),
        &|encoder| (encoder.decimal("1"), encoder.text(b"A\0")).1,
        &|encoder| (encoder.decimal("1"), encoder.text(b"\xff")).1,
        &|encoder| (encoder.decimal("1"), encoder.null()).1,
        &|encoder| encoder.decimal("1"),
        &|encoder| (encoder.decimal("1"), encoder.text(b"A"), encoder.text(b"B")).2,
    ];
    for (number, write) in forged.into_iter().enumerate() {
        let response = query(
            "GRAND_TOTAL",
            &total(&|encoder| {
                write(encoder);
                // Values of the right number and types follow those that are not.
                if number < 5 {
                    encoder.text(b"A");
                }
            }),
        );
        assert_bad_input(&response, "BAD_USER_INPUT");
        assert_eq!(response.json()["data"], Value::Null);
    }
    assert_eq!(connections(&database).await, before, "no connection was given up");
}
