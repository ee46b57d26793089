//! What becomes of readers after a crash, a promotion, and a restore.

use orderql::access::profile::Profile;
use serde_json::{Value, json};
use tokio_postgres::Client;

use crate::database::change_feed::reader::{Reader, all};
use crate::database::migrate_options::dump_and_restore;
use crate::database::postgres::Postgres;
use crate::support::command;
use crate::support::database::{empty_database, migrated_database};
use crate::support::http::JSON;
use crate::support::server::{Server, connection_string};
use crate::support::test_folder::TestFolder;
use crate::support::users::create_users;

const TICK: &str = "SELECT orderql.sync_write_tick()";

async fn epoch(client: &Client) -> (i64, i32) {
    let row = client.query_one("SELECT epoch, timeline FROM orderql.sync_epoch()", &[]).await.unwrap();
    (row.get(0), row.get(1))
}

/// Waits until the write-ahead log is on the disk up to a position. A token leaves no sooner.
async fn wait_for_flush(client: &Client, position: &str) {
    let is_flushed = "SELECT pg_current_wal_flush_lsn() >= $1::text::pg_lsn";
    while !client.query_one(is_flushed, &[&position]).await.unwrap().get::<_, bool>(0) {}
}

async fn add_order(client: &Client, number: usize) {
    let insert = format!(
        "INSERT INTO order_header (order_id, grand_total) VALUES ('O{}', 1)
         ON CONFLICT (order_id) DO UPDATE SET grand_total = order_header.grand_total + 1",
        number % 7
    );
    client.batch_execute(&insert).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crash_that_loses_commits_loses_none_that_a_reader_has_seen() {
    let postgres =
        Postgres::start_with("changes-crash", &[("synchronous_commit", "off"), ("wal_writer_delay", "1s")]).await;
    let mut client = postgres.connect().await;
    let mut reader = Reader::start(&client, 2).await;
    for round in 0..4 {
        for number in 0..5 {
            add_order(&client, round + number).await;
        }
        let end = reader.read(&client).await;
        wait_for_flush(&client, &end).await;
        // These may be lost, and their ids given out again.
        for number in 0..3 {
            add_order(&client, round + number).await;
        }
        drop(client);
        postgres.kill().await;
        postgres.restart();
        client = postgres.connect().await;
        assert!(!client.query_one("SELECT orderql.sync_ids_are_ahead()", &[]).await.unwrap().get::<_, bool>(0));
    }
    reader.read(&client).await;
    assert_eq!(reader.copy, all(&client).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_promoted_standby_knows_its_timeline_and_what_was_lost() {
    let primary = Postgres::start_with("changes-primary", &[("fsync", "off")]).await;
    primary.stop();
    let standby = Postgres::standby_of(&[&primary], "changes-standby", &[]);
    primary.restart();
    let client = primary.connect().await;
    let (before, timeline) = epoch(&client).await;
    assert_eq!(timeline, 1);
    for number in 0..5 {
        add_order(&client, number).await;
    }
    client.batch_execute(TICK).await.unwrap();
    let mut reader = Reader::start(&client, 3).await;
    let promoted = standby.connect().await;
    let end: String = client.query_one("SELECT pg_current_wal_flush_lsn()::text", &[]).await.unwrap().get(0);
    let is_there = "SELECT pg_last_wal_replay_lsn() >= $1::text::pg_lsn";
    while !promoted.query_one(is_there, &[&end]).await.unwrap().get::<_, bool>(0) {}
    assert_eq!(epoch(&promoted).await, (before, 1));

    // The standby receives no more, and a reader sees commits that it will not have.
    promoted.batch_execute("ALTER SYSTEM SET primary_conninfo = ''").await.unwrap();
    promoted.batch_execute("SELECT pg_reload_conf()").await.unwrap();
    let receives = "SELECT EXISTS (SELECT FROM pg_stat_wal_receiver)";
    while promoted.query_one(receives, &[]).await.unwrap().get::<_, bool>(0) {}
    for number in 0..9 {
        add_order(&client, number).await;
    }
    reader.read(&client).await;
    assert_eq!(reader.copy, all(&client).await);
    drop(client);
    primary.kill().await;
    promoted.batch_execute("SELECT pg_promote()").await.unwrap();
    assert_eq!(epoch(&promoted).await, (before, 2), "no checkpoint is waited for");

    // Other transactions get the ids of the lost ones.
    add_order(&promoted, 3).await;
    let newest = "SELECT snapshot::text FROM orderql.sync_tick WHERE timeline = 1 ORDER BY tick_id DESC LIMIT 1";
    let tick: String = promoted.query_one(newest, &[]).await.unwrap().get(0);
    let is_beyond = "SELECT pg_snapshot_xmax($1::text::pg_snapshot) > pg_snapshot_xmax($2::text::pg_snapshot)";
    assert!(promoted.query_one(is_beyond, &[&reader.since, &tick]).await.unwrap().get::<_, bool>(0));
    // The reader goes back to the tick, and reads what it got since once more.
    reader.since = tick;
    reader.read(&promoted).await;
    let expected = all(&promoted).await;
    let lost: Vec<_> = reader.copy.keys().filter(|order| expected.get(*order) != reader.copy.get(*order)).collect();
    assert!(!lost.contains(&&"O3".to_owned()), "{lost:?}");
    assert!(!lost.is_empty(), "what it got since is to be read once more");
    promoted.batch_execute(TICK).await.unwrap();
    let timelines = "SELECT string_agg(timeline::text, ' ' ORDER BY tick_id) FROM orderql.sync_tick";
    assert_eq!(promoted.query_one(timelines, &[]).await.unwrap().get::<_, String>(0), "1 2");
}

#[tokio::test(flavor = "multi_thread")]
async fn marks_of_another_cluster_keep_a_server_from_starting_until_they_are_reset() {
    let database = migrated_database().await;
    let client = database.connect().await;
    let before = epoch(&client).await;
    let run = |arguments: &[&str]| command::run(command::orderql_on(&database).args(arguments), "");
    client.batch_execute("INSERT INTO orderql.order_change_direct VALUES ('99999999999', 'X')").await.unwrap();
    let folder = TestFolder::create("changes-restored");
    let keys = folder.path().join("keys");
    let refused = run(&["serve", "--listen", "127.0.0.1:0", "--key-folder", keys.to_str().unwrap()]);
    assert!(!refused.succeeded && refused.stderr.contains("orderql sync reset"), "{}", refused.stderr);
    let adopted = run(&["sync", "adopt"]);
    assert!(!adopted.succeeded && adopted.stderr.contains("orderql sync reset"), "{}", adopted.stderr);
    let doctor = run(&["doctor", "--listen", "127.0.0.1:0"]);
    assert!(doctor.stdout.contains("FAILED   changes"), "{}", doctor.stdout);
    assert!(!run(&["sync", "reset"]).succeeded);
    assert_eq!(epoch(&client).await, before);
    let reset = run(&["sync", "reset", "--yes"]);
    assert!(reset.succeeded, "{}", reset.stderr);
    assert_ne!(epoch(&client).await, before);
    assert_eq!(client.query("SELECT FROM orderql.order_change", &[]).await.unwrap().len(), 0);
    assert!(run(&["doctor", "--listen", "127.0.0.1:0"]).stdout.contains("ok       changes"));
}

#[tokio::test(flavor = "multi_thread")]
async fn tokens_of_before_a_dump_are_invalid_where_it_is_restored() {
    let (database, other) = (migrated_database().await, empty_database().await);
    let mut client = database.connect().await;
    create_users(&mut client, &[("demo", Profile::DEFAULT)]).await;
    let ask = |server: &Server, after: Option<&str>| -> Value {
        let query = "query($after: String) { orderChanges(first: 5, after: $after) { edges { node { orderId } } pageInfo { endCursor } } }";
        let body = json!({ "query": query, "variables": { "after": after } }).to_string();
        server.post(&server.token("demo"), JSON, body).json()
    };
    let end = |response: &Value| response["data"]["orderChanges"]["pageInfo"]["endCursor"].as_str().unwrap().to_owned();
    let is_invalid = |response: &Value| {
        let extensions = &response["errors"][0]["extensions"];
        assert_eq!((&extensions["code"], &extensions["reason"]), (&json!("SYNC_TOKEN_INVALID"), &json!("epoch")));
    };
    let before = end(&ask(&Server::start(&database, &[]), None));
    client.batch_execute("INSERT INTO order_header (order_id) VALUES ('X1')").await.unwrap();
    let version = client.query_one("SELECT current_setting('server_version_num')::int", &[]).await.unwrap().get(0);
    let [from, to] = [&database, &other].map(|database| connection_string(&database.config()));
    if dump_and_restore(version, &from, &to).is_none() {
        return;
    }
    let server = Server::start(&other, &[]);
    is_invalid(&ask(&server, Some(&before)));
    let token = end(&ask(&server, None));
    let restored = other.connect().await;
    restored.batch_execute("UPDATE order_header SET order_name = 'x' WHERE order_id = 'X1'").await.unwrap();
    let changes = ask(&server, Some(&token));
    assert_eq!(changes["data"]["orderChanges"]["edges"], json!([{ "node": { "orderId": "X1" } }]), "{changes}");
    // After a reset clients begin anew once more, and where the dump was made nothing changed.
    let reset = command::run(command::orderql_on(&other).args(["sync", "reset", "--yes"]), "");
    assert!(reset.succeeded, "{}", reset.stderr);
    is_invalid(&ask(&server, Some(&token)));
    assert_eq!(ask(&server, Some(&end(&ask(&server, None))))["data"]["orderChanges"]["edges"], json!([]));
    let changes = ask(&Server::start(&database, &[]), Some(&before));
    assert_eq!(changes["data"]["orderChanges"]["edges"], json!([{ "node": { "orderId": "X1" } }]), "{changes}");
}

#[tokio::test]
async fn a_copy_of_a_database_is_in_another_epoch_and_an_upgraded_one_goes_on() {
    let database = migrated_database().await;
    let other = migrated_database().await;
    let (client, copy) = (database.connect().await, other.connect().await);
    // As a migration finds it. The test's database was copied from one where the feeds were made.
    client
        .batch_execute("UPDATE orderql.sync_state SET home = orderql.sync_here(), origin = orderql.sync_here()")
        .await
        .unwrap();
    let (before, timeline) = epoch(&client).await;
    assert_ne!(epoch(&copy).await.0, before, "both were copied from one database");
    let run = |arguments: &[&str]| command::run(command::orderql_on(&database).args(arguments), "");
    // Without a tick nobody knows how far clients were. pg_upgrade changes where the database is, and keeps its epoch's name.
    let upgrade = "UPDATE orderql.sync_state SET origin = home, home = 'elsewhere'";
    client.batch_execute(upgrade).await.unwrap();
    let adopted = run(&["sync", "adopt"]);
    assert!(!adopted.succeeded && adopted.stderr.contains("no tick of before"), "{}", adopted.stderr);
    client.batch_execute("UPDATE orderql.sync_state SET home = orderql.sync_here()").await.unwrap();
    client.batch_execute(TICK).await.unwrap();
    client.batch_execute(upgrade.split(" origin = home,").collect::<String>().as_str()).await.unwrap();
    // A server that runs before the command writes ticks of an epoch that the database has here.
    client.batch_execute(TICK).await.unwrap();
    let said = run(&["sync", "adopt"]);
    assert!(
        said.succeeded && said.stdout.contains("goes on from its newest tick, of 2"),
        "{}{}",
        said.stdout,
        said.stderr
    );
    assert!(said.stdout.contains("it wrote 1 ticks of another epoch, from 2"), "{}", said.stdout);
    let (adopted, later) = epoch(&client).await;
    assert_eq!((adopted, later), (before, timeline + 1));
    assert!(run(&["sync", "adopt"]).stdout.starts_with("Nothing to adopt"));
    assert_eq!(epoch(&client).await, (adopted, later));
}
