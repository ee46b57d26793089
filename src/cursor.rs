//! The opaque cursor of a connection: the ordering it was made for, and the key values of one row in it.
//!
//! A cursor carries the sort value exactly, whatever PostgreSQL can store (microseconds, infinities, NaN, a thousand digits,
//! nulls), and the whole primary key, so pagination can continue from it whatever was inserted or deleted since. A tag binds it to
//! one ordering (connection, sort key, direction), the key of the row's parent to that parent, and a checksum detects a cursor that
//! was cut or changed. It is no secret and no capability: a well-formed forged cursor names a position in an ordering that its maker
//! may read anyway.
//!
//! Where a scope limits the rows, a cursor may be of a row that its holder does not see: a search may end with such a row. So the cursor's
//! values are sealed then, and filled with zeros, so that its length does not tell theirs. The bytes before them can be read, and not
//! changed. A row has another cursor in each response, so that two responses do not tell whether they end with the same hidden row. Such a
//! cursor is for the search that it was made by, so that no other search finds the place of that row.
//!
//! Bytes, before base64url: version, tag (4); if a scope limits the rows, a hash of its values and of the search (4) and a number of the
//! response (8); a value for each column of the sort key, a value for each other column that names the parent (a kind byte, then its
//! content); checksum (4).

use std::fmt;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use crate::seal::{Secret, TAG};
use crate::value::{Date, Float, Interval, Numeric, ScalarType, TimeOfDay, Timestamp, Uuid, Value};

const VERSION: u8 = 4;

/// Bytes of a cursor before the values: version, tag.
const HEAD: usize = 5;

/// The version of cursors among rows that a scope limits.
const SCOPED_VERSION: u8 = 6;

/// Bytes of such a cursor before the values: version, tag, hash of the limits, number of the response.
const SCOPED_HEAD: usize = 17;

/// The values of such a cursor are filled up to a multiple of so many bytes: the keys of OFBiz's tables, of 20 characters at most, to one.
const SEALED_BLOCK: usize = 128;

/// The longest cursor that is decoded, in characters. It is several times the longest entry of an index of PostgreSQL, which
/// stores the key values of every ordering, sometimes compressed.
const MAX_LENGTH: usize = 16_384;

/// The identity of an ordering: a hash of the connection's path, its sort key and direction, and of the values that limit its rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct OrderingTag {
    ordering: u32,
    scope: Option<CursorScope>,
}

/// The limits of an ordering's rows, and the secret that seals its cursors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct CursorScope {
    /// A hash of the values that limit the rows, and of the search.
    pub(crate) fingerprint: u32,
    pub(crate) secret: Secret,
}

impl CursorScope {
    /// The limits of the rows that are found by a search string.
    #[must_use]
    pub(crate) fn of_search(self, search: &str) -> Self {
        Self { fingerprint: hash(self.fingerprint, search.as_bytes()), ..self }
    }
}

impl OrderingTag {
    /// The tag of a connection (`orders`, `Order.orderItems`) under one of its sort keys.
    pub fn new(connection: &str, sort_key: &str) -> Self {
        let ordering = hash(hash(hash(SEED, connection.as_bytes()), b"/"), sort_key.as_bytes());
        Self { ordering, scope: None }
    }

    /// The tag of the reversed ordering.
    #[must_use]
    pub fn reversed(self) -> Self {
        Self { ordering: !self.ordering, ..self }
    }

    /// The tag of the same ordering with rows that are limited so.
    #[must_use]
    pub(crate) fn in_scope(self, scope: Option<CursorScope>) -> Self {
        Self { scope, ..self }
    }

    /// A hash of the limits of the rows.
    pub(crate) fn scope(self) -> Option<u32> {
        self.scope.map(|scope| scope.fingerprint)
    }

    /// Its bytes, as texts that clients keep have them.
    pub(crate) fn to_bytes(self) -> [u8; 4] {
        self.ordering.to_be_bytes()
    }
}

/// The key values of a row in an ordering, one for each column of the sort key; `None` is a null.
pub type CursorPosition = Vec<Option<Value>>;

/// Why a text is no cursor of an ordering.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BadCursor {
    /// It is not base64, was cut or changed, or has another version.
    Unreadable,
    /// It was made for another connection, sort key or direction.
    OtherOrdering,
    /// It was made for the rows of another parent.
    OtherParent,
    /// It was made when other rows could be seen, or by another search of rows that a scope limits.
    OtherScope,
}

