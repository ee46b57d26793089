//! The columns of views over another table: the columns that the schema file reads from the view.

use std::collections::{BTreeMap, BTreeSet};

use crate::migration::object::DeclaredObject;
use crate::migration::present::Present;

/// The columns that a schema file reads, by relation with its schema.
pub(crate) type ColumnsRead = BTreeMap<String, BTreeSet<String>>;

/// The view, with columns in the place of `{table.*}`: the columns that are read from it and that the table has. Columns that an earlier
/// run with another schema file gave it stay first, in their order, so that the view can be replaced while others use it.
pub(super) fn expand(
    view: &DeclaredObject,
    read: Option<&ColumnsRead>,
    present: &Present,
    has_column: impl Fn(&str, &str) -> bool,
) -> DeclaredObject {
    let Some((before, rest)) = view.text.split_once('{') else { return view.clone() };
    let Some((place, after)) = rest.split_once(".*}") else { return view.clone() };
    let named = named_before(before);
    // A version without records showed all columns of the table.
    let shown =
        present.record.as_ref().and_then(|_| present.relations.get(view.name)).map(|relation| &relation.columns);
    let shown = shown.into_iter().flatten().map(|(name, _)| name.as_str());
    let read = read.and_then(|read| read.get(view.name));
    let mut columns: Vec<&str> = Vec::new();
    for column in shown.chain(read.into_iter().flatten().map(String::as_str)) {
        if !named.contains(&column) && !columns.contains(&column) && has_column(place, column) {
            columns.push(column);
        }
    }
    let columns: Vec<_> = columns.iter().map(|column| format!("{place}.{}", quoted(column))).collect();
    // A table that has none of them.
    let columns = if columns.is_empty() { "NULL AS no_column".to_owned() } else { columns.join(", ") };
    DeclaredObject { text: format!("{before}{columns}{after}"), ..view.clone() }
}

/// The names of the columns between `SELECT` and the end of the text.
fn named_before(text: &str) -> Vec<&str> {
    let list = text.rsplit_once("SELECT").map_or("", |(_, list)| list);
    list.split(',')
        .filter_map(|column| column.trim().rsplit([' ', '.']).next())
        .filter(|name| !name.is_empty())
        .collect()
}

fn quoted(name: &str) -> String {
    let is_plain = name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    if is_plain { name.to_owned() } else { format!("\"{}\"", name.replace('"', "\"\"")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_columns_named_before_are_read_from_the_text() {
        assert_eq!(
            named_before("CREATE VIEW a AS\nSELECT known.type_id AS kind, known.id_value, "),
            ["kind", "id_value"]
        );
        assert_eq!(named_before("SELECT "), Vec::<&str>::new());
        assert_eq!((quoted("a_1"), quoted("A\"b")), ("a_1".to_owned(), "\"A\"\"b\"".to_owned()));
    }
}
