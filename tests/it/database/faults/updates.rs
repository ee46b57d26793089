//! Order updates through faults: each is applied once or not at all, and a repeat with its key gets the stored outcome.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;

use tokio_postgres::Client;

use crate::database::faults::{Exchange, Line, profile, requests_and_seed};
use crate::support::database::migrated_database;
use crate::support::fault_proxy::fault::{Fault, FaultKind};
use crate::support::random::Random;
use crate::support::store::{URLENCODED, update_request};
use crate::support::users::create_users;

/// Thirty orders with three shipments each.
pub const ORDERS: &str = include_str!("../../orders/random_updates/orders.sql");
pub const INCONSISTENCIES: &str = include_str!("../../orders/random_updates/inconsistencies.sql");

/// The messages of an update, about.
const MESSAGES: usize = 90;

/// What stands for an update's name in the audit, which has the rows of a form and nothing else: the index of its first row.
pub fn mark(name: &str) -> u32 {
    let hash = name.bytes().fold(0x811c_9dc5, |hash: u32, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    hash & !3
}

/// An update that sets the box types of some shipments. It can always be applied.
pub fn box_form(name: &str, number: usize) -> String {
    let mut form = format!("facilityId=STORM&name={name}");
    for row in 0..3 {
        let box_type = if (number + row).is_multiple_of(2) { "YOURPACKNG" } else { "BOPISPACKNG" };
        let shipment = format!("O{}S{row}", number % 30);
        let index = mark(name) + u32::try_from(row).unwrap();
        let _ = write!(
            form,
            "&box_shipmentId_{index}={shipment}&box_shipmentBoxTypeId_{index}={box_type}&{index}_box_rowSubmit={index}"
        );
    }
    form
}

/// An update that also moves and rejects items.
fn moving_form(name: &str, number: usize, random: &mut Random) -> String {
    let mut form = box_form(name, number);
    let order = random.below(30);
    let (from, to, item) = (random.below(3), random.below(3), 1 + random.below(4));
    let _ = write!(
        form,
        "&rtp_shipmentId_0=O{order}S{from}&rtp_newShipmentId_0=O{order}S{to}&rtp_shipmentItemSeqId_0={item:05}"
    );
    if random.chance(50) {
        let (shipment, item) = (random.below(3), 1 + random.below(4));
        let _ = write!(
            form,
            "&rej_shipmentId_0=O{order}S{shipment}&rej_shipmentItemSeqId_0={item:05}&rej_rejectionReason_0=MISMATCH"
        );
    }
    form
}

/// Sends an update through a fault.
pub async fn send(line: &Line, fault: Option<Fault>, key: Option<&str>, form: &str) -> Exchange {
    let (key, form) = (key.map(|key| format!("Idempotency-Key: {key}")), form.to_owned());
    line.send(fault, move |server, token| {
        let headers: Vec<&str> = [URLENCODED].into_iter().chain(key.as_deref()).collect();
        server.send(update_request(token, &headers, &form))
    })
    .await
}

/// Sends an update until the service is available, and returns the status.
pub async fn send_until_available(line: &Line, key: Option<&str>, form: &str) -> u16 {
    loop {
        match send(line, None, key, form).await.response.status {
            503 => {}
            status => return status,
        }
    }
}

/// The marks of the updates that were applied, in order.
pub async fn audited(client: &Client) -> Vec<u32> {
    let marks = "SELECT substring(request #>> '{}' FROM 'box_shipmentId_([0-9]+)=')::bigint FROM orderql.order_update \
                 ORDER BY order_update_id";
    client.query(marks, &[]).await.unwrap().iter().map(|row| row.get::<_, i64>(0).try_into().unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn updates_are_applied_once_or_not_at_all() {
    let (requests, seed) = requests_and_seed(8);
    let database = migrated_database().await;
    let mut client = database.connect().await;
    client.batch_execute(ORDERS).await.unwrap();
    create_users(&mut client, &[("demo", profile(500))]).await;
    let line = Line::open(&database.config()).await;
    let mut statuses: BTreeMap<u16, usize> = BTreeMap::new();
    // How often each update may have been applied.
    let mut applied: HashMap<String, [usize; 2]> = HashMap::new();
    for number in 0..requests {
        let mut random = Random(seed << 32 | number as u64);
        let name = format!("n{number}");
        let form = if random.chance(50) { box_form(&name, number) } else { moving_form(&name, number, &mut random) };
        let key = random.chance(70).then_some(name.as_str());
        let mut fault = Fault::random(&mut random, [MESSAGES; 2]);
        if fault.kind == FaultKind::Value {
            // An update of other values is another update.
            fault.kind = FaultKind::Type;
        }
        let text = format!("update {number}: {fault:?}");
        let exchange = send(&line, Some(fault), key, &form).await;
        let status = exchange.response.status;
        let text = format!("{text}\n{:?}\n{form}\n{:?}", exchange.damage, exchange.response);
        assert!([200, 409, 503].contains(&status), "{text}");
        *statuses.entry(status).or_default() += 1;
        let mut counts = if status == 200 { [1, 1] } else { [0, usize::from(status == 503)] };
        if key.is_some() {
            let repeated = send_until_available(&line, key, &form).await;
            assert!(status == 503 || status == repeated, "{repeated} {text}");
            counts = [usize::from(repeated == 200); 2];
        }
        applied.insert(name, counts);
    }
    println!("{statuses:?}");
    let memory = line.memory();
    line.stop(false);
    println!("memory: {memory:?} MiB");
    // PostgreSQL has noticed that all connections are gone.
    let ended =
        "SELECT count(*) = 0 FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()";
    while !client.query_one(ended, &[]).await.unwrap().get::<_, bool>(0) {}
    let inconsistencies = client.query(INCONSISTENCIES, &[]).await.unwrap();
    let inconsistencies: Vec<String> = inconsistencies.iter().map(|row| row.get(0)).collect();
    // Updates without a key have no stored outcome.
    let inconsistencies: Vec<_> =
        inconsistencies.iter().filter(|text| !text.contains("stored outcome differ")).collect();
    assert_eq!(inconsistencies, [""; 0]);
    let audited = audited(&client).await;
    for (name, [least, most]) in applied {
        let count = audited.iter().filter(|other| **other == mark(&name)).count();
        assert!((least..=most).contains(&count), "{name} was applied {count} times, not {least} to {most} times");
    }
    // The more updates there were, the more orders are done, which no other update can change.
    assert!(statuses[&503] > requests / 10 && statuses[&200] > requests / 20, "{statuses:?}");
}