impl fmt::Display for BadCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unreadable => "it is not a cursor that this service made, or it was cut or changed on the way",
            Self::OtherOrdering => "it was made for another connection, sort key or direction",
            Self::OtherParent => "it was made for the rows of another parent",
            Self::OtherScope => "it was made when other rows could be seen than now, or by another search",
        })
    }
}

/// Writes cursors, reusing its buffer from row to row.
#[derive(Debug, Clone, Default)]
pub struct Encoder {
    bytes: Vec<u8>,
    /// The secret that seals the values, if they are sealed.
    secret: Option<Secret>,
    /// A number that no other response has, drawn for the first sealed cursor.
    response: Option<u64>,
}

impl Encoder {
    /// Begins the cursor of a row. The key values follow, in the order of the sort key's columns.
    pub fn begin(&mut self, tag: OrderingTag) {
        self.bytes.clear();
        self.bytes.push(if tag.scope.is_some() { SCOPED_VERSION } else { VERSION });
        self.bytes.extend_from_slice(&tag.to_bytes());
        self.secret = tag.scope.map(|scope| scope.secret);
        if let Some(scope) = tag.scope() {
            let response = *self.response.get_or_insert_with(|| RandomState::new().build_hasher().finish());
            self.bytes.extend_from_slice(&scope.to_be_bytes());
            self.bytes.extend_from_slice(&response.to_be_bytes());
        }
    }

    /// Adds a null.
    pub fn null(&mut self) {
        self.bytes.push(Kind::Null as u8);
    }

    /// Adds a text.
    pub fn text(&mut self, text: &[u8]) {
        self.sized(Kind::Text, text);
    }

    /// Adds bytes.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.sized(Kind::Bytes, bytes);
    }

    /// Adds a `numeric`, in PostgreSQL's binary format.
    pub fn numeric(&mut self, binary: &[u8]) {
        self.sized(Kind::Numeric, binary);
    }

    /// Adds a whole number.
    pub fn int(&mut self, number: i64) {
        self.fixed(Kind::Int, number);
    }

    /// Adds a UUID.
    pub fn uuid(&mut self, Uuid(bits): Uuid) {
        self.bytes.push(Kind::Uuid as u8);
        self.bytes.extend_from_slice(&bits.to_be_bytes());
    }

    /// Adds a timestamp.
    pub fn timestamp(&mut self, timestamp: Timestamp) {
        self.fixed(Kind::DateTime, timestamp.0);
    }

    /// Adds a boolean.
    pub fn boolean(&mut self, truth: bool) {
        self.bytes.extend_from_slice(&[Kind::Boolean as u8, u8::from(truth)]);
    }

    /// Adds a floating-point number.
    pub fn float(&mut self, number: Float) {
        self.fixed(Kind::Float, number.get().to_bits().cast_signed());
    }

    /// Adds a date.
    pub fn date(&mut self, Date(days): Date) {
        self.bytes.push(Kind::Date as u8);
        self.bytes.extend_from_slice(&days.to_be_bytes());
    }

    /// Adds a time of day.
    pub fn time(&mut self, TimeOfDay(micros): TimeOfDay) {
        self.fixed(Kind::Time, micros);
    }

    /// Adds an interval.
    pub fn interval(&mut self, interval: Interval) {
        self.bytes.push(Kind::Interval as u8);
        self.bytes.extend_from_slice(&interval.to_binary());
    }

    /// Ends the cursor and appends its text to `out`. The text needs no escaping in JSON.
    pub fn finish(&mut self, out: &mut Vec<u8>) {
        if let Some(secret) = self.secret {
            let values = self.bytes.len() - SCOPED_HEAD;
            self.bytes.resize(SCOPED_HEAD + values.next_multiple_of(SEALED_BLOCK), 0);
            secret.seal(&mut self.bytes, SCOPED_HEAD);
        }
        let checksum = checksum(&self.bytes);
        self.bytes.extend_from_slice(&checksum.to_be_bytes());
        let start = out.len();
        out.resize(start + self.bytes.len().div_ceil(3) * 4, 0);
        let written = URL_SAFE_NO_PAD.encode_slice(&self.bytes, &mut out[start..]).unwrap_or(0);
        out.truncate(start + written);
    }

    fn sized(&mut self, kind: Kind, content: &[u8]) {
        self.bytes.push(kind as u8);
        let length = u32::try_from(content.len()).unwrap_or(u32::MAX);
        self.bytes.extend_from_slice(&length.to_be_bytes());
        self.bytes.extend_from_slice(content);
    }

    fn fixed(&mut self, kind: Kind, number: i64) {
        self.bytes.push(kind as u8);
        self.bytes.extend_from_slice(&number.to_be_bytes());
    }
}

