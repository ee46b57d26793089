//! The limits of one caller's updates: connections, and stored idempotency keys.

use std::collections::HashMap;
use std::thread;

use crate::orders::update::{INPUT_BOX, ONE_BOX, rejecting};
use crate::support::http::Response;
use crate::support::server::Server;
use crate::support::store::{Store, URLENCODED, messages, update_request};

/// Starts a second server on the store's database, with the default settings and some of its own.
fn server(store: &Store, flags: &[&str]) -> (Server, String) {
    let server = Server::start(&store.database, flags);
    let token = server.token("demo");
    (server, token)
}

fn update(server: &Server, token: &str, key: &str, form: &str) -> Response {
    server.send(update_request(token, &[URLENCODED, &format!("Idempotency-Key: {key}")], form))
}

/// 200 parallel updates of a caller wait for a lock. They take its two connections and its places in the queue, the others
/// are told to slow down, and another caller's update is applied meanwhile.
#[tokio::test(flavor = "multi_thread")]
async fn one_callers_updates_leave_connections_for_others() {
    let store = Store::open().await;
    let (server, token) = server(&store, &["--deadline", "1m", "--updates-per-second", "1000"]);
    let other = server.token("other");
    let mut locker = store.database.connect().await;
    let lock = locker.transaction().await.unwrap();
    lock.batch_execute("SELECT FROM order_header WHERE order_id = 'ORDER_IN_PROGRESS' FOR UPDATE").await.unwrap();
    let form = rejecting("SHIP_INPUT", "00009", "MISMATCH");
    let responses = thread::scope(|scope| {
        let sent: Vec<_> =
            (0..200).map(|_| scope.spawn(|| server.send(update_request(&token, &[URLENCODED], &form)))).collect();
        tokio::task::block_in_place(|| {
            tokio::runtime::Handle::current().block_on(store.database.wait_for_lock_waits(2));
        });
        let bystander = server.send(update_request(&other, &[URLENCODED], ONE_BOX));
        assert_eq!(bystander.status, 200, "{bystander:?}");
        // All but those that wait have their response.
        while sent.iter().filter(|request| request.is_finished()).count() < 182 {
            thread::yield_now();
        }
        tokio::task::block_in_place(|| tokio::runtime::Handle::current().block_on(lock.commit())).unwrap();
        sent.into_iter().map(|request| request.join().unwrap()).collect::<Vec<_>>()
    });
    let mut statuses: HashMap<u16, u32> = HashMap::new();
    for response in &responses {
        *statuses.entry(response.status).or_default() += 1;
    }
    assert_eq!(statuses, HashMap::from([(409, 18), (429, 182)]));
    let refused = responses.iter().find(|response| response.status == 429).unwrap();
    assert_eq!(refused.header("retry-after"), Some("1"));
    assert_eq!(messages(refused), ["2 of your updates are running and others wait; send fewer at the same time"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_caller_may_send_so_many_updates_a_second() {
    let store = Store::open().await;
    let (server, token) = server(&store, &["--updates-per-second", "1"]);
    // They count before they are read, whatever is in them.
    let responses = thread::scope(|scope| {
        let send = || server.send(update_request(&token, &[URLENCODED], "facilityId=S"));
        let sent: Vec<_> = (0..20).map(|_| scope.spawn(send)).collect();
        sent.into_iter().map(|request| request.join().unwrap()).collect::<Vec<_>>()
    });
    let (taken, refused): (Vec<_>, Vec<_>) = responses.into_iter().partition(|response| response.status == 400);
    assert!(!taken.is_empty() && !refused.is_empty(), "{taken:?} {refused:?}");
    for response in &refused {
        let [message] = &*messages(response) else { panic!("{response:?}") };
        let wait = message.strip_prefix("you may send 1 order updates a second at most; retry in ");
        assert!((response.status, wait.is_some()) == (429, true), "{response:?}");
        assert_eq!(response.header("retry-after"), Some("1"));
    }
    let other = server.token("other");
    assert_eq!(server.send(update_request(&other, &[URLENCODED], ONE_BOX)).status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn idempotency_keys_store_applied_updates_and_no_parameters() {
    let store = Store::open().await;
    // Forms of 100 kB, the most that is accepted is 128 KiB: rejected, applied, and malformed.
    let note = format!("&note={}", "x".repeat(100_000));
    let rejected = format!("{}{note}", INPUT_BOX.replace("SHIP_INPUT", "NONE"));
    assert_eq!(store.update_with_key("rejected", &rejected).status, 404);
    let applied = store.update_with_key("applied", &format!("{INPUT_BOX}{note}"));
    assert_eq!(applied.status, 200);
    assert_eq!(store.update_with_key("malformed", &format!("{INPUT_BOX}{note}{note}")).status, 400);
    let stored = "SELECT key, pg_total_relation_size('orderql.idempotent_answer') < 200000, length(request_hash), notes \
                  FROM orderql.idempotent_answer";
    assert_eq!(store.rows(stored).await, ["applied t 32 -"]);
    let repeated = store.update_with_key("applied", &format!("{INPUT_BOX}{note}"));
    assert_eq!((repeated.status, repeated.body == applied.body), (200, true));
    // Nor has the audit parameters that the server does not know.
    let audited = "SELECT request #>> '{}' FROM orderql.order_update";
    let rows = "facilityId=STORE_BROADWAY&box_shipmentId_0=SHIP_INPUT&box_shipmentBoxTypeId_0=YOURPACKNG";
    assert_eq!(store.rows(audited).await, [rows]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_caller_may_have_so_many_idempotency_keys() {
    let store = Store::open().await;
    let (server, token) = server(&store, &["--idempotency-keys", "2"]);
    let missing = INPUT_BOX.replace("SHIP_INPUT", "NONE");
    assert_eq!(update(&server, &token, "a", INPUT_BOX).status, 200);
    assert_eq!(update(&server, &token, "b", &missing).status, 404);
    assert_eq!(update(&server, &token, "b", ONE_BOX).status, 200);
    let before = store.updatable_rows().await;
    let third = update(&server, &token, "c", &rejecting("SHIP_INPUT", "00001", "MISMATCH"));
    assert_eq!(
        (third.status, messages(&third)),
        (
            429,
            vec![
                "2 Idempotency-Keys are stored for you, and no more may be; each is deleted a day after its request"
                    .to_owned()
            ]
        )
    );
    assert_eq!(store.updatable_rows().await, before);
    // Stored keys keep working, updates without a key too, and other users have keys of their own.
    assert_eq!(update(&server, &token, "a", INPUT_BOX).status, 200);
    assert_eq!(update(&server, &token, "b", &missing).status, 422);
    assert_eq!(server.send(update_request(&token, &[URLENCODED], INPUT_BOX)).status, 200);
    assert_eq!(update(&server, &server.token("other"), "c", INPUT_BOX).status, 200);
    // An expired key is free for a new one.
    store
        .execute("UPDATE orderql.idempotent_answer SET answered_at = now() - interval '25 hours' WHERE key = 'a'")
        .await;
    assert_eq!(update(&server, &token, "c", INPUT_BOX).status, 200);
}
