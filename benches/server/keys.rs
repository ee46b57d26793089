//! The orders and page positions that requests ask for, chosen at random from the database.

use tokio_postgres::Client;
use tokio_postgres::types::ToSql;

use crate::error::{BenchError, Result};
use crate::workload::{Key, Workload};

/// How many orders and positions are asked for in turn.
const ORDERS: i64 = 20_000;
const POSITIONS: i64 = 2_000;

/// A date as RFC 3339 writes it.
const DATE: &str = "to_char(order_date AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"')";

/// What the requests of a run ask for.
#[derive(Debug)]
pub struct Keys {
    orders: Vec<Key>,
    /// Of several orders with the same date the newest, so that each is found by its date alone.
    positions: Vec<Key>,
    /// How many orders have a date.
    pub dated: usize,
}

impl Keys {
    /// Chooses keys; the same database and seed give the same keys.
    pub async fn choose(client: &Client, seed: u64) -> Result<Self> {
        let seed = seed.cast_signed();
        let orders = "SELECT order_id::text, '' FROM order_header
                      ORDER BY hashtextextended(order_id, $1), order_id LIMIT $2";
        let positions = format!(
            "SELECT max(order_id)::text, {DATE} FROM order_header WHERE order_date IS NOT NULL
             GROUP BY order_date ORDER BY hashtextextended(order_date::text, $1), order_date LIMIT $2"
        );
        let dated = client.query_one("SELECT count(order_date) FROM order_header", &[]).await?.try_get::<_, i64>(0)?;
        if dated == 0 {
            return Err(BenchError::Data("the database has no orders with a date".to_owned()));
        }
        Ok(Self {
            orders: keys(client, orders, &[&seed, &ORDERS]).await?,
            positions: keys(client, &positions, &[&seed, &POSITIONS]).await?,
            dated: usize::try_from(dated).unwrap_or_default(),
        })
    }

    /// The keys of a workload.
    pub fn of(&self, workload: Workload) -> &[Key] {
        if workload.is_single_order() { &self.orders } else { &self.positions }
    }
}

/// The position behind so many orders with a date, newest first, or behind the newest with the same date.
pub async fn at_depth(client: &Client, depth: usize) -> Result<Key> {
    let sql = format!(
        "SELECT max(order_id)::text, {DATE} FROM order_header WHERE order_date = (
             SELECT order_date FROM order_header WHERE order_date IS NOT NULL ORDER BY order_date DESC OFFSET $1 LIMIT 1
         ) GROUP BY order_date"
    );
    let key = keys(client, &sql, &[&i64::try_from(depth).unwrap_or(i64::MAX)]).await?.pop();
    key.ok_or_else(|| BenchError::Data(format!("the database has no {depth} orders with a date")))
}

async fn keys(client: &Client, sql: &str, parameters: &[&(dyn ToSql + Sync)]) -> Result<Vec<Key>> {
    let rows = client.query(sql, parameters).await?;
    rows.iter().map(|row| Ok(Key { order_id: row.try_get(0)?, date: row.try_get(1)? })).collect()
}
