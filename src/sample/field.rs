//! Values as PostgreSQL's binary COPY has them: a length of four bytes, then the value, and −1 for null.

use std::borrow::Cow;

/// What a column has to be for a value to fit it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::sample) enum Type {
    /// `varchar`, `char` and `text`.
    Text,
    /// `timestamptz`.
    Time,
    /// `numeric`.
    Decimal,
}

/// A value that knows its bytes.
pub(in crate::sample) trait Field {
    /// The columns it fits.
    const TYPE: Type;

    /// Appends its length and bytes.
    fn write(&self, out: &mut Vec<u8>);
}

/// An id: letters, then a number of eight digits at least, so that ids sort as their numbers do; and perhaps which part of
/// that thing it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::sample) struct Id {
    prefix: &'static str,
    number: u64,
    width: u8,
    part: Option<u32>,
}

/// An id of the sample's own, or one that stands in every database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::sample) enum Key {
    Made(Id),
    Known(&'static str),
}

/// The place of something in its order or shipment: five digits, from `00001`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::sample) struct Seq(pub(in crate::sample) u32);

/// A moment: microseconds since the beginning of the year 2000, UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::sample) struct Time(pub(in crate::sample) i64);

/// An exact number: `units` / 10^`scale`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::sample) struct Decimal {
    units: i64,
    scale: u32,
}

/// Decimal places that one digit of PostgreSQL's holds.
const GROUP: u32 = 4;
const GROUP_BASE: i64 = 10_000;
const NULL: i32 = -1;

impl Id {
    pub(in crate::sample) const fn new(prefix: &'static str, number: u64) -> Self {
        Self { prefix, number, width: 8, part: None }
    }

    /// Of as many digits at least.
    pub(in crate::sample) const fn wide(prefix: &'static str, number: u64, width: u8) -> Self {
        Self { prefix, number, width, part: None }
    }

    /// Of a part of this thing.
    pub(in crate::sample) const fn part(self, part: u32) -> Self {
        Self { part: Some(part), ..self }
    }
}

impl Time {
    pub(in crate::sample) const SECOND: i64 = 1_000_000;
    pub(in crate::sample) const MINUTE: i64 = 60 * Self::SECOND;
    pub(in crate::sample) const HOUR: i64 = 60 * Self::MINUTE;
    pub(in crate::sample) const DAY: i64 = 24 * Self::HOUR;

    /// So many microseconds later.
    pub(in crate::sample) const fn after(self, microseconds: i64) -> Self {
        Self(self.0 + microseconds)
    }

    /// The beginning of its second, hour or day, or whatever unit is given in microseconds.
    pub(in crate::sample) const fn floor(self, unit: i64) -> Self {
        Self(self.0 - self.0.rem_euclid(unit))
    }
}

impl Decimal {
    pub(in crate::sample) const fn whole(units: i64) -> Self {
        Self { units, scale: 0 }
    }

    pub(in crate::sample) const fn cents(units: i64) -> Self {
        Self { units, scale: 2 }
    }

    /// Millionths.
    pub(in crate::sample) const fn micros(units: i64) -> Self {
        Self { units, scale: 6 }
    }
}

impl Field for Id {
    const TYPE: Type = Type::Text;

    fn write(&self, out: &mut Vec<u8>) {
        framed(out, |out| {
            out.extend_from_slice(self.prefix.as_bytes());
            digits(out, self.number, self.width);
            if let Some(part) = self.part {
                out.push(b'-');
                digits(out, part.into(), 1);
            }
        });
    }
}

impl Field for Key {
    const TYPE: Type = Type::Text;

    fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Made(id) => id.write(out),
            Self::Known(id) => id.write(out),
        }
    }
}

impl Field for Seq {
    const TYPE: Type = Type::Text;

    fn write(&self, out: &mut Vec<u8>) {
        framed(out, |out| digits(out, self.0.into(), 5));
    }
}

impl Field for &str {
    const TYPE: Type = Type::Text;

    fn write(&self, out: &mut Vec<u8>) {
        framed(out, |out| out.extend_from_slice(self.as_bytes()));
    }
}

impl Field for Cow<'_, str> {
    const TYPE: Type = Type::Text;

    fn write(&self, out: &mut Vec<u8>) {
        (&**self).write(out);
    }
}

impl Field for bool {
    const TYPE: Type = Type::Text;

    fn write(&self, out: &mut Vec<u8>) {
        framed(out, |out| out.push(if *self { b'Y' } else { b'N' }));
    }
}

impl Field for Time {
    const TYPE: Type = Type::Time;

