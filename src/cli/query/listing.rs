//! A response for people: a table for each connection, the fields of an object below each other, and the price.

use std::fmt::Write as _;

use serde_json::Value;

use crate::cli::query::response::{Fields, Ordered};
use crate::cli::table::{align, shown};

/// The cells of a row, by their columns.
pub(super) type Cells = Vec<(String, String)>;

/// Values by their paths.
pub(super) type Named<'a> = Vec<(String, &'a Ordered)>;

/// The response without its errors.
pub(super) fn render(response: &Ordered) -> String {
    let mut text = String::new();
    if let Some(data) = response.get("data").and_then(Ordered::as_object) {
        object(&mut text, "", data);
    }
    let cost = response.get("extensions").and_then(|extensions| extensions.get("cost"));
    if let Some(price) = cost.and_then(|cost| price(&cost.to_value())) {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{price}");
    }
    text
}

/// Possible mistakes in a query that was answered, a line each: values that no row has, and searches that ended early.
pub(super) fn warnings(response: &Ordered) -> String {
    let entries = |name: &str| -> Vec<Value> {
        let list = response.get("extensions").and_then(|extensions| extensions.get(name));
        list.map(Ordered::values).unwrap_or_default().iter().map(Ordered::to_value).collect()
    };
    let mut text = String::new();
    for warning in entries("warnings") {
        let _ = writeln!(text, "warning: {}: {}", shown(&warning["path"][0]), shown(&warning["message"]));
    }
    for search in entries("search") {
        let (path, rows) = (shown(&search["path"][0]), shown(&search["rowsExamined"]));
        let _ =
            writeln!(text, "warning: {path}: the search examined {rows} rows and ended early; go on after the cursor");
    }
    text
}

/// The errors, a line each.
pub(super) fn errors(errors: &Ordered) -> String {
    let mut text = String::new();
    for error in errors.values() {
        let error = error.to_value();
        let code = error["extensions"]["code"].as_str().unwrap_or("no code");
        let place = &error["locations"][0];
        let _ = match (place["line"].as_u64(), place["column"].as_u64()) {
            (Some(line), Some(column)) => write!(text, "{line}:{column}: "),
            _ => Ok(()),
        };
        let _ = writeln!(text, "{} ({code})", shown(&error["message"]));
    }
    text
}

fn price(cost: &Value) -> Option<String> {
    let (requested, actual) = (cost["requestedQueryCost"].as_u64()?, cost["actualQueryCost"].as_u64());
    let actual = actual.map(|actual| format!(", {actual} by the rows that came")).unwrap_or_default();
    let status = &cost["throttleStatus"];
    let left = match (status["currentlyAvailable"].as_u64(), status["maximumAvailable"].as_u64()) {
        (Some(left), Some(most)) => format!("; {left} of {most} are left"),
        _ => String::new(),
    };
    Some(format!("Cost: {requested} credits{actual}{left}."))
}

/// The scalars of an object, and then its connections, each under its path.
fn object(text: &mut String, path: &str, fields: &Fields) {
    let (scalars, connections) = flat(fields);
    let rows: Vec<_> = scalars.into_iter().map(|(name, value)| vec![name, shown(&value.to_value())]).collect();
    if !rows.is_empty() {
        heading(text, path);
        text.push_str(&align(&rows));
        text.push('\n');
    }
    for (name, connection) in connections {
        let path = if path.is_empty() { name } else { format!("{path}.{name}") };
        table(text, &path, connection);
    }
}

fn heading(text: &mut String, path: &str) {
    if !path.is_empty() {
        let _ = writeln!(text, "{path}");
    }
}

/// The rows of a connection. Connections inside a row are one cell.
fn table(text: &mut String, path: &str, connection: &Ordered) {
    let rows: Vec<Cells> = nodes(connection).map(cells).collect();
    let columns = columns(&rows);
    heading(text, path);
    let cell = |row: &Cells, column: &str| {
        row.iter().find(|(name, _)| name == column).map_or_else(|| "-".to_owned(), |(_, cell)| cell.clone())
    };
    let mut lines = vec![columns.iter().map(|column| (*column).to_owned()).collect::<Vec<_>>()];
    lines.extend(rows.iter().map(|row| columns.iter().map(|column| cell(row, column)).collect()));
    text.push_str(&align(&lines));
    let others = connection.as_object().into_iter().flatten().filter(|(_, value)| matches!(value, Ordered::Scalar(_)));
    for (name, value) in others {
        let _ = writeln!(text, "{name}: {}", shown(&value.to_value()));
    }
    let page = connection.get("pageInfo").map(Ordered::to_value).unwrap_or_default();
    if page["hasNextPage"] == true {
        let after = page["endCursor"].as_str().map(|cursor| format!(", after: \"{cursor}\"")).unwrap_or_default();
        let _ = writeln!(text, "(there are more{after})");
    } else if rows.is_empty() {
        text.push_str("(no rows)\n");
    }
    text.push('\n');
}

