//! The orders and places in the walk that are asked for: chosen at random from the database, once.

use time::format_description::well_known::Rfc3339;
use time::{Duration, OffsetDateTime};
use tokio_postgres::Client;

use crate::measure::Fault;
use crate::measure::random::Random;

/// How many orders are asked for in turn, and how many places.
const ORDERS: usize = 20_000;
const PLACES: usize = 2_000;

/// What one request asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    /// An order.
    pub order: String,
    /// Its date, in microseconds since 1970.
    pub micros: i64,
    /// How many orders come before it in the walk, newest first.
    pub depth: usize,
}

impl Key {
    /// The date as RFC 3339 has it.
    pub fn date(&self) -> Result<String, Fault> {
        let moment = OffsetDateTime::UNIX_EPOCH.checked_add(Duration::microseconds(self.micros));
        let text = moment.and_then(|moment| moment.format(&Rfc3339).ok());
        text.ok_or_else(|| Fault::Data(format!("order {} has a date beyond all calendars", self.order)))
    }
}

/// What is asked for in a run.
#[derive(Debug)]
pub struct Keys {
    /// Orders, at random.
    pub orders: Vec<Key>,
    /// Orders behind which a page is asked for, at random depths over all that have a date. Of several with the same date
    /// it is the one that comes first, so that each can be found by its date alone.
    pub places: Vec<Key>,
    /// How ids are numbered, for who cannot be handed a list.
    pub numbering: Numbering,
    /// The oldest and the newest date, in seconds since 1970.
    pub dates: (i64, i64),
    /// Every order that has a date, newest first.
    pub walk: Vec<Key>,
}

/// Ids are a prefix and a number, and there is none missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Numbering {
    /// What stands before the number.
    pub prefix: String,
    /// Its digits; fewer are filled up with zeros.
    pub width: usize,
    /// The lowest number.
    pub first: u64,
    /// The highest.
    pub last: u64,
}

impl Keys {
    /// Chooses them, always the same from the same database and seed.
    pub async fn choose(client: &Client, seed: u64) -> Result<Self, Fault> {
        let walk = walk(client).await?;
        let (Some(newest), Some(oldest)) = (walk.first(), walk.last()) else {
            return Err(Fault::Data("the database has no orders with a date".to_owned()));
        };
        let dates = (oldest.micros / 1_000_000, newest.micros / 1_000_000);
        let ids = client.query("SELECT order_id FROM order_header ORDER BY order_id", &[]).await?;
        let ids = ids.iter().map(|row| row.try_get(0)).collect::<Result<Vec<String>, _>>()?;
        let mut random = Random::new(seed);
        let order = |id: &String| Key { order: id.clone(), micros: 0, depth: 0 };
        let orders = (0..ORDERS).map(|_| order(&ids[random.below(ids.len())])).collect();
        let places = (0..PLACES).map(|_| first_of_date(&walk, random.below(walk.len())).clone()).collect();
        Ok(Self { orders, places, numbering: numbering(&ids)?, dates, walk })
    }

    /// The place behind so many orders of the walk, or the nearest before it that can be found by its date.
    pub fn at_depth(&self, depth: usize) -> &Key {
        first_of_date(&self.walk, depth)
    }
}

async fn walk(client: &Client) -> Result<Vec<Key>, Fault> {
    let sql = "SELECT order_id, (extract(epoch FROM order_date) * 1000000)::int8
               FROM order_header WHERE order_date IS NOT NULL ORDER BY order_date DESC, order_id DESC";
    let rows = client.query(sql, &[]).await?;
    let before: i64 =
        client.query_one("SELECT count(*) FROM order_header WHERE order_date IS NULL", &[]).await?.try_get(0)?;
    let before = usize::try_from(before).unwrap_or_default();
    let key = |(place, row): (usize, &tokio_postgres::Row)| {
        Ok(Key { order: row.try_get(0)?, micros: row.try_get(1)?, depth: before + place })
    };
    rows.iter().enumerate().map(key).collect()
}

fn first_of_date(walk: &[Key], place: usize) -> &Key {
    let place = place.min(walk.len() - 1);
    let first = walk.partition_point(|key| key.micros > walk[place].micros);
    &walk[first]
}

fn numbering(ids: &[String]) -> Result<Numbering, Fault> {
    let unlike = || Fault::Data("order ids are not a prefix and numbers without gaps, which pgbench needs".to_owned());
    let split = |id: &String| {
        let digits = id.len() - id.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        let (prefix, number) = id.split_at(id.len() - digits);
        Some((prefix.to_owned(), digits, number.parse::<u64>().ok()?))
    };
    let parts = ids.iter().map(split).collect::<Option<Vec<_>>>().ok_or_else(unlike)?;
    let (first, last) = (parts.iter().map(|part| part.2).min(), parts.iter().map(|part| part.2).max());
    let ((Some(first), Some(last)), Some((prefix, ..))) = ((first, last), parts.first()) else { return Err(unlike()) };
    let width = parts.iter().map(|part| part.1).min().unwrap_or_default();
    let is_regular = |part: &(String, usize, u64)| part.0 == *prefix && format!("{:0width$}", part.2).len() == part.1;
    if last - first + 1 == ids.len() as u64 && parts.iter().all(is_regular) {
        return Ok(Numbering { prefix: prefix.clone(), width, first, last });
    }
    Err(unlike())
}

impl Numbering {
    /// An expression for the id of a pgbench variable.
    pub fn expression(&self, variable: &str) -> String {
        let Self { prefix, width, first, .. } = self;
        let prefix = prefix.replace('\'', "''");
        if first.to_string().len() >= *width {
            format!("('{prefix}' || :{variable}::text)")
        } else {
            format!("('{prefix}' || lpad(:{variable}::text, {width}, '0'))")
        }
    }
}
