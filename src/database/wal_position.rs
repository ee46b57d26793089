//! Positions in PostgreSQL's write-ahead log: how far a server has written it, or a standby replayed it.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;
use tokio_postgres::{Client, SimpleQueryMessage};

use crate::database::error::DatabaseError;

/// How far the primary has written. A standby that has replayed everything is where the last record ends. If that is the end of a
/// page, PostgreSQL's own function says where the next record will begin, behind the page's header: 24 bytes, or 40 at the
/// beginning of a file.
const WRITTEN: &str = "
    SELECT CASE
        WHEN (lsn - '0/0') % pg_size_bytes(current_setting('wal_segment_size')) = 40 THEN lsn - 40
        WHEN (lsn - '0/0') % current_setting('wal_block_size')::int = 24 THEN lsn - 24
        ELSE lsn
    END
    FROM pg_current_wal_insert_lsn() AS lsn";

/// How far a standby has replayed; null on a server that is none.
const REPLAYED: &str = "SELECT CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() END";

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct WalPosition(u64);

/// A text is no position.
#[derive(Debug, Error)]
#[error("a position is two hexadecimal numbers with a slash between, such as 16/B374D848")]
pub(crate) struct MalformedPosition;

impl From<u64> for WalPosition {
    fn from(bytes: u64) -> Self {
        Self(bytes)
    }
}

impl From<WalPosition> for u64 {
    fn from(WalPosition(bytes): WalPosition) -> Self {
        bytes
    }
}

impl FromStr for WalPosition {
    type Err = MalformedPosition;

    fn from_str(text: &str) -> Result<Self, MalformedPosition> {
        let half = |digits: &str| {
            let is_number = (1..=8).contains(&digits.len()) && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
            is_number.then(|| u64::from_str_radix(digits, 16).ok()).flatten().ok_or(MalformedPosition)
        };
        let (high, low) = text.split_once('/').ok_or(MalformedPosition)?;
        Ok(Self(half(high)? << 32 | half(low)?))
    }
}

impl fmt::Display for WalPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:X}/{:X}", self.0 >> 32, self.0 & u64::from(u32::MAX))
    }
}

/// How far the primary has written: behind everything that was committed before.
pub(crate) async fn written(client: &Client) -> Result<WalPosition, DatabaseError> {
    position(client, WRITTEN).await?.ok_or(DatabaseError::Incomplete { announced: None, received: 0 })
}

/// How far a standby has replayed; `None` on a server that is none.
pub(crate) async fn replayed(client: &Client) -> Result<Option<WalPosition>, DatabaseError> {
    position(client, REPLAYED).await
}

/// The position that a statement selects. It is sent as text, in one round trip.
async fn position(client: &Client, select: &str) -> Result<Option<WalPosition>, DatabaseError> {
    let messages = client.simple_query(select).await?;
    let row = messages.iter().find_map(|message| match message {
        SimpleQueryMessage::Row(row) => Some(row.try_get(0)),
        _ => None,
    });
    let text = row.ok_or(DatabaseError::Incomplete { announced: None, received: 0 })??;
    text.map(str::parse).transpose().map_err(|error: MalformedPosition| DatabaseError::Unreachable(error.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_written_as_postgresql_writes_it_and_compared_as_a_number() {
        for (text, shown) in [("16/B374D848", "16/B374D848"), ("0/0", "0/0"), ("00a/0000000b", "A/B")] {
            assert_eq!(text.parse::<WalPosition>().unwrap().to_string(), shown);
        }
        let read = |text: &str| text.parse::<WalPosition>().unwrap();
        assert!(read("0/FFFFFFFF") < read("1/0") && read("9/0") < read("10/0"));
        for wrong in
            ["", "/", "1", "1/", "/1", "1/2/3", "G/1", "+1/1", "1/-1", " 1/1", "1/1 ", "123456789/0", "0/123456789"]
        {
            assert!(wrong.parse::<WalPosition>().is_err(), "{wrong:?}");
        }
    }
}
