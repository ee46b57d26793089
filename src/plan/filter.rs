//! Search terms as conditions.

use crate::catalog::binding::Connection;
use crate::plan::sql::{Alias, ColumnOf, Condition, Operator, Parameters};
use crate::plan::step::Slot;
use crate::query::bind::terms::BoundTerm;
use crate::search::Comparator;

/// The condition of a term on the base relation. Its values come from `slot`.
pub(crate) fn condition<'a>(
    connection: &'a Connection,
    term: &BoundTerm,
    slot: Slot,
    parameters: &mut Parameters,
) -> Condition<'a> {
    let key = &connection.search_keys[term.key];
    let value = parameters.add(slot);
    let compare = |alias| {
        let column = ColumnOf(alias, &key.column.name);
        let operator = match term.comparator {
            Comparator::In => return Condition::Among(column, value),
            Comparator::Equals => Operator::Equal,
            Comparator::Greater => Operator::Greater,
            Comparator::GreaterOrEqual => Operator::GreaterOrEqual,
            Comparator::Less => Operator::Less,
            Comparator::LessOrEqual => Operator::LessOrEqual,
        };
        Condition::Compare(column, operator, value)
    };
    match &key.semi_join {
        None => compare(Alias::Base),
        Some(semi_join) => Condition::Exists(&semi_join.relation, &semi_join.by, Box::new(compare(Alias::Inner))),
    }
}
