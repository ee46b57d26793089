//! The rows of data files, and the canonical texts of their values.

use std::io::BufRead;

use crate::load::data_format::DataFormat;
use crate::load::row::FileItem;
use crate::load::target_type::TargetType;
use crate::load::value;
use crate::load::xml_reader::XmlReader;

/// An item of a data file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Item {
    /// The root element.
    Root { maintain_timestamps: bool, create_dummy_fk: bool },
    /// The root element of a file that is skipped.
    TransformRoot,
    Row {
        /// The entity's name.
        entity: String,
        /// The action for the row, as a wrapper element requests it.
        action: String,
        /// Each field once; `None` is NULL.
        fields: Vec<(String, Option<String>)>,
        /// The line on which the row begins, from 1.
        line: u64,
    },
    /// A row with an element inside a field.
    Nested {
        /// The row's entity.
        entity: String,
        /// The field's name.
        field: String,
        /// The line on which the row begins.
        line: u64,
    },
}

/// Reads a data file: its items up to its end or the first error, the error, and the number of bytes that were read.
pub fn read(input: impl BufRead) -> (Vec<Item>, Option<String>, u64) {
    let mut reader = XmlReader::new(input);
    let mut items = Vec::new();
    for item in &mut reader {
        match item {
            Ok(item) => items.push(Item::from(item)),
            Err(error) => return (items, Some(error.to_string()), reader.bytes()),
        }
    }
    (items, None, reader.bytes())
}

impl From<FileItem> for Item {
    fn from(item: FileItem) -> Self {
        match item {
            FileItem::Root(options) => Self::Root {
                maintain_timestamps: options.maintain_timestamps,
                create_dummy_fk: options.create_dummy_fk,
            },
            FileItem::Row(row) => Self::Row {
                entity: row.entity,
                action: format!("{:?}", row.action),
                fields: row.fields,
                line: row.line,
            },
            FileItem::TransformRoot => Self::TransformRoot,
            FileItem::NestedElement { entity, field, line, .. } => Self::Nested { entity, field, line },
        }
    }
}

/// The number of column types that [`canonical`] has.
pub const COLUMN_TYPES: usize = 12;

/// A value's canonical text in a column of one of the types, numbered from 0; `None` is NULL. `is_moqui` is whether the file is
/// Moqui's. Fails with the loader's message.
pub fn canonical(column_type: usize, is_moqui: bool, text: String) -> Result<Option<String>, String> {
    let column_type = match column_type % COLUMN_TYPES {
        0 => TargetType::Text { width: None },
        1 => TargetType::Text { width: Some(20) },
        2 => TargetType::Numeric,
        3 => TargetType::Integer { bytes: 2 },
        4 => TargetType::Integer { bytes: 4 },
        5 => TargetType::Integer { bytes: 8 },
        6 => TargetType::Float,
        7 => TargetType::Timestamp { zoned: false },
        8 => TargetType::Timestamp { zoned: true },
        9 => TargetType::Date,
        10 => TargetType::Time,
        _ => TargetType::Bytes,
    };
    let format = if is_moqui { DataFormat::EntityFacade } else { DataFormat::EntityEngine };
    value::canonical(&column_type, format, text).map_err(|error| error.to_string())
}
