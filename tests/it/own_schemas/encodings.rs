//! Databases in other encodings than UTF-8: a text that the encoding does not have is found nowhere, and is no error.

use orderql::cursor::{Encoder, OrderingTag};
use serde_json::{Value, json};

use crate::own_schemas::OwnSchema;
use crate::support::command::{orderql_on, run};
use crate::support::database::database_in_encoding;
use crate::support::server::{Server, connection_string};
use crate::support::store::{URLENCODED, update_request};
use crate::support::users::{UNLIMITED_PROFILE, create_users};

const TABLES: &str = "
    CREATE TABLE area (area_id varchar(20) PRIMARY KEY, name text);
    CREATE TABLE place (place_id varchar(20) PRIMARY KEY, name text, area_id varchar(20) REFERENCES area);
    CREATE INDEX ON place (name, place_id);
    CREATE INDEX ON place (area_id, place_id);
    CREATE INDEX ON place (area_id, name, place_id);
    INSERT INTO area VALUES ('é', 'accents');
    INSERT INTO place VALUES ('Ö', 'Zoë', 'é'), ('a', 'Ö', 'é'), ('b', 'plain', NULL), ('c', NULL, 'é')";

const SCHEMA: &str = r#"
    type Query {
        area(areaId: ID!): Area @point
        places: [Place]
            @search(key: "placeId", compare: [EQUALS, IN, RANGE])
            @search(key: "name", compare: [EQUALS, IN, RANGE])
            @search(key: "areaId", compare: [EQUALS, IN], lookup: true, inOrderOf: ["NAME"])
            @sort(key: "PLACE_ID")
            @sort(key: "NAME")
    }
    type Area @relation(name: "area", key: ["area_id"]) {
        areaId: ID!
        name: String
        places: [Place] @many(by: ["area_id"])
    }
    type Place @relation(name: "place", key: ["place_id"]) { placeId: ID! name: String areaId: ID area: Area @one(by: ["area_id"]) }"#;

#[tokio::test(flavor = "multi_thread")]
async fn a_text_that_the_encoding_does_not_have_is_found_nowhere() {
    for encoding in ["LATIN1", "WIN1252", "EUC_JIS_2004"] {
        let database = database_in_encoding(encoding).await;
        let own = OwnSchema::create_in(database, encoding, TABLES, SCHEMA).await;
        assert_eq!(own.check(), "");
        let served = own.serve(&["--bucket-size", "1000000000"]);
        for (search, ids) in [
            ("name:Zoë", json!(["Ö"])),
            ("name:한국", json!([])),
            ("name:Zoë,한국,'',한,국", json!(["Ö"])),
            ("name:한국,국", json!([])),
            ("name:>=한국", json!([])),
            ("name:<한국", json!([])),
            ("placeId:한", json!([])),
            ("placeId:한,Ö,a,국", json!(["a", "Ö"])),
            ("areaId:한", json!([])),
            ("areaId:é,한,국", json!(["a", "c", "Ö"])),
            ("areaId:é,한 name:국,Zoë", json!(["Ö"])),
        ] {
            let arguments = format!("query: \"{search}\"");
            let found = served.pages("places", &arguments, "placeId", 2, false);
            assert_eq!(json!(found.values), ids, "{encoding} {search}");
            let in_order = served.pages("places", &format!("{arguments} sortKey: NAME"), "placeId", 1, true);
            assert_eq!(in_order.values.len(), found.values.len(), "{encoding} {search}");
        }
        // Cursors as another database has them.
        for (sort_key, texts) in [("PLACE_ID", &["한"][..]), ("NAME", &["한", "a"]), ("NAME", &["a", "한"])] {
            let (mut encoder, mut cursor) = (Encoder::default(), Vec::new());
            encoder.begin(OrderingTag::new("places", sort_key));
            for text in texts {
                encoder.text(text.as_bytes());
            }
            encoder.finish(&mut cursor);
            let cursor = String::from_utf8(cursor).unwrap();
            for page in [format!("first: 2, after: \"{cursor}\""), format!("last: 2, before: \"{cursor}\"")] {
                let selected = "edges { node { placeId } } pageInfo { hasNextPage hasPreviousPage }";
                let response = served.query(&format!("{{ places({page}, sortKey: {sort_key}) {{ {selected} }} }}"));
                assert_eq!(response["errors"], Value::Null, "{response}");
                if sort_key == "PLACE_ID" {
                    assert_eq!(response["data"]["places"]["edges"], json!([]), "{response}");
                }
            }
        }
        let response = served.query("{ area(areaId: \"한\") { name } }");
        assert_eq!(response["data"], json!({ "area": null }), "{response}");
        assert_eq!(response["errors"], Value::Null, "{response}");
        assert_eq!(served.server.sign_in("/auth/token", "한", "한").status, 401);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_update_with_such_a_text_is_rejected() {
    let database = database_in_encoding("LATIN1").await;
    assert!(run(orderql_on(&database).args(["migrate"]), "").succeeded);
    create_users(&mut database.connect().await, &[("demo", UNLIMITED_PROFILE)]).await;
    let server = Server::start(&database, &[]);
    for value in ["%ED%95%9C", "STORE"] {
        let form = format!("facilityId={value}&box_shipmentId_0=S&0_box_rowSubmit=0&box_shipmentBoxTypeId_0={value}");
        let response = server.send(update_request(&server.token("demo"), &[URLENCODED], &form));
        let is_held = value == "STORE";
        assert_eq!(response.status, if is_held { 404 } else { 409 }, "{response:?}");
        assert_eq!(
            response.body.contains("a value has a character that the database cannot hold"),
            !is_held,
            "{response:?}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_without_an_encoding_is_refused() {
    let schema = r#"
        type Query { words: [Word] @search(key: "word", compare: [EQUALS]) @sort(key: "WORD") }
        type Word @relation(name: "word", key: ["word"]) { word: ID! }"#;
    let tables = "CREATE TABLE word (word text PRIMARY KEY); INSERT INTO word VALUES (E'Z\\xfc')";
    let database = database_in_encoding("SQL_ASCII").await;
    let own = OwnSchema::create_in(database, "sql-ascii", tables, schema).await;
    let (file, address) = (own.file(), connection_string(&own.database.config()));
    let refused = "the database has the encoding SQL_ASCII, so that a text may have bytes that are no characters";
    let serve = ["serve", "--listen", "127.0.0.1:0", "--schema", &file, "--database-url", &address];
    for command in [&["schema", "check", &file][..], &serve] {
        let result = own.run(command);
        assert!(!result.succeeded && result.stderr.contains(refused), "{command:?}: {}", result.stderr);
    }
    let doctor = own.run(&["doctor", "--schema", &file]);
    assert!(!doctor.succeeded && doctor.stdout.contains(refused), "{}", doctor.stdout);
}
