//! Faults that once had wrong responses or left a connection in its pool.

use serde_json::json;

use crate::database::faults::queries::{Expected, database};
use crate::database::faults::updates::{self, box_form, mark};
use crate::database::faults::{Line, profile};
use crate::support::database::migrated_database;
use crate::support::fault_proxy::fault::{Direction, Fault, FaultKind};
use crate::support::users::create_users;

/// The messages of a lookup on a connection that has prepared its statement: `Bind`, `Execute`, `Sync`; and `BindComplete`, `DataRow`,
/// `CommandComplete`, `ReadyForQuery`.
const LOOKUP: &str = r#"{ order(orderId: "ORDER_SPLIT") { orderId statusId grandTotal } }"#;

/// Far more requests than a new connection takes to have its statement prepared.
const ATTEMPTS: usize = 5_000;

fn fault(direction: Direction, message: usize, kind: FaultKind) -> Fault {
    Fault { direction, message, kind, seed: 1 }
}

#[tokio::test(flavor = "multi_thread")]
async fn notices_what_the_protocol_can_tell() {
    let database = database().await;
    let line = Line::open(&database.config()).await;
    let lookup = Expected::read(&line, json!({ "query": LOOKUP }).to_string()).await;
    let (client, postgres) = (Direction::FromClient, Direction::FromPostgres);
    for (fault, statuses) in [
        // PostgreSQL ignores a CopyData: the statement is not executed, and the response has neither rows nor their number.
        (fault(client, 1, FaultKind::ThatType(b'd')), [503, 504]),
        // A Bind that PostgreSQL ignores leaves no portal, and the name of a statement that it does not have is refused.
        (fault(client, 0, FaultKind::ThatType(b'd')), [503, 504]),
        (fault(client, 0, FaultKind::Name), [503, 504]),
        (fault(client, 0, FaultKind::Count), [503, 504]),
        // A Flush instead of a Sync: PostgreSQL does not end its response.
        (fault(client, 2, FaultKind::ThatType(b'H')), [504, 503]),
        // A message of no type, a row with too many values, and a row that ends the response.
        (fault(postgres, 1, FaultKind::ThatType(b'?')), [503, 504]),
        (fault(postgres, 1, FaultKind::Count), [503, 504]),
        (fault(postgres, 1, FaultKind::ThatType(b'Z')), [503, 504]),
        // A response without its end.
        (fault(postgres, 3, FaultKind::ThatType(b'C')), [503, 504]),
    ] {
        // Until the connection is there and has prepared the statement.
        let is_prepared = async || lookup.send(&line, None).await.unwrap().messages[0] == 3;
        assert!(
            becomes_true(is_prepared).await,
            "no connection gets the three messages of a prepared statement: {fault:?}"
        );
        let exchange = lookup.send(&line, Some(fault.clone())).await.unwrap();
        assert!(exchange.damage.is_some(), "{fault:?}");
        assert!(statuses.contains(&exchange.response.status), "{fault:?}: {:?}", exchange.response);
        line.proxy.assert_closed().await;
    }
    let is_right = async || lookup.is_right(&lookup.send(&line, None).await.unwrap().response);
    assert!(becomes_true(is_right).await, "no response is right after the last fault");
    line.stop(false);
}

/// More requests than fit into the time that a new connection has to be set up.
const ATTEMPTS_OF_SET_UP: usize = 100;

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_that_does_not_answer_while_it_is_set_up_leaves_its_place() {
    let database = database().await;
    let line = Line::open(&database.config()).await;
    let lookup = Expected::read(&line, json!({ "query": LOOKUP }).to_string()).await;
    lookup.send(&line, Some(fault(Direction::FromClient, 0, FaultKind::Cut))).await.unwrap();
    line.proxy.assert_closed().await;
    // Neither the connections that requests open are set up, nor the one that is opened for later requests.
    line.proxy.silence(true);
    for _ in 0..3 {
        assert_eq!(lookup.send(&line, None).await.unwrap().response.status, 504);
    }
    line.proxy.silence(false);
    for _ in 0..ATTEMPTS_OF_SET_UP {
        if lookup.is_right(&lookup.send(&line, None).await.unwrap().response) {
            return line.stop(false);
        }
    }
    panic!("no further connection is opened");
}

/// Whether the condition holds at one of many attempts.
async fn becomes_true(condition: impl AsyncFn() -> bool) -> bool {
    for _ in 0..ATTEMPTS {
        if condition().await {
            return true;
        }
    }
    false
}

#[tokio::test(flavor = "multi_thread")]
async fn an_update_is_not_reported_as_applied_and_does_not_wait_for_a_lost_connection() {
    let database = migrated_database().await;
    let mut client = database.connect().await;
    client.batch_execute(updates::ORDERS).await.unwrap();
    create_users(&mut client, &[("demo", profile(2000))]).await;
    let line = Line::open(&database.config()).await;
    updates::send_until_available(&line, None, &box_form("first", 1)).await;
    // PostgreSQL does not answer any more on the connection: it waits for the end of a statement.
    let hung = fault(Direction::FromClient, 5, FaultKind::ThatType(b'H'));
    let exchange = updates::send(&line, Some(hung), None, &box_form("second", 2)).await;
    assert_eq!(exchange.response.status, 503, "{:?}: {:?}", exchange.damage, exchange.response);
    line.proxy.assert_closed().await;
    assert_eq!(updates::send_until_available(&line, None, &box_form("third", 3)).await, 200);
    assert_eq!(updates::audited(&client).await, ["first", "third"].map(mark));

    // PostgreSQL refuses the message before the last two, to whose response nobody listens, and takes a COMMIT all the same. The
    // last are Close and Sync of the last prepared statement, a statement that checks the transaction, and the COMMIT.
    let exchange = updates::send(&line, None, Some("fourth"), &box_form("fourth", 4)).await;
    assert_eq!(exchange.response.status, 200, "{:?}", exchange.response);
    let messages = exchange.messages[0];
    let refused = fault(Direction::FromClient, messages - 4, FaultKind::ThatType(b'B'));
    let exchange = updates::send(&line, Some(refused), Some("fifth"), &box_form("fifth", 6)).await;
    assert!(exchange.damage.as_ref().is_some_and(|damage| damage.contains(": C of")), "{:?}", exchange.damage);
    assert_eq!(exchange.response.status, 503, "{:?}: {:?}", exchange.damage, exchange.response);
    assert_eq!(updates::audited(&client).await, ["first", "third", "fourth"].map(mark));
    line.stop(false);
}
