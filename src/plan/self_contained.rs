//! Statements that read their parents' keys themselves, so that all statements of a plan can be sent at once, before any rows
//! arrive. They read the parents' page again: worth it where a round trip to the database takes longer than that.
//!
//! The keys are a `WITH` query: the parents' own statement reduced to its keys, with the parents' ordinals. It is materialized,
//! so PostgreSQL plans it apart from the step's statement, whose plan remains what it is with the keys as arrays. In one
//! snapshot the same page has the same rows. Their order relies on what `locator` relies on: the rows of a
//! sub-select are read in its order.

use std::fmt::{self, Display, Write};

use crate::plan::statement::PARENTS_ORDER;
use crate::plan::step::{Parents, ParentsText, Slot, Step};
use crate::query::bind::ids::StepId;

/// A statement that reads its parents' keys itself.
#[derive(Debug)]
pub struct SelfContained {
    /// The SQL text. It does not depend on values.
    pub sql: String,
    /// Where the values of its parameters come from, `$1` first: the slots of the step and of those above it.
    pub parameters: Vec<(StepId, Slot)>,
}

/// The self-contained statement of a step that has parents. `None` if it has none, or if theirs has no reduced form.
pub(super) fn self_contained(steps: &[Step], id: StepId) -> Option<SelfContained> {
    let step = &steps[id];
    with_parents(steps, id, &step.sql, step.parents_text.as_ref()?)
}

/// The keys of a step's rows.
fn keys(steps: &[Step], id: StepId) -> Option<SelfContained> {
    let keys = steps[id].keys.as_ref()?;
    let mut statement = if let Some(parents_text) = &keys.parents_text {
        with_parents(steps, id, &keys.sql, parents_text)?
    } else {
        let parameters = steps[id].parameters.iter().map(|slot| (id, *slot));
        SelfContained { sql: keys.sql.clone(), parameters: parameters.collect() }
    };
    // Only the rows of the page are parents, not the one after it.
    for (step, slot) in &mut statement.parameters {
        if *step == id && *slot == Slot::Limit {
            *slot = Slot::PageSize;
        }
    }
    Some(statement)
}

/// A step's statement, or that of its keys, with its parents' keys.
fn with_parents(steps: &[Step], id: StepId, sql: &str, parents_text: &ParentsText) -> Option<SelfContained> {
    let (step, ParentsText { range, types }) = (&steps[id], parents_text);
    let Parents::Rows { step: parent, columns } = &step.parents else { return None };
    let SelfContained { sql: parents, mut parameters } = keys(steps, *parent)?;
    // The parents' keys are the first parameters. In their place come those of the parents' statement.
    let renumbering = Renumbering { less: columns.len(), more: parameters.len() };
    parameters.extend(step.parameters.iter().skip(columns.len()).map(|slot| (id, *slot)));
    let (before, after) = (sql.get(..range.start)?, sql.get(range.end..)?);
    let after = after.strip_suffix(PARENTS_ORDER)?;
    let mut text = String::with_capacity(parents.len() + sql.len());
    let keys = with_ordinals(&steps[*parent], columns, types, &parents);
    write!(text, "{keys}{}k{}", renumbering.of(before), renumbering.of(after)).ok()?;
    Some(SelfContained { sql: text, parameters })
}

/// The parents' keys with the parents' ordinals in the response.
fn with_ordinals(parent: &Step, columns: &[usize], types: &[&'static str], sql: &str) -> impl Display {
    fmt::from_fn(move |f| {
        let keys = |f: &mut fmt::Formatter<'_>| {
            let keys = columns.iter().zip(types).enumerate();
            keys.into_iter().try_for_each(|(index, (column, ty))| write!(f, "p.c{column}::{ty} AS k{index}, "))
        };
        f.write_str("WITH k AS MATERIALIZED (SELECT ")?;
        if !parent.backward {
            keys(f)?;
            return write!(f, "row_number() OVER () AS ord FROM (\n{sql}\n) AS p)\n");
        }
        // The rows of each group come in the reverse of the response's order.
        (0..columns.len()).try_for_each(|index| write!(f, "p.k{index}, "))?;
        f.write_str("row_number() OVER (ORDER BY p.g, p.n DESC) AS ord FROM (SELECT ")?;
        keys(f)?;
        let group = if parent.layout.ordinal.is_some() { "p.ord" } else { "1" };
        write!(f, "{group} AS g, row_number() OVER () AS n FROM (\n{sql}\n) AS p) AS p)\n")
    })
}

/// Other numbers for the parameters in a text.
#[derive(Clone, Copy)]
struct Renumbering {
    less: usize,
    more: usize,
}

impl Renumbering {
    /// The text with the new numbers. A `$` is that of a parameter, or in a quoted identifier: the text has no literals.
    fn of(self, sql: &str) -> impl Display {
        fmt::from_fn(move |f| {
            for (index, part) in sql.split('"').enumerate() {
                if index > 0 {
                    f.write_str("\"")?;
                }
                if index % 2 == 1 {
                    f.write_str(part)?;
                    continue;
                }
                let mut pieces = part.split('$');
                f.write_str(pieces.next().unwrap_or_default())?;
                for piece in pieces {
                    let digits = piece.len() - piece.trim_start_matches(|c: char| c.is_ascii_digit()).len();
                    let (number, rest) = piece.split_at(digits);
                    let number: usize = number.parse().map_err(|_| fmt::Error)?;
                    write!(f, "${}{rest}", number + self.more - self.less)?;
                }
            }
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::Catalog;
    use crate::compile::compile;
    use crate::limits::Limits;
    use crate::query::Request;

    #[test]
    fn reads_the_keys_of_all_levels_above() {
        let query = "{ orders(last: 2) { edges { node { orderName shipGroups(first: 3) { edges { node { maySplit
            orderItems(last: 4) { edges { node { quantity } } } } } } } } } }";
        let request = Request { query: query.to_owned(), ..Request::default() };
        let plan = compile(&Catalog::built_in().unwrap(), &request, &Limits::UNLIMITED).unwrap().plan;
        assert!(plan.self_contained(0).is_none());
        let statement = plan.self_contained(2).unwrap();
        insta::assert_snapshot!(format!("{}\n{:?}", statement.sql, statement.parameters));
    }

    #[test]
    fn renumbers_parameters_outside_of_identifiers() {
        let renumbering = Renumbering { less: 1, more: 3 };
        let text = r#"t."a$2" = $2 AND "b""$3" = ANY($10) LIMIT $2"#;
        assert_eq!(renumbering.of(text).to_string(), r#"t."a$2" = $4 AND "b""$3" = ANY($12) LIMIT $4"#);
    }
}
