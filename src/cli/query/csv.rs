//! The rows of a list as CSV (RFC 4180), with a line for the columns.

use serde_json::Value;
use thiserror::Error;

use crate::cli::query::listing::{Cells, columns, flat, nodes};
use crate::cli::query::response::Ordered;

/// Why a response has no rows.
#[derive(Debug, Error)]
#[error("--csv prints the rows of one list, and the query has another number of them")]
pub(super) struct NotOneList;

/// The rows. Objects in a row become columns with a path, and lists JSON. A response without data has none.
pub(super) fn render(response: &Ordered) -> Result<String, NotOneList> {
    let Some(data) = response.get("data").and_then(Ordered::as_object) else { return Ok(String::new()) };
    let (scalars, lists) = flat(data);
    let (true, [(_, list)]) = (scalars.is_empty(), &lists[..]) else { return Err(NotOneList) };
    let rows: Vec<Cells> = nodes(list).map(cells).collect();
    let columns = columns(&rows);
    let line = |cells: Vec<&str>| cells.into_iter().map(quoted).collect::<Vec<_>>().join(",") + "\n";
    let mut text = line(columns.clone());
    for row in &rows {
        let cell = |column: &&str| row.iter().find(|(name, _)| name == column).map_or("", |(_, cell)| cell);
        text.push_str(&line(columns.iter().map(cell).collect()));
    }
    Ok(text)
}

fn cells(node: &Ordered) -> Cells {
    let Some(fields) = node.as_object() else { return vec![("node".to_owned(), cell(node.to_value()))] };
    let (scalars, lists) = flat(fields);
    let lists = lists.into_iter().map(|(name, list)| (name, nodes(list).map(Ordered::to_value).collect::<Value>()));
    let scalars = scalars.into_iter().map(|(name, value)| (name, value.to_value()));
    scalars.chain(lists).map(|(name, value)| (name, cell(value))).collect()
}

fn cell(value: Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text,
        other => other.to_string(),
    }
}

fn quoted(cell: &str) -> String {
    if cell.contains([',', '"', '\n', '\r']) { format!("\"{}\"", cell.replace('"', "\"\"")) } else { cell.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_have_the_columns_of_the_query_and_cells_are_quoted_where_needed() {
        let rows = r#"{"data": {"orders": {"edges": [
            {"node": {"orderId": "1", "status": {"id": "A,B"}, "total": null, "items": {"edges": [{"node": {"n": 1}}]}}},
            {"node": {"orderId": "2\"", "status": {"id": "C"}, "total": 1.5, "items": {"edges": []}}}
        ]}}}"#;
        let rows: Ordered = serde_json::from_str(rows).unwrap();
        let expected = "orderId,status.id,total,items\n1,\"A,B\",,\"[{\"\"n\"\":1}]\"\n\"2\"\"\",C,1.5,[]\n";
        assert_eq!(render(&rows).unwrap(), expected);
        let other: Ordered = serde_json::from_str(r#"{"data": {"order": {"orderId": "1"}}}"#).unwrap();
        assert!(render(&other).is_err());
    }
}