/// The length of a cursor's text, in bytes, if its values have so many bytes.
pub(crate) const fn text_length(values: u64, is_sealed: bool) -> u64 {
    let head_and_values = if is_sealed {
        SCOPED_HEAD as u64 + TAG as u64 + values.next_multiple_of(SEALED_BLOCK as u64)
    } else {
        HEAD as u64 + values
    };
    (head_and_values + size_of::<u32>() as u64).div_ceil(3) * 4
}

/// Decodes a cursor of the ordering `tag`, whose columns have these types. Returns their values; `None` is a null.
pub fn decode(text: &str, tag: OrderingTag, types: &[ScalarType]) -> Result<Vec<Option<Value>>, BadCursor> {
    if text.len() > MAX_LENGTH {
        return Err(BadCursor::Unreadable);
    }
    let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| BadCursor::Unreadable)?;
    let (bytes, checksum) = bytes.split_last_chunk::<4>().ok_or(BadCursor::Unreadable)?;
    if self::checksum(bytes) != u32::from_be_bytes(*checksum) {
        return Err(BadCursor::Unreadable);
    }
    let mut reader = CursorReader { rest: bytes };
    let is_scoped = match reader.byte() {
        Some(VERSION) => false,
        Some(SCOPED_VERSION) => true,
        _ => return Err(BadCursor::Unreadable),
    };
    let made_for = reader.chunk().map(u32::from_be_bytes).ok_or(BadCursor::Unreadable)?;
    if made_for != tag.ordering {
        return Err(BadCursor::OtherOrdering);
    }
    let scope = if is_scoped { reader.chunk().map(u32::from_be_bytes) } else { None };
    if scope != tag.scope() {
        return Err(BadCursor::OtherScope);
    }
    let opened =
        tag.scope.map(|scope| scope.secret.open(bytes, SCOPED_HEAD).ok_or(BadCursor::Unreadable)).transpose()?;
    let mut reader = CursorReader { rest: opened.as_deref().unwrap_or(reader.rest) };
    let values = types.iter().map(|scalar| reader.value(*scalar)).collect::<Result<Vec<_>, _>>()?;
    let is_end = if opened.is_some() { reader.rest.iter().all(|byte| *byte == 0) } else { reader.rest.is_empty() };
    if is_end { Ok(values) } else { Err(BadCursor::Unreadable) }
}

#[derive(Clone, Copy)]
enum Kind {
    Null = 0,
    Text = 1,
    Int = 2,
    Numeric = 3,
    DateTime = 4,
    Boolean = 5,
    Uuid = 6,
    Float = 7,
    Date = 8,
    Time = 9,
    Interval = 10,
    Bytes = 11,
}

struct CursorReader<'a> {
    rest: &'a [u8],
}

