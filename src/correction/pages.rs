//! Page sizes, and what a query costs with them.

use serde_json::Value;

use crate::correction::facts::{LEFT_OUT, PAGE_SIZE, place};
use crate::correction::tokens::QueryText;
use crate::query::Request;

/// The arguments that have a page size.
pub(super) const OF_PAGES: &[&str] = &["first", "last"];

/// Sets the page size of a connection, in the text or in the variable that it comes from: the first of these arguments that there is.
pub(super) fn set_size(
    request: &mut Request,
    text: &QueryText,
    field: usize,
    arguments: &[&str],
    size: u64,
) -> Option<String> {
    let (name, end) = arguments.iter().find_map(|name| text.argument(field, name))?;
    if text.get(name + 2) == "$" {
        request.variables.insert(text.get(end).to_owned(), size.into());
        return None;
    }
    Some(text.replaced(name + 2, end, &size.to_string()))
}

/// Makes the edits of a suggestion.
pub(super) fn cost(request: &mut Request, text: &QueryText, edits: &Value) -> Option<String> {
    let mut places = Vec::new();
    for edit in edits.as_array()? {
        if let Some(variable) = edit["variable"].as_str() {
            request.variables.insert(variable.to_owned(), edit["to"].clone());
        }
        for index in 0..edit["locations"].as_array().map_or(0, Vec::len) {
            places.push((place(text, edit, index)?, edit));
        }
    }
    places.sort_by_key(|(field, _)| std::cmp::Reverse(*field));
    let mut text = text.clone();
    for (field, edit) in places {
        let (name, end) = text.argument(field, edit["argument"].as_str()?)?;
        text = QueryText::new(text.replaced(name + 2, end, &edit["to"].to_string()));
    }
    Some(text.text)
}

/// Leaves out the fields that are nested too deep.
pub(super) fn depth(text: &QueryText, error: &Value) -> Option<String> {
    let mut text = text.clone();
    for index in (0..error["locations"].as_array()?.len()).rev() {
        let field = place(&text, error, index)?;
        text = QueryText::new(text.replaced(field, text.field_end(field), LEFT_OUT));
    }
    Some(text.text)
}

/// An empty page, and both ends of one if they are the same. Which argument of a lookup is meant is not known.
pub(super) fn input(request: &mut Request, text: &QueryText, at: Option<usize>, facts: &Value) -> Option<String> {
    let at = at?;
    if facts["requested"].is_i64() || facts["requested"].is_u64() {
        return set_size(request, text, at, OF_PAGES, PAGE_SIZE);
    }
    let ((name, end), (_, first)) = (text.argument(at, "last")?, text.argument(at, "first")?);
    (text.get(end) == text.get(first)).then(|| text.replaced(name, end, ""))
}
