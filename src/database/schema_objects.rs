//! The objects of a database: the names of its tables, columns, indexes, views and functions, and the row counts of its
//! reference tables. Comparing two readings shows what a migration added.

use std::collections::{BTreeMap, BTreeSet};

use tokio_postgres::{Client, Error};

/// The tables of OFBiz's schema that migrations insert reference rows into.
const REFERENCE_TABLES: [&str; 17] = [
    "status_type",
    "status_item",
    "status_valid_change",
    "enumeration_type",
    "enumeration",
    "facility_type",
    "facility",
    "uom_type",
    "uom",
    "shipment_box_type",
    "shipment_method_type",
    "party_type",
    "role_type",
    "party",
    "person",
    "party_role",
    "carrier_shipment_method",
];

/// Names in OFBiz's schema have no prefix, those in orderql's are `orderql.name`. Columns and indexes follow their table:
/// `table.column`.
const TABLES: &str = "
    SELECT relation.oid::regclass::text
    FROM pg_class AS relation
    WHERE relation.relnamespace IN (SELECT oid FROM pg_namespace WHERE nspname IN ('public', 'orderql'))
      AND relation.relkind IN ('r', 'p')";
const COLUMNS: &str = "
    SELECT relation.oid::regclass::text || '.' || quote_ident(attribute.attname)
    FROM pg_class AS relation
    JOIN pg_attribute AS attribute ON attribute.attrelid = relation.oid
    WHERE relation.relnamespace IN (SELECT oid FROM pg_namespace WHERE nspname IN ('public', 'orderql'))
      AND relation.relkind IN ('r', 'p')
      AND attribute.attnum > 0
      AND NOT attribute.attisdropped";
const INDEXES: &str = "
    SELECT index.indrelid::regclass::text || '.' || quote_ident(relation.relname)
    FROM pg_index AS index
    JOIN pg_class AS relation ON relation.oid = index.indexrelid
    WHERE relation.relnamespace IN (SELECT oid FROM pg_namespace WHERE nspname IN ('public', 'orderql'))";
const VIEWS: &str = "
    SELECT relation.oid::regclass::text
    FROM pg_class AS relation
    WHERE relation.relnamespace IN (SELECT oid FROM pg_namespace WHERE nspname IN ('public', 'orderql'))
      AND relation.relkind = 'v'";
const FUNCTIONS: &str = "
    SELECT function.oid::regprocedure::text
    FROM pg_proc AS function
    WHERE function.pronamespace IN (SELECT oid FROM pg_namespace WHERE nspname = 'orderql')";

/// The objects at one point in time.
#[derive(Debug, Default)]
pub(super) struct SchemaObjects {
    pub(super) tables: BTreeSet<String>,
    pub(super) columns: BTreeSet<String>,
    pub(super) indexes: BTreeSet<String>,
    pub(super) views: BTreeSet<String>,
    pub(super) functions: BTreeSet<String>,
    /// Row counts of the reference tables that exist.
    pub(super) rows: BTreeMap<&'static str, i64>,
}

impl SchemaObjects {
    /// Reads PostgreSQL's catalogs. `search_path` must be `public`.
    pub(super) async fn read(client: &Client) -> Result<Self, Error> {
        let tables = names(client, TABLES).await?;
        let mut rows = BTreeMap::new();
        for table in REFERENCE_TABLES {
            if tables.contains(table) {
                let count = client.query_one(&format!("SELECT count(*) FROM {table}"), &[]).await?;
                rows.insert(table, count.try_get(0)?);
            }
        }
        Ok(Self {
            columns: names(client, COLUMNS).await?,
            indexes: names(client, INDEXES).await?,
            views: names(client, VIEWS).await?,
            functions: names(client, FUNCTIONS).await?,
            tables,
            rows,
        })
    }
}

async fn names(client: &Client, sql: &str) -> Result<BTreeSet<String>, Error> {
    client.query(sql, &[]).await?.iter().map(|row| row.try_get(0)).collect()
}
