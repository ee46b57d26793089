//! The differences of two requests, token by token.

use std::fmt;
use std::ops::Range;

use serde::Serialize;
use serde_json::Value;
use similar::{Algorithm, DiffTag, capture_diff_slices};

use crate::correction::facts::LEFT_OUT;
use crate::correction::tokens::QueryText;
use crate::query::Request;

/// The most pairs of tokens that are compared. Beyond it, all between the first and the last difference is one change.
const MAX_PAIRS: usize = 1 << 20;

/// A difference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TextDifference {
    /// Its place in the text before, from 1; absent for a variable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// In characters, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<usize>,
    /// The variable whose value it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variable: Option<String>,
    /// The tokens before; empty if tokens are added.
    pub from: String,
    /// The tokens after; empty if tokens are left out.
    pub to: String,
}

impl TextDifference {
    /// Whether something is left out, and nothing takes its place.
    pub fn is_left_out(&self) -> bool {
        self.to.is_empty() || self.to == LEFT_OUT
    }
}

impl fmt::Display for TextDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { line, column, variable, from, to } = self;
        match (variable, line, column) {
            (Some(variable), ..) => write!(f, "${variable}: ")?,
            (None, Some(line), Some(column)) => write!(f, "{line}:{column} ")?,
            _ => {}
        }
        match (from.is_empty(), self.is_left_out()) {
            (true, _) => write!(f, "adds {to}"),
            (false, true) => write!(f, "leaves out {from}"),
            (false, false) => write!(f, "{from} → {to}"),
        }
    }
}

/// The differences, in the order of the text, then the differences of variables.
pub fn changes(before: &Request, after: &Request) -> Vec<TextDifference> {
    let (old, new) = (QueryText::new(before.query.as_str()), QueryText::new(after.query.as_str()));
    let mut changes: Vec<_> = differences(&old, &new)
        .into_iter()
        .map(|(from, to)| {
            let (line, column) = old.location(from.start);
            let text = |text: &QueryText, range: Range<usize>| {
                if range.is_empty() { String::new() } else { text.slice(range.start, range.end - 1).to_owned() }
            };
            let (from, to) = (text(&old, from), text(&new, to));
            TextDifference { line: Some(line), column: Some(column), variable: None, from, to }
        })
        .collect();
    for (name, value) in &after.variables {
        let from = before.variables.get(name);
        if from != Some(value) {
            let from = from.map(Value::to_string).unwrap_or_default();
            changes.push(TextDifference {
                line: None,
                column: None,
                variable: Some(name.clone()),
                from,
                to: value.to_string(),
            });
        }
    }
    changes
}

/// Whether a query selects nothing but type names.
pub fn selects_nothing(query: &str) -> bool {
    let text = QueryText::new(query);
    let mut leaves = text.fields().into_iter().filter(|field| text.selection(*field).is_none());
    !leaves.any(|field| text.get(text.field_name(field)) != LEFT_OUT)
}

/// Ranges of tokens that differ: of the old text and of the new one.
fn differences(old: &QueryText, new: &QueryText) -> Vec<(Range<usize>, Range<usize>)> {
    let same = |one: usize, other: usize| old.get(one) == new.get(other);
    let (rows, columns) = (old.tokens.len(), new.tokens.len());
    let head = (0..rows.min(columns)).take_while(|index| same(*index, *index)).count();
    let tail = (1..=rows.min(columns) - head).take_while(|back| same(rows - back, columns - back)).count();
    let (rows, columns) = (rows - tail - head, columns - tail - head);
    let whole = (head..head + rows, head..head + columns);
    if rows == 0 && columns == 0 {
        return Vec::new();
    }
    if rows.saturating_mul(columns) > MAX_PAIRS {
        return vec![whole];
    }
    let old: Vec<_> = (head..head + rows).map(|token| old.get(token)).collect();
    let new: Vec<_> = (head..head + columns).map(|token| new.get(token)).collect();
    let ops = capture_diff_slices(Algorithm::Lcs, &old, &new);
    let changed = ops.iter().filter(|op| op.tag() != DiffTag::Equal);
    let placed = |range: Range<usize>| head + range.start..head + range.end;
    changed.map(|op| (placed(op.old_range()), placed(op.new_range()))).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn listed(before: &str, after: &str) -> Vec<String> {
        let request = |query: &str| Request { query: query.to_owned(), ..Request::default() };
        changes(&request(before), &request(after)).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn every_difference_is_listed_with_its_place() {
        assert_eq!(listed("{ a }", "{ a }"), [""; 0]);
        assert_eq!(
            listed("{ a(limit: 5) {\n  ordrId x { y } } }", "{ a(first: 5) {\n  orderId __typename } }"),
            ["1:5 limit → first", "2:3 ordrId x { y } → orderId __typename"]
        );
        assert_eq!(
            listed("{ a { b } c { d } }", "{ a(first: 5) { b } c { __typename } }"),
            ["1:5 adds (first: 5)", "1:15 leaves out d"]
        );
        assert_eq!(listed("query($u: Int) { a }", "query { a }"), ["1:6 leaves out ($u: Int)"]);
        assert_eq!(listed("{ a ", "{ a }"), ["1:5 adds }"]);
    }

    #[test]
    fn a_changed_variable_is_a_change() {
        let mut before = Request::default();
        before.variables.insert("n".into(), json!(500));
        let mut after = before.clone();
        after.variables.insert("n".into(), json!(100));
        assert_eq!(changes(&before, &after)[0].to_string(), "$n: 500 → 100");
    }

    #[test]
    fn long_texts_have_one_change() {
        let (before, after) = ("a ".repeat(5000), "b ".repeat(5000));
        assert_eq!(listed(&before, &after).len(), 1);
    }

    #[test]
    fn a_query_of_type_names_selects_nothing() {
        assert!(selects_nothing("{ __typename a(b: 1) { __typename } }") && selects_nothing("{"));
        assert!(!selects_nothing("{ a { x: b } }"));
    }
}
