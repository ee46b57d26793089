//! What PostgreSQL refuses for reasons of its own: clients are told to retry, or that their query took too long, and never that
//! the service failed.

use std::os::unix::fs::{MetadataExt, chown};
use std::path::Path;
use std::process::Command;
use std::{env, fs};

use orderql::access::profile::Profile;
use orderql::database::connection::connect::connect;
use serde_json::json;
use tokio_postgres::Client;

use crate::database::faults::updates::{ORDERS, audited, box_form, mark};
use crate::database::postgres::{ORDER, Postgres, assert_unavailable, send_queries, serve, stop, wait_for_recovery};
use crate::support::database::migrated_database;
use crate::support::http::{GRAPHQL_JSON, Response, bearer};
use crate::support::server::{Server, server_with_demo_user};
use crate::support::store::{URLENCODED, update_request};
use crate::support::test_folder::TestFolder;
use crate::support::users::create_users;

/// Makes every statement on orders fail with the SQLSTATE in the table `refusal`, or only the first: it leaves a lock, which no
/// rollback releases.
const REFUSING_ORDERS: &str = "
    CREATE TABLE refusal (code text, once bool);
    CREATE FUNCTION refuse() RETURNS bool LANGUAGE plpgsql STABLE AS $$
    DECLARE found refusal;
    BEGIN
        SELECT * INTO found FROM refusal;
        IF found.once AND EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND objid = 40001) THEN
            RETURN TRUE;
        END IF;
        IF found.code IS NOT NULL THEN
            PERFORM pg_try_advisory_lock(40001) WHERE found.once;
            RAISE EXCEPTION 'refused with %', found.code USING ERRCODE = found.code;
        END IF;
        RETURN TRUE;
    END $$;
    ALTER TABLE order_header RENAME TO accepted_order_header;
    CREATE VIEW order_header AS SELECT * FROM accepted_order_header WHERE refuse()";

async fn refuse(client: &Client, code: &str, once: bool) {
    client.batch_execute("DELETE FROM refusal").await.unwrap();
    client.execute("INSERT INTO refusal VALUES ($1, $2)", &[&code, &once]).await.unwrap();
}