impl<'a> CursorReader<'a> {
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*first)
    }

    fn chunk<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (chunk, rest) = self.rest.split_first_chunk::<N>()?;
        self.rest = rest;
        Some(*chunk)
    }

    fn sized(&mut self) -> Option<&'a [u8]> {
        let length = u32::from_be_bytes(self.chunk()?);
        let (content, rest) = self.rest.split_at_checked(usize::try_from(length).ok()?)?;
        self.rest = rest;
        Some(content)
    }

    /// A text, without NUL characters, which PostgreSQL cannot store.
    fn text(&mut self) -> Option<String> {
        let text = std::str::from_utf8(self.sized()?).ok()?;
        (!text.contains('\0')).then(|| text.to_owned())
    }

    /// The next value, if it is a null or of that type.
    fn value(&mut self, scalar: ScalarType) -> Result<Option<Value>, BadCursor> {
        let kind = self.byte().ok_or(BadCursor::Unreadable)?;
        if kind == Kind::Null as u8 {
            return Ok(None);
        }
        self.content(kind, scalar).map(Some).ok_or(BadCursor::Unreadable)
    }

    fn content(&mut self, kind: u8, scalar: ScalarType) -> Option<Value> {
        let (expected, value) = match scalar {
            // The column of a whole number or an ID may be a `numeric`.
            ScalarType::Decimal | ScalarType::Int | ScalarType::Id if kind == Kind::Numeric as u8 => {
                (Kind::Numeric, Value::Numeric(Numeric::from_binary(self.sized()?)?))
            }
            ScalarType::Id if kind == Kind::Int as u8 => (Kind::Int, Value::Int(i64::from_be_bytes(self.chunk()?))),
            ScalarType::Uuid | ScalarType::Id if kind == Kind::Uuid as u8 => {
                (Kind::Uuid, Value::Uuid(Uuid(u128::from_be_bytes(self.chunk()?))))
            }
            ScalarType::Decimal | ScalarType::Uuid | ScalarType::Json => return None,
            ScalarType::Bytes => (Kind::Bytes, Value::Bytes(self.sized()?.to_vec())),
            // One form for each number.
            ScalarType::Float => {
                let bits = u64::from_be_bytes(self.chunk()?);
                let number = Float::new(f64::from_bits(bits));
                (Kind::Float, Value::Float(Some(number).filter(|number| number.get().to_bits() == bits)?))
            }
            ScalarType::Date => {
                let date = Date(i32::from_be_bytes(self.chunk()?));
                (Kind::Date, Value::Date(Some(date).filter(|date| date.is_storable())?))
            }
            ScalarType::Time => {
                let time = TimeOfDay(i64::from_be_bytes(self.chunk()?));
                (Kind::Time, Value::Time(Some(time).filter(|time| time.is_storable())?))
            }
            ScalarType::Interval => (Kind::Interval, Value::Interval(Interval::from_binary(self.chunk()?))),
            ScalarType::Int | ScalarType::BigInt => (Kind::Int, Value::Int(i64::from_be_bytes(self.chunk()?))),
            ScalarType::Id | ScalarType::String | ScalarType::Enum(_) => (Kind::Text, Value::Text(self.text()?)),
            ScalarType::DateTime => {
                let timestamp = Timestamp(i64::from_be_bytes(self.chunk()?));
                (Kind::DateTime, Value::DateTime(Some(timestamp).filter(|timestamp| timestamp.is_storable())?))
            }
            // One byte for each truth, so that no position has two cursors.
            ScalarType::Boolean => (
                Kind::Boolean,
                Value::Boolean(match self.byte()? {
                    0 => false,
                    1 => true,
                    _ => return None,
                }),
            ),
        };
        (kind == expected as u8).then_some(value)
    }
}

/// FNV-1a, 32 bits. It is stable between builds; the standard library's hashers are not.
const SEED: u32 = 0x811c_9dc5;

/// The checksum that detects a text that was cut or changed.
pub(crate) fn checksum(bytes: &[u8]) -> u32 {
    hash(SEED, bytes)
}

