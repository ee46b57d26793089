//! The state of loading one file: its options, the rows around the next one, and the records that are not written yet.

use std::collections::HashMap;

use crate::load::ancestors::Ancestors;
use crate::load::data_format::DataFormat;
use crate::load::error::RowError;
use crate::load::mapping::map_row;
use crate::load::queue::RecordQueue;
use crate::load::record::CheckedRow;
use crate::load::report::FileReport;
use crate::load::row::{FileItem, FileRow, RootOptions};
use crate::load::tables::{FieldColumn, TargetTables};

/// The state of loading one file.
#[derive(Default)]
pub(super) struct FileState {
    /// The records that are not written yet.
    pub(super) queue: RecordQueue,
    /// The entity of each table for which the file has rows.
    pub(super) entities: HashMap<usize, String>,
    options: RootOptions,
    ancestors: Ancestors,
}

impl FileState {
    /// Queues the record of a row, or reports why there is none.
    pub(super) fn process(&mut self, tables: &TargetTables, item: FileItem, report: &mut FileReport) {
        match item {
            FileItem::Root(options) => {
                self.options = options;
                report.wants_dummies = options.create_dummy_fk;
            }
            FileItem::TransformRoot => report.is_transform = true,
            FileItem::NestedElement { entity, field, line, depth } => {
                self.ancestors.leave(depth);
                let table = tables.of_entity(&entity);
                self.ancestors.enter(table, Vec::new());
                match table {
                    Some(_) => report.add_bad(line, &entity, RowError::NestedElement { field }),
                    None => report.add_skipped(entity),
                }
            }
            FileItem::Row(row) => self.process_row(tables, row, report),
        }
    }

    fn process_row(&mut self, tables: &TargetTables, row: FileRow, report: &mut FileReport) {
        self.ancestors.leave(row.depth);
        let Some(table) = tables.of_entity(&row.entity) else {
            self.process_unknown(tables, row, report);
            return;
        };
        let inherited = self.ancestors.inherited(tables, table);
        let entity = self.entities.entry(table).or_insert_with(|| row.entity.clone());
        let line = row.line;
        match map_row(tables, table, row, inherited, self.options) {
            Ok(mapped) => {
                for field in mapped.unknown_fields {
                    *report.unknown_fields.entry((entity.clone(), field)).or_default() += 1;
                }
                if self.options.format == DataFormat::EntityFacade {
                    self.ancestors.enter(Some(table), key_values(tables, &mapped.record));
                }
                self.queue.push(tables, mapped.record);
            }
            Err(error) => {
                // A row inside one that was skipped may lack the key that it would inherit.
                let is_skipped = matches!(error, RowError::MissingKey { .. }) && self.ancestors.has_skipped();
                if is_skipped {
                    report.add_skipped(entity.clone());
                } else {
                    report.add_bad(line, entity, error);
                }
                self.ancestors.enter(if is_skipped { None } else { Some(table) }, Vec::new());
            }
        }
    }

    /// Skips a row whose entity has no table, unless it is a field of the row around it with elements instead of text.
    fn process_unknown(&mut self, tables: &TargetTables, row: FileRow, report: &mut FileReport) {
        let parent = self.ancestors.parent();
        let with_field = parent.filter(|parent| tables.get(*parent).column_of(&row.entity) != FieldColumn::Unknown);
        match with_field.and_then(|parent| self.entities.get(&parent)) {
            Some(entity) => report.add_bad(row.line, entity, RowError::NestedElement { field: row.entity }),
            None => report.add_skipped(row.entity),
        }
        self.ancestors.enter(None, Vec::new());
    }
}

/// The values of the record's key, in the key's order.
fn key_values(tables: &TargetTables, record: &CheckedRow) -> Vec<String> {
    let key = tables.get(record.table).key.iter();
    key.filter_map(|part| record.values[record.columns.binary_search(part).ok()?].clone()).collect()
}
