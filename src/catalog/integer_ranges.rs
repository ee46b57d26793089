//! Which whole numbers columns can hold.

use std::collections::HashMap;

/// The columns whose whole numbers do not have 64 bits. A schema file does not say so; the database does.
#[derive(Debug, Default)]
pub struct IntegerRanges {
    /// By relation, as the schema file names it, and column.
    ranges: HashMap<String, HashMap<String, IntegerRange>>,
}

/// The whole numbers that a column can hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum IntegerRange {
    /// 16 bits.
    Small,
    /// 32 bits.
    Medium,
    /// 64 bits.
    #[default]
    Large,
    /// Any number: the column is a `numeric`.
    Any,
}

impl IntegerRanges {
    /// Adds a column.
    pub fn insert(&mut self, relation: &str, column: &str, range: IntegerRange) {
        self.ranges.entry(relation.to_owned()).or_default().insert(column.to_owned(), range);
    }

    /// What a column can hold: 64 bits if nothing else is known.
    pub fn get(&self, relation: &str, column: &str) -> IntegerRange {
        self.ranges.get(relation).and_then(|columns| columns.get(column)).copied().unwrap_or_default()
    }
}

impl IntegerRange {
    /// Whether a column can hold the number.
    pub fn contains(self, number: i64) -> bool {
        match self {
            Self::Small => i16::try_from(number).is_ok(),
            Self::Medium => i32::try_from(number).is_ok(),
            Self::Large | Self::Any => true,
        }
    }

    /// The numbers, for error messages.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Small => "a whole number from -32768 to 32767",
            Self::Medium => "a whole number from -2147483648 to 2147483647",
            Self::Large | Self::Any => "a whole number of 64 bits",
        }
    }
}
