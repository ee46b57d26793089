//! What a database has of what is needed: relations, their columns, and whether they may be read.

use std::collections::{BTreeSet, HashMap};

use tokio_postgres::types::Type;
use tokio_postgres::{Client, Error};

use crate::preflight::requirements::{ColumnName, Requirements};

/// The needed relations that there are, with every column.
///
/// Looked up by name in PostgreSQL's own tables, which everybody may read: `to_regclass` fails in a schema that the role
/// may not use. A name without a schema means `public`, as in every statement. A domain stands for the type beneath it,
/// as it does in results.
const RELATIONS: &str = "
    SELECT
        wanted.name,
        namespace.nspname::text,
        relation.relkind IN ('r', 'p', 'm'),
        has_schema_privilege(namespace.oid, 'USAGE'),
        attribute.attname::text,
        COALESCE(NULLIF(type.typbasetype, 0), type.oid),
        format_type(attribute.atttypid, attribute.atttypmod),
        has_column_privilege(relation.oid, attribute.attnum, 'SELECT')
    FROM unnest($1::text[]) AS wanted (name)
    CROSS JOIN LATERAL string_to_array(
        CASE WHEN strpos(wanted.name, '.') > 0 THEN wanted.name ELSE 'public.' || wanted.name END, '.'
    ) AS part
    JOIN pg_catalog.pg_namespace AS namespace ON namespace.nspname = part[1]
    JOIN pg_catalog.pg_class AS relation ON relation.relnamespace = namespace.oid AND relation.relname = part[2]
    JOIN pg_catalog.pg_attribute AS attribute ON attribute.attrelid = relation.oid
    JOIN pg_catalog.pg_type AS type ON type.oid = attribute.atttypid
    WHERE cardinality(part) = 2
      AND relation.relkind IN ('r', 'p', 'v', 'm', 'f')
      AND attribute.attnum > 0
      AND NOT attribute.attisdropped";

/// What stands in a database of what a catalog needs.
#[derive(Debug)]
pub(super) struct DatabaseSchema {
    /// The role that was asked as, quoted where it has to be.
    pub(super) role: String,
    relations: HashMap<String, FoundRelation>,
}

/// A relation that there is.
#[derive(Debug)]
pub(super) struct FoundRelation {
    pub(super) schema: String,
    /// Whether it can have indexes of its own.
    pub(super) is_table: bool,
    /// Whether the role may use its schema.
    pub(super) schema_is_open: bool,
    pub(super) columns: HashMap<String, FoundColumn>,
}

/// A column that there is.
#[derive(Debug)]
pub(super) struct FoundColumn {
    /// Its type, where it is one of PostgreSQL's own.
    pub(super) ty: Option<Type>,
    /// Its type as SQL has it.
    pub(super) type_name: String,
    /// Whether the role may read it.
    pub(super) is_readable: bool,
}

impl DatabaseSchema {
    /// Looks for everything at once.
    pub(super) async fn read(client: &Client, needs: &Requirements<'_>) -> Result<Self, Error> {
        let wanted: BTreeSet<_> = needs.columns.iter().map(|need| need.column.relation).collect();
        let wanted: Vec<_> = wanted.into_iter().collect();
        let role = async { client.query_one("SELECT quote_ident(current_user)", &[]).await?.try_get(0) };
        let found = async { client.query(RELATIONS, &[&wanted]).await };
        let (role, rows) = tokio::try_join!(role, found)?;
        let mut relations: HashMap<String, FoundRelation> = HashMap::with_capacity(wanted.len());
        for row in rows {
            let relation = FoundRelation {
                schema: row.try_get(1)?,
                is_table: row.try_get(2)?,
                schema_is_open: row.try_get(3)?,
                columns: HashMap::new(),
            };
            let column = FoundColumn {
                ty: Type::from_oid(row.try_get(5)?),
                type_name: row.try_get(6)?,
                is_readable: row.try_get(7)?,
            };
            relations.entry(row.try_get(0)?).or_insert(relation).columns.insert(row.try_get(4)?, column);
        }
        Ok(Self { role, relations })
    }

    /// The relation of that name, as the catalog writes it.
    pub(super) fn relation(&self, name: &str) -> Option<&FoundRelation> {
        self.relations.get(name)
    }

    /// A column, where there is one of that name.
    pub(super) fn column(&self, column: ColumnName<'_>) -> Option<&FoundColumn> {
        self.relation(column.relation)?.columns.get(column.name)
    }
}
