//! Search terms as conditions.

use std::fmt::Write;

use crate::catalog::binding::Connection;
use crate::plan::sql::{Alias, ColumnOf, Parameters, Relation};
use crate::plan::step::Slot;
use crate::query::bind::terms::BoundTerm;
use crate::search::Comparator;

/// The condition that a term puts on the base relation. Its values are in `slot`.
pub fn condition(connection: &Connection, term: &BoundTerm, slot: Slot, parameters: &mut Parameters) -> String {
    let key = &connection.search_keys[term.key];
    let mut compare = |alias| {
        let column = ColumnOf(alias, &key.column.name);
        let value = parameters.add(slot);
        let operator = match term.comparator {
            Comparator::In => return format!("{column} = ANY({value})"),
            Comparator::Equals => "=",
            Comparator::Greater => ">",
            Comparator::GreaterOrEqual => ">=",
            Comparator::Less => "<",
            Comparator::LessOrEqual => "<=",
        };
        format!("{column} {operator} {value}")
    };
    match &key.within {
        None => compare(Alias::Base),
        Some(within) => {
            let mut condition = format!("EXISTS (SELECT FROM {} AS x WHERE ", Relation(&within.relation));
            for column in &within.by {
                let (inner, outer) = (ColumnOf(Alias::Inner, column), ColumnOf(Alias::Base, column));
                let _ = write!(condition, "{inner} = {outer} AND ");
            }
            condition.push_str(&compare(Alias::Inner));
            condition.push(')');
            condition
        }
    }
}
