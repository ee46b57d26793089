//! Changes after which a request is still valid: other values of the same shape, larger pages, fewer selections.

use std::collections::HashMap;

use orderql::value::ScalarType;

use crate::choices::Choices;
use crate::document::{Argument, Definition, Selection, Value};
use crate::print::Layout;
use crate::request::Generated;
use crate::search::Term;
use crate::values::{invented, stored};

/// Replaces the values of page sizes, keys, cursors and search terms by others of the same shape: a null stays a null, and
/// different values stay different. The SQL does not depend on them.
///
/// The same value is replaced by the same one everywhere, because a field that is selected twice has the same arguments.
pub fn change_values(generated: &mut Generated, choices: &mut Choices<'_>) {
    let mut replaced: HashMap<String, Value> = HashMap::new();
    generated.visit_values(&mut |value| {
        if matches!(value, Value::Size(_) | Value::Key(_) | Value::Cursor(_) | Value::Search(_)) {
            let new = replaced.entry(format!("{value:?}")).or_insert_with(|| other(value, choices));
            *value = new.clone();
        }
    });
}

fn other(value: &Value, choices: &mut Choices<'_>) -> Value {
    let mut value = value.clone();
    match &mut value {
        Value::Size(size) => *size = 1 + (*size + choices.between(0, 97)) % 99,
        Value::Key(key) => key.text = invented(key.scalar, key.stored, choices.seed(), choices.below(8)),
        Value::Cursor(cursor) => {
            for (value, column) in cursor.values.iter_mut().zip(&cursor.columns) {
                if value.is_some() {
                    *value = Some(stored(*column, choices.seed()));
                }
            }
        }
        Value::Search(search) => search.terms.iter_mut().for_each(|term| change_term(term, choices)),
        Value::Variable(_)
        | Value::Number(_)
        | Value::String(_)
        | Value::Boolean(_)
        | Value::Null
        | Value::Enum(_)
        | Value::List(_)
        | Value::Object(_) => {}
    }
    value
}

fn change_term(term: &mut Term, choices: &mut Choices<'_>) {
    // There are only two truth values, so a list of both has no other.
    if term.scalar == ScalarType::Boolean {
        return;
    }
    let (old, seed) = (term.values.clone(), choices.seed());
    for value in &mut term.values {
        let number = old.iter().position(|other| other == value).unwrap_or_default();
        let number = u16::try_from(number).unwrap_or_default();
        // The style without signs, so that all values of a list differ.
        *value = invented(term.scalar, term.stored, seed.wrapping_add(number), 7);
    }
}

/// Makes all pages of one size larger. Returns `false` if there is none.
pub fn enlarge_page(generated: &mut Generated, choices: &mut Choices<'_>) -> bool {
    let mut sizes = Vec::new();
    generated.visit_values(&mut |value| {
        if let Value::Size(size) = value {
            sizes.push(*size);
        }
    });
    let Some(chosen) = choices.pick(&sizes).copied() else { return false };
    let by = choices.between(1, 100);
    generated.visit_values(&mut |value| {
        if let Value::Size(size) = value {
            *size += if *size == chosen { by } else { 0 };
        }
    });
    true
}

/// Removes a selection. Returns `false` if every selection set has only one.
pub fn remove_selection(generated: &mut Generated, choices: &mut Choices<'_>) -> bool {
    let mut selections = 0;
    generated.document.visit_sets(&mut |set| selections += if set.len() > 1 { set.len() } else { 0 });
    let chosen = choices.below(selections);
    remove_nth(generated, chosen)
}

/// The smallest request that a greedy search finds and that still fails.
pub fn shrink(generated: &Generated, mut still_fails: impl FnMut(&Generated) -> bool) -> Generated {
    let mut smallest = generated.clone();
    let mut is_smaller = true;
    while std::mem::take(&mut is_smaller) {
        for reduce in REDUCTIONS {
            let mut place = 0;
            loop {
                let mut smaller = smallest.clone();
                if !reduce(&mut smaller, place) {
                    break;
                }
                if still_fails(&smaller) {
                    smallest = smaller;
                    is_smaller = true;
                } else {
                    place += 1;
                }
            }
        }
    }
    smallest
}