pub(super) fn nodes(connection: &Ordered) -> impl Iterator<Item = &Ordered> {
    let edges = connection.get("edges").map(Ordered::values).unwrap_or_default();
    edges.iter().map(|edge| edge.get("node").unwrap_or(edge))
}

/// The columns of rows, in the order in which they come.
pub(super) fn columns(rows: &[Cells]) -> Vec<&str> {
    let mut columns: Vec<&str> = Vec::new();
    for (name, _) in rows.iter().flatten() {
        if !columns.contains(&name.as_str()) {
            columns.push(name);
        }
    }
    columns
}

fn cells(node: &Ordered) -> Cells {
    let Some(fields) = node.as_object() else { return vec![("node".to_owned(), shown(&node.to_value()))] };
    let (scalars, connections) = flat(fields);
    let scalars = scalars.into_iter().map(|(name, value)| (name, shown(&value.to_value())));
    let connections = connections.into_iter().map(|(name, connection)| {
        let row = |node: &Ordered| -> String {
            let cells = cells(node).into_iter();
            cells.map(|(name, cell)| format!("{name} {cell}")).collect::<Vec<_>>().join(", ")
        };
        (name, nodes(connection).map(row).collect::<Vec<_>>().join("; "))
    });
    scalars.chain(connections).collect()
}

/// The scalars of an object and of the objects in it, by their paths, and its connections.
pub(super) fn flat(fields: &Fields) -> (Named<'_>, Named<'_>) {
    let (mut scalars, mut connections) = (Named::new(), Named::new());
    for (name, value) in fields {
        match value {
            Ordered::Object(inner) if matches!(inner.get("edges"), Some(Ordered::List(_))) => {
                connections.push((name.clone(), value));
            }
            Ordered::Object(inner) => {
                let (inner_scalars, inner_connections) = flat(inner);
                let path = |(inner, value)| (format!("{name}.{inner}"), value);
                scalars.extend(inner_scalars.into_iter().map(path));
                connections.extend(inner_connections.into_iter().map(path));
            }
            scalar => scalars.push((name.clone(), scalar)),
        }
    }
    (scalars, connections)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Ordered {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn shows_objects_tables_and_the_price_in_the_order_of_the_query() {
        let response = parse(
            r#"{
                "data": {
                    "shop": {"owner": null, "name": "Nörd\u001b"},
                    "orders": {
                        "edges": [
                            {"node": {"status": {"id": "OK"}, "orderId": "10", "items": {"edges": [
                                {"node": {"sku": "A", "quantity": 2}}, {"node": {"sku": "B", "quantity": null}}
                            ]}}},
                            {"node": {"status": {"id": "OK"}, "orderId": "9", "items": {"edges": []}}}
                        ],
                        "pageInfo": {"hasNextPage": true, "endCursor": "xyz"}
                    }
                },
                "extensions": {"cost": {
                    "requestedQueryCost": 20, "actualQueryCost": 6,
                    "throttleStatus": {"currentlyAvailable": 994, "maximumAvailable": 1000}
                }}
            }"#,
        );
        assert_eq!(
            render(&response),
            "shop.owner  -\nshop.name   Nörd\u{fffd}\n\n\
             orders\nstatus.id  orderId  items\nOK         10       sku A, quantity 2; sku B, quantity -\nOK         9\n\
             (there are more, after: \"xyz\")\n\n\
             Cost: 20 credits, 6 by the rows that came; 994 of 1000 are left.\n"
        );
        let failed = parse(
            r#"[{"message": "no such field", "locations": [{"line": 1, "column": 3}], "extensions": {"code": "X"}}]"#,
        );
        assert_eq!(errors(&failed), "1:3: no such field (X)\n");
        assert_eq!(render(&parse(r#"{"data": null}"#)), "");
        let counted = r#"{
            "data": {"orders": {"count": 7, "edges": []}},
            "extensions": {
                "warnings": [{"path": ["orders"], "message": "`X` is no known value"}],
                "search": [{"path": ["orders"], "rowsExamined": 4500}]
            }
        }"#;
        assert_eq!(render(&parse(counted)), "orders\n\ncount: 7\n(no rows)\n\n");
        assert_eq!(
            warnings(&parse(counted)),
            "warning: orders: `X` is no known value\n\
             warning: orders: the search examined 4500 rows and ended early; go on after the cursor\n"
        );
        let printed = serde_json::to_string(&parse(r#"{"b": [1, {"d": 1.5, "c": "x"}], "a": null}"#)).unwrap();
        assert_eq!(printed, r#"{"b":[1,{"d":1.5,"c":"x"}],"a":null}"#);
    }
}