fn hash(seed: u32, bytes: &[u8]) -> u32 {
    bytes.iter().fold(seed, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MOMENTS: std::ops::Range<i64> = -211_813_488_000_000_000..9_223_371_331_200_000_000;
    const TYPES: [ScalarType; 3] = [ScalarType::DateTime, ScalarType::Decimal, ScalarType::Id];

    /// 12.5 as a `numeric`: its digits in base 10,000 are 12 and 5000.
    const NUMBER: [u8; 12] = [0, 2, 0, 0, 0, 0, 0, 1, 0, 12, 0x13, 0x88];

    fn write(tag: OrderingTag, moment: Option<i64>, number: &[u8], id: &str) -> String {
        let mut encoder = Encoder::default();
        encoder.begin(tag);
        match moment {
            Some(moment) => encoder.timestamp(Timestamp(moment)),
            None => encoder.null(),
        }
        encoder.numeric(number);
        encoder.text(id.as_bytes());
        let mut out = b"\"".to_vec();
        encoder.finish(&mut out);
        String::from_utf8(out).unwrap().split_off(1)
    }

    proptest! {
        #[test]
        fn decodes_what_was_encoded(moment in proptest::option::of(MOMENTS), digits in proptest::collection::vec(1u16..10_000, 0..500), id in "[^\0]*") {
            let tag = OrderingTag::new("orders", "ORDER_DATE");
            let words = [u16::try_from(digits.len()).unwrap(), 7, 0x4000, 1000];
            let number: Vec<_> = words.into_iter().chain(digits).flat_map(u16::to_be_bytes).collect();
            let text = write(tag, moment, &number, &id);
            let expected = vec![
                moment.map(|m| Value::DateTime(Timestamp(m))),
                Some(Value::Numeric(Numeric::from_binary(&number).unwrap())),
                Some(Value::Text(id)),
            ];
            prop_assert_eq!(decode(&text, tag, &TYPES), Ok(expected));
        }

        #[test]
        fn rejects_a_changed_cursor(at in any::<prop::sample::Index>(), with in "[A-Za-z0-9_-]") {
            let tag = OrderingTag::new("orders", "ORDER_DATE");
            let text = write(tag, Some(1), &NUMBER, "DEMO10090");
            let at = at.index(text.len());
            let changed = format!("{}{with}{}", &text[..at], &text[at + 1..]);
            prop_assume!(changed != text);
            prop_assert_eq!(decode(&changed, tag, &TYPES), Err(BadCursor::Unreadable));
        }

        #[test]
        fn rejects_any_text_without_panicking(text in ".*") {
            let _ = decode(&text, OrderingTag::new("orders", "ORDER_DATE"), &TYPES);
        }
    }

    #[test]
    fn a_cursor_among_limited_rows_is_for_those_and_tells_no_value() {
        let scope = |fingerprint, byte| {
            let secret = Secret::new(&[byte; 32]).unwrap();
            Some(CursorScope { fingerprint, secret })
        };
        let open = OrderingTag::new("orders", "ORDER_DATE");
        let limited = open.in_scope(scope(7, 1));
        let (plain, sealed) =
            (write(open, Some(1), &NUMBER, "DEMO10090"), write(limited, Some(1), &NUMBER, "DEMO10090"));
        assert_eq!(decode(&sealed, limited, &TYPES), decode(&plain, open, &TYPES));
        let values = (URL_SAFE_NO_PAD.decode(&plain).unwrap().len() - HEAD - 4) as u64;
        for (text, is_sealed) in [(&plain, false), (&sealed, true)] {
            assert_eq!(text_length(values, is_sealed), text.len().next_multiple_of(4) as u64);
        }
        assert_ne!(sealed, write(limited, Some(1), &NUMBER, "DEMO10090"), "another response has another cursor");
        for other in ["", "a longer key than that of the other row"] {
            assert_eq!(sealed.len(), write(limited, None, &NUMBER, other).len());
        }
        let searched = open.in_scope(scope(7, 1).map(|scope| scope.of_search("status:A")));
        for other in [open, open.in_scope(scope(8, 1)), searched] {
            assert_eq!(decode(&sealed, other, &TYPES), Err(BadCursor::OtherScope));
        }
        assert_eq!(decode(&plain, limited, &TYPES), Err(BadCursor::OtherScope));
        assert_eq!(decode(&sealed, open.in_scope(scope(7, 2)), &TYPES), Err(BadCursor::Unreadable));
        assert_eq!(decode(&sealed, limited.reversed(), &TYPES), Err(BadCursor::OtherOrdering));
        let bytes = |text: &str| URL_SAFE_NO_PAD.decode(text).unwrap();
        let tells = |text: &str| bytes(text).windows(9).any(|window| window == b"DEMO10090");
        assert!(tells(&plain) && !tells(&sealed));
    }

    #[test]
    fn accepts_the_values_that_postgresql_can_store_and_no_others() {
        let tag = OrderingTag::new("orders", "ORDER_DATE");
        let is_accepted = |moment, number: &[u8]| match decode(&write(tag, Some(moment), number, "x"), tag, &TYPES) {
            Ok(_) => true,
            Err(reason) => {
                assert_eq!(reason, BadCursor::Unreadable);
                false
            }
        };
        let (earliest, latest) = (MOMENTS.start, MOMENTS.end - 1);
        for moment in [earliest, latest, i64::MIN, i64::MAX] {
            assert!(is_accepted(moment, &NUMBER), "{moment}");
        }
        for moment in [earliest - 1, latest + 1, i64::MIN + 1, i64::MAX - 1] {
            assert!(!is_accepted(moment, &NUMBER), "{moment}");
        }
        // Zero, NaN, infinity, -infinity.
        for sign in [0, 0xc0, 0xd0, 0xf0] {
            assert!(is_accepted(0, &[0, 0, 0, 0, sign, 0, 0, 0]), "{sign}");
        }
        // No number at all, a digit too few or too many, another sign, a digit beyond the base, one that NaN has, a leading zero.
        let changed = |index: usize, byte: u8| {
            let mut number = NUMBER;
            number[index] = byte;
            number.to_vec()
        };
        for number in [
            Vec::new(),
            NUMBER[..10].to_vec(),
            NUMBER[..11].to_vec(),
            [&NUMBER[..], &[0, 1]].concat(),
            changed(4, 0x20),
            changed(4, 0xc0),
            changed(6, 0x40),
            changed(9, 0),
            changed(10, 0x27),
        ] {
            assert!(!is_accepted(0, &number), "{number:?}");
        }
    }

    #[test]
    fn decodes_numbers_dates_and_times_that_postgresql_can_store() {
        let tag = OrderingTag::new("things", "VALUE");
        let decoded = |scalar: ScalarType, kind: Kind, content: &[u8]| {
            let mut encoder = Encoder::default();
            encoder.begin(tag);
            encoder.bytes.push(kind as u8);
            encoder.bytes.extend_from_slice(content);
            let mut out = Vec::new();
            encoder.finish(&mut out);
            decode(str::from_utf8(&out).unwrap(), tag, &[scalar]).map(|values| values[0].clone())
        };
        let float = |number: f64| decoded(ScalarType::Float, Kind::Float, &number.to_be_bytes());
        for number in [0.1, f64::INFINITY, f64::NAN] {
            assert_eq!(float(number), Ok(Some(Value::Float(Float::new(number)))));
        }
        let date = |days: i32| decoded(ScalarType::Date, Kind::Date, &days.to_be_bytes());
        assert_eq!(date(i32::MAX), Ok(Some(Value::Date(Date(i32::MAX)))));
        let time = |micros: i64| decoded(ScalarType::Time, Kind::Time, &micros.to_be_bytes());
        assert_eq!(time(86_400_000_000), Ok(Some(Value::Time(TimeOfDay(86_400_000_000)))));
        let span = Interval { months: 1, days: -2, micros: 3 };
        let interval = decoded(ScalarType::Interval, Kind::Interval, &span.to_binary());
        assert_eq!(interval, Ok(Some(Value::Interval(span))));
        let uuid = decoded(ScalarType::Uuid, Kind::Uuid, &7_u128.to_be_bytes());
        assert_eq!(uuid, Ok(Some(Value::Uuid(Uuid(7)))));
        let refused = [
            float(-0.0),
            float(-f64::NAN),
            date(i32::MAX - 1),
            time(-1),
            decoded(ScalarType::Json, Kind::Text, &[0; 4]),
        ];
        for other in refused {
            assert_eq!(other, Err(BadCursor::Unreadable));
        }
    }

    #[test]
    fn decodes_a_truth_from_one_byte_alone() {
        let tag = OrderingTag::new("orders", "ENABLED");
        let decoded = |byte: u8| {
            let mut encoder = Encoder::default();
            encoder.begin(tag);
            encoder.bytes.extend_from_slice(&[Kind::Boolean as u8, byte]);
            let mut out = Vec::new();
            encoder.finish(&mut out);
            decode(str::from_utf8(&out).unwrap(), tag, &[ScalarType::Boolean])
        };
        assert_eq!(decoded(0), Ok(vec![Some(Value::Boolean(false))]));
        assert_eq!(decoded(1), Ok(vec![Some(Value::Boolean(true))]));
        assert_eq!(decoded(2), Err(BadCursor::Unreadable));
    }

    #[test]
    fn rejects_a_cursor_made_for_another_ordering() {
        let tag = OrderingTag::new("orders", "ORDER_DATE");
        let text = write(tag, None, &NUMBER, "x");
        for other in [OrderingTag::new("orders", "ORDER_ID"), OrderingTag::new("order", "sORDER_DATE"), tag.reversed()]
        {
            assert_eq!(decode(&text, other, &TYPES), Err(BadCursor::OtherOrdering));
        }
        assert_eq!(decode(&text[..text.len() - 4], tag, &TYPES), Err(BadCursor::Unreadable));
        assert_eq!(decode(&text, tag, &TYPES[..2]), Err(BadCursor::Unreadable));
        assert_eq!(decode("", tag, &TYPES), Err(BadCursor::Unreadable));
    }
}
