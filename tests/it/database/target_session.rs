//! `target_session_attrs`: the server that an address with several hosts means.

use std::fmt::Write as _;
use std::time::Duration;

use serde_json::json;
use tokio::time::timeout;
use tokio_postgres::Config;
use tokio_postgres::config::Host;

use crate::database::postgres::{Postgres, assert_unavailable};
use crate::support::command::{orderql, run};
use crate::support::server::Server;

const ORDER: &str = "{ order(orderId: \"NEW\") { orderId } }";

/// Makes statements that read orders write.
const WRITING_ORDERS: &str = "
    CREATE TABLE written (id int);
    CREATE FUNCTION write() RETURNS bool LANGUAGE plpgsql AS $$ BEGIN INSERT INTO written VALUES (1); RETURN TRUE; END $$;
    ALTER TABLE order_header RENAME TO real_order_header;
    CREATE VIEW order_header AS SELECT * FROM real_order_header WHERE write()";

/// Waits until a standby has an order of the primary, and has it receive no further changes.
async fn pause_after(standby: &Postgres, order_id: &str) {
    let client = standby.connect().await;
    let select = "SELECT count(*) FROM order_header WHERE order_id = $1";
    while client.query_one(select, &[&order_id]).await.unwrap().get::<_, i64>(0) == 0 {}
    client.batch_execute("SELECT pg_wal_replay_pause()").await.unwrap();
    // The pause begins after the record that is being replayed.
    let select = "SELECT pg_get_wal_replay_pause_state()";
    while client.query_one(select, &[]).await.unwrap().get::<_, &str>(0) != "paused" {}
}

/// The address of several servers. Servers on Unix sockets differ in the folder alone.
fn address(servers: &[&Config], target: &str) -> String {
    let mut hosts = String::from("/nowhere");
    for config in servers {
        let [Host::Unix(folder)] = config.get_hosts() else { panic!("tests use a Unix socket") };
        let _ = write!(hosts, ",{}", folder.display());
    }
    let port = servers[0].get_ports()[0];
    format!("host={hosts} port={port} user=postgres dbname=orders target_session_attrs={target}")
}

#[tokio::test(flavor = "multi_thread")]
async fn finds_the_primary_or_the_standby_among_several_hosts() {
    let postgres = Postgres::start("primary").await;
    postgres.stop();
    let standby = Postgres::standby_of(&[&postgres], "target", &[]);
    postgres.restart();
    let insert = async |order| {
        let insert = "INSERT INTO order_header (order_id) VALUES ($1)";
        postgres.connect().await.execute(insert, &[&order]).await.unwrap();
    };
    insert("STREAMED").await;
    let paused = timeout(Duration::from_mins(1), pause_after(&standby, "STREAMED")).await;
    paused.expect("the standby receives the order");
    // The standby does not receive this order any more.
    insert("NEW").await;
    let (primary, standby) = (postgres.config(), standby.config());

    for target in ["read-write", "primary"] {
        let server = Server::start_on(&address(&[&standby, &primary], target), &[]);
        let token = server.token("demo");
        assert_eq!(server.query(&token, ORDER).json()["data"], json!({ "order": { "orderId": "NEW" } }), "{target}");
        assert_eq!(server.get("/health/ready").status, 200);
        let log = server.stop();
        assert!(!log.contains("the service is unavailable"), "{log}");
    }

    // Queries cannot write to the primary all the same.
    let server = Server::start_on(&address(&[&primary], "read-write"), &[]);
    let token = server.token("demo");
    postgres.connect().await.batch_execute(WRITING_ORDERS).await.unwrap();
    assert_unavailable(&server.query(&token, ORDER));
    let log = server.stop();
    assert!(log.contains("cannot execute INSERT in a read-only transaction"), "{log}");

    // The primary has another table than the standby.
    postgres.connect().await.batch_execute("ALTER TABLE order_adjustment RENAME TO other_adjustment").await.unwrap();
    let check = |servers: &[&Config], target: &str| {
        run(orderql().args(["schema", "check", "--database-url", &address(servers, target)]), "")
    };
    for (target, is_standby) in
        [("standby", true), ("read-only", true), ("prefer-standby", true), ("any", false), ("primary", false)]
    {
        let checked = check(&[&primary, &standby], target);
        assert_eq!(checked.succeeded, is_standby, "{target}: {}", checked.stderr);
    }

    // A primary can be read-only, too.
    let unfit = "does not fit the schema";
    let read_only = "ALTER DATABASE orders SET default_transaction_read_only = on";
    for (statement, expected) in [
        ("SELECT", [("read-write", unfit), ("read-only", "the server is not read-only")]),
        (read_only, [("read-write", "the server is read-only"), ("read-only", unfit)]),
    ] {
        postgres.connect().await.batch_execute(statement).await.unwrap();
        let always = [("primary", unfit), ("standby", "the server is not a standby"), ("prefer-standby", unfit)];
        for (target, expected) in expected.into_iter().chain(always) {
            let stderr = check(&[&primary], target).stderr;
            assert!(stderr.contains(expected), "{statement}, {target}: {stderr}");
        }
    }
}
