//! Maps rows to records: resolves columns and checks values.

use crate::load::error::RowError;
use crate::load::record::{CheckedRow, KEY_SEPARATOR};
use crate::load::row::{FileRow, RootOptions, RowAction};
use crate::load::tables::{FieldColumn, TargetTable, TargetTables};
use crate::load::value::canonical;

#[derive(Debug)]
pub(super) struct MappedRow {
    pub(super) record: CheckedRow,
    /// The row's fields without a column, by their names in the file.
    pub(super) unknown_fields: Vec<String>,
}

/// Maps a row to the table at an index. `inherited` are columns that have these values if the row does not name them. With
/// `maintain-timestamps`, the row's timestamps are loaded; otherwise the loader sets them.
pub(super) fn map_row(
    tables: &TargetTables,
    index: usize,
    row: FileRow,
    inherited: Vec<(usize, String)>,
    options: RootOptions,
) -> Result<MappedRow, RowError> {
    let table = tables.get(index);
    let mut unknown_fields = Vec::new();
    let mut cells: Vec<(usize, Option<String>)> = Vec::with_capacity(row.fields.len());
    for (field, text) in row.fields {
        let position = match table.column_of(&field) {
            FieldColumn::Index(position) => position,
            FieldColumn::Withheld => continue,
            FieldColumn::Unknown => {
                unknown_fields.push(field);
                continue;
            }
        };
        let column = &table.columns[position];
        if column.is_stamp && !options.maintain_timestamps
            || row.action == RowAction::Delete && !table.key.contains(&position)
        {
            continue;
        }
        let value = match text {
            None => None,
            Some(text) => {
                canonical(&column.data_type, options.format, text).map_err(|error| RowError::Value { field, error })?
            }
        };
        cells.push((position, value));
    }
    for (position, value) in inherited {
        if !cells.iter().any(|(named, _)| *named == position) {
            cells.push((position, Some(value)));
        }
    }
    if row.action == RowAction::CreateReplace {
        for (position, column) in table.columns.iter().enumerate() {
            if !column.is_stamp && !cells.iter().any(|(named, _)| *named == position) {
                cells.push((position, None));
            }
        }
    }
    cells.sort_unstable_by_key(|(position, _)| *position);
    let key = key(table, &cells)?;
    let (columns, values) = cells.into_iter().unzip();
    let record = CheckedRow { table: index, action: row.action, columns, values, key, line: row.line };
    Ok(MappedRow { record, unknown_fields })
}

fn key(table: &TargetTable, cells: &[(usize, Option<String>)]) -> Result<Box<str>, RowError> {
    let mut key = String::new();
    for part in &table.key {
        match cells.iter().find(|(position, _)| position == part) {
            Some((_, Some(value))) => {
                key.push_str(value);
                key.push(KEY_SEPARATOR);
            }
            _ => return Err(RowError::MissingKey { column: table.columns[*part].name.clone() }),
        }
    }
    Ok(key.into_boxed_str())
}
