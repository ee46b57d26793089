//! Outages of PostgreSQL: clients get an error meanwhile, and the server recovers by itself.

use std::sync::Arc;

use orderql::access::profile::Profile;
use orderql::database::connection::connect::connect;
use serde_json::json;

use crate::database::postgres::{
    ORDER, Postgres, assert_all_unavailable, assert_unavailable, send, send_queries, serve, stop, wait_for_recovery,
};
use crate::support::http::{GRAPHQL_JSON, JSON, Response};
use crate::support::server::{Server, wait_until};
use crate::support::users::create_users;

#[tokio::test(flavor = "multi_thread")]
async fn reports_an_outage_and_recovers_after_it() {
    let postgres = Postgres::start("away").await;
    let (server, token) = serve(&postgres, &["--pool-size", "4"]);
    // Opens every connection of the pool.
    let mut client = postgres.connect().await;
    let lock = client.transaction().await.unwrap();
    lock.batch_execute("LOCK TABLE order_header").await.unwrap();
    let queries = send_queries(&server, &token, 4);
    postgres.wait_for_lock_waits(4).await;
    lock.rollback().await.unwrap();
    let least = queries.join_all().await.iter().map(Response::available).min();
    assert_eq!(least, Some(1000 - 4 * 4));

    for outage in 1..=2 {
        postgres.kill().await;
        // More queries than connections.
        for response in send_queries(&server, &token, 12).join_all().await {
            assert_unavailable(&response);
        }
        let newer = server.post(&token, GRAPHQL_JSON, json!({ "query": ORDER }).to_string());
        assert_eq!((newer.status, newer.code().as_str()), (503, "SERVICE_UNAVAILABLE"));
        assert_eq!(newer.json().get("data"), None);

        // Requests that need no database still succeed.
        for (query, code) in [
            ("{ orders { edges { cursor } } }", "FIRST_REQUIRED"),
            (
                "{ orders(first: 100) { edges { node { orderItems(first: 10) { edges { cursor } } } } } }",
                "COST_EXCEEDED",
            ),
            ("{ order(", "GRAPHQL_PARSE_FAILED"),
            ("{ nothing }", "GRAPHQL_VALIDATION_FAILED"),
        ] {
            assert_eq!(server.query(&token, query).code(), code);
        }
        assert_eq!(server.query(&token, "{ __typename }").json()["data"], json!({"__typename": "Query"}));
        assert_eq!(server.post("a.b.c", JSON, "{}").status, 401);
        assert_eq!(server.sign_in("/auth/token", "demo", "demo").status, 200);
        assert_eq!(server.sign_in("/auth/token", "demo", "wrong").status, 401);
        assert_eq!(server.get("/rest/s1/graphql/sdl").status, 200);
        assert_eq!(server.get("/health/live").status, 200);
        wait_until(|| server.get("/health/ready").status != 200);
        assert_eq!(server.get("/health/ready").status, 503);

        postgres.restart();
        // Only executed queries are debited.
        assert_eq!(wait_for_recovery(&server, &token).available(), 1000 - 4 * (4 + outage));
        wait_until(|| server.get("/health/ready").status != 503);
        // The server receives notifications of grants again.
        let name = format!("after{outage}");
        create_users(&mut postgres.connect().await, &[(&name, Profile::DEFAULT)]).await;
        wait_until(|| server.sign_in("/auth/token", &name, &name).status != 401);
    }
    stop(server);
}

#[tokio::test(flavor = "multi_thread")]
async fn running_queries_fail_at_once_when_postgresql_stops() {
    let postgres = Postgres::start("flight").await;
    let (server, token) = serve(&postgres, &["--pool-size", "6", "--pool-wait", "1h"]);
    let mut client = postgres.connect().await;
    let lock = client.transaction().await.unwrap();
    lock.batch_execute("LOCK TABLE order_header").await.unwrap();
    // Six queries run, and four wait for a connection.
    let queries = send_queries(&server, &token, 10);
    postgres.wait_for_lock_waits(6).await;
    postgres.kill().await;
    let server = assert_all_unavailable(&queries.join_all().await, server);
    postgres.restart();
    assert_eq!(wait_for_recovery(&server, &token).available(), 996, "unanswered queries are not debited");
    stop(server);
}

