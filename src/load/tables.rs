//! The tables that rows can be loaded into, read from PostgreSQL's catalogs.

use std::collections::HashMap;

use tokio_postgres::Client;

use crate::load::column_type::TargetType;

/// Columns that are never loaded: (table, column). OFBiz's demo users have a public password, and this service needs neither
/// passwords of OFBiz's users nor PINs.
const WITHHELD: [(&str, &str); 2] = [("user_login", "current_password"), ("gift_card", "pin_number")];

/// The entities whose tables have other names than theirs.
const OTHER_NAMES: [(&str, &str); 1] = [("ProductKeyword", "product_keyword_new")];

/// OFBiz's four timestamp columns: when a row was last changed and when it was created, by statement and by transaction.
pub(super) const STAMPS: [&str; 4] =
    ["last_updated_stamp", "last_updated_tx_stamp", "created_stamp", "created_tx_stamp"];

/// The tables of schema `public` that have a primary key.
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
    /// The primary key's columns as indexes into `columns`, in the key's order.
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
    /// For each column of the referenced table's primary key, the index in `columns` of its value. `None` if the foreign
    /// key references another unique key.
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
        let mut tables = Self::default();
        let mut numbers: Vec<HashMap<i16, usize>> = Vec::new();
        for row in client.query(COLUMNS, &[]).await? {
            let name: String = row.try_get(0)?;
            let index = tables.index_or_insert(&name);
            if numbers.len() <= index {
                numbers.push(HashMap::new());
            }
            let column: String = row.try_get(1)?;
            let number: i16 = row.try_get(2)?;
            let table = &mut tables.tables[index];
            if WITHHELD.contains(&(table.name.as_str(), column.as_str())) {
                continue;
            }
            numbers[index].insert(number, table.columns.len());
            table.add(column, row.try_get(3)?, row.try_get(4)?, row.try_get(5)?);
        }
        for row in client.query(KEYS, &[]).await? {
            let name: String = row.try_get(0)?;
            if let Some(index) = tables.by_name.get(&name) {
                tables.tables[*index].key = indexes(&numbers[*index], row.try_get(1)?).unwrap_or_default();
            }
        }
        for row in client.query(REFERENCES, &[]).await? {
            let (from, to): (String, String) = (row.try_get(0)?, row.try_get(2)?);
            let (Some(from), Some(to)) = (tables.by_name.get(&from), tables.by_name.get(&to)) else { continue };
            let (Some(columns), Some(targets)) =
                (indexes(&numbers[*from], row.try_get(1)?), indexes(&numbers[*to], row.try_get(3)?))
            else {
                continue;
            };
            let primary = &tables.tables[*to].key;
            let key = primary.iter().map(|part| targets.iter().position(|target| target == part)).collect();
            let table = *to;
            tables.tables[*from].foreign_keys.push(TargetForeignKey { columns, table, key });
        }
        Ok(tables)
    }

    /// The index of the table with this name, which is added if it is new.
    fn index_or_insert(&mut self, name: &str) -> usize {
        if let Some(index) = self.by_name.get(name) {
            return *index;
        }
        self.tables.push(TargetTable::new(name.to_owned()));
        self.by_name.insert(name.to_owned(), self.tables.len() - 1);
        self.tables.len() - 1
    }

    /// The index of an entity's table. `None` if there is no such table or it has no primary key.
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

    /// Adds a column. `declared` is its type with the modifier, `plain` without; `width` is the width of a text type.
    fn add(&mut self, name: String, declared: String, plain: &str, width: Option<i32>) {
        let data_type = TargetType::new(plain, width);
        // A number must be rounded to the column's scale before it is compared with the stored value.
        let cast = if matches!(data_type, TargetType::Text { .. }) { plain.to_owned() } else { declared };
        self.by_name.insert(name.clone(), self.columns.len());
        self.columns.push(TargetColumn { is_stamp: STAMPS.contains(&name.as_str()), name, data_type, cast });
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

/// The indexes of columns, by their catalog numbers. `None` if one of them cannot be written.
fn indexes(numbers: &HashMap<i16, usize>, columns: Vec<i16>) -> Option<Vec<usize>> {
    columns.into_iter().map(|number| numbers.get(&number).copied()).collect()
}

/// The writable columns of the tables in `public`.
const COLUMNS: &str = "
SELECT c.relname::text, a.attname::text, a.attnum,
       format_type(a.atttypid, a.atttypmod), format_type(a.atttypid, -1),
       CASE WHEN a.atttypid IN ('varchar'::regtype, 'bpchar'::regtype) AND a.atttypmod > 4 THEN a.atttypmod - 4 END
FROM pg_catalog.pg_class c
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace AND n.nspname = 'public'
JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
WHERE c.relkind IN ('r', 'p')
ORDER BY c.relname, a.attnum";

/// The primary keys of tables in `public`.
const KEYS: &str = "
SELECT c.relname::text, k.conkey
FROM pg_catalog.pg_constraint k
JOIN pg_catalog.pg_class c ON c.oid = k.conrelid
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace AND n.nspname = 'public'
WHERE k.contype = 'p'";

/// The foreign keys between tables in `public`.
const REFERENCES: &str = "
SELECT c.relname::text, k.conkey, p.relname::text, k.confkey
FROM pg_catalog.pg_constraint k
JOIN pg_catalog.pg_class c ON c.oid = k.conrelid
JOIN pg_catalog.pg_class p ON p.oid = k.confrelid
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace AND n.nspname = 'public'
WHERE k.contype = 'f' AND p.relnamespace = c.relnamespace
ORDER BY c.relname, k.conname";

#[cfg(test)]
impl TargetTables {
    /// Tables of text columns, by name and columns. The first column is the key, the second references the first table.
    pub(super) fn for_test(all: &[(&str, &[&str])]) -> Self {
        let mut tables = Self::default();
        for (index, (name, columns)) in all.iter().enumerate() {
            let mut table = TargetTable::new((*name).to_owned());
            for column in *columns {
                table.add((*column).to_owned(), "text".to_owned(), "text", None);
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
