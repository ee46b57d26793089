//! The names of the parts of a field.

/// A field of a type, or a value of an enum.
pub(super) fn field(ty: &str, field: &str) -> String {
    format!("{ty}.{field}")
}

pub(super) fn argument(field: &str, argument: &str) -> String {
    format!("{field}({argument}:)")
}

pub(super) fn search_key(field: &str, key: &str) -> String {
    format!("{field}(query: \"{key}:\")")
}

/// A sort key, or the default for an empty name.
pub(super) fn sort_key(field: &str, key: &str) -> String {
    if key.is_empty() { argument(field, "sortKey") } else { format!("{field}(sortKey: {key})") }
}

pub(super) fn group_key(field: &str, value: &str) -> String {
    format!("{field}(groupBy: {value})")
}

pub(super) fn sum(field: &str, value: &str) -> String {
    format!("{field}(orderBy: {value})")
}
