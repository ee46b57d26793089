//! The content of a data file: rows, and the options of the root element.

use crate::load::data_format::DataFormat;

/// A row of the file, unchecked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileRow {
    /// The entity's name without prefix and package.
    pub(crate) entity: String,
    /// The action of the row's wrapper element.
    pub(crate) action: RowAction,
    /// Each field once, in the file's order. `None` is an empty attribute, which means NULL.
    pub(crate) fields: Vec<(String, Option<String>)>,
    /// The line on which the row's tag begins, from 1.
    pub(crate) line: u64,
    /// The number of rows around this one, whose keys it inherits. Always 0 in OFBiz's format.
    pub(crate) depth: usize,
}

/// The action that a wrapper element requests for its rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum RowAction {
    /// Insert the row. An existing row is not changed.
    Create,
    /// Insert the row, or set its named fields. The default for rows without a wrapper.
    CreateUpdate,
    /// Insert the row, or set its named fields and all others to NULL.
    CreateReplace,
    /// Delete the row with this key.
    Delete,
}

impl RowAction {
    /// The action of a wrapper element's tag; `None` for other tags.
    pub(crate) fn of_wrapper(tag: &str) -> Option<Self> {
        match tag {
            "create" => Some(Self::Create),
            "create-update" => Some(Self::CreateUpdate),
            "create-replace" => Some(Self::CreateReplace),
            "delete" => Some(Self::Delete),
            _ => None,
        }
    }
}

/// The root element's options, which apply to the whole file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct RootOptions {
    pub(crate) format: DataFormat,
    /// `maintain-timestamps`: load the timestamps that the file names. Otherwise the loader sets them.
    pub(crate) maintain_timestamps: bool,
    /// `create-dummy-fk`: OFBiz would create missing parent rows. This loader does not.
    pub(crate) create_dummy_fk: bool,
}

/// An item of a file, in the file's order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FileItem {
    /// The root element. The first item, exactly once.
    Root(RootOptions),
    /// The root element of a file that is not read, instead of [`FileItem::Root`]. The only item.
    TransformRoot,
    Row(FileRow),
    /// A row with an element inside a field. The XML is well-formed, but the field has no text value.
    NestedElement {
        /// The row's entity.
        entity: String,
        /// The field's name.
        field: String,
        /// The line on which the row begins.
        line: u64,
        /// The row's depth.
        depth: usize,
    },
}
