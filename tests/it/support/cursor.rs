//! Values of cursors that tests make themselves.

use bytes::BytesMut;
use orderql::value::Timestamp;
use rust_decimal::Decimal;
use tokio_postgres::types::{ToSql, Type};

/// A `numeric` in PostgreSQL's binary format.
pub fn numeric(text: &str) -> BytesMut {
    let mut binary = BytesMut::new();
    text.parse::<Decimal>().unwrap().to_sql(&Type::NUMERIC, &mut binary).unwrap();
    // The conversion drops the scale of zero.
    let scale = text.split_once('.').map_or(0, |(_, fraction)| fraction.len());
    binary[6..8].copy_from_slice(&u16::try_from(scale).unwrap().to_be_bytes());
    binary
}

/// The moment so many microseconds after the beginning of 1970.
pub fn unix_micros(micros: i64) -> Timestamp {
    Timestamp(micros + Timestamp::UNIX_EPOCH.0)
}
