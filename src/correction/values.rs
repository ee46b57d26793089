//! Arguments, their values, and variables.

use serde_json::Value;

use crate::correction::facts::{PAGE_SIZE, texts};
use crate::correction::tokens::Text;

/// An argument that the field does not have.
pub(super) fn argument(text: &Text, name: usize, suggested: Option<&str>) -> Option<String> {
    let fields = text.fields();
    let field = fields.into_iter().rev().find(|field| *field < name)?;
    if let Some(suggested) = suggested.filter(|suggested| text.argument(field, suggested).is_none()) {
        return Some(text.replaced(name, name, suggested));
    }
    let list = text.argument_list(field);
    let (_, end) = *list.iter().find(|(index, _)| *index == name)?;
    // Empty brackets are an error of syntax.
    Some(if list.len() == 1 { text.replaced(name.checked_sub(1)?, end + 1, "") } else { text.replaced(name, end, "") })
}

/// A value of another type.
pub(super) fn value(text: &Text, at: usize, facts: &Value, suggested: Option<&str>) -> Option<String> {
    let found = text.get(at);
    if let Some(replacement) = suggested.or_else(|| texts(facts, "allowed").first().copied()) {
        return Some(text.replaced(at, at, replacement));
    }
    let replacement = match (found.strip_prefix('"'), facts["expectedType"].as_str()?.trim_end_matches('!')) {
        (Some(inner), "Int" | "Boolean") => inner.trim_end_matches('"').to_owned(),
        (None, "Boolean") => "true".to_owned(),
        (None, "Int") => PAGE_SIZE.to_string(),
        _ => format!("\"{found}\""),
    };
    Some(text.replaced(at, at, &replacement))
}

/// A variable that is not declared, not used, or of another type. Only a use has two locations.
pub(super) fn variable(text: &Text, at: usize, second: Option<usize>, facts: &Value) -> Option<String> {
    let name = facts["variable"].as_str()?;
    let Some(second) = second else {
        // `$name: Type = default`, up to the next variable or the end of the list.
        let open = (0..at).rev().find(|index| text.get(*index) == "(")?;
        let close = text.closing(open);
        let end = (at + 1..close).find(|index| text.get(*index) == "$").unwrap_or(close).checked_sub(1)?;
        return Some(if at == open + 1 && end + 1 == close {
            text.replaced(open, close, "")
        } else {
            text.replaced(at, end, "")
        });
    };
    let expected = facts["expectedType"].as_str()?;
    if !facts["type"].is_null() {
        // `$name: Type`
        let first = second + 3;
        let last = if text.get(first + 1) == "!" { first + 1 } else { first };
        return Some(text.replaced(first, last, expected));
    }
    let declaration = format!("${name}: {expected}");
    Some(match text.get(second) {
        "{" => text.replaced(second, second, &format!("query ({declaration}) {{")),
        _ => match (second..text.tokens.len()).find(|index| matches!(text.get(*index), "(" | "{"))? {
            open if text.get(open) == "(" => text.inserted_after(open, &format!("{declaration}, ")),
            brace => text.inserted_after(brace.checked_sub(1)?, &format!("({declaration})")),
        },
    })
}

/// Gives a field one more argument.
pub(super) fn with_argument(text: &Text, field: usize, argument: &str) -> String {
    match text.arguments(field) {
        Some(open) => text.inserted_after(open, &format!("{argument}, ")),
        None => text.inserted_after(text.field_name(field), &format!("({argument})")),
    }
}
