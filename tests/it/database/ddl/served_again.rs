//! What tells that the schema does not fit the tables any more, and what mends it.

use std::sync::Arc;

use serde_json::json;
use tokio::task;

use crate::database::ddl::changes::{SCHEMA, TABLES};
use crate::database::ddl::served::{Served, changed};
use crate::own_schemas::OwnSchema;
use crate::support::http::graphql_request;
use crate::support::server::{Server, wait_until};

const RENAMED: &str = "{ tickets(first: 1) { edges { node { title } } } }";
const NOTE: &str = "{ customers(first: 1) { edges { node { note } } } }";
const UNTOUCHED: &str = "{ customers(first: 1) { edges { node { name } } } }";

/// The status and the reason of the part `schema`.
fn schema_part(served: &Served) -> (String, String) {
    let part = served.get_as_operator("/health/ready").json()["parts"]["schema"].take();
    (part["status"].as_str().unwrap().to_owned(), part["reason"].as_str().unwrap_or_default().to_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_column_that_is_renamed_is_named_until_it_is_back() {
    let own = OwnSchema::create("ddl-renamed", TABLES, SCHEMA).await;
    let served = Served::start(&own, None);
    let before = served.answer(RENAMED);
    assert_eq!(schema_part(&served), ("ok".into(), String::new()));
    own.client.batch_execute("ALTER TABLE ticket RENAME title TO heading").await.unwrap();
    assert_eq!(served.answer(RENAMED), changed());
    wait_until(|| schema_part(&served).0 == "degraded");
    let reason = schema_part(&served).1;
    assert!(reason.contains("title"), "{reason}");
    assert_eq!(served.get("/health/ready").status, 200, "other requests are answered");
    assert_ne!(served.answer(UNTOUCHED), changed());
    let doctor = own.run(&["doctor", "--schema", &own.file()]);
    assert!(doctor.stdout.contains("title"), "{doctor:?}");

    // The column is back: requests are answered at once, and the part says so at the next check.
    own.client.batch_execute("ALTER TABLE ticket RENAME heading TO title").await.unwrap();
    assert_eq!(served.answer(RENAMED), before);
    wait_until(|| schema_part(&served).0 == "ok");
    let log = served.server.stop();
    for line in [
        "tables were changed; requests that need them fail with SCHEMA_CHANGED",
        "the tables fit the schema file, and are served as they are now",
    ] {
        assert_eq!(log.matches(line).count(), 1, "{line}: {log}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_schema_file_that_follows_the_tables_is_served_after_a_reload() {
    let own = OwnSchema::create("ddl-reload", TABLES, SCHEMA).await;
    let served = Served::start(&own, None);
    own.client.batch_execute("ALTER TABLE ticket RENAME title TO heading").await.unwrap();
    assert_eq!(served.answer(RENAMED), changed());
    own.write(
        &SCHEMA
            .replace("  title: String\n  code", "  heading: String\n  code")
            .replace("\"TITLE\"", "\"HEADING\"")
            .replace("key: \"title\"", "key: \"heading\""),
    );
    served.signal("-HUP");
    wait_until(|| served.answer("{ tickets(first: 1) { edges { node { heading } } } }").is_object());
    assert_eq!(schema_part(&served).0, "ok");
}

/// A column that is only selected has a text whatever its type is.
#[tokio::test(flavor = "multi_thread")]
async fn a_reload_compares_the_tables_with_the_schema() {
    let own = OwnSchema::create("ddl-compared", TABLES, SCHEMA).await;
    let served = Served::start(&own, None);
    served.answer(UNTOUCHED);
    for (note, shown, status) in [
        ("char(9) USING 'n'", json!("n        "), "ok"),
        ("text[] USING ARRAY['n']", json!("{n}"), "degraded"),
        ("json USING to_json('n'::text)", json!("\"n\""), "degraded"),
        ("text USING 'n'", json!("n"), "ok"),
    ] {
        own.client.batch_execute(&format!("ALTER TABLE customer ALTER note TYPE {note}")).await.unwrap();
        served.signal("-HUP");
        wait_until(|| served.answer(NOTE)["customers"]["edges"][0]["node"]["note"] == shown);
        wait_until(|| schema_part(&served).0 == status);
    }
}

/// What fails is not free: the database has looked at it.
#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_no_longer_fits_is_charged() {
    let own = OwnSchema::create("ddl-charged", TABLES, SCHEMA).await;
    let flags = ["--schema", &own.file(), "--bucket-size", "1000000000", "--restore-rate", "0"];
    let server = Server::start(&own.database, &flags);
    let token = server.token("demo");
    let first = server.query(&token, RENAMED).available();
    own.client.batch_execute("ALTER TABLE ticket RENAME title TO heading").await.unwrap();
    let cost = first - server.query(&token, UNTOUCHED).available();
    assert_eq!(server.query(&token, RENAMED).code(), "SCHEMA_CHANGED");
    assert!(first - server.query(&token, UNTOUCHED).available() > 2 * cost, "{cost}");
}

/// The statement waits for the change with a snapshot of before, to which the table that was written anew has no rows.
#[tokio::test(flavor = "multi_thread")]
async fn an_export_beside_a_table_that_is_written_anew_has_all_rows() {
    let own = OwnSchema::create("ddl-export", TABLES, SCHEMA).await;
    let served = Arc::new(Served::start(&own, None));
    let mut client = own.database.connect().await;
    for ty in ["bigint", "integer"] {
        let change = client.transaction().await.unwrap();
        change.batch_execute(&format!("ALTER TABLE ticket ALTER weight TYPE {ty}")).await.unwrap();
        let export = {
            let served = Arc::clone(&served);
            let query = "{ tickets(first: 10) { edges { node { ticketId } } } }";
            task::spawn_blocking(move || served.send(graphql_request(&served.token, "application/x-ndjson", query)))
        };
        own.database.wait_for_lock_waits(1).await;
        change.commit().await.unwrap();
        let export = export.await.unwrap();
        assert_eq!((export.status, export.body.matches("ticketId").count()), (200, 40), "{ty}: {}", export.body);
    }
}
