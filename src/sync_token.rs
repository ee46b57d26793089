//! The opaque token of a change feed: which transactions its holder has seen.
//!
//! A transaction that is visible in a later snapshot of PostgreSQL and not in the token's snapshot has committed since, however long it
//! took. A token between two pages also has the later snapshot, which stays the same until the last page, and the last mark that was read.
//! Like a cursor, it is no secret, and has a checksum that detects a token that was cut or changed.
//!
//! Bytes, before base64url: version, tag of the feed (4), epoch (8), timeline (4), the snapshot, and for a token between two pages a 1,
//! the later snapshot, its time (8) and the position; otherwise a 0; checksum (4).

use std::fmt::{self, Write};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use crate::cursor::{OrderingTag, checksum};
use crate::value::Timestamp;

const VERSION: u8 = 1;

/// The version of tokens of a feed with rows that a scope limits.
const SCOPED_VERSION: u8 = 2;

/// The longest token that is decoded, in characters.
const MAX_LENGTH: usize = 24_576;

/// The most bytes that the running transactions of a snapshot take in a token. Of a snapshot with more, the token has an older one.
const MAX_RUNNING_BYTES: usize = 4096;

/// The highest id that PostgreSQL gives to a transaction, about. A sum of two is no overflow.
const MAX_ID: u64 = 1 << 62;

/// The transactions that are visible at a time: the transactions below `xmax` that were not running. Its `Display` is PostgreSQL's
/// notation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    xmin: u64,
    xmax: u64,
    /// The transactions that were running, in ascending order, from `xmin` to below `xmax`.
    running: Vec<u64>,
}

impl Snapshot {
    /// Reads PostgreSQL's notation: `xmin:xmax:running,…`.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.splitn(3, ':');
        let mut next = || parts.next();
        let (xmin, xmax, running) = (next()?.parse().ok()?, next()?.parse().ok()?, next()?);
        let running = running.split(',').filter(|id| !id.is_empty());
        let running = running.map(|id| id.parse().ok()).collect::<Option<Vec<u64>>>()?;
        Some(Self { xmin, xmax, running }).filter(Self::is_valid)
    }

    fn is_valid(&self) -> bool {
        let Self { xmin, xmax, running } = self;
        let is_ascending = running.is_sorted_by(|one, next| one < next);
        let is_within =
            running.first().is_none_or(|first| first >= xmin) && running.last().is_none_or(|last| last < xmax);
        // PostgreSQL takes no snapshot with an id whose lower half is 0, and gives none.
        let is_id = |id: u64| id & u64::from(u32::MAX) > 0;
        is_id(*xmin) && is_id(*xmax) && xmin <= xmax && *xmax < MAX_ID && is_ascending && is_within
    }

    /// Whether a transaction is visible.
    pub fn shows(&self, id: u64) -> bool {
        id < self.xmax && self.running.binary_search(&id).is_err()
    }

    /// Whether every transaction that is visible in it is so in the other, too.
    pub fn is_within(&self, other: &Self) -> bool {
        self.xmax <= other.xmax && other.running.iter().all(|id| !self.shows(*id))
    }

    /// The same, or one from before: without the transactions from one on that had no place in the token.
    fn bounded(&self) -> Self {
        let (mut bytes, mut last) = (0, self.xmin);
        let fits = self.running.iter().take_while(|id| {
            bytes += varint_bytes(**id - last);
            last = **id;
            bytes <= MAX_RUNNING_BYTES
        });
        let count = fits.count();
        let xmax = self.running.get(count).copied().unwrap_or(self.xmax);
        Self { xmin: self.xmin, xmax, running: self.running[..count].to_vec() }
    }
}

impl fmt::Display for Snapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:", self.xmin, self.xmax)?;
        for (index, id) in self.running.iter().enumerate() {
            write!(f, "{}{id}", if index > 0 { "," } else { "" })?;
        }
        Ok(())
    }
}

