//! A value of any type, from a client or a cursor.

use rust_decimal::Decimal;

use crate::value::date::Date;
use crate::value::float::Float;
use crate::value::interval::Interval;
use crate::value::numeric::Numeric;
use crate::value::time_of_day::TimeOfDay;
use crate::value::timestamp::Timestamp;
use crate::value::uuid::Uuid;

/// A value from a client.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Value {
    /// An ID or text, without NUL characters, which PostgreSQL cannot store.
    Text(String),
    /// A whole number.
    Int(i64),
    /// An exact decimal.
    Decimal(Decimal),
    /// A number that PostgreSQL stores as `numeric`. Only cursors have such values.
    Numeric(Numeric),
    /// A moment.
    DateTime(Timestamp),
    /// True or false.
    Boolean(bool),
    /// A UUID, or an ID that the database stores as one.
    Uuid(Uuid),
    /// A binary floating-point number.
    Float(Float),
    /// A day.
    Date(Date),
    /// A time of day.
    Time(TimeOfDay),
    /// A span of time.
    Interval(Interval),
    /// Any bytes.
    Bytes(Vec<u8>),
}

impl Value {
    /// Whether PostgreSQL holds both to be the same value, of columns that it compares with one another. Trailing spaces, which
    /// a column of the type `char` adds, make no difference.
    pub fn equals(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Text(one), Self::Text(other)) => one.trim_end_matches(' ') == other.trim_end_matches(' '),
            _ => self == other || self.number().is_some_and(|number| other.number() == Some(number)),
        }
    }

    /// The number, if it is one of at most 28 digits.
    fn number(&self) -> Option<Decimal> {
        match self {
            Self::Int(number) => Some(Decimal::from(*number)),
            Self::Decimal(number) => Some(*number),
            Self::Numeric(number) => number.to_decimal(),
            Self::Text(_)
            | Self::DateTime(_)
            | Self::Boolean(_)
            | Self::Uuid(_)
            | Self::Float(_)
            | Self::Date(_)
            | Self::Time(_)
            | Self::Interval(_)
            | Self::Bytes(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::ScalarType;

    #[test]
    fn compares_values_of_columns_that_are_stored_differently() {
        let numeric = |words: &[u16]| {
            let bytes: Vec<_> = words.iter().copied().flat_map(u16::to_be_bytes).collect();
            Value::Numeric(Numeric::from_binary(&bytes).unwrap())
        };
        let decimal = |text| ScalarType::Decimal.parse(text).unwrap();
        for (stored, text) in [
            (numeric(&[0, 0, 0, 0]), "0"),
            (numeric(&[0, 0, 0, 2]), "0.00"),
            (numeric(&[1, 0, 0, 0, 7]), "7"),
            (numeric(&[2, 0, 0x4000, 1, 12, 5000]), "-12.50"),
            (numeric(&[1, 2, 0, 0, 3]), "300000000"),
            (numeric(&[1, 0xffff, 0, 4, 50]), "0.005"),
            (numeric(&[7, 6, 0, 0, 1234, 5678, 9012, 3456, 7890, 1234, 5678]), "1234567890123456789012345678"),
        ] {
            assert!(decimal(text).equals(&stored) && stored.equals(&decimal(text)), "{text}");
            assert!(!decimal("1").equals(&stored), "{text}");
            assert_eq!(stored.equals(&Value::Int(7)), text == "7");
        }
        let nan = numeric(&[0, 0, 0xc000, 0]);
        assert!(nan.equals(&nan.clone()) && !nan.equals(&decimal("0")));
        let text = |text: &str| Value::Text(text.to_owned());
        assert!(
            text("O1").equals(&text("O1  ")) && !text("O1").equals(&text("o1")) && !text("1").equals(&Value::Int(1))
        );
        let interval = |text| ScalarType::Interval.parse(text).unwrap();
        assert!(interval("P1M").equals(&interval("P29DT24H")) && !interval("P1M").equals(&interval("P31D")));
    }
}
