//! Values that no row can have, because their columns cannot hold them: in arguments, search strings and forged cursors.

use orderql::access::profile::Profile;
use orderql::cursor::{Encoder, OrderingTag};
use orderql::value::Timestamp;
use serde_json::{Value, json};

use crate::support::cursor::numeric;
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
    let connections = "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name = 'orderql-queries' ORDER BY pid";
    let rows = database.connect().await.query(connections, &[]).await.unwrap();
    rows.iter().map(|row| row.get(0)).collect()
}

/// Panics if the server has given up a connection. It may have opened another one meanwhile.
fn assert_kept(before: &[i32], now: &[i32]) {
    assert!(before.iter().all(|id| now.contains(id)), "{before:?}, now {now:?}");
}

/// The first error of a response: its code and message.
fn first_error(response: &Response) -> (String, String) {
    let error = &response.json()["errors"][0];
    let text = |value: &Value| value.as_str().unwrap_or_else(|| panic!("{response:?}")).to_owned();
    (text(&error["extensions"]["code"]), text(&error["message"]))
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
    let after = cursor(OrderingTag::new("bins", "SLOTS"), |encoder| (encoder.numeric(&numeric("1")), encoder.int(1)).1);
    let query = format!("{{ bins(first: 1, sortKey: SLOTS, after: \"{after}\") {{ edges {{ cursor }} }} }}");
    assert_bad_input(&server.query(&token, &query), "BAD_USER_INPUT");
    for (sort_key, slots, bin) in [("BIN_ID", None, 32768), ("SLOTS", Some(1 << 31), 1), ("SLOTS", Some(1), -32769)] {
        let after = cursor(OrderingTag::new("bins", sort_key), |encoder| {
            slots.into_iter().chain([bin]).for_each(|number| encoder.int(number));
        });
        let query = format!("{{ bins(first: 1, sortKey: {sort_key}, after: \"{after}\") {{ edges {{ cursor }} }} }}");
        assert_bad_input(&server.query(&token, &query), "BAD_USER_INPUT");
    }
    assert_kept(&before, &connections(&database).await);
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
    let (earliest, latest) = (-211_813_488_000_000_000, 9_223_371_331_199_999_999);
    for micros in [earliest, -1, 0, latest, i64::MIN, i64::MAX] {
        assert_eq!(query("ORDER_DATE", &date(micros)).json()["data"], json!({ "orders": { "edges": [] } }), "{micros}");
    }
    let before = connections(&database).await;
    for micros in [earliest - 1, latest + 1, i64::MIN + 1, i64::MAX - 1] {
        assert_bad_input(&query("ORDER_DATE", &date(micros)), "BAD_USER_INPUT");
    }
    let total = |write: &dyn Fn(&mut Encoder)| cursor(OrderingTag::new("orders", "GRAND_TOTAL"), write);
    let one = numeric("1");
    let forged: [&dyn Fn(&mut Encoder); 10] = [
        // A digit too few, a sign that does not exist, a digit of more than four figures, an empty text, another type.
        &|encoder| encoder.numeric(&[0, 1, 0, 0, 0, 0, 0, 0]),
        &|encoder| encoder.numeric(&[0, 0, 0, 0, 0x80, 0, 0, 0]),
        &|encoder| encoder.numeric(&[0, 1, 0, 0, 0, 0, 0, 0, 0x27, 0x10]),
        &|encoder| encoder.numeric(b""),
        &|encoder| encoder.int(1),
        &|encoder| (encoder.numeric(&one), encoder.text(b"A\0")).1,
        &|encoder| (encoder.numeric(&one), encoder.text(b"\xff")).1,
        &|encoder| (encoder.numeric(&one), encoder.null()).1,
        &|encoder| encoder.numeric(&one),
        &|encoder| (encoder.numeric(&one), encoder.text(b"A"), encoder.text(b"B")).2,
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
    assert_kept(&before, &connections(&database).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn rejects_nulls_offsets_and_numbers_that_would_be_misread() {
    let database = migrated_database().await;
    let mut client = database.connect().await;
    create_users(&mut client, &[("demo", Profile::DEFAULT)]).await;
    let orders = "INSERT INTO order_header (order_id, order_date, status_id) VALUES
        ('12345678901234567890', '2026-01-01 00:00:00+14', 'ORDER_APPROVED'),
        ('-9223372036854775808', '2026-01-01 00:00:00+00', 'ORDER_APPROVED')";
    client.batch_execute(orders).await.unwrap();
    let server = Server::start(&database, &["--pool-size", "1"]);
    let token = server.token("demo");
    let post = |query: &str, variables: &str| {
        server.post(&token, JSON, format!("{{\"query\": {}, \"variables\": {variables}}}", json!(query)))
    };

    // The argument `if` of the directives is never null, although the variable can be.
    let conditions =
        "query ($v: Boolean = true) { a: __typename @skip(if: $v) ... @include(if: $v) { b: __typename } }";
    for (variables, data) in [("{}", json!({ "b": "Query" })), (r#"{"v": false}"#, json!({ "a": "Query" }))] {
        assert_eq!(post(conditions, variables).json()["data"], data);
    }
    let message = "the variable `$v` of type Boolean expects a value that is not null for `@skip` and `@include`, and was given null";
    assert_eq!(first_error(&post(conditions, r#"{"v": null}"#)), ("BAD_USER_INPUT".to_owned(), message.to_owned()));

    let since = |offset: &str| {
        let search = format!("orderDate:<=2026-01-01T00:00:00{offset}");
        post(
            "query ($s: String) { orders(first: 9, query: $s) { edges { node { orderId } } } }",
            &json!({ "s": search }).to_string(),
        )
    };
    for (offset, rows) in [("+14:00", 1), ("+18:00", 0), ("-18:00", 2), ("-17:59", 2)] {
        assert_eq!(since(offset).json()["data"]["orders"]["edges"].as_array().unwrap().len(), rows, "{offset}");
    }
    for offset in ["+18:01", "-18:01", "+19:00", "-23:59"] {
        let (code, message) = first_error(&since(offset));
        assert_eq!(code, "MALFORMED_QUERY", "{offset}");
        assert!(message.contains("expected a timestamp with an offset between -18:00 and +18:00"), "{message}");
    }

    // A number is exactly the id of that text, or is rejected.
    let by_variable = "query ($id: ID) { order(orderId: $id) { orderId } }";
    for id in ["12345678901234567890", "-9223372036854775808"] {
        let expected = json!({ "order": { "orderId": id } });
        assert_eq!(post(&format!("{{ order(orderId: {id}) {{ orderId }} }}"), "{}").json()["data"], expected);
        assert_eq!(post(by_variable, &format!("{{\"id\": {id}}}")).json()["data"], expected);
    }
    for id in ["18446744073709551616", "-9223372036854775809", "12345678901234567890123", "1.0", "1e3"] {
        let (code, message) = first_error(&post(by_variable, &format!("{{\"id\": {id}}}")));
        let expected = "a string, or a whole number of at most 64 bits (put a longer one in quotes)";
        let given = format!("the variable `$id` of type ID expects {expected}, and was given a number");
        assert_eq!((code.as_str(), message.as_str()), ("BAD_USER_INPUT", given.as_str()), "{id}");
        if id.contains(['.', 'e']) {
            continue;
        }
        let (code, message) = first_error(&post(&format!("{{ order(orderId: {id}) {{ orderId }} }}"), "{}"));
        let written = format!("\"orderId\" is of type \"ID\" and takes {expected}, not {id}");
        assert_eq!((code.as_str(), message.as_str()), ("GRAPHQL_VALIDATION_FAILED", written.as_str()));
    }
}
