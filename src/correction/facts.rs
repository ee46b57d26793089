//! The facts of an error's `extensions`, and its places in the text.

use serde_json::Value;

use crate::correction::tokens::QueryText;

/// The page size where an error asks for one and any will do.
pub(super) const PAGE_SIZE: u64 = 5;

/// The field that replaces a field without an equivalent: the selection stays valid.
pub(super) const LEFT_OUT: &str = "__typename";

/// A list of texts.
pub(super) fn texts<'a>(facts: &'a Value, name: &str) -> Vec<&'a str> {
    facts[name].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

/// The place of an error.
pub(super) fn place(text: &QueryText, error: &Value, index: usize) -> Option<usize> {
    let number = |name: &str| usize::try_from(error["locations"][index][name].as_u64()?).ok();
    Some(text.at(number("line")?, number("column")?))
}