/// A history of the database, which the ids of its transactions belong to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Epoch {
    /// A database from one reset of its feeds to the next.
    pub epoch: i64,
    /// Which promotion of a standby it follows.
    pub timeline: i32,
}

/// A token of a change feed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyncToken {
    /// The epoch of its transaction ids.
    pub epoch: Epoch,
    /// The snapshot up to which the holder has seen all changes.
    pub from: Snapshot,
    /// Its place among the changes since then, between two pages.
    pub walk: Option<Walk>,
}

/// A place among the changes between two snapshots.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Walk {
    /// The later snapshot.
    pub to: Snapshot,
    /// When it was taken.
    pub at: Timestamp,
    /// The last mark that was read.
    pub position: Position,
}

/// A mark in the order of a feed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Position {
    /// The transaction that made it.
    pub xid: u64,
    /// The column of a row in between by which the feed's row is found; empty if the mark names it itself.
    pub via: String,
    /// The value of that column, or the key of the feed's row.
    pub id: String,
    /// The last row that was read, of the feed's rows that belong to the row in between; `None` if all were read.
    pub key: Option<String>,
}

impl Position {
    /// Reads the form in which statements return it: a JSON array of texts.
    pub fn parse(json: &[u8]) -> Option<Self> {
        let (xid, via, id, key): (String, String, String, Option<String>) = serde_json::from_slice(json).ok()?;
        Some(Self { xid: xid.parse().ok()?, via, id, key })
    }
}

/// Why a text is no token of a feed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BadSyncToken {
    /// It is not base64, was cut or changed, or has another version.
    Unreadable,
    /// It was made for another feed.
    OtherFeed,
    /// It was made when other rows could be seen.
    OtherScope,
}

impl fmt::Display for BadSyncToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unreadable => {
                "it is not a token that this service made, or it was cut or changed on the way; send the `endCursor` that you stored \
                 last, byte for byte"
            }
            Self::OtherFeed => "it was made for another feed; send the token that this field returned",
            Self::OtherScope => {
                "it was made when other rows could be seen than now; begin again: take a token without `after`, and copy everything"
            }
        })
    }
}

impl SyncToken {
    /// Appends the text. It needs no escaping in JSON.
    pub fn write(&self, feed: OrderingTag, out: &mut Vec<u8>) {
        let mut bytes = vec![if feed.scope().is_some() { SCOPED_VERSION } else { VERSION }];
        bytes.extend_from_slice(&feed.to_bytes());
        bytes.extend(feed.scope().iter().flat_map(|scope| scope.to_be_bytes()));
        bytes.extend_from_slice(&self.epoch.epoch.to_be_bytes());
        bytes.extend_from_slice(&self.epoch.timeline.to_be_bytes());
        write_snapshot(&self.from.bounded(), &mut bytes);
        bytes.push(u8::from(self.walk.is_some()));
        if let Some(Walk { to, at, position }) = &self.walk {
            write_snapshot(&to.bounded(), &mut bytes);
            bytes.extend_from_slice(&at.0.to_be_bytes());
            write_varint(position.xid, &mut bytes);
            for text in [Some(&position.via), Some(&position.id), position.key.as_ref()] {
                // A length of 0 is for no text.
                write_varint(text.map_or(0, |text| text.len() as u64 + 1), &mut bytes);
                bytes.extend_from_slice(text.map_or(&[], |text| text.as_bytes()));
            }
        }
        bytes.extend_from_slice(&checksum(&bytes).to_be_bytes());
        out.extend_from_slice(URL_SAFE_NO_PAD.encode(bytes).as_bytes());
    }

    /// The text that clients store, as a value of its own.
    pub fn text(&self, feed: OrderingTag) -> String {
        let mut out = Vec::new();
        self.write(feed, &mut out);
        String::from_utf8_lossy(&out).into_owned()
    }

