//! The same race over HTTP: clients follow `orderChanges` in pages of all sizes. When the writers have ended, each has copied all orders.

use std::thread;

use serde_json::{Value, json};

use super::*;
use crate::support::http::JSON;
use crate::support::server::Server;

const ROUNDS: u64 = 3;

const QUERY: &str = "query($first: Int!, $after: String) { orderChanges(first: $first, after: $after) {
    edges { node { orderId order { grandTotal orderItems(first: 5) { edges { node { quantity } } } } } }
    pageInfo { hasNextPage endCursor } } }";

/// An order's total, and the quantities of its items.
type Copy = BTreeMap<String, (String, Vec<String>)>;

/// A client that copies orders.
struct Follower {
    size: usize,
    token: String,
    after: Value,
    copy: Copy,
    delivered: u64,
}

impl Follower {
    /// Reads all pages of a difference.
    fn read(&mut self, server: &Server) {
        loop {
            let body = json!({ "query": QUERY, "variables": { "first": self.size, "after": self.after } }).to_string();
            let response = server.post(&self.token, JSON, body).json();
            let page = &response["data"]["orderChanges"];
            let edges = page["edges"].as_array().unwrap_or_else(|| panic!("{response}"));
            for edge in edges {
                let text = |value: &Value| value.as_str().unwrap().to_owned();
                let (id, order) = (text(&edge["node"]["orderId"]), &edge["node"]["order"]);
                if order.is_null() {
                    self.copy.remove(&id);
                } else {
                    let items = order["orderItems"]["edges"].as_array().unwrap();
                    let quantities = items.iter().map(|edge| text(&edge["node"]["quantity"])).collect();
                    self.copy.insert(id, (text(&order["grandTotal"]), quantities));
                }
                self.delivered += 1;
            }
            self.after = page["pageInfo"]["endCursor"].clone();
            if page["pageInfo"]["hasNextPage"] == json!(false) {
                return;
            }
        }
    }
}

async fn table(client: &Client) -> Copy {
    let select = "SELECT order_id, grand_total::text, ARRAY(
                      SELECT quantity::text FROM order_item WHERE order_item.order_id = header.order_id ORDER BY order_item_seq_id
                  ) FROM order_header AS header";
    let rows = client.query(select, &[]).await.unwrap();
    rows.iter().map(|row| (row.get(0), (row.get(1), row.get(2)))).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn no_client_misses_a_change() {
    let seed = number("CHANGES_SEED", 1);
    let postgres = Postgres::start_with("changes-http", &[("max_prepared_transactions", "20"), ("fsync", "off")]).await;
    let client = postgres.connect().await;
    let server = Server::start_with_config(&postgres.config(), &["--bucket-size", "1000000000"]);
    let token = server.token("demo");
    let follow = |size| Follower { size, token: token.clone(), after: Value::Null, copy: Copy::new(), delivered: 0 };
    let mut followers: Vec<_> = (1..=7).map(follow).collect();
    for follower in &mut followers {
        follower.read(&server);
    }
    client.batch_execute(MADE).await.unwrap();
    let tried = Arc::<Tried>::default();
    for round in 0..ROUNDS {
        let (is_over, is_written) = (Arc::<AtomicBool>::default(), Arc::<AtomicBool>::default());
        let mut writers = Vec::new();
        for number in 0..WRITERS {
            let writer = Writer {
                number: round * WRITERS + number,
                random: Random((seed * 1000 + round) * 100 + number),
                client: postgres.connect().await,
                own: Vec::new(),
                made: 0,
                tried: Arc::clone(&tried),
                longest: Duration::from_secs(1),
            };
            writers.push(tokio::spawn(writer.run(Arc::clone(&is_over))));
        }
        let compaction = tokio::spawn(compact(postgres.connect().await, Arc::clone(&is_written), Arc::clone(&tried)));
        thread::scope(|scope| {
            for follower in &mut followers {
                let (server, is_written) = (&server, &is_written);
                scope.spawn(move || {
                    while !is_written.load(Ordering::Relaxed) {
                        follower.read(server);
                    }
                });
            }
            tokio::task::block_in_place(|| {
                tokio::runtime::Handle::current().block_on(async {
                    tokio::time::sleep(Duration::from_secs(1)).await;
                    is_over.store(true, Ordering::Relaxed);
                    for writer in writers {
                        writer.await.unwrap();
                    }
                    is_written.store(true, Ordering::Relaxed);
                });
            });
        });
        compaction.await.unwrap();
        let expected = table(&client).await;
        for follower in &mut followers {
            follower.read(&server);
            assert_eq!(follower.copy, expected, "pages of {}", follower.size);
        }
    }
    tried.count("orders delivered", followers.iter().map(|follower| follower.delivered).sum());
    println!("{}        0  changes missed", tried.table());
}