#[tokio::test(flavor = "multi_thread")]
async fn recovers_from_a_crash_of_a_postgresql_process() {
    let postgres = Postgres::start("crash").await;
    let (mut server, token) = serve(&postgres, &[]);
    for _ in 0..3 {
        wait_for_recovery(&server, &token);
        let mut client = loop {
            // PostgreSQL may still be recovering.
            if let Ok(client) = connect(&postgres.config()).await {
                break client;
            }
        };
        let lock = client.transaction().await.unwrap();
        lock.batch_execute("LOCK TABLE order_header").await.unwrap();
        let queries = send_queries(&server, &token, 3);
        postgres.wait_for_lock_waits(3).await;
        // PostgreSQL ends all its processes if one of them is killed.
        let victim: i32 = lock.query_one("SELECT pg_backend_pid()", &[]).await.unwrap().get(0);
        send("-KILL", &victim.to_string());
        server = assert_all_unavailable(&queries.join_all().await, server);
    }
    wait_for_recovery(&server, &token);
    stop(server);
}

#[tokio::test(flavor = "multi_thread")]
async fn does_not_wait_for_a_postgresql_that_does_not_answer() {
    let postgres = Postgres::start("stopped").await;
    let (server, token) = serve(&postgres, &["--pool-size", "1"]);
    // The socket still accepts connections.
    postgres.signal("-STOP");
    for response in send_queries(&server, &token, 4).join_all().await {
        assert_unavailable(&response);
    }
    postgres.signal("-CONT");
    assert_eq!(wait_for_recovery(&server, &token).available(), 996);
    stop(server);
}

#[tokio::test(flavor = "multi_thread")]
async fn replaces_idle_connections_that_postgresql_closes() {
    let postgres = Postgres::start("idle").await;
    let client = postgres.connect().await;
    let (mut server, token) = serve(&postgres, &["--bucket-size", "1000000", "--pool-size", "2"]);
    // Applies to all connections of the pool, because it has none yet. The time is so short that PostgreSQL also closes
    // connections between two statements of a request.
    client.batch_execute("ALTER DATABASE orders SET idle_session_timeout = 1").await.unwrap();
    for _ in 0..20 {
        let (failed, succeeded): (Vec<_>, Vec<_>) = send_queries(&server, &token, 10)
            .join_all()
            .await
            .into_iter()
            .partition(|response| response.json().get("errors").is_some());
        server = assert_all_unavailable(&failed, server);
        assert!(succeeded.iter().all(|response| response.json()["data"] == json!({"order": null})));
    }
    client.batch_execute("ALTER DATABASE orders RESET idle_session_timeout").await.unwrap();
    wait_for_recovery(&server, &token);
    stop(server);
}

#[tokio::test(flavor = "multi_thread")]
async fn is_not_ready_while_postgresql_is_frozen() {
    let postgres = Postgres::start("frozen").await;
    let flags = ["--pool-size", "2", "--deadline", "1s", "--restore-rate", "0"];
    let server = Arc::new(Server::start_with_config(&postgres.config(), &flags));
    let token = server.token("demo");
    assert_eq!(server.query(&token, ORDER).available(), 996);
    // Its sockets stay open, and no process answers.
    postgres.signal_all("-STOP");
    wait_until(|| server.get("/health/ready").status != 200);
    assert_eq!(server.get("/health/live").status, 200);
    // More queries than connections: some reach a frozen connection, and others wait for one.
    for response in send_queries(&server, &token, 4).join_all().await {
        assert_unavailable(&response);
    }
    postgres.signal_all("-CONT");
    assert_eq!(wait_for_recovery(&server, &token).available(), 992, "only executed queries are debited");
    wait_until(|| server.get("/health/ready").status != 503);
    stop(server);
}
