//! The keys of search strings.

use crate::catalog::column::Column;
use crate::catalog::normalization::Normalization;
use crate::catalog::scoped_relation::ScopeCondition;
use crate::search::Comparator;
use crate::value::Value;

/// A key of a search string.
#[derive(Debug, Clone)]
pub struct SearchKey {
    /// The key's name, which precedes the colon.
    pub name: String,
    /// A term on the key, for descriptions.
    pub example: String,
    /// The column that is compared.
    pub column: Column,
    /// The comparators that the key accepts.
    pub comparators: Vec<Comparator>,
    /// Whether a selective index serves the key. A term on a key without one costs more.
    pub indexed: bool,
    /// Whether a view computes the column from rows of other tables, so that a comparison takes look-ups.
    pub is_computed: bool,
    /// Whether an index begins with the column, so that a few matching rows are found without reading others.
    pub lookup: bool,
    /// The sort keys in whose order an index returns the rows that have one value of the column: their indexes among the
    /// connection's. Empty with a semi-join.
    pub in_order_of: Vec<usize>,
    /// The further columns, beside the primary key's, of the index in the first of these orders, or else of one that begins with
    /// the column. A look-up that needs no others reads the index alone.
    pub include: Vec<String>,
    /// The relation of the column, if it is not the connection's own.
    pub semi_join: Option<SemiJoin>,
    /// The relation whose column of the same name lists the known values, if there is one.
    pub vocabulary: Option<String>,
    /// The normal form of values that are compared.
    pub normalization: Option<Normalization>,
    /// The text search configuration that finds the words of a search, if the column is a `tsvector`.
    pub language: Option<String>,
    /// The limit that the key stands for, if no request names it.
    pub(crate) scope: Option<ScopeKey>,
}

/// A search key that limits the rows to the rows that the caller sees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ScopeKey {
    /// Rows that have a value of this scope.
    Values(usize),
    /// Rows that fulfil this condition, which no index serves. The semi-join has the columns that it reads.
    Row(ScopeCondition),
}

impl SearchKey {
    /// Whether the key compares the column of its own relation with values as they are.
    pub(crate) fn compares(&self, column: &str) -> bool {
        self.semi_join.is_none() && self.normalization.is_none() && self.column.name == column
    }

    /// Whether a comparator of the key is one of a range.
    pub fn takes_ranges(&self) -> bool {
        self.comparators
            .iter()
            .any(|comparator| !matches!(comparator, Comparator::Equals | Comparator::In | Comparator::Matches))
    }

    /// The comparators that the key accepts, as error messages name them.
    pub(crate) fn comparator_names(&self) -> Vec<&'static str> {
        self.comparators.iter().copied().map(Comparator::describe).collect()
    }

    /// Brings a value into the form that the column has. Fails with what it should be.
    pub fn normalize(&self, value: Value) -> Result<Value, &'static str> {
        match self.normalization {
            Some(normalization) => normalization.apply(value),
            None => Ok(value),
        }
    }
}

/// An index on the columns of two search keys, followed by the columns of a sort key. Its first column is descending: so no other index has
/// its order, and a statement that asks for this order names the index. Or one of the relation in which both keys are, in ascending order.
#[derive(Debug)]
pub struct PairIndex {
    /// The two search keys, by their indexes among the connection's.
    pub keys: [usize; 2],
    /// The sort keys in whose order there is such an index, by their indexes among the connection's. Empty with a semi-join.
    pub in_order_of: Vec<usize>,
    /// The further columns, beside the primary key's, of the index in the first of these orders.
    pub include: Vec<String>,
}

/// A relation with a search key's column. A row of the connection matches if a row of this relation joins it and
/// matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SemiJoin {
    /// Its name in the database.
    pub relation: String,
    /// The columns that are equal in both relations.
    pub by: Vec<String>,
    /// The sort keys in whose order an index returns the connection's rows that join one row: their indexes among the connection's. The index
    /// has the columns `by`, then the sort key's.
    pub in_order_of: Vec<usize>,
    /// The relation with all rows, if the caller sees some of them only. A look-up counts these, so that it has a bound.
    pub(crate) unlimited: Option<String>,
}
