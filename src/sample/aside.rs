//! What slows writing down, put aside while a sample is written: indexes, foreign keys, and the triggers that keep
//! orderql's table of parties.
//!
//! It is all taken away and put back in the transaction that writes the rows, so whatever goes wrong, a database has them
//! as it had them. They are put back from their definitions, as PostgreSQL itself gives them. What a definition does not
//! tell in full (an index that a constraint stands on, has a comment, a tablespace or a statistics target …) is left in
//! its place, and so is everything of tables that somebody else owns: then writing is slow, and right.

use tokio_postgres::{Error, Transaction};

/// What was put aside.
#[derive(Debug)]
pub(in crate::sample) struct Aside {
    /// The statements that put it back, in their order.
    indexes: Vec<String>,
    foreign_keys: Vec<String>,
    triggers: Vec<String>,
}

impl Aside {
    /// Puts aside what it can of these tables of schema `public`.
    pub(in crate::sample) async fn take(transaction: &Transaction<'_>, tables: &[&str]) -> Result<Self, Error> {
        let triggers = Self::taken(transaction, TRIGGERS, tables).await?;
        let foreign_keys = Self::taken(transaction, FOREIGN_KEYS, tables).await?;
        let indexes = Self::taken(transaction, INDEXES, tables).await?;
        Ok(Self { indexes, foreign_keys, triggers })
    }

    /// Runs the first of each row's statements, and returns the second.
    async fn taken(transaction: &Transaction<'_>, found: &str, tables: &[&str]) -> Result<Vec<String>, Error> {
        let mut back = Vec::new();
        for row in transaction.query(found, &[&tables]).await? {
            transaction.batch_execute(row.try_get(0)?).await?;
            back.push(row.try_get(1)?);
        }
        Ok(back)
    }

    /// How many indexes and foreign keys there are to be put back.
    pub(in crate::sample) fn count(&self) -> u64 {
        (self.indexes.len() + self.foreign_keys.len()) as u64
    }

    /// Puts everything back: indexes first, for what checks the foreign keys. Calls `progress` after each.
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

/// The triggers of `V17__parties.sql`; `orderql.backfill_parties()` does their work at once. Those of others go on.
const TRIGGERS: &str = "
SELECT format('ALTER TABLE public.%I DISABLE TRIGGER %I', t.relname, g.tgname),
       format('ALTER TABLE public.%I ENABLE TRIGGER %I', t.relname, g.tgname)
FROM pg_catalog.pg_trigger g
JOIN pg_catalog.pg_class t ON t.oid = g.tgrelid
WHERE t.relnamespace = 'public'::regnamespace
  AND t.relname = ANY ($1)
  AND pg_has_role(t.relowner, 'USAGE')
  AND g.tgname = 'orderql_keep'
  AND g.tgenabled = 'O'
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
