//! The cost of orderql for writers of orders: PostgreSQL's CPU time for inserting orders with orderql's indexes and triggers, and
//! without.

use serde::Serialize;
use serde_json::json;
use tokio_postgres::Client;

use crate::database::Database;
use crate::error::{BenchError, Result};
use crate::report::{self, Row};
use crate::rounds;
use crate::statistics::median;
use crate::usage::CpuTimes;

/// Connections to the database are those of a reader.
const WRITER: &str = "
    SET default_transaction_read_only = off;
    SET default_transaction_isolation = 'read committed';
    SET client_min_messages = warning";

/// Makes the rows that are written.
const ROWS: &str = include_str!("../../sql/written_orders.sql");

/// Writes them in one statement for each table.
const IN_BULK: &str = "
    DO $$
    DECLARE
        name text;
    BEGIN
        FOREACH name IN ARRAY ARRAY[
            'order_header', 'order_item_ship_group', 'order_item', 'order_item_ship_group_assoc', 'order_item_ship_grp_inv_res',
            'order_role', 'order_payment_preference', 'order_status', 'order_adjustment', 'order_contact_mech', 'shipment',
            'shipment_item', 'order_shipment', 'shipment_status', 'return_header', 'return_item'
        ] LOOP
            EXECUTE format('INSERT INTO %1$I SELECT * FROM written.%1$I', name);
        END LOOP;
    END;
    $$";
const ROW_BY_ROW: &str = include_str!("../../sql/write_row_by_row.sql");

/// What is dropped before, and is there again when the transaction is rolled back.
const DROP_INDEXES: &str = "
    DO $$
    DECLARE
        name text;
    BEGIN
        FOR name IN SELECT indexrelid::regclass FROM pg_index JOIN pg_class ON oid = indexrelid WHERE relname LIKE 'oql\\_%' LOOP
            EXECUTE 'DROP INDEX ' || name;
        END LOOP;
    END;
    $$";
const DROP_TRIGGERS: &str = "
    DO $$
    DECLARE
        own record;
    BEGIN
        FOR own IN
            SELECT tgname, tgrelid::regclass AS relation
            FROM pg_trigger
            WHERE tgname LIKE 'orderql\\_%' AND tgname ~ 'names'
        LOOP
            EXECUTE format('DROP TRIGGER %I ON %s', own.tgname, own.relation);
        END LOOP;
    END;
    $$";

/// The goal for the CPU time of writing in bulk, as a multiple of that without orderql.
const GOAL: f64 = 1.5;

/// Everything that is written as JSON.
#[derive(Debug, Serialize)]
pub struct WritersReport {
    pub goal: f64,
    pub is_met: bool,
    pub writings: Vec<Writing>,
}

/// A way of writing orders, and the milliseconds of CPU time that it took PostgreSQL in the median of all rounds.
#[derive(Debug, Serialize)]
pub struct Writing {
    pub how: &'static str,
    pub without: f64,
    pub with_indexes: f64,
    /// With indexes and the triggers that keep what is searched.
    pub with_searches: f64,
    /// With the triggers of change feeds, too.
    pub with_all: f64,
    /// With what serves searches, as a multiple of that without.
    pub ratio: f64,
    pub ratio_of_all: f64,
}

/// What the database has of orderql while orders are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Variant {
    Nothing,
    Indexes,
    Searches,
    All,
}

impl Variant {
    /// A regular expression for the names of the triggers that are dropped.
    const fn dropped_triggers(self) -> Option<&'static str> {
        match self {
            Self::Nothing | Self::Indexes => Some(".*"),
            Self::Searches => Some("^orderql_(?!keep|store|item_|return_)"),
            Self::All => None,
        }
    }
}

/// Writes orders in turns, in transactions that are rolled back.
pub fn run(database: &Database, turns: usize, seed: u64) -> Result<WritersReport> {
    eprintln!("writing orders");
    let client = database.connect()?;
    database.block_on(client.batch_execute(WRITER))?;
    for statement in ROWS.split_inclusive(";\n\n") {
        database.block_on(client.batch_execute(statement))?;
    }
    let mut writings = Vec::new();
    for (how, sql) in [("in bulk", IN_BULK), ("row by row", ROW_BY_ROW)] {
        let mut measured =
            [Variant::Nothing, Variant::Indexes, Variant::Searches, Variant::All].map(|variant| (variant, Vec::new()));
        rounds::run(turns, seed, &mut measured, |_, (variant, times)| {
            times.push(database.block_on(write(&client, *variant, sql))?);
            // Rows that were rolled back would slow the next ones down.
            database.block_on(client.batch_execute("VACUUM")).map_err(BenchError::from)
        })?;
        let [without, with_indexes, with_searches, with_all] = measured.map(|(_, times)| median(times));
        let [ratio, ratio_of_all] = [with_searches, with_all].map(|time| time / without);
        writings.push(Writing { how, without, with_indexes, with_searches, with_all, ratio, ratio_of_all });
    }
    database.block_on(client.batch_execute("DROP SCHEMA written CASCADE"))?;
    let is_met = writings.first().is_some_and(|bulk| bulk.ratio <= GOAL);
    Ok(WritersReport { goal: GOAL, is_met, writings })
}

/// The milliseconds of CPU time of writing.
async fn write(client: &Client, variant: Variant, sql: &str) -> Result<f64> {
    client.batch_execute("BEGIN").await?;
    if let Some(dropped) = variant.dropped_triggers() {
        client.batch_execute(&DROP_TRIGGERS.replace("names", dropped)).await?;
    }
    if variant == Variant::Nothing {
        client.batch_execute(DROP_INDEXES).await?;
    }
    let process: i32 = client.query_one("SELECT pg_backend_pid()", &[]).await?.try_get(0)?;
    let look = || CpuTimes::of(process.unsigned_abs()).ok_or_else(|| BenchError::Data("no CPU times".to_owned()));
    let before = look()?;
    client.batch_execute(sql).await?;
    // What a commit does.
    client.batch_execute("SET CONSTRAINTS ALL IMMEDIATE").await?;
    let spent = look()?.since(&before);
    client.batch_execute("ROLLBACK").await?;
    Ok(spent.as_secs_f64() * 1000.0)
}

impl WritersReport {
    /// Prints the figures as a table, and whether the goal is met.
    pub fn print(&self) {
        let rows: Vec<Row> = self.writings.iter().map(Writing::row).collect();
        report::print("writing orders, milliseconds of CPU time", &rows);
        println!("goal in bulk {GOAL}: {}", if self.is_met { "met" } else { "NOT MET" });
    }
}

impl Writing {
    fn row(&self) -> Row {
        vec![
            ("", json!(self.how)),
            ("without orderql", json!(self.without.round())),
            ("with its indexes", json!(self.with_indexes.round())),
            ("with what is searched", json!(self.with_searches.round())),
            ("ratio", json!((self.ratio * 100.0).round() / 100.0)),
            ("with change feeds", json!(self.with_all.round())),
            ("ratio", json!((self.ratio_of_all * 100.0).round() / 100.0)),
        ]
    }
}
