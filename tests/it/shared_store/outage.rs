//! What holds while the store is away: it hangs, is killed, or has lost what was in it.

use std::time::Instant;

use orderql::access::profile::Profile;

use crate::shared_store::{COST, Nodes, QUERY};
use crate::support::http::GRAPHQL_JSON;
use crate::support::server::Server;
use crate::support::store_server::StoreServer;

const CAPACITY: u64 = 120;
const RATE: u64 = 1;
const PROFILE: Profile = Profile {
    bucket_size: Some(CAPACITY.cast_signed()),
    max_cost: Some(CAPACITY.cast_signed()),
    restore_rate: Some(RATE.cast_signed()),
    ..Profile::DEFAULT
};

fn wait_for_store(server: &Server, is_up: u64) {
    server.wait_for_metrics(|metrics| metrics.get("orderql_bucket_store_up") == is_up);
}

/// Queries until the servers refuse, and what they spent.
fn spend(nodes: &Nodes) -> u64 {
    let mut spent = 0;
    loop {
        let admitted = nodes.race(6, 10, |server| nodes.is_admitted(server));
        if admitted == 0 {
            return spent;
        }
        spent += admitted * COST;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_outage_gives_a_caller_one_bucket_more_at_most_and_no_request_fails() {
    let Some(mut store) = StoreServer::start() else { return };
    let nodes = Nodes::start(PROFILE, &store.url(), &[&[], &[], &[]]).await;
    // Each knows of the others when it has given a sign of life after they have.
    let count = || store.command(&["ZCARD", "orderql:nodes"]);
    while count() != "3" {}
    for server in &nodes.servers {
        let beats = server.metrics().get("orderql_bucket_store_duration_seconds_count");
        server.wait_for_metrics(|metrics| metrics.get("orderql_bucket_store_duration_seconds_count") > beats + 1);
    }
    let began = Instant::now();
    let check = |spent: u64, buckets: u64| {
        let restored = u64::try_from(began.elapsed().as_micros()).unwrap() * RATE / 1_000_000;
        assert!(spent <= buckets * (CAPACITY + restored), "{spent} of {buckets} × ({CAPACITY} + {restored})");
    };
    // It hangs: each server has its share of the bucket.
    store.signal("-STOP");
    let mut spent = spend(&nodes);
    check(spent, 1);
    assert!(spent >= CAPACITY - COST * nodes.servers.len() as u64, "{spent}");
    for server in &nodes.servers {
        wait_for_store(server, 0);
        assert!(server.metrics().get("orderql_bucket_fallback_total") > 0);
        assert_eq!(server.get("/health/ready").status, 200);
        let ready = server.get_as_operator("/health/ready").json();
        assert_eq!((&ready["status"], &ready["parts"]["store"]["status"]), (&"ready".into(), &"degraded".into()));
    }
    // It goes on, and knows nothing of that: one bucket more.
    store.signal("-CONT");
    nodes.servers.iter().for_each(|server| wait_for_store(server, 1));
    spent += spend(&nodes);
    check(spent, 2);
    // It is killed. The shares have been spent.
    store.kill();
    nodes.servers.iter().for_each(|server| wait_for_store(server, 0));
    spent += spend(&nodes);
    check(spent, 2);
    // It comes back without what was in it: one bucket more, and again when it is flushed.
    store.start_again();
    nodes.servers.iter().for_each(|server| wait_for_store(server, 1));
    spent += spend(&nodes);
    check(spent, 3);
    store.command(&["FLUSHALL"]);
    spent += spend(&nodes);
    check(spent, 4);
    let log: String = nodes.servers.into_iter().map(Server::stop).collect();
    for event in ["the shared store is away", "the shared store is back"] {
        assert!(log.contains(event), "{event}: {log}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_that_is_away_admits_all_queries_or_none_where_that_is_configured() {
    let Some(mut store) = StoreServer::start() else { return };
    let flags: [&[&str]; 3] = [&["--bucket-away", "open"], &["--bucket-away", "closed"], &["--bucket-away", "share"]];
    let nodes = Nodes::start(PROFILE, &store.url(), &flags).await;
    let [open, closed, share] = &*nodes.servers else { unreachable!() };
    assert!(nodes.is_admitted(open) && nodes.is_admitted(closed));
    store.kill();
    nodes.servers.iter().for_each(|server| wait_for_store(server, 0));
    let mut queries = (0..CAPACITY).map(|_| nodes.is_admitted(open));
    assert!(queries.all(|is_admitted| is_admitted), "more than a bucket");
    assert_eq!(open.metrics().get("orderql_bucket_fallback_total"), CAPACITY);
    let refused = closed.query_as(GRAPHQL_JSON, &nodes.token, QUERY);
    assert_eq!((refused.code().as_str(), refused.header("retry-after")), ("SERVICE_UNAVAILABLE", Some("1")));
    assert_eq!(closed.query(&nodes.token, "{ __typename }").code(), "SERVICE_UNAVAILABLE");
    // A query that no share covers may be sent again when the store may be back.
    let refused = share.query(&nodes.token, "{ orders(first: 30) { edges { node { orderId } } } }");
    assert_eq!(refused.code(), "THROTTLED", "{refused:?}");
    let wait = refused.json()["errors"][0]["extensions"]["retryAfterMs"].as_u64().unwrap();
    assert!(wait > 0, "{refused:?}");
    // A server starts without the store, too.
    let log = nodes.servers.into_iter().map(Server::stop).collect::<String>();
    assert!(log.contains("the shared store is away"), "{log}");
    store.start_again();
}