    /// Decodes a token of the feed.
    pub fn decode(text: &str, feed: OrderingTag) -> Result<Self, BadSyncToken> {
        if text.len() > MAX_LENGTH {
            return Err(BadSyncToken::Unreadable);
        }
        let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| BadSyncToken::Unreadable)?;
        let (bytes, sum) = bytes.split_last_chunk::<4>().ok_or(BadSyncToken::Unreadable)?;
        let mut reader = TokenReader { rest: bytes };
        if checksum(bytes) != u32::from_be_bytes(*sum) {
            return Err(BadSyncToken::Unreadable);
        }
        let is_scoped = match reader.chunk() {
            Some([VERSION]) => false,
            Some([SCOPED_VERSION]) => true,
            _ => return Err(BadSyncToken::Unreadable),
        };
        if reader.chunk() != Some(feed.to_bytes()) {
            return Err(BadSyncToken::OtherFeed);
        }
        if (if is_scoped { reader.chunk() } else { None }).map(u32::from_be_bytes) != feed.scope() {
            return Err(BadSyncToken::OtherScope);
        }
        let token = reader.token().filter(|_| reader.rest.is_empty());
        token.filter(Self::is_possible).ok_or(BadSyncToken::Unreadable)
    }

    /// Whether its later snapshot shows all that the earlier one does.
    fn is_possible(&self) -> bool {
        self.walk.as_ref().is_none_or(|walk| self.from.is_within(&walk.to))
    }

    /// The transactions below the earlier snapshot's end whose marks are still to be read, as an array of PostgreSQL: the transactions that
    /// ran then, and come after the position.
    pub fn finished_since(&self) -> String {
        let after = self.walk.as_ref().map_or(0, |walk| walk.position.xid);
        let mut text = String::from("{");
        for id in self.from.running.iter().filter(|id| **id > after) {
            if self.walk.as_ref().is_none_or(|walk| walk.to.shows(*id)) {
                // Writing to a string cannot fail.
                let _ = write!(text, "{}{id}", if text.len() > 1 { "," } else { "" });
            }
        }
        text + "}"
    }

    /// The first of the other transactions whose marks are still to be read.
    pub fn first_new(&self) -> u64 {
        self.walk.as_ref().map_or(0, |walk| walk.position.xid + 1).max(self.from.xmax)
    }
}

fn write_snapshot(snapshot: &Snapshot, out: &mut Vec<u8>) {
    let Snapshot { xmin, xmax, running } = snapshot;
    write_varint(*xmin, out);
    write_varint(xmax - xmin, out);
    write_varint(running.len() as u64, out);
    let mut last = *xmin;
    for id in running {
        write_varint(id - last, out);
        last = *id;
    }
}

/// Seven bits a byte, the lowest first; the highest bit of a byte says that another follows.
fn write_varint(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number.to_le_bytes()[0] | 0x80);
        number >>= 7;
    }
    out.push(number.to_le_bytes()[0]);
}

fn varint_bytes(number: u64) -> usize {
    (64 - (number | 1).leading_zeros() as usize).div_ceil(7)
}

struct TokenReader<'a> {
    rest: &'a [u8],
}

