//! The record of the state that was applied to a database, and of the version that did it.

use std::collections::HashMap;

use tokio_postgres::{Client, Error};

use crate::migration::declaration::STATE;
use crate::migration::object::DeclaredObject;

/// The version of this program.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Whether both tables are there. Not `to_regclass`, which fails for a schema that the role may not use.
const EXISTS: &str = "
    SELECT count(*) = 2
    FROM pg_catalog.pg_class
    JOIN pg_catalog.pg_namespace ON pg_namespace.oid = relnamespace
    WHERE nspname = 'orderql' AND relname IN ('schema_state', 'schema_object')";

/// The record of a migration in a database.
#[derive(Debug)]
pub(crate) struct AppliedRecord {
    /// The state of the version, which grows with each change of the declaration.
    state: i32,
    /// The version that applied it.
    pub(crate) version: String,
    /// The hashes of objects' texts, by [`DeclaredObject::id`].
    hashes: HashMap<String, String>,
}

impl AppliedRecord {
    /// Reads the record of a database. None if it has none.
    pub(crate) async fn read(client: &Client) -> Result<Option<Self>, Error> {
        if !client.query_one(EXISTS, &[]).await?.try_get::<_, bool>(0)? {
            return Ok(None);
        }
        let Some(row) = client.query_opt("SELECT state, version FROM orderql.schema_state", &[]).await? else {
            return Ok(None);
        };
        let hashes = client.query("SELECT name, hash FROM orderql.schema_object", &[]).await?;
        let hashes = hashes.iter().map(|row| Ok((row.try_get(0)?, row.try_get(1)?))).collect::<Result<_, Error>>()?;
        Ok(Some(Self { state: row.try_get(0)?, version: row.try_get(1)?, hashes }))
    }

    /// Whether a later version than this one applied it.
    pub(crate) fn is_newer(&self) -> bool {
        self.state > STATE
    }

    /// Whether this version, or one with the same state, applied it.
    pub(super) fn is_current(&self) -> bool {
        self.state == STATE && self.version == VERSION
    }

    /// Whether the object was applied in this form.
    pub(super) fn has(&self, object: &DeclaredObject) -> bool {
        self.hashes.get(&object.id()).is_some_and(|hash| *hash == object.hash())
    }

    /// The objects that were applied: kind and name.
    pub(super) fn ids(&self) -> impl Iterator<Item = &str> {
        self.hashes.keys().map(String::as_str)
    }
}

/// The statement that records an object.
pub(super) fn of_object(object: &DeclaredObject) -> String {
    let (id, hash) = (object.id(), object.hash());
    format!(
        "INSERT INTO orderql.schema_object (name, hash) VALUES ('{id}', '{hash}')
         ON CONFLICT (name) DO UPDATE SET hash = EXCLUDED.hash"
    )
}

/// The statement that records the version.
pub(super) fn of_version() -> String {
    format!(
        "INSERT INTO orderql.schema_state (state, version) VALUES ({STATE}, '{VERSION}')
         ON CONFLICT (only_row) DO UPDATE
         SET state = EXCLUDED.state, version = EXCLUDED.version, migrated_at = EXCLUDED.migrated_at
         WHERE (schema_state.state, schema_state.version) IS DISTINCT FROM (EXCLUDED.state, EXCLUDED.version)"
    )
}

/// Whether the order tables of a database were migrated.
pub(crate) async fn has_order_tables(client: &Client) -> Result<bool, Error> {
    // Not `to_regclass`, which fails for a schema that the role may not use.
    let exists = "SELECT EXISTS (
                      SELECT FROM pg_catalog.pg_class
                      WHERE relnamespace = (SELECT oid FROM pg_catalog.pg_namespace WHERE nspname = 'orderql')
                        AND relname = 'order_update'
                  )";
    client.query_one(exists, &[]).await?.try_get(0)
}
