//! Where the values of keys, search terms and cursors come from.

use orderql::catalog::column::Column;
use orderql::catalog::connection::{Connection, SortKey};
use orderql::catalog::stored_type::StoredType;
use orderql::value::{Date, Float, Interval, Numeric, ScalarType, TimeOfDay, Timestamp, Uuid, Value};

use crate::choices::Choices;
use crate::cursor::numeric;

/// A source of values. One that knows a database can return values that its rows have.
pub trait Values {
    /// A value that a column is compared with, in the notation of search strings.
    fn value(&self, relation: &str, column: &Column, choices: &mut Choices<'_>) -> String;

    /// The values of a cursor under a sort key of the connection, one for each column. Only the first can be null, and only if the
    /// sort key is nullable.
    fn cursor(&self, connection: &Connection, sort_key: &SortKey, choices: &mut Choices<'_>) -> Vec<Option<Value>>;
}

/// Values without a database. Every text that is no value of an enum has a part that no schema and no statement has, so that it is found wherever it should
/// not be.
#[derive(Debug, Clone, Copy, Default)]
pub struct Invented;

/// A part of every text that is invented.
pub const MARK: &str = "zq";

impl Values for Invented {
    fn value(&self, _: &str, column: &Column, choices: &mut Choices<'_>) -> String {
        let seed = choices.seed();
        invented(column.scalar, column.stored, seed, choices.below(8))
    }

    fn cursor(&self, connection: &Connection, sort_key: &SortKey, choices: &mut Choices<'_>) -> Vec<Option<Value>> {
        let is_null = sort_key.nullable && choices.chance(25);
        let columns = connection.cursor_columns(sort_key).enumerate();
        columns
            .map(|(index, column)| (!(is_null && index == 0)).then(|| stored(column.stored, choices.seed())))
            .collect()
    }
}

/// The value with that number, in the notation of search strings.
pub(crate) fn invented(scalar: ScalarType, stored: StoredType, seed: u16, style: usize) -> String {
    match (stored, scalar) {
        (_, ScalarType::Enum(enumeration)) => {
            let names: Vec<_> = enumeration.values().map(|(name, _)| name).collect();
            names[usize::from(seed) % names.len()].to_owned()
        }
        (StoredType::Uuid, _) => Uuid((u128::from(seed) << 96) | 0x5a71).to_string(),
        (StoredType::Text | StoredType::Char | StoredType::Enum(_), _) => match style {
            0 => format!("{MARK}'{seed};--"),
            1 => format!("{MARK}\"{seed}\"$1"),
            2 => format!("{MARK}{seed},*"),
            3 => format!(">{MARK}:é日{seed}"),
            _ => format!("{MARK}{seed}"),
        },
        (StoredType::Boolean, _) => (if seed.is_multiple_of(2) { "true" } else { "false" }).to_owned(),
        (StoredType::DateTime, _) => {
            let (year, day) = (1990 + seed / 500 % 60, 1 + seed % 28);
            match style {
                0 => format!("{year}-07-{day:02}T12:30:45.{seed:06}Z"),
                1 => format!("{year}-11-{day:02}T01:02:03+05:30"),
                _ => format!("{year}-{:02}-{day:02}", 1 + seed % 12),
            }
        }
        (StoredType::Float4 | StoredType::Float8, _) => match style {
            0 => format!("-{seed}e-3"),
            1 => format!("{seed}.25"),
            _ => format!("{}", f32::from(seed) / 4.0),
        },
        (StoredType::Date, _) => format!("{}-{:02}-{:02}", 1990 + seed / 500 % 60, 1 + seed % 12, 1 + seed % 28),
        (StoredType::Time, _) => match style {
            0 => format!("{:02}:{:02}:{:02}.{seed:06}", seed % 24, seed % 60, seed / 7 % 60),
            _ => format!("{:02}:{:02}", seed % 24, seed / 7 % 60),
        },
        (StoredType::Interval, _) => match style {
            0 => format!("P{}M-{}DT0.{seed:06}S", seed % 40, seed % 7),
            _ => format!("P{}DT{}H", seed % 9, seed % 50),
        },
        // The digits of base64 are hexadecimal here.
        (StoredType::Bytes, _) => format!("{seed:04x}"),
        (StoredType::Int2, _) => (i32::from(seed) % 30_000).to_string(),
        (StoredType::Numeric, ScalarType::Decimal) if style == 0 => format!("-{seed}.25"),
        (StoredType::Int4 | StoredType::Int8 | StoredType::Numeric, _) => (7_000_000 + i32::from(seed)).to_string(),
    }
}

/// The stored value with that number.
pub(crate) fn stored(stored: StoredType, seed: u16) -> Value {
    match stored {
        StoredType::Text | StoredType::Char => Value::Text(format!("{MARK}{seed}'\\")),
        StoredType::Enum(labels) => {
            let labels: Vec<_> = labels.values().map(|(_, label)| label).collect();
            Value::Text(labels[usize::from(seed) % labels.len()].to_owned())
        }
        StoredType::Int2 => Value::Int(i64::from(seed) % 30_000),
        StoredType::Int4 | StoredType::Int8 => Value::Int(7_000_000 + i64::from(seed)),
        StoredType::Numeric => {
            let number = Numeric::from_binary(&numeric(700_000_000 + i128::from(seed), 2));
            number.map_or(Value::Int(0), Value::Numeric)
        }
        StoredType::DateTime => Value::DateTime(Timestamp(800_000_000_000_000 + i64::from(seed) * 1_000_000_007)),
        StoredType::Boolean => Value::Boolean(seed.is_multiple_of(2)),
        StoredType::Uuid => Value::Uuid(Uuid((u128::from(seed) << 96) | 0x5a71)),
        StoredType::Float4 | StoredType::Float8 => Value::Float(Float::new(f64::from(seed) / 4.0)),
        StoredType::Date => Value::Date(Date(i32::from(seed) - 3000)),
        StoredType::Time => Value::Time(TimeOfDay(i64::from(seed) * 1_000_007)),
        StoredType::Bytes => Value::Bytes(seed.to_be_bytes().to_vec()),
        StoredType::Interval => {
            Value::Interval(Interval { months: i32::from(seed) % 40, days: -i32::from(seed), micros: i64::from(seed) })
        }
    }
}
