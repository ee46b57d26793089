//! Syntax, names, selections and fragments.

use serde_json::Value;

use crate::correction::facts::{LEFT_OUT, PAGE_SIZE, texts};
use crate::correction::tokens::QueryText;
use crate::correction::values;
use crate::nearest::clearly_meant;

/// The type that queries begin with.
const ROOT: &str = "Query";

/// The text after the correction of a syntax error; `None` if no rule fits.
pub(super) fn syntax(text: &QueryText, at: usize, facts: &Value) -> Option<String> {
    let (found, expected) = (facts["found"].as_str()?, texts(facts, "expected"));
    if expected.contains(&"a string in double quotes") {
        return Some(text.text.replace(['\'', '\u{2018}', '\u{2019}', '\u{201c}', '\u{201d}'], "\""));
    }
    let balance = text.tokens.iter().enumerate().fold(0, |balance, (index, _)| match text.get(index) {
        "{" => balance + 1,
        "}" => balance - 1,
        _ => balance,
    });
    if found == "the end of the text" {
        return Some(format!("{} {}", text.text, "}".repeat(usize::try_from(balance).unwrap_or(0))));
    }
    if found == "\"}\"" && balance < 0 {
        return Some(text.replaced(at, at, ""));
    }
    // The expected token, if it is one of punctuation.
    let missing =
        expected.iter().map(|token| token.trim_matches('"')).find(|token| matches!(*token, ":" | ")" | "}"))?;
    Some(text.inserted_after(at.checked_sub(1)?, &format!("{missing} ")))
}

/// The text after the correction of a validation error, such as an unknown name; `None` if no rule fits.
pub(super) fn validation(text: &QueryText, at: usize, second: Option<usize>, facts: &Value) -> Option<String> {
    let has = |name: &str| !facts[name].is_null();
    let suggested = texts(facts, "suggestions").first().copied();
    // The misspelt name is at the location, or a little further on: after the dots of a fragment, or its name.
    let named = |name: &str| {
        let wrong = facts[name].as_str()?;
        (at..text.tokens.len()).find(|index| text.get(*index) == wrong)
    };
    let instead = texts(facts, "instead");
    if !instead.is_empty() {
        return moved_inside(text, at, named("field")?, &instead);
    }
    if has("example") {
        return Some(with_selection(text, at, facts["example"].as_str()?));
    }
    if texts(facts, "allowed") == ["query"] {
        return Some(text.replaced(at, at, "query"));
    }
    if has("field") && has("fields") {
        let name = named("field")?;
        let (wrong, suggestions) = (text.get(name), texts(facts, "suggestions"));
        // Another root would be another question. So the name must mean it without doubt.
        if facts["type"] == ROOT {
            return clearly_meant(wrong, suggestions).map(|meant| text.replaced(name, name, meant));
        }
        // `totalCount` means `count` as `count` means `totalCount`.
        let is_clear = |one: &&str| clearly_meant(wrong, [*one]).or_else(|| clearly_meant(one, [wrong])).is_some();
        return Some(match suggestions.into_iter().find(is_clear) {
            Some(meant) => text.replaced(name, name, meant),
            None => text.replaced(at, text.field_end(at), LEFT_OUT),
        });
    }
    if has("field") {
        let open = text.selection(at)?;
        return Some(text.replaced(open, text.closing(open), ""));
    }
    if has("variable") {
        return values::variable(text, at, second, facts);
    }
    if has("argument") && has("found") {
        return values::value(text, at, facts);
    }
    if has("argument") && has("expectedType") {
        // The name may be right by now, after the correction of another error.
        if text.argument(at, facts["argument"].as_str()?).is_some() {
            return None;
        }
        let is_page_size = facts["argument"] == "first";
        return is_page_size.then(|| values::with_argument(text, at, &format!("first: {PAGE_SIZE}")));
    }
    if has("argument") {
        return values::argument(text, named("argument")?, facts);
    }
    let kind = ["type", "fragment", "directive"].into_iter().find(|name| has(name))?;
    let name = named(kind)?;
    Some(text.replaced(name, name, suggested?))
}

/// The field `name` of the field at `at`, replaced by one that is further inside, at the end of a path.
fn moved_inside(text: &QueryText, at: usize, name: usize, path: &[&str]) -> Option<String> {
    let (last, way) = path.split_last()?;
    let closed = text.inserted_after(text.field_end(at), &" }".repeat(way.len()));
    let way: String = way.iter().flat_map(|name| [name, " { "]).collect();
    // The alias belongs to the last one.
    let alias = if name > at { format!("{}: ", text.get(at)) } else { String::new() };
    Some(QueryText::new(closed).replaced(at, name, &format!("{way}{alias}{last}")))
}

fn with_selection(text: &QueryText, at: usize, example: &str) -> String {
    let (end, example) = (text.head_end(at), format!(" {example}"));
    let has_empty = text.get(end + 1) == "{";
    if has_empty { text.replaced(end + 1, end + 2, &example) } else { text.inserted_after(end, &example) }
}
