//! The rows that a caller sees of the relations that a statement reads: `WITH` queries, which PostgreSQL puts in the place of their names.
//! Their names are not those of the relations, so that a statement that does not limit the rows fails.

use std::fmt::{self, Display, Write};

use crate::catalog::scope::ScopeSet;
use crate::catalog::scoped_relation::{ScopeCondition, ScopedRelation};
use crate::plan::parameters::{ParameterSource, Parameters, Placeholder};
use crate::plan::sql::{Alias, ColumnOf, Condition, Relation, Separated};
use crate::query::bind::ids::StepId;

/// The same statement with the rows that it reads of limited relations, and the scopes that limit these.
pub(crate) fn limited(
    relations: &[ScopedRelation],
    sql: String,
    parameters: &mut Vec<(StepId, ParameterSource)>,
) -> (String, ScopeSet) {
    // No value is in the text, and no other identifier has such a name.
    let mut is_read: Vec<_> =
        relations.iter().map(|scoped| sql.contains(&Relation(&scoped.name).to_string())).collect();
    // Others come before those that lead to them.
    for (index, scoped) in relations.iter().enumerate().rev().filter(|_| !sql.is_empty()) {
        for condition in &scoped.conditions {
            if let (true, ScopeCondition::Row { of, .. }) = (is_read[index], condition) {
                is_read[*of] = true;
            }
        }
    }
    let mut text = String::new();
    let mut values = Values { parameters: Parameters::of_statement(parameters), known: Vec::new() };
    for (scoped, _) in relations.iter().zip(is_read).filter(|(_, is_read)| *is_read) {
        text.push_str(if text.is_empty() { "WITH " } else { ",\n" });
        // Writing to memory cannot fail.
        let _ = write(scoped, relations, &mut values, &mut text);
    }
    let scopes = values.known.iter().fold(ScopeSet::default(), |set, (scope, _)| set.and(ScopeSet::of(*scope)));
    if text.is_empty() { (sql, scopes) } else { (text + "\n" + &sql, scopes) }
}

/// The values of scopes, each a parameter once.
struct Values<'p> {
    parameters: Parameters<'p>,
    known: Vec<(usize, Placeholder)>,
}

impl Values<'_> {
    fn of(&mut self, scope: usize) -> Placeholder {
        if let Some((_, known)) = self.known.iter().find(|(known, _)| *known == scope) {
            return *known;
        }
        let placeholder = self.parameters.add(ParameterSource::Scope(scope));
        self.known.push((scope, placeholder));
        placeholder
    }
}

fn write(scoped: &ScopedRelation, all: &[ScopedRelation], values: &mut Values<'_>, text: &mut String) -> fmt::Result {
    let (name, relation) = (Relation(&scoped.name), Relation(&scoped.relation));
    write!(text, "{name} AS NOT MATERIALIZED (SELECT * FROM {relation} AS t")?;
    for (index, condition) in scoped.conditions.iter().enumerate() {
        text.push_str(if index > 0 { " AND " } else { "\nWHERE " });
        match condition {
            ScopeCondition::Values { scope, columns } => {
                let among = values.of(*scope);
                let columns = columns.iter().map(|column| Condition::Among(ColumnOf(Alias::Base, column), among));
                write!(text, "({})", Separated(" OR ", columns))
            }
            ScopeCondition::Row { of, by, key } => write!(text, "{}", row(&all[*of], by, key)),
        }?;
    }
    text.push(')');
    Ok(())
}

/// The condition that a row is seen. The order says which index to use; with EXISTS, PostgreSQL may read all rows first.
fn row(of: &ScopedRelation, by: &[String], key: &[String]) -> impl Display {
    let columns =
        by.iter().zip(key).enumerate().map(|(index, (by, key))| {
            let (own, other) = (ColumnOf(Alias::Base, by), ColumnOf(Alias::Inner, key));
            fmt::from_fn(move |f| {
                if index == 0 { write!(f, "{other} = ANY(ARRAY[{own}])") } else { write!(f, "{other} = {own}") }
            })
        });
    let first = key.first().map(|key| ColumnOf(Alias::Inner, key));
    fmt::from_fn(move |f| {
        write!(f, "(SELECT TRUE FROM {} AS x WHERE {}", Relation(&of.name), Separated(" AND ", columns.clone()))?;
        first.map_or(Ok(()), |first| write!(f, " ORDER BY {first}"))?;
        f.write_str(" LIMIT 1) IS NOT NULL")
    })
}
