//! Search terms as conditions.

use crate::catalog::binding::SearchKey;
use crate::plan::sql::{Alias, ColumnOf, Condition, Operator, Placeholder};
use crate::search::Comparator;

/// The condition of a term on the base relation. The value of an equality is an array, as that of a list is.
pub(crate) fn condition(key: &SearchKey, comparator: Comparator, value: Placeholder) -> Condition<'_> {
    match &key.semi_join {
        None => compare(key, comparator, value, Alias::Base),
        Some(semi_join) => {
            let compare = Box::new(compare(key, comparator, value, Alias::Inner));
            Condition::Exists(&semi_join.relation, &semi_join.by, compare)
        }
    }
}

/// The condition of a term on the relation that has its column.
pub(crate) fn compare(key: &SearchKey, comparator: Comparator, value: Placeholder, alias: Alias) -> Condition<'_> {
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