impl TokenReader<'_> {
    fn chunk<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (chunk, rest) = self.rest.split_first_chunk::<N>()?;
        self.rest = rest;
        Some(*chunk)
    }

    /// A number in its shortest form.
    fn varint(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..63).step_by(7) {
            let [byte] = self.chunk()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return (byte != 0 || shift == 0).then_some(number);
            }
        }
        None
    }

    fn token(&mut self) -> Option<SyncToken> {
        let epoch = Epoch { epoch: i64::from_be_bytes(self.chunk()?), timeline: i32::from_be_bytes(self.chunk()?) };
        let from = self.snapshot()?;
        let walk = match self.chunk()? {
            [0] => None,
            [1] => Some(Walk { to: self.snapshot()?, at: self.timestamp()?, position: self.position()? }),
            _ => return None,
        };
        Some(SyncToken { epoch, from, walk })
    }

    fn snapshot(&mut self) -> Option<Snapshot> {
        let (xmin, length, count) = (self.varint()?, self.varint()?, self.varint()?);
        let mut snapshot = Snapshot { xmin, xmax: xmin.checked_add(length)?, running: Vec::new() };
        let mut last = xmin;
        for _ in 0..count {
            last = last.checked_add(self.varint()?)?;
            snapshot.running.push(last);
        }
        Some(snapshot).filter(Snapshot::is_valid)
    }

    fn timestamp(&mut self) -> Option<Timestamp> {
        Some(Timestamp(i64::from_be_bytes(self.chunk()?))).filter(|at| at.is_storable())
    }

    fn position(&mut self) -> Option<Position> {
        let xid = self.varint().filter(|id| *id < MAX_ID)?;
        Some(Position { xid, via: self.text()?.0?, id: self.text()?.0?, key: self.text()?.0 })
    }

    /// A text without NUL characters, which PostgreSQL cannot store, or none.
    fn text(&mut self) -> Option<PositionText> {
        let Some(length) = self.varint()?.checked_sub(1) else { return Some(PositionText(None)) };
        let (text, rest) = self.rest.split_at_checked(usize::try_from(length).ok()?)?;
        self.rest = rest;
        let text = std::str::from_utf8(text).ok()?;
        (!text.contains('\0')).then(|| PositionText(Some(text.to_owned())))
    }
}

