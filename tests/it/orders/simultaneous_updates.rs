//! Repeated updates, simultaneous updates, and updates of clients that disconnect.

use std::io::Write;

use crate::orders::update::{INPUT_BOX, ONE_BOX, moving, rejecting};
use crate::support::store::{MULTIPART, Store, URLENCODED, messages, multipart, update_request};

/// The number of applied updates.
async fn applied(store: &Store) -> String {
    store.rows("SELECT count(*) FROM orderql.order_update").await.remove(0)
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_rejections_of_one_item_only_one_succeeds() {
    let store = Store::open().await;
    let form = rejecting("SHIP_INPUT", "00001", "MISMATCH");
    let mut responses = store.send_together([&|| store.update(&form), &|| store.update(&form)]).await;
    responses.sort_by_key(|response| response.status);
    assert_eq!(responses.each_ref().map(|response| response.status), [200, 409]);
    assert_eq!(messages(&responses[1]), ["row 0 of rej: there is no item 00001 in the shipment SHIP_INPUT"]);
    assert_eq!(applied(&store).await, "1");
    // The same for a rejection and a move, and for the only item of a shipment.
    let (moves, rejects) = (moving("SHIP_APPROVED", "00001", "SHIP_INPUT"), rejecting("SHIP_APPROVED", "", "MISMATCH"));
    let mut responses = store.send_together([&|| store.update(&moves), &|| store.update(&rejects)]).await;
    responses.sort_by_key(|response| response.status);
    assert_eq!(responses[0].status, 200);
    let lines = "SELECT count(DISTINCT order_item_seq_id) FROM order_shipment WHERE shipment_id IN ('SHIP_INPUT', 'SHIP_APPROVED') \
                 UNION ALL SELECT count(*) FROM order_item WHERE order_id = 'ORDER_IN_PROGRESS' AND ship_group_seq_id = '00002'";
    let lines: Vec<u32> = store.rows(lines).await.iter().map(|count| count.parse().unwrap()).collect();
    assert_eq!(lines.iter().sum::<u32>(), 4, "each line is in a shipment or in the queue");
    let one = format!(
        "{ONE_BOX}&rej_shipmentId_0=SHIP_ONE_ITEM&rej_shipmentItemSeqId_0=00001&rej_rejectionReason_0=MISMATCH"
    );
    let responses = store.send_together([&|| store.update(&one), &|| store.update(&one)]).await;
    let mut statuses = responses.map(|response| response.status);
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 409]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repeated_update_gets_the_first_response() {
    let store = Store::open().await;
    let form = rejecting("SHIP_INPUT", "00001", "MISMATCH");
    let first = store.update_with_key("k-1", &form);
    assert_eq!(first.status, 200);
    let rows = store.updatable_rows().await;
    let key = "Idempotency-Key: k-1";
    for repeat in [store.update_with_key("k-1", &form), store.send(&[MULTIPART, key], &multipart(&form))] {
        assert_eq!((repeat.status, &repeat.body), (200, &first.body));
    }
    let other = store.update_with_key("k-1", INPUT_BOX);
    assert_eq!(
        (other.status, messages(&other)),
        (422, vec!["this Idempotency-Key was used with other parameters".to_owned()])
    );
    // The order of the parameters does not matter.
    let mut reordered: Vec<&str> = form.split('&').collect();
    reordered.reverse();
    assert_eq!(store.update_with_key("k-1", &reordered.join("&")).status, 200);
    // Keys belong to a user.
    let token = store.server.token("other");
    assert_eq!(store.send_as(&token, &[URLENCODED, key], &form).status, 409);
    // What was rejected is not stored: the cause may go, and the client may correct the form.
    let rejected = store.update_with_key("k-2", &rejecting("SHIP_ONE_ITEM", "00009", "MISMATCH"));
    assert_eq!(rejected.status, 409);
    let missing = INPUT_BOX.replace("SHIP_INPUT", "LATER");
    assert_eq!(store.update_with_key("k-3", &missing).status, 404);
    assert_eq!(store.updatable_rows().await, rows);
    store.execute("INSERT INTO shipment (shipment_id, status_id, origin_facility_id) VALUES ('LATER', 'SHIPMENT_INPUT', 'STORE_BROADWAY')").await;
    assert_eq!(store.update_with_key("k-3", &missing).status, 200);
    assert_eq!(store.update_with_key("k-2", &missing).status, 200);
    assert_eq!(store.update_with_key("k-5", "facilityId=S").status, 400);
    assert_eq!(store.update_with_key("k-5", INPUT_BOX).status, 200);

    // Responses expire after a day, even if there are more of them than one cleanup removes.
    store.execute("INSERT INTO orderql.idempotent_answer (user_id, key, request_hash, answered_at) SELECT 'old', n::text, '', now() - interval '3 days' FROM generate_series(1, 150) AS n; \
               UPDATE orderql.idempotent_answer SET answered_at = now() - interval '25 hours' WHERE key IN ('k-1', 'k-3')").await;
    assert_eq!(store.update_with_key("k-3", &missing).status, 200);
    assert_eq!(store.update_with_key("k-1", INPUT_BOX).status, 200);
    assert_eq!(store.rows("SELECT count(*) FROM orderql.idempotent_answer WHERE user_id = 'old'").await, ["0"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repeated_update_waits_for_the_response_to_a_running_one() {
    let store = Store::open().await;
    for (key, form, status) in [
        ("a", rejecting("SHIP_INPUT", "00001", "MISMATCH"), 200),
        ("b", rejecting("SHIP_INPUT", "00001", "MISMATCH"), 409),
    ] {
        let responses =
            store.send_together([&|| store.update_with_key(key, &form), &|| store.update_with_key(key, &form)]).await;
        assert_eq!(responses.each_ref().map(|response| response.status), [status; 2]);
        assert_eq!(responses[0].body, responses[1].body);
        assert_eq!(applied(&store).await, "1");
    }
    let (form, other) =
        (moving("SHIP_APPROVED", "00001", "SHIP_INPUT"), moving("SHIP_APPROVED", "00002", "SHIP_INPUT"));
    let mut statuses = store
        .send_together([&|| store.update_with_key("c", &form), &|| store.update_with_key("c", &other)])
        .await
        .map(|response| response.status);
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 422]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_update_whose_client_disconnects_is_applied_completely_or_not_at_all() {
    let store = Store::open().await;
    let before = store.updatable_rows().await;
    let mut other = store.database.connect().await;
    let lock = other.transaction().await.unwrap();
    lock.batch_execute("SELECT FROM order_header FOR UPDATE").await.unwrap();
    let form = rejecting("SHIP_INPUT", "00001", "MISMATCH");
    let mut stream = store.server.connect();
    stream.write_all(update_request(&store.token, &[URLENCODED], &form).as_bytes()).unwrap();
    store.database.wait_for_lock_waits(1).await;
    drop(stream);
    lock.commit().await.unwrap();
    // Runs after the first update, because both lock the same order.
    let second = store.update(&form);
    match second.status {
        // The first update was not applied.
        200 => {}
        status => assert_eq!(status, 409, "{second:?}"),
    }
    assert_eq!(applied(&store).await, "1");
    assert_ne!(store.updatable_rows().await, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_update_that_cannot_lock_its_rows_in_time_fails() {
    let store = Store::open().await;
    store
        .execute(
            "INSERT INTO orderql.user_profile (user_id, deadline_ms) VALUES ('demo', 500) \
               ON CONFLICT (user_id) DO UPDATE SET deadline_ms = 500",
        )
        .await;
    let before = store.updatable_rows().await;
    let mut other = store.database.connect().await;
    let lock = other.transaction().await.unwrap();
    lock.batch_execute("SELECT FROM order_header FOR UPDATE").await.unwrap();
    let response = store.update(&rejecting("SHIP_INPUT", "00001", "MISMATCH"));
    assert_eq!((response.status, response.header("retry-after")), (503, Some("1")));
    assert_eq!(messages(&response).len(), 1);
    lock.rollback().await.unwrap();
    assert_eq!(store.updatable_rows().await, before);
}
