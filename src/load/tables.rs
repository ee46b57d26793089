//! The tables that rows can go to, as the database itself describes them.

use std::collections::HashMap;

use tokio_postgres::Client;

use crate::load::value::Kind;

/// Columns that no file may fill, whatever it says: (table, column). OFBiz's demo users come with a public password,
/// and a service that reads has no business with any.
const WITHHELD: [(&str, &str); 1] = [("user_login", "current_password")];

/// OFBiz's own four columns: when a row was last changed and when it was made, by the clock and by its transaction.
pub const STAMPS: [&str; 4] = ["last_updated_stamp", "last_updated_tx_stamp", "created_stamp", "created_tx_stamp"];

/// The tables of schema `public` that have a primary key.
#[derive(Debug, Default)]
pub struct Tables {
    tables: Vec<Table>,
    by_name: HashMap<String, usize>,
}

/// One table.
#[derive(Debug)]
pub struct Table {
    /// Its name in schema `public`.
    pub name: String,
    /// In the table's order. Generated columns and those that are withheld are left out.
    pub columns: Vec<Column>,
    /// The primary key's columns, as places in `columns`, in the key's order.
    pub key: Vec<usize>,
    /// What its rows refer to.
    pub foreign_keys: Vec<ForeignKey>,
    by_name: HashMap<String, usize>,
}

/// One column.
#[derive(Debug)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// What a value for it looks like.
    pub kind: Kind,
    /// The type that its text is cast to. It has no width for text, since a cast to `varchar(20)` would cut a long
    /// value where an assignment refuses it.
    pub cast: String,
    /// Whether the loader fills it: one of [`STAMPS`].
    pub stamp: bool,
}

/// A reference to a row of another table, or of the same.
#[derive(Debug)]
pub struct ForeignKey {
    /// The columns that refer, as places in the referring table.
    pub columns: Vec<usize>,
    /// The table referred to.
    pub table: usize,
    /// For each column of that table's primary key, which of `columns` holds it; `None` if the reference is to
    /// something other than the primary key.
    pub key: Option<Vec<usize>>,
}

/// What a field's name comes to in a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Field {
    /// The column at this place.
    Column(usize),
    /// A column that is never loaded.
    Withheld,
    /// No column of that name.
    Unknown,
}

impl Tables {
    /// Reads the database's catalogs.
    pub async fn discover(client: &Client) -> Result<Self, tokio_postgres::Error> {
        let mut tables = Self::default();
        let mut numbers: Vec<HashMap<i16, usize>> = Vec::new();
        for row in client.query(COLUMNS, &[]).await? {
            let name: String = row.try_get(0)?;
            let at = tables.place(&name);
            if numbers.len() <= at {
                numbers.push(HashMap::new());
            }
            let column: String = row.try_get(1)?;
            let number: i16 = row.try_get(2)?;
            let table = &mut tables.tables[at];
            if WITHHELD.contains(&(table.name.as_str(), column.as_str())) {
                continue;
            }
            numbers[at].insert(number, table.columns.len());
            table.add(column, row.try_get(3)?, row.try_get(4)?, row.try_get(5)?);
        }
        for row in client.query(KEYS, &[]).await? {
            let name: String = row.try_get(0)?;
            if let Some(at) = tables.by_name.get(&name) {
                tables.tables[*at].key = places(&numbers[*at], row.try_get(1)?).unwrap_or_default();
            }
        }
        for row in client.query(REFERENCES, &[]).await? {
            let (from, to): (String, String) = (row.try_get(0)?, row.try_get(2)?);
            let (Some(from), Some(to)) = (tables.by_name.get(&from), tables.by_name.get(&to)) else { continue };
            let (Some(columns), Some(targets)) =
                (places(&numbers[*from], row.try_get(1)?), places(&numbers[*to], row.try_get(3)?))
            else {
                continue;
            };
            let primary = &tables.tables[*to].key;
            let key = primary.iter().map(|part| targets.iter().position(|target| target == part)).collect();
            let table = *to;
            tables.tables[*from].foreign_keys.push(ForeignKey { columns, table, key });
        }
        Ok(tables)
    }

    /// Where the table of this name is or comes.
    fn place(&mut self, name: &str) -> usize {
        if let Some(at) = self.by_name.get(name) {
            return *at;
        }
        self.tables.push(Table::new(name.to_owned()));
        self.by_name.insert(name.to_owned(), self.tables.len() - 1);
        self.tables.len() - 1
    }

    /// The table of an entity, unless there is none or it has no primary key to find rows by.
    pub fn of_entity(&self, entity: &str) -> Option<usize> {
        if !entity.starts_with(|first: char| first.is_ascii_uppercase()) {
            return None;
        }
        self.by_name.get(&snake_case(entity)).copied().filter(|at| !self.tables[*at].key.is_empty())
    }

    /// The table of this name.
    pub fn named(&self, name: &str) -> Option<&Table> {
        self.by_name.get(name).map(|at| &self.tables[*at])
    }

    /// The table at a place that this gave out.
    pub fn get(&self, at: usize) -> &Table {
        &self.tables[at]
    }
}