/// Ways to make a request smaller at its n-th place. They return `false` if there is no such place.
const REDUCTIONS: [fn(&mut Generated, usize) -> bool; 7] =
    [remove_operation, remove_nth, remove_directive, unwrap_fragment, remove_argument, replace_variable, simplify];

fn remove_operation(generated: &mut Generated, place: usize) -> bool {
    let chosen = generated.operation().and_then(|operation| operation.name.clone());
    let is_other = |definition: &Definition| match definition {
        Definition::Operation(operation) => operation.name != chosen,
        Definition::Fragment(_) => false,
    };
    let definitions = &mut generated.document.definitions;
    let Some(other) = (0..definitions.len()).filter(|index| is_other(&definitions[*index])).nth(place) else {
        return false;
    };
    definitions.remove(other);
    generated.declare();
    true
}

fn remove_nth(generated: &mut Generated, place: usize) -> bool {
    let (mut first, mut is_done) = (0, false);
    generated.document.visit_sets(&mut |set| {
        let length = if set.len() > 1 { set.len() } else { 0 };
        if !is_done && (first..first + length).contains(&place) {
            set.remove(place - first);
            is_done = true;
        }
        first += length;
    });
    generated.declare();
    is_done
}

fn remove_directive(generated: &mut Generated, place: usize) -> bool {
    let mut index = 0;
    generated.document.visit_sets(&mut |set| {
        for selection in set {
            let directives = selection.directives_mut();
            let first = index;
            index += directives.len();
            if (first..index).contains(&place) {
                directives.remove(place - first);
            }
        }
    });
    generated.declare();
    place < index
}

/// Replaces an inline fragment by what it selects.
fn unwrap_fragment(generated: &mut Generated, place: usize) -> bool {
    let mut index = 0;
    generated.document.visit_sets(&mut |set| {
        let plain =
            |selection: &Selection| matches!(selection, Selection::Inline(inline) if inline.directives.is_empty());
        let places: Vec<_> = (0..set.len()).filter(|index| plain(&set[*index])).collect();
        let first = index;
        index += places.len();
        if (first..index).contains(&place)
            && let Selection::Inline(inline) = set.remove(places[place - first])
        {
            set.extend(inline.selections);
        }
    });
    place < index
}

/// Removes an argument, unless others depend on it.
fn remove_argument(generated: &mut Generated, place: usize) -> bool {
    let mut index = 0;
    generated.document.visit_fields(&mut |field| {
        let has_cursor = field.arguments.iter().any(|argument| matches!(argument.name.as_str(), "after" | "before"));
        let is_optional = |argument: &Argument| match argument.name.as_str() {
            "after" | "before" | "query" | "includeDeprecated" => true,
            "sortKey" | "reverse" => !has_cursor,
            _ => false,
        };
        let places: Vec<_> = (0..field.arguments.len()).filter(|index| is_optional(&field.arguments[*index])).collect();
        let first = index;
        index += places.len();
        if (first..index).contains(&place) {
            field.arguments.remove(places[place - first]);
        }
    });
    generated.declare();
    place < index
}

/// Writes the value of a variable where the variable is used.
fn replace_variable(generated: &mut Generated, place: usize) -> bool {
    let Some(variable) = generated.variables.get(place) else { return false };
    let (name, value) = (variable.name.clone(), variable.value().cloned().unwrap_or(Value::Null));
    let replace = |argument: &mut Argument| {
        if matches!(&argument.value, Value::Variable(used) if *used == name) {
            argument.value = value.clone();
        }
    };
    generated.document.visit_sets(&mut |set| {
        for selection in set {
            if let Selection::Field(field) = selection {
                field.arguments.iter_mut().for_each(replace);
            }
            for directive in selection.directives_mut() {
                directive.arguments.iter_mut().for_each(replace);
            }
        }
    });
    generated.declare();
    true
}

/// A plain layout and nothing beside the document.
fn simplify(generated: &mut Generated, place: usize) -> bool {
    let is_simple = generated.layout == Layout::Line && generated.undeclared.is_empty();
    generated.layout = Layout::Line;
    generated.undeclared.clear();
    place == 0 && !is_simple
}