    fn write(&self, out: &mut Vec<u8>) {
        framed(out, |out| out.extend_from_slice(&self.0.to_be_bytes()));
    }
}

/// PostgreSQL's `numeric`: how many digits to the base of 10,000, the weight of the first, the sign, the decimal places,
/// and the digits.
impl Field for Decimal {
    const TYPE: Type = Type::Decimal;

    fn write(&self, out: &mut Vec<u8>) {
        let places = self.scale.div_ceil(GROUP);
        let mut rest = self.units.abs() * 10_i64.pow(places * GROUP - self.scale);
        let mut groups = [0_u16; 8];
        let mut first = groups.len();
        let mut last = groups.len();
        while rest > 0 {
            first -= 1;
            groups[first] = u16::try_from(rest % GROUP_BASE).unwrap_or_default();
            rest /= GROUP_BASE;
        }
        let count = last - first;
        while last > first && groups[last - 1] == 0 {
            last -= 1;
        }
        let weight = i16::try_from(count).unwrap_or_default() - i16::try_from(places).unwrap_or_default() - 1;
        let sign: u16 = if self.units < 0 { 0x4000 } else { 0 };
        framed(out, |out| {
            out.extend_from_slice(&u16::try_from(last - first).unwrap_or_default().to_be_bytes());
            out.extend_from_slice(&weight.to_be_bytes());
            out.extend_from_slice(&sign.to_be_bytes());
            out.extend_from_slice(&u16::try_from(self.scale).unwrap_or_default().to_be_bytes());
            for group in &groups[first..last] {
                out.extend_from_slice(&group.to_be_bytes());
            }
        });
    }
}

impl<T: Field> Field for Option<T> {
    const TYPE: Type = T::TYPE;

    fn write(&self, out: &mut Vec<u8>) {
        match self {
            Some(value) => value.write(out),
            None => out.extend_from_slice(&NULL.to_be_bytes()),
        }
    }
}

/// Appends what `value` writes, its length before it.
fn framed(out: &mut Vec<u8>, value: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend_from_slice(&[0; 4]);
    value(out);
    let length = i32::try_from(out.len() - start - 4).unwrap_or(i32::MAX);
    out[start..start + 4].copy_from_slice(&length.to_be_bytes());
}

/// A number in decimal, with zeros before it up to a width.
fn digits(out: &mut Vec<u8>, number: u64, width: u8) {
    let mut text = [b'0'; 20];
    let mut start = text.len();
    let mut rest = number;
    while rest > 0 {
        start -= 1;
        text[start] = b'0' + u8::try_from(rest % 10).unwrap_or_default();
        rest /= 10;
    }
    out.extend_from_slice(&text[start.min(text.len() - usize::from(width))..]);
}

#[cfg(test)]
mod tests {
    use rust_decimal::Decimal as Read;
    use tokio_postgres::types::{FromSql as _, Type as Column};

    use super::*;

    fn bytes(value: &impl Field) -> Vec<u8> {
        let mut out = Vec::new();
        value.write(&mut out);
        let length = i32::from_be_bytes([out[0], out[1], out[2], out[3]]);
        assert_eq!(usize::try_from(length).unwrap(), out.len() - 4);
        out.split_off(4)
    }

    #[test]
    fn ids_are_of_one_width_and_may_have_parts() {
        assert_eq!(bytes(&Id::new("SO", 42)), b"SO00000042");
        assert_eq!(bytes(&Id::new("SO", 1_234_567_890)), b"SO1234567890");
        assert_eq!(bytes(&Id::wide("#", 0, 1).part(10)), b"#0-10");
        assert_eq!(bytes(&Seq(7)), b"00007");
    }

    #[test]
    fn decimals_are_read_as_they_were_meant() {
        for (decimal, text) in [
            (Decimal::whole(0), "0"),
            (Decimal::whole(10_000), "10000"),
            (Decimal::whole(-7), "-7"),
            (Decimal::cents(1), "0.01"),
            (Decimal::cents(1_999), "19.99"),
            (Decimal::cents(-12_345_678), "-123456.78"),
            (Decimal::micros(-73_985_130), "-73.985130"),
            (Decimal::micros(1_500_000), "1.500000"),
            (Decimal::micros(100), "0.000100"),
        ] {
            let read = Read::from_sql(&Column::NUMERIC, &bytes(&decimal)).unwrap();
            assert_eq!(read.to_string(), text);
        }
    }

    #[test]
    fn null_has_no_bytes() {
        let mut out = Vec::new();
        None::<Time>.write(&mut out);
        assert_eq!(out, [0xff; 4]);
        assert_eq!(bytes(&Some(true)), b"Y");
    }
}
