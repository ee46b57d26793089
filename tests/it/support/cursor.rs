//! Values of cursors that tests make themselves, and values of sealed cursors.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use bytes::BytesMut;
use orderql::seal::Secret;
use orderql::value::Timestamp;
use rust_decimal::Decimal;
use tokio_postgres::types::{ToSql, Type};

/// A `numeric` in PostgreSQL's binary format.
pub fn numeric(text: &str) -> BytesMut {
    let mut binary = BytesMut::new();
    // PostgreSQL has no digits that are zeros at the end.
    text.parse::<Decimal>().unwrap().normalize().to_sql(&Type::NUMERIC, &mut binary).unwrap();
    // The scale is the number of places that it shows.
    let scale = text.split_once('.').map_or(0, |(_, fraction)| fraction.len());
    binary[6..8].copy_from_slice(&u16::try_from(scale).unwrap().to_be_bytes());
    binary
}

/// The moment so many microseconds after the beginning of 1970.
pub fn unix_micros(micros: i64) -> Timestamp {
    Timestamp(micros + Timestamp::UNIX_EPOCH.0)
}

/// The bytes of a sealed cursor's values, if these bytes without a checksum are a cursor that is sealed with the default secret.
pub fn sealed_values(cursor: &[u8]) -> Option<Vec<u8>> {
    // After the version, the tag, a hash of the limits, and the number of the response.
    Secret::default().open(cursor, 17)
}

/// A response with the values of sealed cursors in place of them: a row has another cursor in each response.
pub fn with_opened_cursors(response: &str) -> String {
    let open = |text: &str| {
        let bytes = BASE64_URL_SAFE_NO_PAD.decode(text).ok()?;
        let (cursor, _checksum) = bytes.split_last_chunk::<4>()?;
        let values = sealed_values(cursor)?;
        Some(format!("cursor {:?} {values:?}", &cursor[..9]))
    };
    let parts: Vec<_> = response.split('"').map(|part| open(part).unwrap_or_else(|| part.to_owned())).collect();
    parts.join("\"")
}
