//! Arguments, their values, and variables.

use serde_json::Value;

use crate::correction::facts::{PAGE_SIZE, texts};
use crate::correction::tokens::QueryText;
use crate::nearest::clearly_meant;

/// An argument that the field does not have: renamed if it is clear how it is called, or moved into the search string. It is never left out,
/// since it may be a condition.
pub(super) fn argument(text: &QueryText, name: usize, facts: &Value) -> Option<String> {
    let field = text.fields().into_iter().rev().find(|field| *field < name)?;
    let own_id = format!("{}Id", text.get(text.field_name(field)));
    let own_id = texts(facts, "allowed").into_iter().find(|allowed| text.get(name) == "id" && *allowed == own_id);
    let only = |suggestions: Vec<_>| if let [only] = suggestions[..] { Some(only) } else { None };
    let clear = || clearly_meant(text.get(name), texts(facts, "allowed"));
    let suggested = own_id.or_else(|| only(texts(facts, "suggestions"))).or_else(clear);
    if let Some(suggested) = suggested {
        return text.argument(field, suggested).is_none().then(|| text.replaced(name, name, suggested));
    }
    let (_, end) = *text.argument_list(field).iter().find(|(index, _)| *index == name)?;
    let is_value = end == name + 2 && !text.get(end).starts_with(['{', '[', '$']);
    let value = text.get(end).trim_matches('"');
    // In a search string quotes, spaces and commas, and operators before a value, have a meaning.
    let is_plain =
        is_value && !value.is_empty() && !value.contains(['\'', '"', '\\', ' ', ',', '*', '<', '>', '=', '!', '~']);
    let term = format!("{}:{value}", facts["searchKey"].as_str().filter(|_| is_plain)?);
    match text.argument(field, "query") {
        None => Some(text.replaced(name, end, &format!("query: \"{term}\""))),
        Some((_, string)) => {
            let search =
                text.get(string).strip_prefix('"')?.strip_suffix('"').filter(|search| !search.starts_with('"'))?;
            let both = format!("\"{}\"", format!("{search} {term}").trim_start());
            let (early, late) =
                if string < name { ((string, string), (name, end)) } else { ((name, end), (string, string)) };
            let [early_text, late_text] = if string < name { [both.as_str(), ""] } else { ["", both.as_str()] };
            Some(QueryText::new(text.replaced(late.0, late.1, late_text)).replaced(early.0, early.1, early_text))
        }
    }
}

/// A value of another type, if it has the same meaning in that type.
pub(super) fn value(text: &QueryText, at: usize, facts: &Value) -> Option<String> {
    let found = text.get(at);
    let plain = found.trim_matches('"');
    let allowed = texts(facts, "allowed");
    if !allowed.is_empty() {
        return clearly_meant(plain, allowed).map(|meant| text.replaced(at, at, meant));
    }
    let is_page_size = ["first", "last"].contains(&facts["argument"].as_str()?);
    let replacement = match facts["expectedType"].as_str()?.trim_end_matches('!') {
        "Int" if plain.parse::<i32>().is_ok() => plain.to_owned(),
        "Int" if is_page_size => PAGE_SIZE.to_string(),
        "Boolean" => plain.to_ascii_lowercase().parse::<bool>().ok()?.to_string(),
        "Int" => return None,
        _ if found.starts_with(['{', '[', '"', '$']) => return None,
        _ => format!("\"{found}\""),
    };
    Some(text.replaced(at, at, &replacement))
}

/// A variable that is not declared, not used, or of another type. Only a use has two locations.
pub(super) fn variable(text: &QueryText, at: usize, second: Option<usize>, facts: &Value) -> Option<String> {
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
pub(super) fn with_argument(text: &QueryText, field: usize, argument: &str) -> String {
    match text.arguments(field) {
        Some(open) => text.inserted_after(open, &format!("{argument}, ")),
        None => text.inserted_after(text.field_name(field), &format!("({argument})")),
    }
}
