//! A response for people: a table for each connection, the fields of an object below each other, and the price.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use crate::cli::table::{align, shown};

/// Values by their paths.
type Named<'a> = Vec<(String, &'a Value)>;

/// The response without its errors.
pub(super) fn render(response: &Value) -> String {
    let mut text = String::new();
    if let Some(data) = response["data"].as_object() {
        object(&mut text, "", data);
    }
    if let Some(price) = price(&response["extensions"]["cost"]) {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{price}");
    }
    text
}

/// The errors, a line each.
pub(super) fn errors(errors: &Value) -> String {
    let mut text = String::new();
    for error in errors.as_array().into_iter().flatten() {
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
fn object(text: &mut String, path: &str, fields: &Map<String, Value>) {
    let (scalars, connections) = flat(fields);
    let rows: Vec<_> = scalars.into_iter().map(|(name, value)| vec![name, shown(value)]).collect();
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
fn table(text: &mut String, path: &str, connection: &Value) {
    let rows: Vec<Vec<(String, String)>> = nodes(connection).map(cells).collect();
    let mut columns: Vec<&str> = Vec::new();
    for (name, _) in rows.iter().flatten() {
        if !columns.contains(&name.as_str()) {
            columns.push(name);
        }
    }
    heading(text, path);
    let cell = |row: &Vec<(String, String)>, column: &str| {
        row.iter().find(|(name, _)| name == column).map_or_else(|| "-".to_owned(), |(_, cell)| cell.clone())
    };
    let mut lines = vec![columns.iter().map(|column| (*column).to_owned()).collect::<Vec<_>>()];
    lines.extend(rows.iter().map(|row| columns.iter().map(|column| cell(row, column)).collect()));
    text.push_str(&align(&lines));
    let page = &connection["pageInfo"];
    if page["hasNextPage"] == true {
        let after = page["endCursor"].as_str().map(|cursor| format!(", after: \"{cursor}\"")).unwrap_or_default();
        let _ = writeln!(text, "(there are more{after})");
    } else if rows.is_empty() {
        text.push_str("(no rows)\n");
    }
    text.push('\n');
}

fn nodes(connection: &Value) -> impl Iterator<Item = &Value> {
    connection["edges"].as_array().into_iter().flatten().map(|edge| edge.get("node").unwrap_or(edge))
}

/// The cells of a row, by their columns.
fn cells(node: &Value) -> Vec<(String, String)> {
    let Some(fields) = node.as_object() else { return vec![("node".to_owned(), shown(node))] };
    let (scalars, connections) = flat(fields);
    let scalars = scalars.into_iter().map(|(name, value)| (name, shown(value)));
    let connections = connections.into_iter().map(|(name, connection)| {
        let row = |node: &Value| -> String {
            let cells = cells(node).into_iter();
            cells.map(|(name, cell)| format!("{name} {cell}")).collect::<Vec<_>>().join(", ")
        };
        (name, nodes(connection).map(row).collect::<Vec<_>>().join("; "))
    });
    scalars.chain(connections).collect()
}

/// The scalars of an object and of the objects in it, by their paths, and its connections.
fn flat(fields: &Map<String, Value>) -> (Named<'_>, Named<'_>) {
    let (mut scalars, mut connections) = (Named::new(), Named::new());
    for (name, value) in fields {
        match value {
            Value::Object(inner) if inner.get("edges").is_some_and(Value::is_array) => {
                connections.push((name.clone(), value));
            }
            Value::Object(inner) => {
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
    use serde_json::json;

    use super::*;

    #[test]
    fn shows_objects_tables_and_the_price() {
        let node = |id: &str, items: Value| json!({"node": {"orderId": id, "status": {"id": "OK"}, "items": items}});
        let items = json!({"edges": [{"node": {"sku": "A", "quantity": 2}}, {"node": {"sku": "B", "quantity": null}}]});
        let response = json!({
            "data": {
                "shop": {"name": "Nörd\u{1b}", "owner": null},
                "orders": {
                    "edges": [node("10", items), node("9", json!({"edges": []}))],
                    "pageInfo": {"hasNextPage": true, "endCursor": "xyz"},
                },
            },
            "extensions": {"cost": {
                "requestedQueryCost": 20, "actualQueryCost": 6,
                "throttleStatus": {"currentlyAvailable": 994, "maximumAvailable": 1000},
            }},
        });
        assert_eq!(
            render(&response),
            "shop.name   Nörd\u{fffd}\nshop.owner  -\n\n\
             orders\norderId  status.id  items\n10       OK         quantity 2, sku A; quantity -, sku B\n9        OK\n\
             (there are more, after: \"xyz\")\n\n\
             Cost: 20 credits, 6 by the rows that came; 994 of 1000 are left.\n"
        );
        let failed =
            json!([{"message": "no such field", "locations": [{"line": 1, "column": 3}], "extensions": {"code": "X"}}]);
        assert_eq!(errors(&failed), "1:3: no such field (X)\n");
        assert_eq!(render(&json!({"data": null})), "");
    }
}
