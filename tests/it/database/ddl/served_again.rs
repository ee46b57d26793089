//! What tells that the schema does not fit the tables any more, and what mends it.

use crate::database::ddl::changes::{SCHEMA, TABLES};
use crate::database::ddl::{Served, changed};
use crate::own_schemas::OwnSchema;
use crate::support::server::wait_until;

const RENAMED: &str = "{ tickets(first: 1) { edges { node { title } } } }";
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
    let available = served.query(&served.token, UNTOUCHED).available();
    assert_eq!(served.answer(RENAMED), changed());
    assert!(served.query(&served.token, UNTOUCHED).available() + 10 >= available, "it is not charged");
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
        "tables were changed; they fit the schema, and are served as they are now",
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
