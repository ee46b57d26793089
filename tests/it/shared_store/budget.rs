//! The bucket of a caller, which is one however many servers there are.
//!
//! `DEBITED` sets the credits that racing servers debit.

use std::env;
use std::time::Instant;

use orderql::access::profile::Profile;
use serde_json::json;

use crate::shared_store::{COST, Nodes, QUERY};
use crate::support::http::{JSON, graphql_head, with_body};
use crate::support::server::wait_until;
use crate::support::store_server::StoreServer;

const CAPACITY: u64 = 100;
const RATE: u64 = 50;
const PROFILE: Profile = Profile {
    bucket_size: Some(CAPACITY.cast_signed()),
    max_cost: Some(CAPACITY.cast_signed()),
    restore_rate: Some(RATE.cast_signed()),
    ..Profile::DEFAULT
};

/// Nothing is admitted but by the store, so that sums are exact.
const CLOSED: &[&str] = &["--bucket-away", "closed"];

const KEY: &str = "orderql:{demo}:bucket";

#[tokio::test(flavor = "multi_thread")]
async fn racing_servers_admit_together_what_one_bucket_covers_and_no_more() {
    let Some(store) = StoreServer::start() else { return };
    let nodes = Nodes::start(PROFILE, &store.url(), &[CLOSED, CLOSED, CLOSED]).await;
    let began = Instant::now();
    let debited = env::var("DEBITED").map_or(2 * CAPACITY, |credits| credits.parse().unwrap());
    let mut spent = 0;
    while spent < debited {
        spent += COST * nodes.race(9, 40, |server| nodes.is_admitted_by_store(server));
        let restored = u64::try_from(began.elapsed().as_micros()).unwrap() * RATE / 1_000_000;
        assert!(spent <= CAPACITY + restored, "{spent} of {CAPACITY} and {restored}");
        // The scripts are gone, as after a restart, and are sent again.
        store.command(&["SCRIPT", "FLUSH"]);
    }
    println!("{spent} credits in {:?}", began.elapsed());

    // The store forgets a bucket when it is full again.
    let [server, ..] = &*nodes.servers else { unreachable!() };
    while nodes.is_admitted_by_store(server) {}
    let life: i64 = store.command(&["PTTL", KEY]).parse().unwrap();
    assert!(life <= (CAPACITY * 1000 / RATE + 2).cast_signed(), "{life}");
    assert!(server.metrics().get("orderql_bucket_store_duration_seconds_count") > 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_knows_of_a_refusal_does_not_ask_again() {
    let Some(store) = StoreServer::start() else { return };
    let never: &[&str] = &["--restore-rate", "0", "--bucket-away", "closed"];
    let nodes = Nodes::start(Profile { restore_rate: None, ..PROFILE }, &store.url(), &[never, never]).await;
    let [first, second] = &*nodes.servers else { unreachable!() };
    while nodes.is_admitted_by_store(first) {}
    let asked = store.executed("get");
    assert!((0..200).all(|_| !nodes.is_admitted_by_store(first)));
    assert_eq!(store.executed("get"), asked, "no call for a refusal that is known");
    // Another server asks once.
    assert!(!nodes.is_admitted_by_store(second));
    let asked = store.executed("get");
    assert!((0..200).all(|_| !nodes.is_admitted_by_store(second)));
    assert_eq!(store.executed("get"), asked);
    // The cost report shows the bucket as the store has it. Without credits that are restored, it stays there.
    let head = format!("{}GraphQL-Cost: validate\r\n", graphql_head(&nodes.token, JSON));
    let report = || second.send(with_body(&head, &json!({ "query": QUERY }).to_string()));
    wait_until(|| report().code() != "SERVICE_UNAVAILABLE" && report().available() == 0);
    assert_eq!(store.command(&["PTTL", KEY]), "-1");
    assert_eq!(store.command(&["GET", KEY]).split(' ').next(), Some("100000000"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_query_waits_for_credits_that_another_server_has_debited() {
    let Some(store) = StoreServer::start() else { return };
    let nodes = Nodes::start(PROFILE, &store.url(), &[&[], &[]]).await;
    let [first, second] = &*nodes.servers else { unreachable!() };
    while nodes.is_admitted(first) {}
    let head = format!("{}Prefer: wait=30\r\n", graphql_head(&nodes.token, JSON));
    for server in [second, first, second, first] {
        let response = server.send(with_body(&head, &json!({ "query": QUERY }).to_string()));
        assert_eq!(
            (response.code().as_str(), response.header("preference-applied")),
            ("", Some("wait")),
            "{response:?}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn whatever_is_in_the_store_a_bucket_covers_no_more_than_it_holds_and_refills() {
    let Some(store) = StoreServer::start() else { return };
    let profile = Profile { restore_rate: Some(1000), ..PROFILE };
    let nodes = Nodes::start(profile, &store.url(), &[CLOSED]).await;
    let server = &nodes.servers[0];
    // What a query leaves in the bucket, after these commands.
    let left = |commands: &[&[&str]]| loop {
        for command in commands {
            store.command(command);
        }
        let response = server.query(&nodes.token, QUERY);
        if response.code() != "SERVICE_UNAVAILABLE" {
            return response.available();
        }
    };
    let now: u64 = store.command(&["TIME"]).lines().next().unwrap().parse().unwrap();
    let later = format!("50000000 {}", (now + 30) * 1_000_000);
    // What is not a bucket counts as a full one.
    for malformed in ["", "x", "-5 7", "1e3 2", "1 2 3", "100000000", "nan inf"] {
        assert_eq!(left(&[&["SET", KEY, malformed]]), CAPACITY - COST, "{malformed}");
    }
    assert_eq!(left(&[&["DEL", KEY], &["LPUSH", KEY, "1", "2"]]), CAPACITY - COST);
    // The clock of a store that this one replaced was ahead: nothing is restored until this one is as far.
    assert_eq!(left(&[&["SET", KEY, &later]]), CAPACITY - 50 - COST);
    // One that lacks more than it can is empty, also where it is from a time that has not come.
    let huge = "9".repeat(400);
    for malformed in [format!("{huge} 1"), format!("1 {huge}"), format!("{huge} {huge}")] {
        store.command(&["SET", KEY, &malformed]);
        while !nodes.is_admitted_by_store(server) {}
        let life: i64 = store.command(&["PTTL", KEY]).parse().unwrap();
        // It may have been forgotten already.
        assert!((0..=101).contains(&life) || life == -2, "{malformed}: {life}");
    }
}
