//! Values that are computed over the rows of a connection.

use crate::catalog::connection::Join;
use crate::catalog::result_type::ResultType;
use crate::catalog::search_key::{SearchKey, SemiJoin};
use crate::catalog::stored_type::StoredTypes;
use crate::value::ScalarType;

/// A value computed over a column of the rows of a connection.
#[derive(Debug)]
pub struct Aggregate {
    /// A count of distinct values, or the lowest value.
    pub function: AggregateFunction,
    /// The type of the value.
    pub scalar: ScalarType,
    /// The column. Nulls do not count.
    pub column: String,
    /// The relation of the rows.
    pub relation: String,
    /// The join condition to the parent.
    pub join: Join,
    /// The type as which statements return the value.
    pub result: ResultType,
}

impl Aggregate {
    /// Sets how the database stores the column.
    pub(super) fn set_stored_type(&mut self, stored: &StoredTypes) {
        if self.function == AggregateFunction::Lowest {
            self.result = stored.result(&self.relation, &self.column, self.scalar);
        }
    }

    /// Whether a search by the key compares the column of the same rows, so that only the values that are searched for count.
    pub(crate) fn is_searched_by(&self, key: &SearchKey) -> bool {
        let is_same = |semi_join: &SemiJoin| {
            let by = self.join.by.iter().map(|column| &column.name);
            semi_join.relation == self.relation
                && by.eq(&semi_join.by)
                && self.join.to == semi_join.by
                && self.join.where_null.is_none()
        };
        self.function == AggregateFunction::Lowest
            && self.column == key.column.name
            && key.semi_join.as_ref().is_some_and(is_same)
    }
}

/// The function of an aggregate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AggregateFunction {
    /// The number of distinct values.
    CountDistinct,
    /// The lowest value. With a search by the same column, the lowest of the values that match.
    Lowest,
}

impl AggregateFunction {
    /// The type as which statements return a value of that type, as far as a schema file describes it.
    pub(crate) fn result(self, scalar: ScalarType) -> ResultType {
        match self {
            Self::CountDistinct => ResultType::Int8,
            Self::Lowest => ResultType::of(scalar),
        }
    }
}
