//! The declared objects that a database has.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use tokio_postgres::{Client, Error};

use crate::migration::record::AppliedRecord;

/// The relations of both schemas, with their columns.
const RELATIONS: &str = "
    SELECT nspname || '.' || relname, relkind::text, reltuples::float8,
        COALESCE(array_agg(attname::text ORDER BY attnum) FILTER (WHERE attnum > 0), '{}'),
        COALESCE(array_agg(format_type(atttypid, atttypmod) ORDER BY attnum) FILTER (WHERE attnum > 0), '{}')
    FROM pg_catalog.pg_class AS relation
    JOIN pg_catalog.pg_namespace AS namespace ON namespace.oid = relnamespace
    LEFT JOIN pg_catalog.pg_attribute ON attrelid = relation.oid AND NOT attisdropped
    WHERE nspname IN ('public', 'orderql') AND relkind IN ('r', 'p', 'v', 'm', 'f', 'S')
    GROUP BY nspname, relname, relkind, reltuples";

/// The primary keys of the tables of OFBiz's schema.
const KEYS: &str = "
    SELECT 'public.' || relname,
        (SELECT array_agg(attname::text ORDER BY place)
         FROM unnest(conkey) WITH ORDINALITY AS part (number, place)
         JOIN pg_catalog.pg_attribute ON attrelid = conrelid AND attnum = number)
    FROM pg_catalog.pg_constraint
    JOIN pg_catalog.pg_class AS relation ON relation.oid = conrelid
    WHERE contype = 'p' AND relation.relnamespace = 'public'::regnamespace";

const FUNCTIONS: &str = "
    SELECT 'orderql.' || proname
    FROM pg_catalog.pg_proc
    WHERE pronamespace = (SELECT oid FROM pg_catalog.pg_namespace WHERE nspname = 'orderql')";

/// Without the triggers that a partition has of its table.
const TRIGGERS: &str = "
    SELECT namespace.nspname || '.' || relname, tgname::text, tgenabled::text,
        (SELECT nspname || '.' || proname
         FROM pg_catalog.pg_proc
         JOIN pg_catalog.pg_namespace ON pg_namespace.oid = pronamespace
         WHERE pg_proc.oid = tgfoid)
    FROM pg_catalog.pg_trigger
    JOIN pg_catalog.pg_class AS relation ON relation.oid = tgrelid
    JOIN pg_catalog.pg_namespace AS namespace ON namespace.oid = relnamespace
    WHERE NOT tgisinternal AND tgparentid = 0 AND namespace.nspname IN ('public', 'orderql')";

/// The views and functions of change feeds, which are made by the definitions of these.
const OF_FEEDS: &str = "
    SELECT 'orderql.' || feed FROM orderql.sync_feed
    UNION
    SELECT 'orderql.' || orderql.sync_function_name(feed, relation) FROM orderql.sync_part";

/// A relation that a database has.
#[derive(Debug)]
pub(super) struct PresentRelation {
    /// The kind, as in `pg_class`.
    pub(super) kind: String,
    /// PostgreSQL's estimate of its rows, negative if it has none.
    pub(super) rows: f64,
    /// Its columns and their types, in their order.
    pub(super) columns: Vec<(String, String)>,
}

/// The state of a database.
#[derive(Debug)]
pub(super) struct Present {
    pub(super) has_schema: bool,
    /// By schema and name.
    pub(super) relations: HashMap<String, PresentRelation>,
    /// The columns of primary keys, by table.
    pub(super) keys: HashMap<String, Vec<String>>,
    /// With the schema `orderql`.
    pub(super) functions: BTreeSet<String>,
    /// The states of `pg_trigger` and the functions of triggers, by their tables and names.
    pub(super) triggers: BTreeMap<(String, String), (String, String)>,
    /// The views and functions of change feeds.
    pub(super) of_feeds: HashSet<String>,
    /// The record of the last migration; none if nothing was applied, or if a version without records applied it.
    pub(super) record: Option<AppliedRecord>,
}

impl PresentRelation {
    /// Whether it is a table of the database itself.
    pub(super) fn is_table(&self) -> bool {
        matches!(&*self.kind, "r" | "p")
    }

    pub(super) fn column_type(&self, name: &str) -> Option<&str> {
        self.columns.iter().find(|(column, _)| column == name).map(|(_, ty)| &**ty)
    }
}

impl Present {
    /// Reads PostgreSQL's catalogs and the record.
    pub(super) async fn read(client: &Client) -> Result<Self, Error> {
        let has_schema = "SELECT EXISTS (SELECT FROM pg_catalog.pg_namespace WHERE nspname = 'orderql')";
        let has_schema = client.query_one(has_schema, &[]).await?.try_get(0)?;
        let mut relations = HashMap::new();
        for row in client.query(RELATIONS, &[]).await? {
            let (names, types): (Vec<String>, Vec<String>) = (row.try_get(3)?, row.try_get(4)?);
            let columns = names.into_iter().zip(types).collect();
            relations
                .insert(row.try_get(0)?, PresentRelation { kind: row.try_get(1)?, rows: row.try_get(2)?, columns });
        }
        let keys = client.query(KEYS, &[]).await?;
        let keys = keys.iter().map(|row| Ok((row.try_get(0)?, row.try_get(1)?))).collect::<Result<_, Error>>()?;
        let functions: BTreeSet<String> = names(client, FUNCTIONS).await?;
        let has_feeds = relations.contains_key("orderql.sync_part") && functions.contains("orderql.sync_function_name");
        let of_feeds = if has_feeds { names(client, OF_FEEDS).await? } else { HashSet::new() };
        let triggers = client.query(TRIGGERS, &[]).await?;
        let triggers =
            triggers.iter().map(|row| Ok(((row.try_get(0)?, row.try_get(1)?), (row.try_get(2)?, row.try_get(3)?))));
        let triggers = triggers.collect::<Result<_, Error>>()?;
        let record = AppliedRecord::read(client).await?;
        Ok(Self { has_schema, relations, keys, functions, triggers, of_feeds, record })
    }

    /// The relation of that schema and name, if it is a table.
    pub(super) fn table(&self, name: &str) -> Option<&PresentRelation> {
        self.relations.get(name).filter(|relation| relation.is_table())
    }
}

async fn names<T: FromIterator<String>>(client: &Client, sql: &str) -> Result<T, Error> {
    client.query(sql, &[]).await?.iter().map(|row| row.try_get(0)).collect()
}
