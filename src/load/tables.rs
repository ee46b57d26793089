//! The tables that rows can be loaded into, read from PostgreSQL's catalogs.

use std::collections::HashMap;

use tokio_postgres::Client;

use crate::load::target_type::TargetType;
use crate::relations::column::DescribedColumn;
use crate::relations::reader::read;
use crate::relations::relation::{DescribedRelation, RelationKind};

/// Columns that are never loaded: (table, column). OFBiz's demo users have a public password, and this service needs neither
/// passwords of OFBiz's users nor PINs.
const WITHHELD: [(&str, &str); 2] = [("user_login", "current_password"), ("gift_card", "pin_number")];

/// The entities whose tables have other names than theirs.
const OTHER_NAMES: [(&str, &str); 1] = [("ProductKeyword", "product_keyword_new")];

/// OFBiz's four timestamp columns: when a row was last changed and when it was created, by statement and by transaction.
pub(super) const STAMPS: [&str; 4] =
    ["last_updated_stamp", "last_updated_tx_stamp", "created_stamp", "created_tx_stamp"];

/// The tables of schema `public`.
#[derive(Debug, Default)]
pub(super) struct TargetTables {
    tables: Vec<TargetTable>,
    by_name: HashMap<String, usize>,
}

/// One table.
#[derive(Debug)]
pub(super) struct TargetTable {
    /// Its name in schema `public`.
    pub(super) name: String,
    /// In the table's order, without generated and withheld columns.
    pub(super) columns: Vec<TargetColumn>,
    /// The columns of the primary key, or of other unique columns without nulls, as indexes into `columns`, in the key's order.
    pub(super) key: Vec<usize>,
    /// The references to other tables.
    pub(super) foreign_keys: Vec<TargetForeignKey>,
    by_name: HashMap<String, usize>,
}

/// One column.
#[derive(Debug)]
pub(super) struct TargetColumn {
    pub(super) name: String,
    /// The type that values are checked against.
    pub(super) data_type: TargetType,
    /// The SQL type that values are cast to. Text has no width, because a cast to `varchar(20)` truncates a long value
    /// where an assignment rejects it.
    pub(super) cast: String,
    /// Whether the column is one of [`STAMPS`], which the loader sets.
    pub(super) is_stamp: bool,
}

#[derive(Debug)]
pub(super) struct TargetForeignKey {
    /// The referencing columns as indexes into the table's columns.
    pub(super) columns: Vec<usize>,
    /// The referenced table's index.
    pub(super) table: usize,
    /// For each column of the referenced table's key, the index in `columns` of its value. `None` if the foreign key
    /// references another unique key.
    pub(super) key: Option<Vec<usize>>,
}

/// The column of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FieldColumn {
    /// The column's index.
    Index(usize),
    /// A column that is never loaded.
    Withheld,
    /// The table has no such column.
    Unknown,
}

impl TargetTables {
    /// Reads PostgreSQL's catalogs.
    pub(super) async fn discover(client: &Client) -> Result<Self, tokio_postgres::Error> {
        let database = read(client).await?;
        let is_target =
            |relation: &&DescribedRelation| relation.schema == "public" && relation.kind == RelationKind::Table;
        let relations: Vec<_> = database.relations.iter().filter(is_target).collect();
        let mut tables = Self::default();
        for relation in &relations {
            let mut table = TargetTable::new(relation.name.clone());
            let is_withheld = |name: &str| WITHHELD.contains(&(relation.name.as_str(), name));
            for column in relation.columns.iter().filter(|column| !column.is_generated && !is_withheld(&column.name)) {
                table.add(column);
            }
            table.key = relation.keys().next().and_then(|key| table.indexes(key)).unwrap_or_default();
            tables.by_name.insert(table.name.clone(), tables.tables.len());
            tables.tables.push(table);
        }
        for (from, relation) in relations.iter().enumerate() {
            for foreign in relation.foreign_keys.iter().filter(|foreign| foreign.target.0 == "public") {
                let Some(&table) = tables.by_name.get(&foreign.target.1) else { continue };
                let target = &tables.tables[table];
                let (Some(columns), Some(to)) =
                    (tables.tables[from].indexes(&foreign.columns), target.indexes(&foreign.to))
                else {
                    continue;
                };
                let key = target.key.iter().map(|part| to.iter().position(|column| column == part)).collect();
                tables.tables[from].foreign_keys.push(TargetForeignKey { columns, table, key });
            }
        }
        Ok(tables)
    }