fn update_order(server: &Server, token: &str) -> Response {
    let form = "facilityId=NONE&box_shipmentId_1=NONE&box_shipmentBoxTypeId_1=NONE&1_box_rowSubmit=1";
    let headers = [&bearer(token), "Content-Type: application/x-www-form-urlencoded"];
    server.request("POST /api/updateOrder", &headers, form)
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_by_what_postgresql_refuses() {
    let database = migrated_database().await;
    let mut client = database.connect().await;
    create_users(&mut client, &[("demo", Profile::DEFAULT)]).await;
    let server = Server::start(&database, &["--pool-size", "1", "--restore-rate", "0"]);
    let token = server.token("demo");
    // An empty table would not call the function.
    client.batch_execute("INSERT INTO order_header (order_id) VALUES ('NONE')").await.unwrap();
    client.batch_execute(REFUSING_ORDERS).await.unwrap();
    assert_eq!(server.query(&token, ORDER).available(), 996);

    // No space, no memory, no connections, a configured limit; an I/O error; read-only; shutting down, crashed, starting up;
    // a lock that was not free; two kinds of conflict, which occur again at the second attempt; the server of a foreign table that
    // is away.
    let temporary = [
        "53100", "53200", "53300", "53400", "58030", "25006", "57P01", "57P02", "57P03", "55P03", "40001", "40P01",
        "08001", "HV00N",
    ];
    for code in temporary {
        refuse(&client, code, false).await;
        assert_unavailable(&server.query(&token, ORDER));
        let newer = server.query_as(GRAPHQL_JSON, &token, ORDER);
        assert_eq!((newer.status, newer.header("retry-after")), (503, Some("1")), "{code}: {newer:?}");
    }

    // A conflict that does not occur again.
    client.batch_execute("DELETE FROM refusal").await.unwrap();
    assert_eq!(server.query(&token, ORDER).available(), 992);
    refuse(&client, "40001", true).await;
    assert_eq!(server.query(&token, ORDER).available(), 988);

    // The query took too long.
    refuse(&client, "57014", false).await;
    let response = server.query_as(GRAPHQL_JSON, &token, ORDER);
    assert_eq!((response.status, response.code().as_str()), (504, "DEADLINE_EXCEEDED"), "{response:?}");
    assert_eq!(response.available(), 984, "it is paid");

    let log = server.stop();
    let causes: Vec<_> = log.lines().filter(|line| line.contains("the service is unavailable")).collect();
    for code in temporary {
        assert!(causes.iter().any(|line| line.contains(&format!("refused with {code}"))), "{code}: {log}");
    }
    assert!(!log.contains("internal error"), "{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_statement_timeout_of_the_database_is_a_deadline() {
    let database = migrated_database().await;
    let mut client = database.connect().await;
    create_users(&mut client, &[("demo", Profile::DEFAULT)]).await;
    let mut config = database.config();
    config.options("-c statement_timeout=1s");
    let server = Server::start_with_config(&config, &["--restore-rate", "0"]);
    let token = server.token("demo");
    let lock = client.transaction().await.unwrap();
    lock.batch_execute("LOCK TABLE order_header").await.unwrap();
    let response = server.query_as(GRAPHQL_JSON, &token, ORDER);
    assert_eq!((response.status, response.code().as_str()), (504, "DEADLINE_EXCEEDED"), "{response:?}");
    lock.rollback().await.unwrap();
    assert_eq!(server.query(&token, ORDER).available(), 992);
}

#[tokio::test(flavor = "multi_thread")]
async fn waits_for_free_connections_of_a_full_database() {
    let postgres =
        Postgres::start_with("full", &[("max_connections", "12"), ("superuser_reserved_connections", "0")]).await;
    let (server, token) = serve(&postgres, &["--pool-size", "4"]);
    let mut others = Vec::new();
    let refused = loop {
        match connect(&postgres.config()).await {
            Ok(client) => others.push(client),
            Err(error) => break error,
        }
    };
    assert_eq!(refused.code().unwrap().code(), "53300");
    for response in send_queries(&server, &token, 6).join_all().await {
        assert_unavailable(&response);
    }
    let update = update_order(&server, &token);
    assert_eq!((update.status, update.header("retry-after")), (503, Some("1")), "{update:?}");
    drop(others);
    assert_eq!(wait_for_recovery(&server, &token).available(), 996);
    stop(server);
}

/// A file system of a few MiB in memory. Dropping it unmounts it.
pub struct SmallDisk(TestFolder);

impl SmallDisk {
    /// Mounts it for the owner of a folder; `None` where tests may not mount.
    fn mount(owner_of: &Path) -> Option<Self> {
        let folder = TestFolder::create("small-disk");
        let mount = Command::new("mount").args(["-t", "tmpfs", "-o", "size=4m", "tmpfs"]).arg(folder.path()).output();
        if !mount.is_ok_and(|mount| mount.status.success()) {
            return None;
        }
        let owner = fs::metadata(owner_of).unwrap();
        chown(folder.path(), Some(owner.uid()), Some(owner.gid())).unwrap();
        Some(Self(folder))
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0.path()).status();
    }
}

/// Fills the disk of the table that updates are recorded in. `None` where tests may not mount. Dropping the table `filler` makes space.
pub async fn full_disk(postgres: &Postgres) -> Option<(SmallDisk, Client)> {
    let Some(disk) = SmallDisk::mount(&postgres.folder.path().join("data")) else {
        eprintln!("skipped: {} cannot mount a file system", env::var("USER").unwrap_or_default());
        return None;
    };
    let client = postgres.connect().await;
    client.batch_execute(ORDERS).await.unwrap();
    let folder = disk.0.path().display();
    client.batch_execute(&format!("CREATE TABLESPACE small LOCATION '{folder}'")).await.unwrap();
    client.batch_execute("ALTER TABLE orderql.order_update SET TABLESPACE small").await.unwrap();
    client.batch_execute("CREATE TABLE filler (text text) TABLESPACE small").await.unwrap();
    client.batch_execute("SET synchronous_commit = off").await.unwrap();
    let full = loop {
        if let Err(error) = client.batch_execute("INSERT INTO filler VALUES (repeat('x', 1900))").await {
            break error;
        }
    };
    assert_eq!(full.code().unwrap().code(), "53100");
    Some((disk, client))
}

/// Sends an update that sets the box of the shipment of this name.
pub fn update_box(server: &Server, token: &str, name: &str) -> Response {
    server.send(update_request(token, &[URLENCODED], &box_form(name, 1)))
}

#[tokio::test(flavor = "multi_thread")]
async fn an_update_on_a_full_disk_is_not_applied_and_succeeds_when_there_is_space() {
    let postgres = Postgres::start("disk").await;
    let Some((disk, client)) = full_disk(&postgres).await else { return };
    let (server, token) = serve(&postgres, &["--writer-pool-size", "1"]);
    let update = |name| update_box(&server, &token, name);
    for _ in 0..2 {
        let update = update("full");
        assert_eq!((update.status, update.header("retry-after")), (503, Some("1")), "{update:?}");
    }
    assert_eq!(server.query(&token, ORDER).json()["data"], json!({ "order": null }), "reading needs no space");
    client.batch_execute("DROP TABLE filler").await.unwrap();
    assert_eq!(update("later").status, 200);
    assert_eq!(audited(&client).await, ["later"].map(mark));
    stop(server);
    drop((client, postgres, disk));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_update_whose_table_was_changed_is_not_applied_and_succeeds_when_it_is_back() {
    let (server, database, token) = server_with_demo_user(Profile::DEFAULT, &["--writer-pool-size", "1"]).await;
    let client = database.connect().await;
    client.batch_execute(ORDERS).await.unwrap();
    assert_eq!(update_box(&server, &token, "before").status, 200);
    for (ddl, undo) in [
        (
            "ALTER TABLE shipment_package RENAME shipment_box_type_id TO box_type_id",
            "ALTER TABLE shipment_package RENAME box_type_id TO shipment_box_type_id",
        ),
        ("ALTER TABLE shipment_package RENAME TO aside", "ALTER TABLE aside RENAME TO shipment_package"),
    ] {
        client.batch_execute(ddl).await.unwrap();
        let update = update_box(&server, &token, "during");
        assert!(update.status == 503 && update.body.contains("tables of the database were changed"), "{update:?}");
        client.batch_execute(undo).await.unwrap();
        assert_eq!(audited(&client).await, ["before"].map(mark));
    }
    assert_eq!(update_box(&server, &token, "after").status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn reads_a_database_that_is_read_only_and_updates_it_later() {
    let (server, database, token) = server_with_demo_user(Profile::DEFAULT, &["--writer-pool-size", "1"]).await;
    let client = database.connect().await;
    let name: String = client.query_one("SELECT current_database()::text", &[]).await.unwrap().get(0);
    client.batch_execute(&format!("ALTER DATABASE \"{name}\" SET default_transaction_read_only = on")).await.unwrap();
    assert_eq!(server.query(&token, ORDER).json()["data"], json!({ "order": null }));
    for _ in 0..2 {
        let update = update_order(&server, &token);
        assert_eq!((update.status, update.header("retry-after")), (503, Some("1")), "{update:?}");
    }
    client.batch_execute("SET default_transaction_read_only = off").await.unwrap();
    client.batch_execute(&format!("ALTER DATABASE \"{name}\" RESET default_transaction_read_only")).await.unwrap();
    // The writing connection that was read-only is not used again.
    let update = update_order(&server, &token);
    assert!(update.status != 503, "{update:?}");
    let log = server.stop();
    assert!(log.contains("the service is unavailable") && log.contains("read-only transaction"), "{log}");
}
