//! The keys, sums and fields of totals: counts and sums over rows of a root connection, by groups.

/// The most group keys that a root has.
pub(crate) const MAX_KEYS: usize = 32;

/// A key that rows can be grouped by.
#[derive(Debug)]
pub struct GroupKey {
    /// The name of the group's field.
    pub name: String,
    /// The name among the values of `groupBy`.
    pub value: String,
    /// The column.
    pub path: FieldPath,
    /// If it is a moment: the period, in the time zone of the request, whose beginning is the key.
    pub unit: Option<TimeUnit>,
}

/// A column that is added up over the rows of a group.
#[derive(Debug)]
pub struct Sum {
    /// The name of the group's field.
    pub name: String,
    /// The name among the values of `orderBy`.
    pub value: String,
    /// The column.
    pub path: FieldPath,
    /// A column that it is multiplied by, row by row.
    pub times: Option<FieldPath>,
    /// Whether it is an amount of money, so that the currency is a key of its groups.
    pub is_money: bool,
}

/// A period of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeUnit {
    /// From midnight to midnight.
    Day,
    /// From Monday to Sunday.
    Week,
    /// From the first day to the last.
    Month,
}

impl TimeUnit {
    /// The unit with that name in a schema file.
    pub(crate) fn named(name: &str) -> Option<Self> {
        match name {
            "DAY" => Some(Self::Day),
            "WEEK" => Some(Self::Week),
            "MONTH" => Some(Self::Month),
            _ => None,
        }
    }

    /// The name in PostgreSQL.
    pub fn name(self) -> &'static str {
        match self {
            Self::Day => "day",
            Self::Week => "week",
            Self::Month => "month",
        }
    }
}

/// A column of a row, or of an object that is joined to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldPath {
    /// The fields of the objects on the way, by their indexes.
    pub(crate) objects: Vec<u16>,
    /// The column's field, by its index.
    pub(crate) column: u16,
}

impl FieldPath {
    /// The objects that a row of the type is joined to on the way.
    pub(crate) fn objects(&self) -> &[u16] {
        &self.objects
    }
}

/// A field of totals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TotalsField {
    /// The groups, at most `first`, in the order of `orderBy`.
    Groups,
    /// How many groups there are.
    GroupCount,
    /// How many rows were summed up.
    RowCount,
    /// Whether these are all rows that match.
    Complete,
    /// The position of the last row that was examined, if there are more.
    EndCursor,
}

impl TotalsField {
    /// The fields in the order of publication.
    pub const ALL: [Self; 5] = [Self::Groups, Self::GroupCount, Self::RowCount, Self::Complete, Self::EndCursor];
}

/// A field of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GroupField {
    /// A key, by its index among the keys of the root.
    Key(usize),
    /// How many rows it has.
    Count,
    /// A sum, by its index among the sums of the root.
    Sum(usize),
}

impl GroupField {
    /// The field with this index, in a group with this many keys. The keys are published first, then the count, then the sums.
    pub(crate) fn at(index: usize, keys: usize) -> Self {
        match index.checked_sub(keys) {
            None => Self::Key(index),
            Some(0) => Self::Count,
            Some(beyond) => Self::Sum(beyond - 1),
        }
    }
}

/// The order of groups. Groups with equal values are in the order of their keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GroupOrder {
    /// The number of rows, the largest first.
    Count,
    /// Their keys.
    Key,
    /// A sum, by its index among the sums of the root, the largest first.
    Sum(usize),
}

impl GroupOrder {
    /// The values of `orderBy`, the default first: the number of rows, the keys, and the sums.
    pub(crate) fn names(sums: &[Sum]) -> impl Iterator<Item = &str> {
        ["COUNT", "KEY"].into_iter().chain(sums.iter().map(|sum| sum.value.as_str()))
    }

    /// The order with that name.
    pub(crate) fn named(name: &str, sums: &[Sum]) -> Option<Self> {
        let index = Self::names(sums).position(|known| known == name)?;
        Some(match index {
            0 => Self::Count,
            1 => Self::Key,
            sum => Self::Sum(sum - 2),
        })
    }
}
