//! One idempotency key on several servers at the same time.

use std::sync::Barrier;
use std::thread;

use tokio::runtime::Handle;
use tokio::task::block_in_place;

use crate::database::faults::updates::{ORDERS, audited, box_form, mark};
use crate::database::several_servers::{USER, number, start};
use crate::support::database::migrated_database;
use crate::support::server::connection_string;
use crate::support::store::{URLENCODED, update_request};
use crate::support::users::{UNLIMITED_PROFILE, create_users};

const REPEATS: usize = 40;

/// What a server runs at the same time. The others wait.
const RUNNING: usize = 6;

#[tokio::test(flavor = "multi_thread")]
async fn one_key_sent_forty_times_over_three_servers_is_one_update() {
    let keys = number("IDEMPOTENCY_KEYS", 3);
    let database = migrated_database().await;
    let mut client = database.connect().await;
    client.batch_execute(ORDERS).await.unwrap();
    create_users(&mut client, &[(USER, UNLIMITED_PROFILE)]).await;
    let address = connection_string(&database.config());
    let running = RUNNING.to_string();
    let flags = ["--writer-pool-size", &running, "--concurrent-updates", &running, "--pool-wait", "1m"];
    let servers = [(); 3].map(|()| start(&address, &flags));
    let token = servers[0].token(USER);
    let mut applied = Vec::new();
    for number in 0..keys {
        let name = format!("k{number}");
        let key = format!("Idempotency-Key: {name}");
        let rejection = |item: &str| {
            format!(
                "{}&rej_shipmentId_0=O{}S0&rej_shipmentItemSeqId_0={item}&rej_rejectionReason_0=MISMATCH",
                box_form(&name, number),
                number / 3 % 30
            )
        };
        // An update that can be applied once, one that is rejected, and two that use the same key.
        let (forms, expected) = match number % 3 {
            0 => ([box_form(&name, number), box_form(&name, number)], [200, 200]),
            1 => ([rejection("00009"), rejection("00009")], [409, 409]),
            _ => ([box_form(&name, number), box_form(&name, number + 1)], [200, 422]),
        };
        // All of them have begun before the first can end.
        let lock = client.transaction().await.unwrap();
        lock.batch_execute("SELECT FROM order_header FOR UPDATE; SELECT FROM shipment FOR UPDATE").await.unwrap();
        let together = Barrier::new(REPEATS);
        let responses: Vec<_> = thread::scope(|scope| {
            let (servers, token, key, forms, together) = (&servers, &token, &key, &forms, &together);
            let sent: Vec<_> = (0..REPEATS)
                .map(|repeat| {
                    scope.spawn(move || {
                        let request = update_request(token, &[URLENCODED, key], &forms[repeat % 2]);
                        together.wait();
                        servers[repeat % servers.len()].send(request)
                    })
                })
                .collect();
            block_in_place(|| {
                Handle::current().block_on(async {
                    database.wait_for_lock_waits((servers.len() * RUNNING).try_into().unwrap()).await;
                    lock.commit().await.unwrap();
                });
            });
            sent.into_iter().map(|sent| sent.join().unwrap()).collect()
        });
        let mut statuses = [0, 1].map(|form| responses[form].status);
        for (repeat, response) in responses.iter().enumerate() {
            let first = &responses[repeat % 2];
            assert_eq!((response.status, &response.body), (first.status, &first.body), "{name}");
        }
        statuses.sort_unstable();
        assert_eq!(statuses, expected, "{name}");
        applied.extend((expected[0] == 200).then(|| mark(&name)));
    }
    println!("{keys} keys, {} responses, {} updates", keys * REPEATS, applied.len());
    assert_eq!(audited(&client).await, applied);
}