/// A text of a position, which may be absent.
struct PositionText(Option<String>);

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn feed() -> OrderingTag {
        OrderingTag::new("orderChanges", "")
    }

    fn snapshot(xmin: u64, running: &[u64], length: u64) -> Snapshot {
        let mut running: Vec<u64> = running.iter().map(|id| xmin + id).collect();
        running.sort_unstable();
        running.dedup();
        let xmax = running.last().map_or(xmin, |last| last + 1) + length;
        Snapshot { xmin, xmax, running }
    }

    fn token(from: Snapshot, later: Option<(u64, Position)>) -> SyncToken {
        let walk = later.map(|(length, position)| {
            let to = Snapshot { xmin: from.xmin, xmax: from.xmax + length, running: from.running.clone() };
            Walk { to, at: Timestamp(7), position }
        });
        SyncToken { epoch: Epoch { epoch: -5, timeline: 2 }, from, walk }
    }

    fn position(xid: u64, key: Option<&str>) -> Position {
        Position { xid, via: "shipment.shipment_id".into(), id: "1\"é".into(), key: key.map(str::to_owned) }
    }

    proptest! {
        #[test]
        fn decodes_what_was_encoded(
            xmin in 1u64..1 << 50,
            running in proptest::collection::vec(0u64..5000, 0..200),
            length in 0u64..1000,
            walk in proptest::option::of((0u64..1000, 0u64..1 << 50, proptest::option::of("[^\0]*"))),
        ) {
            let walk = walk.map(|(length, xid, key)| (length, position(xid, key.as_deref())));
            let token = token(snapshot(xmin, &running, length), walk);
            prop_assert_eq!(SyncToken::decode(&token.text(feed()), feed()), Ok(token.clone()));
            let text = token.from.to_string();
            prop_assert_eq!(Snapshot::parse(&text), Some(token.from));
        }

        #[test]
        fn rejects_a_changed_token(at in any::<prop::sample::Index>(), with in "[A-Za-z0-9_-]") {
            let text = token(snapshot(900, &[0, 3, 9], 20), Some((5, position(901, None)))).text(feed());
            let at = at.index(text.len());
            let changed = format!("{}{with}{}", &text[..at], &text[at + 1..]);
            prop_assume!(changed != text);
            prop_assert_eq!(SyncToken::decode(&changed, feed()), Err(BadSyncToken::Unreadable));
        }

        #[test]
        fn rejects_any_text_without_panicking(text in ".*") {
            prop_assert!(SyncToken::decode(&text, feed()).is_err());
        }

        #[test]
        fn a_snapshot_with_too_many_running_transactions_gives_way_to_an_older_one(
            xmin in 1u64..1 << 50, step in 1u64..1 << 20, count in 1000usize..6000,
        ) {
            let running: Vec<u64> = (0..count as u64).map(|index| index * step).collect();
            let whole = token(snapshot(xmin, &running, 9), None);
            let text = whole.text(feed());
            prop_assert!(text.len() < 6000, "{}", text.len());
            let decoded = SyncToken::decode(&text, feed()).unwrap().from;
            prop_assert!(decoded.is_within(&whole.from));
            prop_assert!(decoded.xmax > xmin + 900 * step);
            prop_assert!((0..decoded.xmax.min(5000)).all(|id| decoded.shows(id) == whole.from.shows(id)));
        }
    }

    #[test]
    fn rejects_a_token_of_another_feed_and_impossible_ones() {
        let good = token(snapshot(900, &[0], 20), None);
        let other = OrderingTag::new("returnChanges", "");
        assert_eq!(SyncToken::decode(&good.text(feed()), other), Err(BadSyncToken::OtherFeed));
        let mut shrinking = token(snapshot(900, &[0], 20), Some((5, position(901, None))));
        shrinking.walk.as_mut().unwrap().to = snapshot(800, &[], 0);
        assert_eq!(SyncToken::decode(&shrinking.text(feed()), feed()), Err(BadSyncToken::Unreadable));
        for snapshot in [
            Snapshot { xmin: 5, xmax: 1 << 61, running: Vec::new() },
            Snapshot { xmin: 1 << 32, xmax: 1 << 33, running: Vec::new() },
        ] {
            assert_eq!(SyncToken::decode(&token(snapshot, None).text(feed()), feed()), Err(BadSyncToken::Unreadable));
        }
        for text in ["", "1:2", "3:2:", "1:2:3", "0:1:", "5:9:7,6", "a:b:c", "5:9:4", "1:99999999999999999999:"] {
            assert_eq!(Snapshot::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_token_of_limited_rows_is_for_those() {
        let scope = |fingerprint| {
            let secret = crate::seal::Secret::default();
            Some(crate::cursor::CursorScope { fingerprint, secret })
        };
        let token = token(snapshot(5, &[], 3), None);
        let limited = feed().in_scope(scope(7));
        assert_eq!(SyncToken::decode(&token.text(limited), limited), Ok(token.clone()));
        for other in [feed(), feed().in_scope(scope(8))] {
            assert_eq!(SyncToken::decode(&token.text(limited), other), Err(BadSyncToken::OtherScope));
        }
        assert_eq!(SyncToken::decode(&token.text(feed()), limited), Err(BadSyncToken::OtherScope));
    }

    #[test]
    fn compares_snapshots_by_what_they_show() {
        let parse = |text| Snapshot::parse(text).unwrap();
        for (one, other, expected) in [
            ("5:9:5,7", "5:9:5,7", true),
            ("5:9:5,7", "7:9:7", true),
            ("7:9:7", "5:9:5,7", false),
            ("5:9:5,7", "7:12:7,9", true),
            ("9:9:", "9:12:9", true),
            ("9:9:", "5:12:5", false),
        ] {
            assert_eq!(parse(one).is_within(&parse(other)), expected, "{one} in {other}");
        }
    }

    #[test]
    fn reads_on_after_its_position() {
        let mut token = token(Snapshot::parse("5:12:5,7,10").unwrap(), None);
        assert_eq!((token.finished_since(), token.first_new()), ("{5,7,10}".to_owned(), 12));
        let to = Snapshot::parse("10:20:10").unwrap();
        token.walk = Some(Walk { to, at: Timestamp(0), position: position(5, None) });
        assert_eq!((token.finished_since(), token.first_new()), ("{7}".to_owned(), 12));
        token.walk.as_mut().unwrap().position = position(15, None);
        assert_eq!((token.finished_since(), token.first_new()), ("{}".to_owned(), 16));
    }
}
