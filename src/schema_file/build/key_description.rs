//! Search keys and sort keys in words, for the descriptions of the arguments `query` and `sortKey` and of sort enums.

use std::fmt::Write;

use crate::catalog::connection::{Connection, SortKey};
use crate::catalog::prices::{ROWS_LISTED, UNINDEXED_TERM};
use crate::schema_file::definition::{SearchKeyDefinition, SortKeyDefinition, TypeDefinition};
use crate::search::Comparator;
use crate::value::ScalarType;

/// The description of `query`: a line per search key, with an example.
pub(super) fn describe_search_keys(connection: &Connection) -> String {
    let keys = &connection.search_keys;
    if keys.is_empty() {
        return "Has no keys here; leave it out.".to_owned();
    }
    let mut text = String::from(
        "A search: terms with spaces between them, all of which a row has to match. Keys, comparators, examples:",
    );
    for (place, key) in keys.iter().enumerate() {
        // Writing to a string cannot fail.
        let _ = write!(text, "\n- `{}`: {}; `{}`", key.name, key.comparator_names().join(", "), key.example);
        if let Some(normalization) = key.normalization {
            let _ = write!(text, " ({})", normalization.describe());
        }
        if let ScalarType::Enum(enumeration) = key.column.scalar {
            let _ = write!(text, " (values of `{}`)", enumeration.name());
        }
        if let Some(language) = &key.language {
            let _ = write!(text, " (all words, in any order, by the text search configuration `{language}`)");
        }
        if !key.indexed {
            let _ = write!(text, " (costs {UNINDEXED_TERM} more{})", describe_short_pages(connection, place));
        }
    }
    text
}

/// Whether pages of a search by the key may end before they are full where many rows match, and the orders in which they do not,
/// as an index returns the rows in these.
fn describe_short_pages(connection: &Connection, place: usize) -> String {
    let (key, sort_keys) = (&connection.search_keys[place], &connection.sort_keys);
    let is_of_order = |sort_key: &SortKey| key.semi_join.is_none() && sort_key.columns[0].name == key.column.name;
    let full = sort_keys.iter().enumerate().filter(|(index, sort_key)| {
        is_of_order(sort_key) || key.in_order_of.contains(index) || connection.has_pair_order(place, sort_key)
    });
    let full: Vec<_> = full.map(|(_, sort_key)| sort_key.name.as_str()).collect();
    match full.len() {
        all if all == sort_keys.len() => String::new(),
        0 => "; pages may come short".to_owned(),
        _ => format!("; pages may come short, but not by {}", full.join(", ")),
    }
}

/// The description of `sortKey`.
pub(super) fn describe_sort_keys(keys: &[SortKeyDefinition]) -> String {
    match keys {
        [] => String::new(),
        [only] => format!("The order: {}, which is the default.", only.name),
        [default, others @ ..] => {
            let others: Vec<_> = others.iter().map(|key| key.name.as_str()).collect();
            format!("The order: {} (the default), {}.", default.name, others.join(", "))
        }
    }
}

/// The description of a value of a sort enum. It names fields; a column without one, which only a primary key can have, is
/// left out.
pub(super) fn describe_sort_key(node: &TypeDefinition, key: &SortKeyDefinition, is_default: bool) -> String {
    let key_columns = node.relation.as_ref().map_or(&[][..], |relation| &relation.key);
    let field = |column: &String| node.field_of(column).map(|field| format!("`{}`", field.name));
    let rest = key_columns.iter().filter(|column| **column != key.column);
    let fields: Vec<_> = std::iter::once(&key.column).chain(rest).filter_map(field).collect();
    let mut text = format!("By {}.", fields.join(", then "));
    if !key_columns.contains(&key.column) {
        text.push_str(" Rows without the former come last, also with `reverse`.");
    }
    if let Some(ties) = key.ties {
        let cost = ties.div_ceil(ROWS_LISTED);
        let _ = write!(
            text,
            " Costs {cost} more; null, with the error LIST_TOO_LONG, if more than {ties} rows have one value."
        );
    }
    if is_default {
        text.push_str(" The default.");
    }
    text
}

/// A term on the key: with the example of the schema file, or with a value of the key's type.
pub(super) fn example_term(key: &SearchKeyDefinition, scalar: ScalarType) -> String {
    let value = match scalar {
        ScalarType::Id | ScalarType::String => "A",
        ScalarType::Int | ScalarType::BigInt => "1",
        ScalarType::Decimal => "9.99",
        ScalarType::DateTime | ScalarType::Date => "2026-05-01",
        ScalarType::Boolean => "true",
        ScalarType::Enum(enumeration) => enumeration.values().next().map_or("A", |(name, _)| name),
        ScalarType::Float => "0.5",
        ScalarType::Time => "09:30:00",
        ScalarType::Interval => "P1DT12H",
        ScalarType::Uuid => "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
        ScalarType::Bytes => "AQID",
        ScalarType::Json => "",
    };
    let value = || match key.comparators.first() {
        Some(Comparator::Matches) => "\"some words\"".to_owned(),
        Some(
            comparator
            @ (Comparator::Greater | Comparator::GreaterOrEqual | Comparator::Less | Comparator::LessOrEqual),
        ) => {
            format!("{}{value}", comparator.describe())
        }
        Some(Comparator::Equals | Comparator::In) | None => value.to_owned(),
    };
    format!("{}:{}", key.name, key.example.clone().unwrap_or_else(value))
}
