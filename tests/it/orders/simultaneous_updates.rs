//! Updates that come twice, at the same time, or from clients that go away.

use std::io::Write;

use crate::orders::update::{INPUT_BOX, ONE_BOX, moving, rejecting};
use crate::support::store::{MULTIPART, Store, URLENCODED, messages, multipart, request};

async fn applied(store: &Store) -> String {
    store.rows("SELECT count(*) FROM orderql.order_update").await.remove(0)
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_rejections_of_one_item_one_wins() {
    let store = Store::open().await;
    let form = rejecting("SHIP_INPUT", "00001", "MISMATCH");
    let mut answers = store.at_once([&|| store.update(&form), &|| store.update(&form)]).await;
    answers.sort_by_key(|answer| answer.status);
    assert_eq!(answers.each_ref().map(|answer| answer.status), [200, 409]);
    assert_eq!(messages(&answers[1]), ["row 0 of rej: there is no item 00001 in the shipment SHIP_INPUT"]);
    assert_eq!(applied(&store).await, "1");
    // Against a move as well, and where the shipment has no other item.
    let (moves, rejects) = (moving("SHIP_APPROVED", "00001", "SHIP_INPUT"), rejecting("SHIP_APPROVED", "", "MISMATCH"));
    let mut answers = store.at_once([&|| store.update(&moves), &|| store.update(&rejects)]).await;
    answers.sort_by_key(|answer| answer.status);
    assert_eq!(answers[0].status, 200);
    let lines = "SELECT count(DISTINCT order_item_seq_id) FROM order_shipment WHERE shipment_id IN ('SHIP_INPUT', 'SHIP_APPROVED') \
                 UNION ALL SELECT count(*) FROM order_item WHERE order_id = 'ORDER_IN_PROGRESS' AND ship_group_seq_id = '00002'";
    let lines: Vec<u32> = store.rows(lines).await.iter().map(|count| count.parse().unwrap()).collect();
    assert_eq!(lines.iter().sum::<u32>(), 4, "each is in a shipment or in the queue");
    let one = format!(
        "{ONE_BOX}&rej_shipmentId_0=SHIP_ONE_ITEM&rej_shipmentItemSeqId_0=00001&rej_rejectionReason_0=MISMATCH"
    );
    let answers = store.at_once([&|| store.update(&one), &|| store.update(&one)]).await;
    let mut statuses = answers.map(|answer| answer.status);
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 409]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repeat_is_given_the_first_answer() {
    let store = Store::open().await;
    let form = rejecting("SHIP_INPUT", "00001", "MISMATCH");
    let first = store.update_once("k-1", &form);
    assert_eq!(first.status, 200);
    let traces = store.traces().await;
    let key = "Idempotency-Key: k-1";
    for repeat in [store.update_once("k-1", &form), store.send(&[MULTIPART, key], &multipart(&form))] {
        assert_eq!((repeat.status, &repeat.body), (200, &first.body));
    }
    let other = store.update_once("k-1", INPUT_BOX);
    assert_eq!(
        (other.status, messages(&other)),
        (422, vec!["this Idempotency-Key was used with other parameters".to_owned()])
    );
    // Of another user it is another key; and what was refused stays refused.
    let token = store.server.token("other");
    assert_eq!(store.send_as(&token, &[URLENCODED, key], &form).status, 409);
    let refused = store.update_once("k-2", &rejecting("SHIP_ONE_ITEM", "00009", "MISMATCH"));
    assert_eq!(refused.status, 409);
    let missing = INPUT_BOX.replace("SHIP_INPUT", "LATER");
    assert_eq!(store.update_once("k-3", &missing).status, 404);
    assert_eq!(store.traces().await, traces);
    store.set("INSERT INTO shipment (shipment_id, status_id, origin_facility_id) VALUES ('LATER', 'SHIPMENT_INPUT', 'STORE_BROADWAY')").await;
    assert_eq!(store.update_once("k-3", &missing).status, 404);
    assert_eq!(store.update_once("k-4", &missing).status, 200);
    // A form that is none is not kept, so that it can be mended under the same key.
    assert_eq!(store.update_once("k-5", "facilityId=S").status, 400);
    assert_eq!(store.update_once("k-5", INPUT_BOX).status, 200);

    // A day later it is forgotten, even where more have been than are cleared away at once.
    store.set("INSERT INTO orderql.idempotent_answer SELECT 'old', n::text, '', now() - interval '3 days', 200, '' FROM generate_series(1, 150) AS n; \
               UPDATE orderql.idempotent_answer SET answered_at = now() - interval '25 hours' WHERE key IN ('k-1', 'k-3')").await;
    assert_eq!(store.update_once("k-3", &missing).status, 200);
    assert_eq!(store.update_once("k-1", INPUT_BOX).status, 200);
    assert_eq!(store.rows("SELECT count(*) FROM orderql.idempotent_answer WHERE user_id = 'old'").await, ["0"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repeat_that_comes_while_the_first_runs_waits_for_its_answer() {
    let store = Store::open().await;
    for (key, form, status) in [
        ("a", rejecting("SHIP_INPUT", "00001", "MISMATCH"), 200),
        ("b", rejecting("SHIP_INPUT", "00001", "MISMATCH"), 409),
    ] {
        let answers = store.at_once([&|| store.update_once(key, &form), &|| store.update_once(key, &form)]).await;
        assert_eq!(answers.each_ref().map(|answer| answer.status), [status; 2]);
        assert_eq!(answers[0].body, answers[1].body);
        assert_eq!(applied(&store).await, "1");
    }
    let (form, other) =
        (moving("SHIP_APPROVED", "00001", "SHIP_INPUT"), moving("SHIP_APPROVED", "00002", "SHIP_INPUT"));
    let mut statuses = store
        .at_once([&|| store.update_once("c", &form), &|| store.update_once("c", &other)])
        .await
        .map(|answer| answer.status);
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 422]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_goes_away_leaves_all_or_nothing() {
    let store = Store::open().await;
    let before = store.traces().await;
    let mut holder = store.database.connect().await;
    let hold = holder.transaction().await.unwrap();
    hold.batch_execute("SELECT FROM order_header FOR UPDATE").await.unwrap();
    let form = rejecting("SHIP_INPUT", "00001", "MISMATCH");
    let mut stream = store.server.connect();
    stream.write_all(request(&store.token, &[URLENCODED], &form).as_bytes()).unwrap();
    store.wait_for(1).await;
    drop(stream);
    hold.commit().await.unwrap();
    // Comes after it: both want the same order.
    let second = store.update(&form);
    match second.status {
        // It went away before it was applied, or was applied nevertheless.
        200 => {}
        status => assert_eq!(status, 409, "{second:?}"),
    }
    assert_eq!(applied(&store).await, "1");
    assert_ne!(store.traces().await, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_update_that_cannot_have_its_locks_gives_way() {
    let store = Store::open().await;
    store
        .set(
            "INSERT INTO orderql.user_profile (user_id, deadline_ms) VALUES ('demo', 500) \
               ON CONFLICT (user_id) DO UPDATE SET deadline_ms = 500",
        )
        .await;
    let before = store.traces().await;
    let mut holder = store.database.connect().await;
    let hold = holder.transaction().await.unwrap();
    hold.batch_execute("SELECT FROM order_header FOR UPDATE").await.unwrap();
    let answer = store.update(&rejecting("SHIP_INPUT", "00001", "MISMATCH"));
    assert_eq!((answer.status, answer.header("retry-after")), (503, Some("1")));
    assert_eq!(messages(&answer).len(), 1);
    hold.rollback().await.unwrap();
    assert_eq!(store.traces().await, before);
}
