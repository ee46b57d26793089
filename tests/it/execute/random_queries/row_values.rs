//! Values of keys, search terms and cursors that rows of the tables have.

use orderql::catalog::column::Column;
use orderql::catalog::connection::{Connection, SortKey};
use orderql::value::{ScalarType, Value};
use orderql_generator::choices::Choices;
use orderql_generator::values::{Invented, Values};

use crate::support::naive_resolver::tables::{Cell, Row, Tables};

/// Mostly values of rows, and some that no row has.
pub struct RowValues<'a>(pub &'a Tables);

/// How many values in a hundred no row has.
const INVENTED: usize = 15;

impl Values for RowValues<'_> {
    fn value(&self, relation: &str, column: &Column, choices: &mut Choices<'_>) -> String {
        let invented = choices.chance(INVENTED);
        let rows = &self.0.get(relation).rows;
        let row = choices.below(rows.len());
        let found = self.0.get(relation).all().nth(row).map(|row| row.get(&column.name)).filter(|_| !invented);
        match found.and_then(|cell| notation(cell, column.scalar)) {
            Some(text) => text,
            None => Invented.value(relation, column, choices),
        }
    }

    fn cursor(&self, connection: &Connection, sort_key: &SortKey, choices: &mut Choices<'_>) -> Vec<Option<Value>> {
        let invented = choices.chance(INVENTED);
        let table = self.0.get(&connection.relation);
        let row = choices.below(table.rows.len());
        let has_parent =
            |row: &Row<'_>| connection.parent_columns.iter().all(|column| !matches!(row.get(&column.name), Cell::Null));
        match table.all().nth(row).filter(|row| !invented && has_parent(row)) {
            Some(row) => {
                let columns = connection.cursor_columns(sort_key);
                columns.map(|column| row.get(&column.name).stored(column)).collect()
            }
            None => Invented.cursor(connection, sort_key, choices),
        }
    }
}

/// A value in the notation of search strings; `None` if it has none there.
fn notation(cell: &Cell, scalar: ScalarType) -> Option<String> {
    match cell {
        Cell::Null | Cell::Array(_) => None,
        Cell::Text(text) if scalar == ScalarType::Boolean => Some((text == "Y").to_string()),
        Cell::Label(_, text) => match scalar {
            ScalarType::Enum(enumeration) => enumeration.name_of(text.as_bytes()).map(str::to_owned),
            _ => None,
        },
        Cell::Moment(_, text) if scalar == ScalarType::Date => text.split('T').next().map(str::to_owned),
        Cell::Text(text)
        | Cell::Padded(text)
        | Cell::Number(_, text)
        | Cell::Moment(_, text)
        | Cell::Other(_, text) => Some(text.clone()),
        Cell::Truth(truth) => Some(truth.to_string()),
    }
}
