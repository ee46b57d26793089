//! The declarations of the file.

use std::collections::HashSet;

use crate::relations::column::DescribedColumn;
use crate::relations::relation::DescribedRelation;
use crate::relations::type_compatibility::is_compared;
use crate::schema_draft::missing_index::{LeftOut, MissingIndex};
use crate::value::{Enumeration, ScalarType};

/// A schema file.
#[derive(Debug, Default)]
pub(super) struct Model<'d> {
    pub(super) types: Vec<TypeModel<'d>>,
    /// The enums that the file does not have.
    pub(super) enums: Vec<Enumeration>,
    /// Why relations have no type.
    pub(super) left_out: Vec<String>,
}

/// A type of a table.
#[derive(Debug)]
pub(super) struct TypeModel<'d> {
    pub(super) relation: &'d DescribedRelation,
    pub(super) name: String,
    /// Whether a file has it already, under this name.
    pub(super) is_known: bool,
    pub(super) key: Vec<String>,
    pub(super) columns: Vec<ColumnField<'d>>,
    pub(super) text_keys: Vec<TextKey<'d>>,
    pub(super) joins: Vec<JoinField>,
    /// Why columns and joins have no fields.
    pub(super) left_out: Vec<LeftOut>,
    pub(super) root: RootModel<'d>,
}

/// A field of a column.
#[derive(Debug)]
pub(super) struct ColumnField<'d> {
    pub(super) name: String,
    pub(super) scalar: ScalarType,
    pub(super) column: &'d DescribedColumn,
    /// Whether a file has it already.
    pub(super) is_known: bool,
}

/// A search key of a column that is searched for words.
#[derive(Debug)]
pub(super) struct TextKey<'d> {
    pub(super) name: String,
    pub(super) column: &'d DescribedColumn,
}

impl ColumnField<'_> {
    /// Whether the column can be searched and sorted by.
    pub(super) fn is_compared(&self) -> bool {
        is_compared(self.column, self.scalar)
    }
}

/// A field of joined rows.
#[derive(Debug)]
pub(super) struct JoinField {
    pub(super) name: String,
    /// The name of the joined type.
    pub(super) target: String,
    pub(super) is_list: bool,
    pub(super) by: Vec<String>,
    pub(super) to: Vec<String>,
    /// The column that is null in the rows of a list, if an index has no others.
    pub(super) where_null: Option<String>,
    /// The bound of a list that no index has in order.
    pub(super) bound: Option<ListBound>,
    /// Whether a file has it already.
    pub(super) is_known: bool,
}

/// The bound of a list.
#[derive(Debug)]
pub(super) struct ListBound {
    pub(super) at_most: u32,
    /// The index that would lift it.
    pub(super) index: Option<MissingIndex>,
}

/// The root fields of a type.
#[derive(Debug, Default)]
pub(super) struct RootModel<'d> {
    /// The lookup by the key.
    pub(super) lookup: String,
    pub(super) list: String,
    /// Whether a file has them already.
    pub(super) is_lookup_known: bool,
    pub(super) is_list_known: bool,
    pub(super) search_keys: Vec<SearchKeyModel<'d>>,
    pub(super) sort_keys: Vec<SortKeyModel<'d>>,
    /// Why columns cannot be searched or sorted by.
    pub(super) left_out: Vec<LeftOut>,
}

#[derive(Debug)]
pub(super) struct SearchKeyModel<'d> {
    pub(super) name: String,
    pub(super) column: &'d str,
    pub(super) compared: Compared<'d>,
    /// Whether a file has it already.
    pub(super) is_known: bool,
}

/// The values or words that a search key is compared with.
#[derive(Debug)]
pub(super) enum Compared<'d> {
    /// Values of a scalar. An index has the rows of one value in the order of each of the sort keys.
    Values { scalar: ScalarType, in_order_of: Vec<String> },
    /// Words, by a text search configuration if it is known.
    Words { language: Option<&'d str> },
}

#[derive(Debug)]
pub(super) struct SortKeyModel<'d> {
    pub(super) name: String,
    pub(super) column: &'d str,
    /// The bound of rows with one value, if no index has the whole order.
    pub(super) ties: Option<ListBound>,
    /// Whether a file has it already.
    pub(super) is_known: bool,
}

impl Model<'_> {
    /// The statements that make the indexes for lists and objects, or for searches and orders, each once.
    pub(super) fn missing_indexes(&self, of_lists: bool, of_searches: bool) -> Vec<&str> {
        let mut missing = Vec::new();
        for ty in &self.types {
            let bounds = ty.joins.iter().filter_map(|join| join.bound.as_ref()?.index.as_ref());
            let lists = ty.left_out.iter().filter_map(|left_out| left_out.index.as_ref()).chain(bounds);
            let ties = ty.root.sort_keys.iter().filter_map(|key| key.ties.as_ref()?.index.as_ref());
            let searches = ty.root.left_out.iter().filter_map(|left_out| left_out.index.as_ref()).chain(ties);
            let wanted = lists.filter(|_| of_lists).chain(searches.filter(|_| of_searches));
            missing.extend(wanted.filter_map(MissingIndex::statement));
        }
        let mut known = HashSet::new();
        missing.retain(|statement| known.insert(*statement));
        missing
    }
}

impl<'d> TypeModel<'d> {
    /// The field of a column.
    pub(super) fn column(&self, name: &str) -> Option<&ColumnField<'d>> {
        self.columns.iter().find(|field| field.column.name == name)
    }
}
