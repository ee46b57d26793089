//! A primary that is away: reads go on, order updates get 503 until a standby is promoted, and accounts are followed on replicas.

use std::sync::Arc;

use tokio_postgres::Client;

use crate::database::replicas::servers::{CALLERS, Servers, Service};
use crate::support::http::GRAPHQL_JSON;
use crate::support::server::wait_until;

/// How many successful logins the audit trail has.
async fn logins(client: &Client) -> i64 {
    let select = "SELECT count(*) FROM orderql.audit_event WHERE action = 'login.succeeded'";
    client.query_one(select, &[]).await.unwrap().get(0)
}

/// The status of a query of each caller.
fn statuses(service: &Service) -> [u16; CALLERS.len()] {
    std::array::from_fn(|caller| {
        service.query_as(GRAPHQL_JSON, caller, "{ order(orderId: \"O1\") { orderId } }", &[]).status
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn reads_go_on_without_a_primary_and_updates_resume_with_another() {
    let servers = Servers::start("failover", [&[], &[]]).await;
    let [first, _] = &servers.standbys;
    let primary = Servers::primary_address(&[&servers.primary, first]);
    let service = Service::start(&primary, &servers.replica_addresses(), &[]);
    // A server of this program that reaches no primary, from its start on.
    let cut_off = service.start_another("host=/nowhere user=postgres dbname=orders", &servers.replica_addresses(), &[]);
    service.wait_for_replicas(2);
    cut_off.wait_for_replicas(2);
    assert_eq!(service.set_box(0, "O0S0", "BOPISPACKNG").status, 200);
    assert_eq!(cut_off.set_box(1, "O1S0", "BOPISPACKNG").status, 503);
    assert_eq!(cut_off.server.get("/health/ready").status, 200);

    // A user who is disabled on the primary is known by the replicas.
    let client = servers.primary.connect().await;
    client.batch_execute("UPDATE orderql.user_account SET disabled = true WHERE user_id = 'fay'").await.unwrap();
    for service in [&service, &cut_off] {
        wait_until(|| statuses(service) == [200, 200, 200, 200, 200, 401]);
    }
    client.batch_execute("UPDATE orderql.user_account SET disabled = false WHERE user_id = 'fay'").await.unwrap();
    for service in [&service, &cut_off] {
        wait_until(|| statuses(service) == [200; 6]);
    }
    wait_until(|| tokio::task::block_in_place(|| tokio::runtime::Handle::current().block_on(logins(&client))) == 6);
    drop(client);

    // A primary that freezes is not waited for. Nobody has got that far.
    let query = "{ order(orderId: \"O1\") { orderId } }";
    servers.primary.signal_all("-STOP");
    let response = service.query(1, query, &["Orderql-After: FFFFFFFF/0"]);
    assert_eq!(response.code(), "SERVICE_UNAVAILABLE", "{response:?}");
    assert_eq!(statuses(&service), [200; 6]);
    servers.primary.signal_all("-CONT");
    wait_until(|| service.parts()["database"]["status"] == "ok");

    servers.primary.kill().await;
    wait_until(|| service.parts()["database"]["status"] == "degraded");
    service.wait_for_replicas(2);
    assert_eq!(statuses(&service), [200; 6]);
    assert_eq!(service.box_type(0, "O0S0", &[]), "BOPISPACKNG");
    assert_eq!(service.set_box(0, "O0S0", "YOURPACKNG").status, 503);
    assert_eq!(service.server.get("/health/ready").status, 200);
    // A server that starts now reads, too, and knows the accounts. Its audit trail waits.
    let started = service.start_another(&primary, &servers.replica_addresses(), &[]);
    started.server.token("eve");
    started.wait_for_replicas(2);
    assert_eq!(statuses(&started), [200; 6]);
    assert_eq!(started.set_box(0, "O0S0", "YOURPACKNG").status, 503);

    // The other standby follows the new primary.
    first.connect().await.batch_execute("SELECT pg_promote()").await.unwrap();
    for service in [&service, &started] {
        wait_until(|| service.set_box(0, "O0S0", "YOURPACKNG").status == 200);
        assert_eq!(service.box_type(0, "O0S0", &[]), "YOURPACKNG");
        service.wait_for_replicas(1);
        wait_until(|| service.parts()["database"]["status"] == "ok");
    }
    let client = first.connect().await;
    wait_until(|| tokio::task::block_in_place(|| tokio::runtime::Handle::current().block_on(logins(&client))) == 7);
    client.batch_execute("UPDATE orderql.user_account SET disabled = true WHERE user_id = 'fay'").await.unwrap();
    for service in [&service, &started, &cut_off] {
        wait_until(|| statuses(service) == [200, 200, 200, 200, 200, 401]);
    }
    for service in [service, started] {
        let log = Arc::into_inner(service.server).unwrap().stop();
        assert!(!log.contains("internal error") && !log.contains("panicked"), "{log}");
    }
}
