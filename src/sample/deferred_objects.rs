//! Drops indexes and foreign keys while a sample is written, and disables triggers, because they slow writing down.
//!
//! Everything is dropped and restored in the transaction that writes the rows, so a failure leaves the database unchanged.
//! Objects are restored from PostgreSQL's own definitions. An object whose definition is incomplete stays (an index of a
//! constraint, or with a comment, a tablespace or a statistics target …), and so do all objects of tables that another role
//! owns. Writing is then slower, but correct.

use tokio_postgres::{Error, Transaction};

/// The statements that restore the dropped objects, each list in order.
#[derive(Debug)]
pub(in crate::sample) struct DeferredObjects {
    indexes: Vec<String>,
    foreign_keys: Vec<String>,
    triggers: Vec<String>,
}

impl DeferredObjects {
    /// Drops or disables the objects of these tables of schema `public`.
    pub(in crate::sample) async fn drop_from(transaction: &Transaction<'_>, tables: &[&str]) -> Result<Self, Error> {
        let triggers = Self::run(transaction, TRIGGERS, tables).await?;
        let foreign_keys = Self::run(transaction, FOREIGN_KEYS, tables).await?;
        let indexes = Self::run(transaction, INDEXES, tables).await?;
        Ok(Self { indexes, foreign_keys, triggers })
    }

    /// Runs `query`, whose rows have two statements each. Executes the first ones and returns the second ones.
    async fn run(transaction: &Transaction<'_>, query: &str, tables: &[&str]) -> Result<Vec<String>, Error> {
        let mut restoring = Vec::new();
        for row in transaction.query(query, &[&tables]).await? {
            transaction.batch_execute(row.try_get(0)?).await?;
            restoring.push(row.try_get(1)?);
        }
        Ok(restoring)
    }

    /// The number of indexes and foreign keys to restore.
    pub(in crate::sample) fn count(&self) -> u64 {
        (self.indexes.len() + self.foreign_keys.len()) as u64
    }

    /// Restores all objects, indexes first because foreign keys need them. Calls `progress` after each index and foreign
    /// key.
    pub(in crate::sample) async fn restore(
        self,
        transaction: &Transaction<'_>,
        mut progress: impl FnMut(),
    ) -> Result<(), Error> {
        for statement in self.indexes.iter().chain(&self.foreign_keys) {
            transaction.batch_execute(statement).await?;
            progress();
        }
        for statement in &self.triggers {
            transaction.batch_execute(statement).await?;
        }
        Ok(())
    }
}

/// The triggers whose work `orderql.backfill_parties()`, `orderql.backfill_returns()` and `orderql.backfill_item_places()` do at the end,
/// and the triggers that mark changed orders. Other triggers stay enabled.
const TRIGGERS: &str = "
SELECT format('ALTER TABLE public.%I DISABLE TRIGGER %I', t.relname, g.tgname),
       format(
           'ALTER TABLE public.%I ENABLE %s TRIGGER %I', t.relname, CASE g.tgenabled WHEN 'A' THEN 'ALWAYS' WHEN 'R' THEN 'REPLICA' ELSE '' END,
           g.tgname
       )
FROM pg_catalog.pg_trigger g
JOIN pg_catalog.pg_class t ON t.oid = g.tgrelid
WHERE t.relnamespace = 'public'::regnamespace
  AND t.relname = ANY ($1)
  AND pg_has_role(t.relowner, 'USAGE')
  AND g.tgname ~ '^orderql_(keep|(order|inventory_item)_change|(item|return)_(inserted|updated|deleted|renamed|replicated))$'
  AND g.tgenabled <> 'D'
ORDER BY t.relname";

const FOREIGN_KEYS: &str = "
SELECT format('ALTER TABLE public.%I DROP CONSTRAINT %I', t.relname, k.conname),
       format('ALTER TABLE public.%I ADD CONSTRAINT %I %s', t.relname, k.conname, pg_get_constraintdef(k.oid))
FROM pg_catalog.pg_constraint k
JOIN pg_catalog.pg_class t ON t.oid = k.conrelid
JOIN pg_catalog.pg_class p ON p.oid = k.confrelid
WHERE k.contype = 'f'
  AND t.relnamespace = 'public'::regnamespace
  AND t.relname = ANY ($1)
  AND t.relkind = 'r' AND NOT t.relispartition AND p.relkind = 'r' AND NOT p.relispartition
  AND pg_has_role(t.relowner, 'USAGE') AND pg_has_role(p.relowner, 'USAGE')
  AND k.convalidated
  AND obj_description(k.oid, 'pg_constraint') IS NULL
  AND NOT EXISTS (SELECT FROM pg_catalog.pg_trigger g WHERE g.tgconstraint = k.oid AND g.tgenabled <> 'O')
ORDER BY k.oid";

const INDEXES: &str = "
SELECT format('DROP INDEX public.%I', x.relname), pg_get_indexdef(x.oid)
FROM pg_catalog.pg_index i
JOIN pg_catalog.pg_class x ON x.oid = i.indexrelid
JOIN pg_catalog.pg_class t ON t.oid = i.indrelid
WHERE t.relnamespace = 'public'::regnamespace
  AND t.relname = ANY ($1)
  AND t.relkind = 'r' AND NOT t.relispartition
  AND pg_has_role(t.relowner, 'USAGE')
  AND i.indisvalid AND NOT i.indisprimary AND NOT i.indisclustered AND NOT i.indisreplident
  AND x.reltablespace = 0
  AND obj_description(x.oid, 'pg_class') IS NULL
  AND NOT EXISTS (SELECT FROM pg_catalog.pg_constraint k WHERE k.conindid = x.oid)
  AND NOT EXISTS (
      SELECT FROM pg_catalog.pg_depend d
      WHERE d.refclassid = 'pg_class'::regclass AND d.refobjid = x.oid
         OR d.classid = 'pg_class'::regclass AND d.objid = x.oid AND d.deptype IN ('e', 'x')
  )
  AND NOT EXISTS (
      SELECT FROM pg_catalog.pg_attribute a WHERE a.attrelid = x.oid AND COALESCE(a.attstattarget, -1) <> -1
  )
ORDER BY x.oid";
