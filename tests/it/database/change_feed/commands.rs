//! What operators see of the feeds: commands, the doctor, metrics, and feeds of other types.

use serde_json::Value;

use crate::support::command;
use crate::support::database::{empty_database, migrated_database};
use crate::support::server::Server;
use crate::support::test_folder::TestFolder;

/// Writes a tick of eleven minutes ago: long enough for marks before it to be removed.
const OLD_TICK: &str = "
    INSERT INTO orderql.sync_tick (at, epoch, system_identifier, timeline, lsn, snapshot)
    SELECT now() - interval '11 minutes', epoch, 0, timeline, pg_current_wal_insert_lsn(), pg_current_snapshot()
    FROM orderql.sync_epoch()";

#[tokio::test(flavor = "multi_thread")]
async fn a_server_writes_ticks_and_removes_superseded_marks() {
    let database = migrated_database().await;
    let client = database.connect().await;
    // As if three changes had come long ago, with a tick after each.
    for _ in 0..3 {
        let change =
            "INSERT INTO order_header (order_id) VALUES ('A') ON CONFLICT (order_id) DO UPDATE SET order_name = 'x'";
        client.batch_execute(change).await.unwrap();
        client.batch_execute(OLD_TICK).await.unwrap();
    }
    let server = Server::start(&database, &["--admin-listen", "127.0.0.1:0"]);
    let count = async || -> i64 {
        client.query_one("SELECT count(*) FROM orderql.order_change_direct", &[]).await.unwrap().get(0)
    };
    while count().await > 1 {}
    let kept = "SELECT xid = (SELECT xmin::text::xid8 FROM order_header) FROM orderql.order_change_direct";
    assert!(client.query_one(kept, &[]).await.unwrap().get::<_, bool>(0), "the last mark stays");
    let ticks = "SELECT count(*) FROM orderql.sync_tick WHERE at > now() - interval '1 minute'";
    assert_eq!(client.query_one(ticks, &[]).await.unwrap().get::<_, i64>(0), 1);
    while !server.metrics().samples.contains_key("orderql_changes_lag_seconds") {}
    assert!(server.metrics().samples.contains_key("orderql_changes_marks{feed=\"order_change\"}"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mark_stays_that_is_seen_after_a_later_one() {
    let database = migrated_database().await;
    let (client, slow) = (database.connect().await, database.connect().await);
    client.batch_execute("INSERT INTO order_header (order_id) VALUES ('A')").await.unwrap();
    client.batch_execute(OLD_TICK).await.unwrap();
    // The transaction that began first commits last: a reader may have seen the other one's mark alone.
    slow.batch_execute("BEGIN; INSERT INTO order_item (order_id, order_item_seq_id) VALUES ('A', '01')").await.unwrap();
    client.batch_execute("UPDATE order_header SET order_name = 'x' WHERE order_id = 'A'").await.unwrap();
    client.batch_execute(OLD_TICK).await.unwrap();
    slow.batch_execute("COMMIT").await.unwrap();
    client.batch_execute(OLD_TICK).await.unwrap();
    let compact = "SELECT is_done FROM orderql.sync_compact('order_change_direct', 1000)";
    while !client.query_one(compact, &[]).await.unwrap().get::<_, bool>(0) {}
    let marks = "SELECT array_agg(marked.xid::text ORDER BY marked.xid), (
            SELECT ARRAY[item.xmin::text, header.xmin::text] FROM order_item AS item JOIN order_header AS header USING (order_id)
        ) FROM orderql.order_change_direct AS marked";
    let marks = client.query_one(marks, &[]).await.unwrap();
    assert_eq!(marks.get::<_, Vec<String>>(0), marks.get::<_, Vec<String>>(1), "the mark before both is removed");
}

#[tokio::test(flavor = "multi_thread")]
async fn status_and_the_doctor_name_triggers_that_are_off_and_migrate_turns_them_on() {
    let database = migrated_database().await;
    let client = database.connect().await;
    let run = |arguments: &[&str]| command::run(command::orderql_on(&database).args(arguments), "");
    let status = || -> Vec<Value> { serde_json::from_str(&run(&["sync", "status", "--json"]).stdout).unwrap() };
    let value = |name: &str| status().iter().find(|row| row["name"] == name).unwrap()["value"].clone();
    assert_eq!(
        (value("ticks"), value("triggersOff"), value("lagSeconds")),
        (0.into(), Value::Array(Vec::new()), Value::Null)
    );
    client.batch_execute("SELECT orderql.sync_write_tick()").await.unwrap();
    assert_eq!((value("ticks"), value("timeline"), value("standby")), (1.into(), 1.into(), false.into()));
    client
        .batch_execute(
            "ALTER TABLE order_item DISABLE TRIGGER orderql_order_change;
             ALTER TABLE shipment ENABLE TRIGGER orderql_order_change;
             DROP TRIGGER orderql_order_change_truncated ON payment",
        )
        .await
        .unwrap();
    let off = [
        "orderql_order_change on order_item",
        "orderql_order_change on shipment",
        "orderql_order_change_truncated on payment",
    ];
    let mut found: Vec<_> =
        value("triggersOff").as_array().unwrap().iter().map(|name| name.as_str().unwrap().to_owned()).collect();
    found.sort();
    assert_eq!(found, off);
    let doctor = run(&["doctor", "--listen", "127.0.0.1:0"]).stdout;
    assert!(
        doctor.contains("warning  changes     orderql_order_change on order_item is off, or not ALWAYS"),
        "{doctor}"
    );
    assert!(doctor.contains("orderql_order_change_truncated on payment is missing"), "{doctor}");
    let planned = run(&["migrate", "--dry-run"]).stdout;
    assert!(planned.contains("-- change feed order_change\nSELECT orderql.make_feed($feed${"), "{planned}");
    assert_eq!(run(&["migrate"]).stdout, "3 tables given the triggers of change feeds\n");
    assert_eq!(value("triggersOff"), Value::Array(Vec::new()));
    assert_eq!(run(&["migrate"]).stdout, "Nothing to do: the database is up to date.\n");
}

const MUSIC: &str = r#"type Query { artists: [Artist] @sort(key: "ARTIST_ID") }
type Artist @relation(name: "artist", key: ["artist_id"]) { artistId: ID! name: String }
type Album @relation(name: "album", key: ["album_id"]) @part(of: "Artist", by: "artist_id") { albumId: ID! }
type Track @relation(name: "track", key: ["track_id"]) @part(of: "Artist", by: "album_id", through: "album", key: "artist_id") { trackId: ID! }
"#;

#[tokio::test(flavor = "multi_thread")]
async fn a_schema_of_ones_own_has_a_feed_of_each_type_with_parts() {
    let database = empty_database().await;
    let client = database.connect().await;
    client
        .batch_execute(
            "CREATE TABLE artist (artist_id integer PRIMARY KEY, name text);
             CREATE TABLE album (album_id bigint PRIMARY KEY, artist_id integer);
             CREATE TABLE track (track_id integer PRIMARY KEY, album_id bigint)",
        )
        .await
        .unwrap();
    let folder = TestFolder::create("changes-music");
    let schema = folder.path().join("music.graphql");
    std::fs::write(&schema, MUSIC).unwrap();
    let run = |arguments: &[&str]| {
        command::run(command::orderql_on(&database).args(arguments).arg("--schema").arg(&schema), "")
    };
    let migrated = run(&["migrate"]);
    assert!(migrated.stdout.ends_with("3 tables given the triggers of change feeds\n"), "{migrated:?}");
    client
        .batch_execute(
            "INSERT INTO artist VALUES (1, 'a'), (2, 'b'); INSERT INTO album VALUES (10, 1), (20, 2); INSERT INTO track VALUES (100, 20)",
        )
        .await
        .unwrap();
    let marked = async |sql: &str| -> Vec<i32> {
        client.batch_execute(&format!("BEGIN; {sql}")).await.unwrap();
        let select = "SELECT DISTINCT artist_id FROM orderql.artist_change WHERE xid = pg_current_xact_id() ORDER BY 1";
        let found = client.query(select, &[]).await.unwrap().iter().map(|row| row.get(0)).collect();
        client.batch_execute("COMMIT").await.unwrap();
        found
    };
    assert_eq!(marked("UPDATE artist SET name = 'c' WHERE artist_id = 1").await, [1]);
    assert_eq!(marked("UPDATE track SET track_id = 101").await, [2]);
    assert_eq!(marked("UPDATE album SET artist_id = 1").await, [1, 2]);
    assert_eq!(marked("DELETE FROM track").await, [1]);
    let grants = run(&["migrate", "--print-grants", "reader"]).stdout;
    assert!(grants.contains("orderql.artist_change"), "{grants}");
    // A part that is declared later is marked from then on.
    std::fs::write(&schema, MUSIC.replace("type Query", "type Label @relation(name: \"label\", key: [\"label_id\"]) @part(of: \"Artist\", by: \"artist_id\") { labelId: ID! }\ntype Query")).unwrap();
    let missing = run(&["migrate"]);
    assert!(!missing.succeeded && missing.stderr.contains("needs the table label"), "{missing:?}");
    client.batch_execute("CREATE TABLE label (label_id integer PRIMARY KEY, artist_id integer)").await.unwrap();
    assert!(run(&["migrate"]).stdout.ends_with("1 tables given the triggers of change feeds\n"));
    assert_eq!(marked("INSERT INTO label VALUES (1, 2)").await, [2]);
    std::fs::write(&schema, MUSIC).unwrap();
    assert!(run(&["migrate"]).succeeded);
    assert!(marked("UPDATE label SET artist_id = 1").await.is_empty());
    let undone = run(&["migrate", "--undo", "--yes"]);
    assert!(undone.succeeded, "{undone:?}");
    let triggers = client.query("SELECT FROM pg_trigger WHERE NOT tgisinternal", &[]).await.unwrap();
    assert_eq!(triggers.len(), 0);
}