    /// The index of an entity's table. `None` if there is no such table or it has no key.
    pub(super) fn of_entity(&self, entity: &str) -> Option<usize> {
        if !entity.starts_with(|first: char| first.is_ascii_uppercase()) {
            return None;
        }
        let other = OTHER_NAMES.iter().find(|(known, _)| *known == entity);
        let name = other.map_or_else(|| snake_case(entity), |(_, name)| (*name).to_owned());
        self.by_name.get(&name).copied().filter(|index| !self.tables[*index].key.is_empty())
    }

    /// The table with this name.
    pub(super) fn named(&self, name: &str) -> Option<&TargetTable> {
        self.by_name.get(name).map(|index| &self.tables[*index])
    }

    /// The table at an index that [`TargetTables::of_entity`] returned.
    pub(super) fn get(&self, index: usize) -> &TargetTable {
        &self.tables[index]
    }
}

impl TargetTable {
    fn new(name: String) -> Self {
        Self { name, columns: Vec::new(), key: Vec::new(), foreign_keys: Vec::new(), by_name: HashMap::new() }
    }

    fn add(&mut self, column: &DescribedColumn) {
        let (name, declared) = (column.name.clone(), column.type_name.as_str());
        let data_type = TargetType::of(column);
        // A number must be rounded to the column's scale before it is compared with the stored value.
        let is_text = matches!(data_type, TargetType::Text { .. });
        let cast = if is_text { declared.split('(').next().unwrap_or(declared) } else { declared };
        self.by_name.insert(name.clone(), self.columns.len());
        self.columns.push(TargetColumn {
            is_stamp: STAMPS.contains(&name.as_str()),
            name,
            data_type,
            cast: cast.to_owned(),
        });
    }

    /// The indexes of columns. `None` if one of them cannot be written.
    fn indexes(&self, columns: &[String]) -> Option<Vec<usize>> {
        columns.iter().map(|column| self.index_of(column)).collect()
    }

    /// The index of the column with this name.
    pub(super) fn index_of(&self, column: &str) -> Option<usize> {
        self.by_name.get(column).copied()
    }

    /// The column of a field, by OFBiz's naming rule, which is Moqui's too.
    pub(super) fn column_of(&self, field: &str) -> FieldColumn {
        if field.contains('_') || field.starts_with(|first: char| first.is_ascii_uppercase()) {
            return FieldColumn::Unknown;
        }
        let name = snake_case(field);
        if WITHHELD.contains(&(self.name.as_str(), name.as_str())) {
            return FieldColumn::Withheld;
        }
        self.index_of(&name).map_or(FieldColumn::Unknown, FieldColumn::Index)
    }

    /// The timestamp columns that the table has.
    pub(super) fn stamps(&self) -> impl Iterator<Item = &TargetColumn> {
        self.columns.iter().filter(|column| column.is_stamp)
    }
}

/// OFBiz's naming rule: an underscore before every capital, then lower case.
fn snake_case(name: &str) -> String {
    let mut snake = String::with_capacity(name.len() + 8);
    for (index, character) in name.char_indices() {
        if character.is_ascii_uppercase() {
            if index > 0 {
                snake.push('_');
            }
            snake.push(character.to_ascii_lowercase());
        } else {
            snake.push(character);
        }
    }
    snake
}

#[cfg(test)]
impl TargetTables {
    /// Tables of text columns, by name and columns. The first column is the key, the second references the first table.
    pub(super) fn for_test(all: &[(&str, &[&str])]) -> Self {
        let mut tables = Self::default();
        for (index, (name, columns)) in all.iter().enumerate() {
            let mut table = TargetTable::new((*name).to_owned());
            for column in *columns {
                table.add(&DescribedColumn::of_type(column, tokio_postgres::types::Type::TEXT));
            }
            table.key = vec![0];
            table.foreign_keys = vec![TargetForeignKey { columns: vec![1], table: 0, key: Some(vec![0]) }];
            tables.by_name.insert((*name).to_owned(), index);
            tables.tables.push(table);
        }
        tables
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn converts_names_as_ofbiz_does() {
        for (name, snake) in [
            ("OrderItemShipGrpInvRes", "order_item_ship_grp_inv_res"),
            ("shipGroupSeqId", "ship_group_seq_id"),
            ("address1", "address1"),
            ("Uom", "uom"),
        ] {
            assert_eq!(snake_case(name), snake);
        }
    }

    #[test]
    fn finds_the_table_of_an_entity_that_is_named_otherwise() {
        let tables = TargetTables::for_test(&[("product", &["a", "b"]), ("product_keyword_new", &["a", "b"])]);
        let named = |entity| tables.of_entity(entity).map(|index| tables.get(index).name.as_str());
        assert_eq!(named("ProductKeyword"), Some("product_keyword_new"));
        assert_eq!(named("Product"), Some("product"));
    }
}
