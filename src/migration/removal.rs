//! Removes what migrations have added: the triggers on OFBiz's tables and on the tables of change feeds, the indexes, the columns
//! named `orderql_`, and the schema `orderql` with all that is in it. Other columns, tables and reference rows in OFBiz's schema
//! stay: OFBiz may use them by now.

use std::fmt;

use tokio_postgres::{Client, Error, GenericClient};

use crate::migration::declaration::Declaration;
use crate::migration::indexes;

/// The statements, in the order in which they can be run. A partition has no triggers, indexes and columns of its own.
const STATEMENTS: &str = r"
    SELECT statement
    FROM (
        SELECT 1 AS part, format('DROP TRIGGER %I ON %s', tgname, tgrelid::regclass) AS statement
        FROM pg_trigger
        JOIN pg_proc ON pg_proc.oid = tgfoid
        JOIN pg_class ON pg_class.oid = tgrelid
        WHERE NOT tgisinternal AND tgparentid = 0 AND tgname LIKE 'orderql\_%'
            AND pronamespace = to_regnamespace('orderql') AND relnamespace <> pronamespace
        UNION ALL
        SELECT 2, format('DROP INDEX %s', indexrelid::regclass)
        FROM pg_index
        JOIN pg_class ON pg_class.oid = indexrelid
        WHERE relname = ANY($1) AND relnamespace = 'public'::regnamespace AND NOT relispartition
        UNION ALL
        SELECT 2, format('DROP VIEW %I.%I', schemaname, viewname)
        FROM pg_views
        WHERE schemaname = 'public' AND viewname LIKE 'oql\_%' AND definition ~ '^\s*SELECT 1 AS placeholder;$'
        UNION ALL
        SELECT 3, 'DROP SCHEMA orderql CASCADE' FROM pg_namespace WHERE nspname = 'orderql'
        UNION ALL
        SELECT 4, format('ALTER TABLE %s DROP COLUMN %I', attrelid::regclass, attname)
        FROM pg_attribute
        JOIN pg_class ON pg_class.oid = attrelid
        WHERE attname = ANY($2) AND NOT attisdropped AND attinhcount = 0
            AND relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')
    ) AS listed
    ORDER BY part, statement";

/// The objects of others that PostgreSQL would drop with these, and the statements that show them. What depends internally on an object,
/// as a view's rule does on the view, takes it along.
const DEPENDENTS: &str = r"
    WITH RECURSIVE ours (class, object, part) AS (
        SELECT 'pg_namespace'::regclass::oid, oid, 0 FROM pg_namespace WHERE nspname = 'orderql'
        UNION ALL
        SELECT 'pg_class'::regclass::oid, attrelid, attnum::int
        FROM pg_attribute
        JOIN pg_class ON pg_class.oid = attrelid
        WHERE attname = ANY($2) AND NOT attisdropped AND relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')
    ), lost AS (
        SELECT * FROM ours
        UNION
        SELECT next.*
        FROM lost
        CROSS JOIN LATERAL (
            SELECT classid, objid, objsubid FROM pg_depend
            WHERE refclassid = class AND refobjid = object AND (part = 0 OR refobjsubid = part)
            UNION ALL
            SELECT refclassid, refobjid, refobjsubid FROM pg_depend
            WHERE classid = class AND objid = object AND (part = 0 OR objsubid = part) AND deptype = 'i'
        ) AS next (class, object, part)
    ), found AS (
        SELECT lost.*, relation.oid AS relation, relnamespace, relkind, relname, tgname, tgisinternal, rulename, adnum
        FROM lost
        LEFT JOIN pg_trigger ON class = 'pg_trigger'::regclass AND pg_trigger.oid = object
        LEFT JOIN pg_constraint ON class = 'pg_constraint'::regclass AND pg_constraint.oid = object
        LEFT JOIN pg_attrdef ON class = 'pg_attrdef'::regclass AND pg_attrdef.oid = object
        LEFT JOIN pg_rewrite ON class = 'pg_rewrite'::regclass AND pg_rewrite.oid = object
        LEFT JOIN pg_policy ON class = 'pg_policy'::regclass AND pg_policy.oid = object
        LEFT JOIN pg_class AS relation ON relation.oid = CASE
            WHEN class = 'pg_class'::regclass THEN object
            ELSE COALESCE(tgrelid, NULLIF(conrelid, 0), adrelid, ev_class, polrelid)
        END
    )
    SELECT DISTINCT pg_describe_object(class, object, part), CASE
        WHEN class = 'pg_proc'::regclass THEN format('SELECT pg_get_functiondef(%L::regprocedure);', object::regprocedure)
        WHEN class = 'pg_class'::regclass AND relkind IN ('v', 'm')
            THEN format('SELECT pg_get_viewdef(%L::regclass);', object::regclass)
        WHEN class = 'pg_class'::regclass AND relkind IN ('i', 'I')
            THEN format('SELECT pg_get_indexdef(%L::regclass);', object::regclass)
        WHEN class = 'pg_trigger'::regclass THEN format('SELECT pg_get_triggerdef(%s);', object)
        WHEN class = 'pg_constraint'::regclass THEN format('SELECT pg_get_constraintdef(%s);', object)
    END
    FROM found
    WHERE NOT EXISTS (SELECT FROM ours WHERE (ours.class, ours.object, ours.part) = (found.class, found.object, found.part))
        AND relnamespace IS DISTINCT FROM 'orderql'::regnamespace
        AND relnamespace IS DISTINCT FROM 'pg_toast'::regnamespace
        AND NOT COALESCE(tgisinternal OR tgname LIKE 'orderql\_%' OR rulename = '_RETURN', FALSE)
        AND NOT (class = 'pg_class'::regclass AND relkind IN ('i', 'I') AND (relname = ANY($1) OR EXISTS (
            SELECT FROM pg_inherits JOIN pg_class AS parent ON parent.oid = inhparent
            WHERE inhrelid = object AND parent.relname = ANY($1)
        )))
        AND NOT (part > 0 AND EXISTS (SELECT FROM lost WHERE lost.class = found.class AND lost.object = found.object AND lost.part = 0))
        AND NOT EXISTS (SELECT FROM ours WHERE ours.object = relation AND ours.part = adnum)
        AND NOT EXISTS (SELECT FROM pg_proc WHERE class = 'pg_proc'::regclass AND oid = object AND pronamespace = 'orderql'::regnamespace)
        AND NOT EXISTS (
            SELECT FROM pg_type
            WHERE class = 'pg_type'::regclass AND oid = object
              AND (typnamespace = 'orderql'::regnamespace OR typrelid <> 0 OR typcategory = 'A')
        )
        AND class NOT IN ('pg_publication_rel'::regclass, 'pg_default_acl'::regclass)
    ORDER BY 1";

