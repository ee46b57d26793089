//! Search terms as conditions.

use crate::catalog::binding::SearchKey;
use crate::plan::sql::{Alias, ColumnOf, Condition, InnerIndex, Operator, Placeholder};
use crate::search::Comparator;
use crate::value::ScalarType;

/// The condition of a term that is checked row by row. The value of a list is an array, and with a semi-join that of an
/// equality.
pub(crate) fn filter(key: &SearchKey, comparator: Comparator, value: Placeholder) -> Condition<'_> {
    let column = |alias| ColumnOf(alias, &key.column.name);
    // The type of a boolean column is the database's: boolean, or text. Its lists are short.
    let is_set = comparator == Comparator::In && key.column.scalar != ScalarType::Boolean;
    match (&key.semi_join, comparator) {
        (None, Comparator::Equals) => Condition::Compare(column(Alias::Base), Operator::Equal, value),
        (None, _) if is_set => Condition::InSet(column(Alias::Base), value, key.column.stored),
        (None, _) => index_condition(key, comparator, value, Alias::Base),
        (Some(semi_join), comparator) => {
            let inner = if is_set {
                Condition::InSet(column(Alias::Inner), value, key.column.stored)
            } else {
                index_condition(key, comparator, value, Alias::Inner)
            };
            let is_of_row = key.is_computed || range_operator(comparator).is_some();
            let index = if is_of_row { InnerIndex::OfRow } else { InnerIndex::OfValue };
            Condition::Exists(&semi_join.relation, &semi_join.by, Box::new(inner), index)
        }
    }
}

/// The condition of a term that an index serves, on the relation that has its column. The value of an equality is an array,
/// as that of a list is.
pub(crate) fn index_condition(
    key: &SearchKey,
    comparator: Comparator,
    value: Placeholder,
    alias: Alias,
) -> Condition<'_> {
    let column = ColumnOf(alias, &key.column.name);
    match range_operator(comparator) {
        Some(operator) => Condition::Compare(column, operator, value),
        None => Condition::Among(column, value),
    }
}

/// The operator of a range; `None` for an equality or a list.
pub(crate) fn range_operator(comparator: Comparator) -> Option<Operator> {
    match comparator {
        Comparator::Equals | Comparator::In => None,
        Comparator::Greater => Some(Operator::Greater),
        Comparator::GreaterOrEqual => Some(Operator::GreaterOrEqual),
        Comparator::Less => Some(Operator::Less),
        Comparator::LessOrEqual => Some(Operator::LessOrEqual),
    }
}
