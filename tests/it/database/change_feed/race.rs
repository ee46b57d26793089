//! Simultaneous writers and readers. No reader misses a change, whatever the size of its pages.
//!
//! `CHANGES_SECONDS` sets for how long they write, `CHANGES_SEED` another seed; see `./dev changes`.

mod over_http;

use std::collections::BTreeMap;
use std::env;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tokio_postgres::Client;

use crate::database::change_feed::reader::{Orders, Reader, all};
use crate::database::postgres::Postgres;
use crate::support::random::Random;

const WRITERS: u64 = 8;
const ORDERS: usize = 40;

/// Marks are removed when a later one is so old. A difference that takes longer to read may lack an order, which the next one has.
const MARGIN: Duration = Duration::from_secs(5);

const TICK: &str = "
    INSERT INTO orderql.sync_tick (at, epoch, system_identifier, timeline, lsn, snapshot)
    SELECT clock_timestamp(), epoch, 0, timeline, pg_current_wal_insert_lsn(), pg_current_snapshot()
    FROM orderql.sync_epoch()";

/// What was tried, and how often.
#[derive(Default)]
struct Tried(Mutex<BTreeMap<&'static str, u64>>);

impl Tried {
    fn count(&self, what: &'static str, times: u64) {
        *self.0.lock().unwrap().entry(what).or_default() += times;
    }

    fn table(&self) -> String {
        let lines = self.0.lock().unwrap();
        lines.iter().map(|(what, times)| format!("{times:>9}  {what}\n")).collect::<Vec<_>>().concat()
    }
}

/// A writer, and the orders that it made itself.
struct Writer {
    number: u64,
    random: Random,
    client: Client,
    own: Vec<String>,
    made: u64,
    tried: Arc<Tried>,
    longest: Duration,
}

impl Writer {
    fn order(&mut self) -> String {
        format!("O{:02}", self.random.below(ORDERS))
    }

    /// A statement of a transaction.
    fn statement(&mut self) -> (&'static str, String) {
        let order = self.order();
        match self.random.below(9) {
            0 | 1 => (
                "orders changed",
                format!("UPDATE order_header SET grand_total = grand_total + 1 WHERE order_id = '{order}'"),
            ),
            2 | 3 => {
                ("items changed", format!("UPDATE order_item SET quantity = quantity + 1 WHERE order_id = '{order}'"))
            }
            4 => (
                "items of shipments changed",
                format!("UPDATE shipment_item SET quantity = quantity + 1 WHERE shipment_id = '{order}'"),
            ),
            5 => (
                "returns changed",
                format!(
                    "UPDATE return_header SET external_id = (external_id::int + 1)::text WHERE return_id = '{order}'"
                ),
            ),
            6 => {
                self.made += 1;
                let seq = format!("{}-{}", self.number, self.made);
                (
                    "items of returns added",
                    format!(
                        "INSERT INTO return_item (return_id, return_item_seq_id, order_id) VALUES ('{}', '{seq}', '{order}')",
                        self.order()
                    ),
                )
            }
            7 => {
                self.made += 1;
                let order = format!("W{}-{}", self.number, self.made);
                self.own.push(order.clone());
                ("orders added", format!("INSERT INTO order_header (order_id, grand_total) VALUES ('{order}', 1)"))
            }
            _ => {
                let order = self.own.pop().unwrap_or_default();
                ("orders deleted", format!("DELETE FROM order_header WHERE order_id = '{order}'"))
            }
        }
    }

    fn pause(&mut self) -> String {
        let longest = if self.random.chance(2) { self.longest } else { Duration::from_millis(40) };
        format!(
            "SELECT pg_sleep({})",
            longest.as_secs_f64() * f64::from(u8::try_from(self.random.below(256)).unwrap()) / 255.0
        )
    }

    /// Runs one transaction, which may fail because of a deadlock.
    async fn transaction(&mut self) -> Result<(), tokio_postgres::Error> {
        if self.random.chance(3) {
            self.tried.count("bulk updates of all orders", 1);
            return self
                .client
                .batch_execute("UPDATE order_item SET quantity = quantity + 1 WHERE order_id LIKE 'O%'")
                .await;
        }
        self.client.batch_execute("BEGIN").await?;
        for _ in 0..=self.random.below(4) {
            let is_savepoint = self.random.chance(20);
            if is_savepoint {
                self.client.batch_execute("SAVEPOINT place").await?;
            }
            let own = self.own.clone();
            let (what, sql) = self.statement();
            self.client.batch_execute(&sql).await?;
            if is_savepoint && self.random.chance(60) {
                self.client.batch_execute("ROLLBACK TO place").await?;
                self.own = own;
                self.tried.count("savepoints rolled back", 1);
            } else {
                self.tried.count(what, 1);
            }
            if self.random.chance(40) {
                let pause = self.pause();
                self.client.batch_execute(&pause).await?;
            }
        }
        let ends_well = self.random.chance(95);
        if self.random.chance(10) {
            let name = format!("two-phase-{}", self.number);
            self.client.batch_execute(&format!("PREPARE TRANSACTION '{name}'")).await?;
            let pause = self.pause();
            self.client.batch_execute(&pause).await?;
            let end = if ends_well { "COMMIT" } else { "ROLLBACK" };
            self.client.batch_execute(&format!("{end} PREPARED '{name}'")).await?;
            self.tried.count("transactions of two phases", 1);
        } else {
            self.client.batch_execute(if ends_well { "COMMIT" } else { "ROLLBACK" }).await?;
        }
        self.tried.count(if ends_well { "transactions committed" } else { "transactions rolled back" }, 1);
        Ok(())
    }

    async fn run(mut self, is_over: Arc<AtomicBool>) {
        while !is_over.load(Ordering::Relaxed) {
            let own = self.own.clone();
            if self.transaction().await.is_err() {
                self.client.batch_execute("ROLLBACK").await.unwrap();
                self.tried.count("transactions failed", 1);
                self.own = own;
            }
        }
    }
}

/// Everything that a copy lacks, given what must be in it: rows that are older, rows that are missing, and rows that are gone.
fn missed(copy: &Orders, at_least: &Orders, before: &Orders) -> Vec<String> {
    let older = at_least.iter().filter(|(order, version)| copy.get(*order).is_some_and(|copied| copied < *version));
    // Those that were there all the time cannot have been deleted later.
    let lost = at_least.keys().filter(|order| order.starts_with('O') && !copy.contains_key(*order));
    let kept = copy.keys().filter(|order| before.contains_key(*order) && !at_least.contains_key(*order));
    older.map(|(order, _)| order).chain(lost).chain(kept).cloned().collect()
}

/// Reads pages of a size until it is over. Every difference is complete: what its first page's snapshot shows is in the copy.
async fn read_pages(
    postgres: Arc<Client>,
    client: Client,
    size: i64,
    is_over: Arc<AtomicBool>,
    tried: Arc<Tried>,
) -> (Reader, Client) {
    let mut reader = Reader::start(&client, size).await;
    while !is_over.load(Ordering::Relaxed) {
        let before = reader.copy.clone();
        // A snapshot that is not later than that of the first page.
        let at_least = all(&postgres).await;
        let begun = Instant::now();
        reader.read(&client).await;
        tried.count("differences read in pages", 1);
        if begun.elapsed() < MARGIN {
            let missed = missed(&reader.copy, &at_least, &before);
            assert!(missed.is_empty(), "pages of {size} missed {missed:?}");
        }
    }
    (reader, client)
}

/// Reads each difference in one snapshot with all orders, which the copy equals then.
async fn read_exactly(client: Client, is_over: Arc<AtomicBool>, tried: Arc<Tried>) -> (Reader, Client) {
    let mut reader = Reader::start(&client, i64::MAX).await;
    while !is_over.load(Ordering::Relaxed) {
        client.batch_execute("BEGIN ISOLATION LEVEL REPEATABLE READ").await.unwrap();
        reader.read(&client).await;
        assert_eq!(reader.copy, all(&client).await);
        client.batch_execute("COMMIT").await.unwrap();
        tried.count("differences compared with all orders", 1);
    }
    (reader, client)
}

/// Writes ticks and removes marks.
async fn compact(client: Client, is_over: Arc<AtomicBool>, tried: Arc<Tried>) {
    let removed = AtomicU64::new(0);
    while !is_over.load(Ordering::Relaxed) {
        client.batch_execute(TICK).await.unwrap();
        tried.count("ticks", 1);
        for marks in ["order_change_direct", "order_change_indirect"] {
            let select = "SELECT removed FROM orderql.sync_compact($1, 20, make_interval(secs => $2))";
            let row = client.query_one(select, &[&marks, &MARGIN.as_secs_f64()]).await.unwrap();
            removed.fetch_add(u64::try_from(row.get::<_, i64>(0)).unwrap(), Ordering::Relaxed);
        }
        tried.count("marks removed", removed.swap(0, Ordering::Relaxed));
        client.batch_execute("SELECT pg_sleep(0.05)").await.unwrap();
    }
}

/// Orders, each with an item, a shipment with an item, and a return without items.
const MADE: &str = "
    INSERT INTO order_header (order_id, grand_total) SELECT 'O' || lpad(n::text, 2, '0'), 1 FROM generate_series(0, 39) AS n;
    INSERT INTO order_item (order_id, order_item_seq_id, quantity) SELECT order_id, '00001', 1 FROM order_header;
    INSERT INTO shipment (shipment_id, primary_order_id) SELECT order_id, order_id FROM order_header;
    INSERT INTO shipment_item (shipment_id, shipment_item_seq_id, quantity) SELECT shipment_id, '00001', 1 FROM shipment;
    INSERT INTO return_header (return_id, external_id) SELECT order_id, '0' FROM order_header";

fn number(name: &str, default: u64) -> u64 {
    env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}

#[tokio::test(flavor = "multi_thread")]
async fn no_reader_misses_a_change() {
    let (seconds, seed) = (number("CHANGES_SECONDS", 6), number("CHANGES_SEED", 1));
    let longest = Duration::from_secs(if seconds > 100 { 30 } else { 2 });
    let postgres = Postgres::start_with("changes", &[("max_prepared_transactions", "20"), ("fsync", "off")]).await;
    postgres.connect().await.batch_execute(MADE).await.unwrap();
    let (is_over, tried) = (Arc::<AtomicBool>::default(), Arc::<Tried>::default());
    // Readers go on until the writers have ended, and read once more then.
    let is_written = Arc::<AtomicBool>::default();
    let mut writers = Vec::new();
    for number in 0..WRITERS {
        let writer = Writer {
            number,
            random: Random(seed * 1000 + number),
            client: postgres.connect().await,
            own: Vec::new(),
            made: 0,
            tried: Arc::clone(&tried),
            longest,
        };
        writers.push(tokio::spawn(writer.run(Arc::clone(&is_over))));
    }
    let mut readers =
        vec![tokio::spawn(read_exactly(postgres.connect().await, Arc::clone(&is_written), Arc::clone(&tried)))];
    for size in 1..=7 {
        let asked = Arc::new(postgres.connect().await);
        let client = postgres.connect().await;
        readers.push(tokio::spawn(read_pages(asked, client, size, Arc::clone(&is_written), Arc::clone(&tried))));
    }
    let compaction = tokio::spawn(compact(postgres.connect().await, Arc::clone(&is_written), Arc::clone(&tried)));
    tokio::time::sleep(Duration::from_secs(seconds)).await;
    is_over.store(true, Ordering::Relaxed);
    for writer in writers {
        writer.await.unwrap();
    }
    is_written.store(true, Ordering::Relaxed);
    compaction.await.unwrap();
    let expected = all(&postgres.connect().await).await;
    for reader in readers {
        let (mut reader, client) = reader.await.unwrap();
        reader.read(&client).await;
        assert_eq!(reader.copy, expected);
        tried.count("orders delivered", reader.delivered);
    }
    println!("{}        0  changes missed", tried.table());
}