/// An object that is not ours, and would be dropped with ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Dependent {
    /// The object, as PostgreSQL describes it, such as `view report`.
    object: String,
    /// The statement that shows its definition.
    shown_by: Option<String>,
}

impl fmt::Display for Dependent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.object)?;
        self.shown_by.iter().try_for_each(|statement| write!(f, ": {statement}"))
    }
}

/// The columns and indexes that earlier versions made, and this version does not.
const FORMER_COLUMNS: [&str; 1] = ["orderql_facility_id"];
const FORMER_INDEXES: [&str; 5] = [
    "oql_order_item_in_order_id_order",
    "oql_order_item_in_product_order",
    "oql_order_item_of_ship_group",
    "oql_order_item_of_status_by_order",
    "oql_order_item_with_external_id",
];

fn own_columns() -> Vec<&'static str> {
    Declaration::own_columns().into_iter().chain(FORMER_COLUMNS).collect()
}

fn own_indexes() -> Vec<&'static str> {
    indexes::names().into_iter().chain(FORMER_INDEXES).collect()
}

/// The statements that remove everything. None if nothing is there.
pub(crate) async fn statements(client: &Client) -> Result<Vec<String>, Error> {
    client.query(STATEMENTS, &[&own_indexes(), &own_columns()]).await?.iter().map(|row| row.try_get(0)).collect()
}

/// Objects of others that would be dropped with the objects of this program.
pub(crate) async fn dependents(client: &impl GenericClient) -> Result<Vec<Dependent>, Error> {
    if !client.query_one("SELECT to_regnamespace('orderql') IS NOT NULL", &[]).await?.try_get(0)? {
        return Ok(Vec::new());
    }
    let rows = client.query(DEPENDENTS, &[&own_indexes(), &own_columns()]).await?;
    rows.iter().map(|row| Ok(Dependent { object: row.try_get(0)?, shown_by: row.try_get(1)? })).collect()
}

/// The tables of the schema `orderql` that have rows, with the number of rows.
pub(crate) async fn filled_tables(client: &Client) -> Result<Vec<(String, i64)>, Error> {
    let select =
        "SELECT format('orderql.%I', relname) FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
                  WHERE nspname = 'orderql' AND relkind IN ('r', 'p') ORDER BY relname";
    let mut filled = Vec::new();
    for row in client.query(select, &[]).await? {
        let table: String = row.try_get(0)?;
        let rows: i64 = client.query_one(&format!("SELECT count(*) FROM {table}"), &[]).await?.try_get(0)?;
        if rows > 0 {
            filled.push((table, rows));
        }
    }
    Ok(filled)
}

/// Runs the statements in one transaction, unless there are dependents: returns these. Waits for locks 20 seconds at most.
pub(crate) async fn remove(client: &mut Client, statements: &[String]) -> Result<Vec<Dependent>, Error> {
    let transaction = client.transaction().await?;
    let dependents = dependents(&transaction).await?;
    if dependents.is_empty() {
        transaction.batch_execute("SET LOCAL lock_timeout TO '20s'").await?;
        transaction.batch_execute(&statements.join(";\n")).await?;
        transaction.commit().await?;
    }
    Ok(dependents)
}
