//! How the database stores the columns that values are compared with. A schema file does not have this; it is read from the database.

use std::collections::{HashMap, HashSet};

use crate::catalog::characters::Characters;
use crate::catalog::collation::Collation;
use crate::catalog::result_type::ResultType;
use crate::value::{Enumeration, Float, Numeric, ScalarType, Value};

/// How the database stores a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StoredType {
    /// Characters: `text`, `varchar`.
    Text,
    /// Characters padded with spaces, which compare as if there were none at the end: `char`. A comparison with `text` would hide from
    /// PostgreSQL that an index serves it.
    Char,
    /// A whole number of 16 bits.
    Int2,
    /// A whole number of 32 bits.
    Int4,
    /// A whole number of 64 bits.
    Int8,
    /// An exact decimal number; for an ID, one without decimal places.
    Numeric,
    /// A moment.
    DateTime,
    /// A truth value.
    Boolean,
    /// A UUID.
    Uuid,
    /// An enum of the database: the name of its type in SQL, and its labels.
    Enum(Enumeration),
    /// A binary floating-point number of 32 bits.
    Float4,
    /// A binary floating-point number of 64 bits.
    Float8,
    /// A day.
    Date,
    /// A time of day.
    Time,
    /// A span of time.
    Interval,
    /// Any bytes.
    Bytes,
}

impl StoredType {
    /// How a column of a scalar type is stored if nothing else is known. Columns that are never compared count as text.
    pub fn of(scalar: ScalarType) -> Self {
        match scalar {
            ScalarType::Id | ScalarType::String | ScalarType::Json | ScalarType::Enum(_) => Self::Text,
            ScalarType::Bytes => Self::Bytes,
            ScalarType::Int | ScalarType::BigInt => Self::Int8,
            ScalarType::Float => Self::Float8,
            ScalarType::Date => Self::Date,
            ScalarType::Time => Self::Time,
            ScalarType::Interval => Self::Interval,
            ScalarType::Uuid => Self::Uuid,
            ScalarType::Decimal => Self::Numeric,
            ScalarType::DateTime => Self::DateTime,
            ScalarType::Boolean => Self::Boolean,
        }
    }

    /// How a column of a scalar type is stored that the database stores so. The values of other types than ID and numbers have
    /// one form only.
    fn refine(scalar: ScalarType, found: Self) -> Self {
        match (scalar, found) {
            (ScalarType::Id | ScalarType::Int, Self::Int2 | Self::Int4 | Self::Int8 | Self::Numeric)
            | (ScalarType::Id, Self::Uuid)
            | (ScalarType::Id | ScalarType::String | ScalarType::Enum(_), Self::Char)
            | (ScalarType::BigInt, Self::Int2 | Self::Int4 | Self::Int8)
            | (ScalarType::Float, Self::Float4 | Self::Float8)
            | (ScalarType::Enum(_), Self::Enum(_)) => found,
            _ => Self::of(scalar),
        }
    }

    /// Parses a value that such a column of the scalar type is compared with. If the column cannot hold it, returns what it can
    /// hold.
    pub(crate) fn parse(self, scalar: ScalarType, text: &str) -> Result<Value, &'static str> {
        let parsed = |scalar: ScalarType| scalar.parse(text).map_err(|error| error.expected);
        match (self, scalar) {
            (Self::Int2 | Self::Int4 | Self::Int8, _) => {
                let value = parsed(ScalarType::Int)?;
                if self.holds(&value) { Ok(value) } else { Err(self.describe()) }
            }
            (Self::Numeric, ScalarType::Id) => match parsed(ScalarType::Decimal) {
                Ok(Value::Decimal(number)) if number.scale() == 0 => Ok(Value::Decimal(number)),
                _ => Numeric::parse_whole(text).map(Value::Numeric).ok_or("a whole number of at most 1000 digits"),
            },
            (Self::Uuid, _) => parsed(ScalarType::Uuid),
            (Self::Float4, _) => Float::parse_single(text).map(Value::Float).map_err(|error| error.expected),
            _ => parsed(scalar),
        }
    }

    /// The whole numbers that a column holds that cannot hold all.
    fn describe(self) -> &'static str {
        if self == Self::Int2 {
            "a whole number from -32768 to 32767"
        } else {
            "a whole number from -2147483648 to 2147483647"
        }
    }

    /// Whether such a column can hold the value.
    pub(crate) fn holds(self, value: &Value) -> bool {
        match (self, value) {
            (Self::Int2, Value::Int(number)) => i16::try_from(*number).is_ok(),
            (Self::Int4, Value::Int(number)) => i32::try_from(*number).is_ok(),
            (Self::Enum(labels), Value::Text(text)) => labels.text(text).is_some(),
            (Self::Float4, Value::Float(number)) => number.is_single(),
            _ => matches!(
                (self, value),
                (Self::Int8 | Self::Numeric, Value::Int(_))
                    | (Self::Numeric, Value::Decimal(_) | Value::Numeric(_))
                    | (Self::Text | Self::Char, Value::Text(_))
                    | (Self::DateTime, Value::DateTime(_))
                    | (Self::Boolean, Value::Boolean(_))
                    | (Self::Uuid, Value::Uuid(_))
                    | (Self::Float8, Value::Float(_))
                    | (Self::Date, Value::Date(_))
                    | (Self::Time, Value::Time(_))
                    | (Self::Interval, Value::Interval(_))
                    | (Self::Bytes, Value::Bytes(_))
            ),
        }
    }
}