impl Table {
    fn new(name: String) -> Self {
        Self { name, columns: Vec::new(), key: Vec::new(), foreign_keys: Vec::new(), by_name: HashMap::new() }
    }

    /// `declared` is the type with its modifier, `plain` without; `width` is that of a text type.
    fn add(&mut self, name: String, declared: String, plain: &str, width: Option<i32>) {
        let kind = match plain {
            "text" | "character varying" | "bpchar" | "character" => {
                Kind::Text { width: width.and_then(|width| usize::try_from(width).ok()) }
            }
            "numeric" => Kind::Numeric,
            "smallint" => Kind::Integer { bytes: 2 },
            "integer" => Kind::Integer { bytes: 4 },
            "bigint" => Kind::Integer { bytes: 8 },
            "real" | "double precision" => Kind::Float,
            "timestamp with time zone" => Kind::Timestamp { zoned: true },
            "timestamp without time zone" => Kind::Timestamp { zoned: false },
            "date" => Kind::Date,
            "time without time zone" => Kind::Time,
            "bytea" => Kind::Bytes,
            _ => Kind::Other,
        };
        // A number must be rounded to its column's scale before it is compared with what is there.
        let cast = if matches!(kind, Kind::Text { .. }) { plain.to_owned() } else { declared };
        self.by_name.insert(name.clone(), self.columns.len());
        self.columns.push(Column { stamp: STAMPS.contains(&name.as_str()), name, kind, cast });
    }

    /// The column of a field.
    pub fn field(&self, field: &str) -> Field {
        if field.contains('_') || field.starts_with(|first: char| first.is_ascii_uppercase()) {
            return Field::Unknown;
        }
        let name = snake_case(field);
        if WITHHELD.contains(&(self.name.as_str(), name.as_str())) {
            return Field::Withheld;
        }
        self.by_name.get(&name).map_or(Field::Unknown, |at| Field::Column(*at))
    }

    /// The stamps that this table has.
    pub fn stamps(&self) -> impl Iterator<Item = &Column> {
        self.columns.iter().filter(|column| column.stamp)
    }
}

/// OFBiz's rule for names: an underscore before every capital, then lower case.
fn snake_case(name: &str) -> String {
    let mut snake = String::with_capacity(name.len() + 8);
    for (at, character) in name.char_indices() {
        if character.is_ascii_uppercase() {
            if at > 0 {
                snake.push('_');
            }
            snake.push(character.to_ascii_lowercase());
        } else {
            snake.push(character);
        }
    }
    snake
}

/// `None` if a column is not among those that can be written.
fn places(numbers: &HashMap<i16, usize>, columns: Vec<i16>) -> Option<Vec<usize>> {
    columns.into_iter().map(|number| numbers.get(&number).copied()).collect()
}

/// Every column that can be written of every table in `public`.
const COLUMNS: &str = "
SELECT c.relname::text, a.attname::text, a.attnum,
       format_type(a.atttypid, a.atttypmod), format_type(a.atttypid, -1),
       CASE WHEN a.atttypid IN ('varchar'::regtype, 'bpchar'::regtype) AND a.atttypmod > 4 THEN a.atttypmod - 4 END
FROM pg_catalog.pg_class c
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace AND n.nspname = 'public'
JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
WHERE c.relkind IN ('r', 'p')
ORDER BY c.relname, a.attnum";

/// The primary key of each of them.
const KEYS: &str = "
SELECT c.relname::text, k.conkey
FROM pg_catalog.pg_constraint k
JOIN pg_catalog.pg_class c ON c.oid = k.conrelid
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace AND n.nspname = 'public'
WHERE k.contype = 'p'";

/// Every foreign key between two of them.
const REFERENCES: &str = "
SELECT c.relname::text, k.conkey, p.relname::text, k.confkey
FROM pg_catalog.pg_constraint k
JOIN pg_catalog.pg_class c ON c.oid = k.conrelid
JOIN pg_catalog.pg_class p ON p.oid = k.confrelid
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace AND n.nspname = 'public'
WHERE k.contype = 'f' AND p.relnamespace = c.relnamespace
ORDER BY c.relname, k.conname";

#[cfg(test)]
impl Tables {
    /// Tables of text columns: each its name and its columns. The first is the key, the second refers to a row of the
    /// first table.
    pub(in crate::load) fn of(all: &[(&str, &[&str])]) -> Self {
        let mut tables = Self::default();
        for (at, (name, columns)) in all.iter().enumerate() {
            let mut table = Table::new((*name).to_owned());
            for column in *columns {
                table.add((*column).to_owned(), "text".to_owned(), "text", None);
            }
            table.key = vec![0];
            table.foreign_keys = vec![ForeignKey { columns: vec![1], table: 0, key: Some(vec![0]) }];
            tables.by_name.insert((*name).to_owned(), at);
            tables.tables.push(table);
        }
        tables
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_ofbiz() {
        for (name, snake) in [
            ("OrderItemShipGrpInvRes", "order_item_ship_grp_inv_res"),
            ("shipGroupSeqId", "ship_group_seq_id"),
            ("address1", "address1"),
            ("Uom", "uom"),
        ] {
            assert_eq!(snake_case(name), snake);
        }
    }
}
