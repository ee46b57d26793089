//! The rows that a caller sees of a statement's relations. Each limited relation has a name of its own, which a `WITH` query in front of
//! the statement defines. A statement that names such a relation without its `WITH` query fails.
//!
//! The statement is searched for these names when it is complete, so that no step has to report what it reads. The search finds no other
//! text: a statement has no values, and no other identifier has such a name.

use std::fmt::{self, Write};

use crate::catalog::scope::ScopeSet;
use crate::catalog::scoped_relation::{ScopeCondition, ScopedRelation, Without};
use crate::plan::parameters::{ParameterSource, Parameters};
use crate::plan::sql::{Alias, ColumnOf, Condition, Relation, Where};
use crate::query::bind::step_id::StepId;

/// The statement with limits for the rows that it reads of limited relations, and the scopes that limit these.
pub(crate) fn limited(
    relations: &[ScopedRelation],
    sql: String,
    parameters: &mut Vec<(StepId, ParameterSource)>,
) -> (String, ScopeSet) {
    // No value is in the text, and no other identifier has such a name.
    let mut is_read: Vec<_> =
        relations.iter().map(|scoped| sql.contains(&Relation(&scoped.name).to_string())).collect();
    // A relation comes before the relations that lead to it.
    for (index, scoped) in relations.iter().enumerate().rev().filter(|_| !sql.is_empty()) {
        for condition in &scoped.conditions {
            if let (true, ScopeCondition::Row { of, is_covered: false, .. }) = (is_read[index], condition) {
                is_read[*of] = true;
            }
        }
    }
    let mut text = String::new();
    let mut parameters = Parameters::of_statement(parameters);
    for (scoped, _) in relations.iter().zip(is_read).filter(|(_, is_read)| *is_read) {
        text.push_str(if text.is_empty() { "WITH " } else { ",\n" });
        // Writing to memory cannot fail.
        let _ = write(scoped, &mut parameters, &mut text);
    }
    let scopes = parameters.scopes().fold(ScopeSet::default(), |set, scope| set.and(ScopeSet::of(scope)));
    if text.is_empty() { (sql, scopes) } else { (text + "\n" + &sql, scopes) }
}

fn write(scoped: &ScopedRelation, parameters: &mut Parameters<'_>, text: &mut String) -> fmt::Result {
    let (name, relation) = (Relation(&scoped.name), Relation(&scoped.relation));
    let conditions = scoped.conditions.iter().filter(|of_row| !of_row.is_covered());
    let conditions: Vec<_> = conditions.map(|of_row| condition(of_row, parameters)).collect();
    write!(text, "{name} AS NOT MATERIALIZED (SELECT * FROM {relation} AS t{})", Where(conditions.iter()))
}

/// The condition of rows that callers see.
pub(crate) fn condition<'a>(condition: &'a ScopeCondition, parameters: &mut Parameters<'_>) -> Condition<'a> {
    match condition {
        ScopeCondition::Values { scope, columns, .. } => {
            let columns = columns.iter().map(|column| ColumnOf(Alias::Base, column)).collect();
            Condition::OneAmong(columns, parameters.scope(*scope))
        }
        ScopeCondition::Row { name, by, key, without, .. } => {
            let exists = Condition::RowExists(name, by, key);
            match (without, by.last()) {
                (Some(without), Some(column)) => {
                    Condition::Either(Box::new(is_without(column, without)), Box::new(exists))
                }
                _ => exists,
            }
        }
        ScopeCondition::None { column, without } => is_without(column, without),
    }
}

/// The condition that a row belongs to no row of another relation.
fn is_without<'a>(column: &'a str, Without(text): &'a Without) -> Condition<'a> {
    let column = ColumnOf(Alias::Base, column);
    let is_null = Condition::IsNull(column);
    match text {
        Some(text) => Condition::Either(Box::new(is_null), Box::new(Condition::IsText(column, text))),
        None => is_null,
    }
}