impl From<StoredType> for ResultType {
    fn from(stored: StoredType) -> Self {
        match stored {
            StoredType::Text | StoredType::Boolean | StoredType::Enum(_) => Self::Text,
            StoredType::Char => Self::Char,
            StoredType::Int2 | StoredType::Int4 | StoredType::Int8 => Self::Int8,
            StoredType::Numeric => Self::Numeric,
            StoredType::DateTime => Self::Timestamp,
            StoredType::Uuid => Self::Uuid,
            StoredType::Float4 => Self::Float4,
            StoredType::Float8 => Self::Float8,
            StoredType::Date => Self::Date,
            StoredType::Time => Self::Time,
            StoredType::Interval => Self::Interval,
            StoredType::Bytes => Self::Bytes,
        }
    }
}

/// How a database stores columns.
#[derive(Debug, Default)]
pub struct StoredTypes {
    /// The characters of its texts.
    pub characters: Characters,
    /// By relation, as the schema file names it, and column.
    types: HashMap<String, HashMap<String, FoundType>>,
    /// By relation: the columns whose values may have any length.
    long: HashMap<String, HashSet<String>>,
    /// By relation: the columns of each unique index.
    unique: HashMap<String, Vec<Vec<String>>>,
    /// By relation and column: collations that are not the database's.
    collations: HashMap<String, HashMap<String, Collation>>,
}

/// How a database stores a column.
#[derive(Debug, Clone, Copy)]
struct FoundType {
    /// If values are compared with it in another way than its scalar type says.
    stored: Option<StoredType>,
    result: ResultType,
}

impl StoredTypes {
    /// Adds a column of a type that values are compared with in more than one way, or that more than one scalar has.
    pub fn insert(&mut self, relation: &str, column: &str, stored: StoredType) {
        self.add(relation, column, FoundType { stored: Some(stored), result: stored.into() });
    }

    /// Adds a column of another type, which statements return as this one.
    pub fn insert_result(&mut self, relation: &str, column: &str, result: ResultType) {
        self.add(relation, column, FoundType { stored: None, result });
    }

    /// Adds a column whose values may have any length.
    pub fn insert_long(&mut self, relation: &str, column: &str) {
        self.long.entry(relation.to_owned()).or_default().insert(column.to_owned());
    }

    /// Adds the collation of a column.
    pub fn insert_collation(&mut self, relation: &str, column: &str, collation: Collation) {
        if collation != Collation::Default {
            self.collations.entry(relation.to_owned()).or_default().insert(column.to_owned(), collation);
        }
    }

    /// Adds the columns of a unique index.
    pub fn insert_unique(&mut self, relation: &str, columns: Vec<String>) {
        self.unique.entry(relation.to_owned()).or_default().push(columns);
    }

    /// Whether no two rows have the same values in these columns.
    pub(super) fn are_unique(&self, relation: &str, columns: &[String]) -> bool {
        let indexes = self.unique.get(relation).into_iter().flatten();
        indexes.into_iter().any(|index| index.iter().all(|column| columns.contains(column)))
    }

    /// The collation of a column.
    pub(super) fn collation(&self, relation: &str, column: &str) -> Collation {
        self.collations.get(relation).and_then(|columns| columns.get(column)).copied().unwrap_or_default()
    }

    /// Whether the values of a column of a scalar type may have any length. The values of an ID are keys.
    pub(super) fn is_long(&self, relation: &str, column: &str, scalar: ScalarType) -> bool {
        matches!(scalar, ScalarType::String | ScalarType::Json | ScalarType::Bytes)
            && self.long.get(relation).is_some_and(|columns| columns.contains(column))
    }

    fn add(&mut self, relation: &str, column: &str, found: FoundType) {
        self.types.entry(relation.to_owned()).or_default().insert(column.to_owned(), found);
    }

    /// How a column of a scalar type is stored.
    pub(super) fn get(&self, relation: &str, column: &str, scalar: ScalarType) -> StoredType {
        let found = self.found(relation, column).and_then(|found| found.stored);
        found.map_or(StoredType::of(scalar), |found| StoredType::refine(scalar, found))
    }

    /// The type as which a column of a scalar type is returned.
    pub(super) fn result(&self, relation: &str, column: &str, scalar: ScalarType) -> ResultType {
        let found = self.found(relation, column);
        found.map_or(ResultType::of(scalar), |found| ResultType::refine(scalar, found.result))
    }

    fn found(&self, relation: &str, column: &str) -> Option<FoundType> {
        self.types.get(relation)?.get(column).copied()
    }
}
