//! Schema files of an operator: checked, printed and served, and their errors.

use std::process::Output;

use orderql::access::profile::Profile;
use orderql::catalog::Catalog;
use serde_json::{Value, json};
use tokio_postgres::Client;

use crate::support::command;
use crate::support::database::{Database, empty_database, migrated_database};
use crate::support::server::{Server, connection_string};
use crate::support::users::create_users;

const LOYALTY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/cli/schema/loyalty.graphql");

/// A migrated database with the tables of `loyalty.sql`.
async fn loyalty_database() -> Database {
    let database = migrated_database().await;
    database.connect().await.batch_execute(include_str!("schema/loyalty.sql")).await.unwrap();
    database
}

fn orderql(arguments: &[&str]) -> Output {
    command::orderql().args(arguments).output().unwrap()
}

fn check(database: &Database, file: &[&str]) -> Output {
    let address = connection_string(&database.config());
    orderql(&[&["schema", "check", "--database-url", &address], file].concat())
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn serves_a_schema_file() {
    let database = loyalty_database().await;
    create_users(&mut database.connect().await, &[("demo", Profile::DEFAULT)]).await;
    let server = Server::start(&database, &["--schema", LOYALTY]);
    let token = server.token("demo");
    let query = |query: &str| server.query(&token, query).json();
    let card = "cardId number holder points isOpen storeCount bookings(first: 5) { edges { node {
        booked storeId points card { number } } } }";
    let ada = json!({
        "cardId": "A", "number": 10, "holder": "Ada", "points": "12.50", "isOpen": true, "storeCount": 2,
        "bookings": { "edges": [
            { "node": { "booked": "2026-05-01T08:00:00.000001Z", "storeId": "NORTH", "points": "10.00", "card": { "number": 10 } } },
            { "node": { "booked": "2026-05-01T08:00:00.000002Z", "storeId": "SOUTH", "points": "2.50", "card": { "number": 10 } } },
        ] },
    });
    assert_eq!(query(&format!("{{ card(cardId: \"A\") {{ {card} }} }}"))["data"], json!({ "card": ada }));
    assert_eq!(query(&format!("{{ card(number: 10) {{ {card} }} }}"))["data"], json!({ "card": ada }));

    let found = |arguments: &str| -> Vec<String> {
        let response = query(&format!("{{ cards(first: 9, {arguments}) {{ edges {{ node {{ cardId }} }} }} }}"));
        let edges = response["data"]["cards"]["edges"].as_array().unwrap_or_else(|| panic!("{response}")).clone();
        edges.iter().map(|edge: &Value| edge["node"]["cardId"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(found(""), ["B", "A", "D", "C"]);
    assert_eq!(found("sortKey: HOLDER"), ["A", "D", "B", "C"]);
    assert_eq!(found("sortKey: HOLDER, reverse: true"), ["B", "D", "A", "C"]);
    assert_eq!(found(r#"query: "holder:Ada points:<=12.5""#), ["A", "D"]);
    assert_eq!(found(r#"query: "points:12.500""#), ["A"]);
    assert_eq!(found(r#"query: "isOpen:false""#), ["B"]);
    assert_eq!(found(r#"query: "store:SOUTH,WEST""#), ["A", "D"]);
    assert_eq!(found(r#"query: "cardId:B,C""#), ["B", "C"]);

    let orders = query("{ orders(first: 1) { edges { node { orderId } } } }");
    assert_eq!(orders["errors"][0]["extensions"]["code"], "GRAPHQL_VALIDATION_FAILED");
    assert_eq!(server.get("/rest/s1/graphql/sdl").body, text(&orderql(&["schema", "print", LOYALTY]).stdout));
}

#[tokio::test]
async fn reports_that_the_database_fits_the_schema() {
    let database = loyalty_database().await;
    for (file, window_searches) in [(&[][..], 49), (&[LOYALTY], 2)] {
        let output = check(&database, file);
        assert!(output.status.success(), "{}", text(&output.stderr));
        let report = text(&output.stdout);
        assert!(report.starts_with("The database fits the schema.\n"), "{report}");
        assert_eq!(report.lines().filter(|line| line.starts_with("- ")).count(), window_searches, "{report}");
        let search = "- orders(query: \"orderTypeId:…\") in the order of ORDER_DATE, ORDER_ID, ORDER_NAME, GRAND_TOTAL, LAST_UPDATED_STAMP: an \
                      index on \"order_header\" (\"order_type_id\", \"order_date\", \"order_id\") would serve it";
        assert_eq!(report.contains(search), file.is_empty(), "{report}");
    }
}

#[tokio::test]
async fn reports_every_mismatch_and_does_not_serve() {
    let database = loyalty_database().await;
    let change = "DROP INDEX loyalty.card_name_card_id_idx; ALTER TABLE loyalty.booking DROP COLUMN points;
        ALTER TABLE loyalty.card ALTER is_open TYPE int USING 1";
    database.connect().await.batch_execute(change).await.unwrap();
    let expected = "orderql: the database does not fit the schema\n\
        - loyalty.card.is_open is of type integer, which Card.isOpen cannot answer as Boolean: correct the field's type \
        or column in the schema file\n\
        - loyalty.card.is_open is of type integer, which cards(query: \"isOpen:…\") cannot compare with Boolean values: \
        correct the field's type or column in the schema file\n\
        - loyalty.booking has no column points, which Booking.points reads: correct the schema file\n\
        - no index serves cards(sortKey: HOLDER): CREATE INDEX CONCURRENTLY ON \"loyalty\".\"card\" (\"name\", \
        \"card_id\");\n\
        - no index serves cards(query: \"holder:…\"): CREATE INDEX CONCURRENTLY ON \"loyalty\".\"card\" (\"name\");\n";
    let address = connection_string(&database.config());
    let checked = check(&database, &[LOYALTY]);
    let served = orderql(&["serve", "--database-url", &address, "--schema", LOYALTY, "--listen", "127.0.0.1:0"]);
    for output in [checked, served] {
        assert_eq!(output.status.code(), Some(1));
        let mut lines: Vec<_> = text(&output.stderr).lines().collect();
        let mut expected: Vec<_> = expected.lines().collect();
        assert_eq!(lines[0], expected[0]);
        lines.sort_unstable();
        expected.sort_unstable();
        assert_eq!(lines, expected);
        assert_eq!(text(&output.stdout), "");
    }
}

/// The bookings are a table of another server, which is away. Returns false if PostgreSQL has no such tables here.
async fn move_bookings_away(client: &Client) -> bool {
    let is_there = "SELECT count(*) FROM pg_available_extensions WHERE name = 'postgres_fdw'";
    if client.query_one(is_there, &[]).await.unwrap().get::<_, i64>(0) == 0 {
        return false;
    }
    let away = "CREATE EXTENSION postgres_fdw;
        CREATE SERVER bookings FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '/nowhere', dbname 'bookings');
        CREATE USER MAPPING FOR CURRENT_USER SERVER bookings;
        ALTER TABLE loyalty.booking RENAME TO moved;
        CREATE FOREIGN TABLE loyalty.booking (card_id text NOT NULL, booked timestamptz NOT NULL, store_id text,
            points numeric(9, 2) NOT NULL) SERVER bookings";
    client.batch_execute(away).await.unwrap();
    true
}

#[tokio::test(flavor = "multi_thread")]
async fn names_a_table_of_another_server_that_is_away_or_missing() {
    let database = loyalty_database().await;
    let mut client = database.connect().await;
    create_users(&mut client, &[("demo", Profile::DEFAULT)]).await;
    if !move_bookings_away(&client).await {
        return;
    }
    let expected = "the foreign table loyalty.booking, which Booking reads, cannot be read from the server bookings: could not \
                    connect to server \"bookings\": see to that server, or ALTER SERVER bookings OPTIONS …, ALTER USER MAPPING FOR … \
                    SERVER bookings OPTIONS …, ALTER FOREIGN TABLE \"loyalty\".\"booking\" …\n";
    let checked = check(&database, &[LOYALTY]);
    assert_eq!(text(&checked.stderr), format!("orderql: the database does not fit the schema\n- {expected}"));
    let address = connection_string(&database.config());
    let examined = orderql(&["doctor", "--database-url", &address, "--schema", LOYALTY, "--listen", "127.0.0.1:0"]);
    assert!(text(&examined.stdout).contains(&format!("FAILED   schema      {expected}")), "{examined:?}");

    // Cards are served without their bookings, and the log says why.
    let server = Server::start(&database, &["--schema", LOYALTY]);
    let token = server.token("demo");
    let card = server.query(&token, "{ card(cardId: \"A\") { holder } }");
    assert_eq!(card.json()["data"], json!({ "card": { "holder": "Ada" } }));
    let bookings = "{ card(cardId: \"A\") { bookings(first: 5) { edges { node { points } } } } }";
    assert_eq!(server.query(&token, bookings).code(), "SERVICE_UNAVAILABLE");
    let log = server.stop();
    assert!(log.contains("could not connect to server \\\"bookings\\\""), "{log}");

    client.batch_execute("DROP FOREIGN TABLE loyalty.booking").await.unwrap();
    let checked = check(&database, &[LOYALTY]);
    let expected = "\n- there is no table or view loyalty.booking, which Booking reads: create it (a table of another server: \
                    IMPORT FOREIGN SCHEMA … LIMIT TO (\"booking\") FROM SERVER … INTO \"loyalty\";), or correct the schema file\n";
    assert!(text(&checked.stderr).contains(expected), "{}", text(&checked.stderr));
}

#[tokio::test]
async fn advises_to_migrate_an_empty_database() {
    let output = check(&empty_database().await, &[]);
    assert_eq!(output.status.code(), Some(1));
    let errors = text(&output.stderr);
    assert!(
        errors.contains("\n- there is no table or view order_header, which Order reads: run `orderql migrate`"),
        "{errors}"
    );
}

#[test]
fn prints_the_published_schema() {
    let built_in = Catalog::built_in().unwrap();
    let output = orderql(&["schema", "print"]);
    assert!(output.status.success());
    assert_eq!(text(&output.stdout), built_in.sdl());
    let own = orderql(&["schema", "print", LOYALTY]);
    let own = text(&own.stdout);
    assert!(own.contains("type Card {") && own.contains("enum CardSortKey {\n  \"By `number`"), "{own}");
    assert!(!own.contains("loyalty") && !own.contains("type Order "), "{own}");
}

#[test]
fn reports_unreadable_and_invalid_schema_files() {
    for (file, expected) in [
        ("no/such/file.graphql", "orderql: no/such/file.graphql cannot be read: "),
        (concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"), "Cargo.toml is no schema: 1:1: not a schema document: "),
    ] {
        for command in [&["schema", "print", file][..], &["explain", "--schema", file, "{ __typename }"]] {
            let output = orderql(command);
            assert_eq!(output.status.code(), Some(1), "{command:?}");
            let errors = text(&output.stderr);
            assert!(errors.contains(expected), "{command:?}: {errors}");
        }
    }
}

#[test]
fn reports_every_kind_of_error_in_a_schema_file() {
    let thing = "type Thing @relation(name: \"thing\", key: [\"thing_id\"]) { thingId: ID! size: Int }";
    for (root, rest, expected) in [
        (
            "things: [Thing] @sort(key: \"SIZE\", colum: \"size\")",
            thing,
            "@sort has no argument `colum`; it takes key, column",
        ),
        ("things: [Thing] @sort(column: \"size\")", thing, "@sort needs the argument `key`"),
        ("things: [Thing] @sort(key: [\"SIZE\"])", thing, "@sort(key:) takes a string"),
        ("things: [Thing] @sort(key: \"BY SIZE\")", thing, "`BY SIZE` is no name that can be published"),
        ("things: [Thing] @sort(key: \"null\", column: \"size\")", thing, "`null` is no name that can be published"),
        ("things: [Thing] @sort(key: \"SIZE\") @sort(key: \"SIZE\")", thing, "`things: SIZE` is defined twice"),
        ("things: [Thing] @sort(key: \"COLOUR\")", thing, "no field of `Thing` has the column `colour`"),
        ("things: [Thing]", thing, "a collection root needs a sort key"),
        (
            "things: [Thing] @sort(key: \"SIZE\") @search(key: \"size\") @search(key: \"size\", compare: [RANGE])",
            thing,
            "`things: size` is defined twice",
        ),
        (
            "things: [Thing] @sort(key: \"SIZE\") @search(key: \"size\", compare: [LIKE])",
            thing,
            "@search(compare:) takes a list of EQUALS, IN, RANGE",
        ),
        ("things: [Thing] @sort(key: \"SIZE\") @indexed", thing, "no such binding directive for a field"),
        (
            "things: [Thing] @sort(key: \"SIZE\") @index(keys: [\"size\"])",
            thing,
            "`size`: @index names two search keys",
        ),
        (
            "things: [Thing] @sort(key: \"SIZE\") @search(key: \"size\") @search(key: \"thingId\") \
             @index(keys: [\"size\", \"colour\"], inOrderOf: [\"SIZE\"])",
            thing,
            "`size, colour`: @index names two search keys",
        ),
        (
            "things: [Thing] @sort(key: \"SIZE\") @search(key: \"size\") @search(key: \"thingId\") \
             @index(keys: [\"thingId\", \"size\"], inOrderOf: [\"SIZE\"])",
            thing,
            "`thingId, size`: @index names two search keys",
        ),
        ("things: [Thing] @sorts(key: \"SIZE\")", thing, "for a field; did you mean @sort?"),
        (
            "thing(thingId: ID!, size: Int): Thing @point",
            thing,
            "are all nullable (exactly one is given) or all non-null",
        ),
        ("thing(thingId: ID!): Gadget @point", thing, "there is no type `Gadget`"),
        ("thing(thingId: ID!): Thing @point", "type Thing { thingId: ID! }", "a type needs @relation"),
        ("thing(thingId: Colour!): Thing @point", thing, "there is no type `Colour`"),
        ("__thing(thingId: ID!): Thing @point", thing, "`__thing` is no name that can be published"),
        ("thing(thingId: ID!): Thing @point", "scalar Colour", "this kind of type is not taken"),
    ] {
        let error = Catalog::parse(&format!("type Query {{ {root} }} {rest}")).unwrap_err().to_string();
        assert!(error.contains(expected), "{root}: {error}");
    }
    assert!(Catalog::parse(thing).unwrap_err().to_string().ends_with("there is no type Query"));
}
