//! Reads the description of a database from PostgreSQL's system catalogs, and of views from its planner.

use std::collections::HashMap;

use tokio_postgres::types::Type;
use tokio_postgres::{Client, Error, Row};

use crate::catalog::key_fault::KeyFault;
use crate::preflight::column_type::{COLUMN_TYPE, ColumnType, FoundType, SELECTED, ValueType};
use crate::preflight::index_check::{RowOrder, are_indexed};
use crate::schema_draft::description::{
    ColumnKind, Database, DescribedColumn, DescribedRelation, ForeignKey, RelationKind, TextColumn,
};

/// Selects tables and views that are no system's, no extension's, no partitions and not the service's own.
const RELATIONS: &str = "
    SELECT
        relation.oid,
        namespace.nspname::text,
        relation.relname::text,
        CASE
            WHEN relation.relkind = 'r' AND EXISTS (SELECT FROM pg_catalog.pg_inherits WHERE inhparent = relation.oid)
            THEN 'i' ELSE relation.relkind::text
        END,
        obj_description(relation.oid, 'pg_class')
    FROM pg_catalog.pg_class AS relation
    JOIN pg_catalog.pg_namespace AS namespace ON namespace.oid = relation.relnamespace
    WHERE relation.relkind IN ('r', 'p', 'v', 'm', 'f')
      AND NOT relation.relispartition
      AND relation.relpersistence <> 't'
      AND namespace.nspname NOT IN ('pg_catalog', 'information_schema', 'orderql')
      AND NOT starts_with(namespace.nspname::text, 'pg_')
      AND has_schema_privilege(namespace.oid, 'USAGE')
      AND has_any_column_privilege(relation.oid, 'SELECT')
      AND NOT EXISTS (
            SELECT FROM pg_catalog.pg_depend
            WHERE classid = 'pg_catalog.pg_class'::regclass AND objid = relation.oid AND deptype = 'e'
          )
    ORDER BY namespace.nspname <> 'public', namespace.nspname::text COLLATE \"C\", relation.relname::text COLLATE \"C\"";

/// The statement that selects their columns, without columns that are searched for words.
fn columns() -> String {
    format!(
        "
    SELECT
        attribute.attrelid,
        attribute.attname::text,
        format_type(attribute.atttypid, attribute.atttypmod),
        has_column_privilege(attribute.attrelid, attribute.attnum, 'SELECT'),
        col_description(attribute.attrelid, attribute.attnum),{SELECTED}
    FROM unnest($1::oid[]) AS wanted (oid)
    JOIN pg_catalog.pg_attribute AS attribute ON attribute.attrelid = wanted.oid{COLUMN_TYPE}
    WHERE attribute.attnum > 0
      AND NOT attribute.attisdropped
      AND NOT (
            attribute.atttypid = 'pg_catalog.tsvector'::regtype
            AND has_column_privilege(attribute.attrelid, attribute.attnum, 'SELECT')
          )
    ORDER BY attribute.attrelid, attribute.attnum"
    )
}

/// Selects the columns that are searched for words: whether an index of all rows has the words, and the text search configuration that they
/// were made with, as far as the expression of a generated column, or PostgreSQL's trigger for it, tells. Reads the same with
/// `standard_conforming_strings` off.
const TEXT_COLUMNS: &str = "
    SELECT
        attribute.attrelid,
        attribute.attname::text,
        EXISTS (
            SELECT FROM pg_catalog.pg_index AS index
            JOIN pg_catalog.pg_class AS stored ON stored.oid = index.indexrelid
            JOIN pg_catalog.pg_am AS method ON method.oid = stored.relam
            WHERE index.indrelid = attribute.attrelid
              AND method.amname = 'gin'
              AND index.indisvalid
              AND index.indpred IS NULL
              AND index.indexprs IS NULL
              AND attribute.attnum = ANY(index.indkey::int2[])
        ),
        CASE WHEN namespace.nspname = 'pg_catalog' THEN '' ELSE namespace.nspname || '.' END || configuration.cfgname
    FROM unnest($1::oid[]) AS wanted (oid)
    JOIN pg_catalog.pg_attribute AS attribute ON attribute.attrelid = wanted.oid
    LEFT JOIN LATERAL (
        SELECT min(found.name)
        FROM (
            SELECT (regexp_matches(pg_get_expr(adbin, adrelid), 'to_tsvector[(]''([^'']+)''::regconfig', 'g'))[1]
            FROM pg_catalog.pg_attrdef
            WHERE adrelid = attribute.attrelid AND adnum = attribute.attnum AND attribute.attgenerated <> ''
            UNION ALL
            SELECT split_part(encode(tgargs, 'escape'), E'\\\\000', 2)
            FROM pg_catalog.pg_trigger
            WHERE tgrelid = attribute.attrelid
              AND tgfoid = 'pg_catalog.tsvector_update_trigger'::regproc
              AND split_part(encode(tgargs, 'escape'), E'\\\\000', 1) = attribute.attname
        ) AS found (name)
        HAVING count(DISTINCT found.name) = 1
    ) AS made_with (name) ON TRUE
    LEFT JOIN pg_catalog.pg_ts_config AS configuration
        JOIN pg_catalog.pg_namespace AS namespace ON namespace.oid = configuration.cfgnamespace
        ON made_with.name IN (configuration.oid::regconfig::text, namespace.nspname || '.' || configuration.cfgname)
    WHERE attribute.attnum > 0
      AND NOT attribute.attisdropped
      AND attribute.atttypid = 'pg_catalog.tsvector'::regtype
      AND has_column_privilege(attribute.attrelid, attribute.attnum, 'SELECT')
    ORDER BY attribute.attrelid, attribute.attnum";

/// Selects their indexes of all rows, without indexes that are not complete: the columns of the key, whether the index is a B-tree in the
/// order in which `ORDER BY` sorts, whether it is unique, whether it compares the columns as statements do, and which of them may be null.
/// The columns of materialized views have no constraints.
const INDEXES: &str = "
    SELECT
        index.indrelid,
        index.indisprimary,
        index.indisunique AND index.indimmediate,
        bool_and(
            method.amname = 'btree'
            AND index.indoption[key.position - 1] = 0
            AND class.opcdefault
            AND index.indcollation[key.position - 1] IN (0, attribute.attcollation)
        ),
        array_agg(attribute.attname::text ORDER BY key.position),
        bool_and(class.opcdefault AND index.indcollation[key.position - 1] IN (0, attribute.attcollation)),
        array_agg(attribute.attname::text ORDER BY key.position) FILTER (WHERE NOT attribute.attnotnull AND relation.relkind <> 'm')
    FROM unnest($1::oid[]) AS wanted (oid)
    JOIN pg_catalog.pg_class AS relation ON relation.oid = wanted.oid
    JOIN pg_catalog.pg_index AS index ON index.indrelid = relation.oid
    JOIN pg_catalog.pg_class AS stored ON stored.oid = index.indexrelid
    JOIN pg_catalog.pg_am AS method ON method.oid = stored.relam
    CROSS JOIN LATERAL unnest(index.indkey[0:index.indnkeyatts - 1]) WITH ORDINALITY AS key (number, position)
    JOIN pg_catalog.pg_opclass AS class ON class.oid = index.indclass[key.position - 1]
    JOIN pg_catalog.pg_attribute AS attribute ON attribute.attrelid = index.indrelid AND attribute.attnum = key.number
    WHERE index.indisvalid AND index.indpred IS NULL AND index.indexprs IS NULL
    GROUP BY index.indexrelid, index.indrelid, index.indisprimary, index.indisunique, index.indimmediate, relation.relkind,
        stored.relname
    ORDER BY index.indisprimary DESC, count(*), stored.relname::text COLLATE \"C\"";

/// Selects the foreign keys of relations to relations.
const FOREIGN_KEYS: &str = "
    SELECT
        foreign_key.conrelid,
        foreign_key.conname::text,
        namespace.nspname::text,
        target.relname::text,
        array_agg(own.attname::text ORDER BY pair.position),
        array_agg(other.attname::text ORDER BY pair.position)
    FROM unnest($1::oid[]) AS wanted (oid)
    JOIN pg_catalog.pg_constraint AS foreign_key ON foreign_key.conrelid = wanted.oid AND foreign_key.contype = 'f'
    JOIN pg_catalog.pg_class AS target ON target.oid = foreign_key.confrelid
    JOIN pg_catalog.pg_namespace AS namespace ON namespace.oid = target.relnamespace
    CROSS JOIN LATERAL unnest(foreign_key.conkey, foreign_key.confkey) WITH ORDINALITY AS pair (own, other, position)
    JOIN pg_catalog.pg_attribute AS own ON own.attrelid = foreign_key.conrelid AND own.attnum = pair.own
    JOIN pg_catalog.pg_attribute AS other ON other.attrelid = foreign_key.confrelid AND other.attnum = pair.other
    GROUP BY foreign_key.oid, foreign_key.conrelid, foreign_key.conname, namespace.nspname, target.relname
    ORDER BY foreign_key.conname::text COLLATE \"C\"";

/// Reads the description of a database in few round trips. Reads the system catalogs alone.
pub(crate) async fn read(client: &Client) -> Result<Database, Error> {
    let rows = client.query(RELATIONS, &[]).await?;
    let (mut relations, mut places) = (Vec::with_capacity(rows.len()), HashMap::new());
    for row in rows {
        places.insert(row.try_get::<_, u32>(0)?, relations.len());
        relations.push(DescribedRelation {
            schema: row.try_get(1)?,
            name: row.try_get(2)?,
            kind: kind(row.try_get(3)?),
            comment: row.try_get(4)?,
            ..DescribedRelation::default()
        });
    }
    let oids: Vec<u32> = places.keys().copied().collect();
    let columns = async { client.query(&columns(), &[&oids]).await };
    let text_columns = async { client.query(TEXT_COLUMNS, &[&oids]).await };
    let indexes = async { client.query(INDEXES, &[&oids]).await };
    let foreign_keys = async { client.query(FOREIGN_KEYS, &[&oids]).await };
    let (columns, text_columns, indexes, foreign_keys) =
        tokio::try_join!(columns, text_columns, indexes, foreign_keys)?;
    for row in columns {
        relations[places[&row.try_get::<_, u32>(0)?]].columns.push(column(&row)?);
    }
    for row in text_columns {
        let column = TextColumn { name: row.try_get(1)?, is_indexed: row.try_get(2)?, language: row.try_get(3)? };
        relations[places[&row.try_get::<_, u32>(0)?]].text_columns.push(column);
    }
    for row in indexes {
        let relation = &mut relations[places[&row.try_get::<_, u32>(0)?]];
        let (is_unique, is_ordered): (bool, bool) = (row.try_get(2)?, row.try_get(3)?);
        let columns: Vec<String> = row.try_get(4)?;
        let nullable: Option<Vec<String>> = row.try_get(6)?;
        match nullable {
            _ if !is_unique => {}
            _ if !row.try_get::<_, bool>(5)? => relation.key_faults.push(KeyFault::OtherComparison(columns.clone())),
            Some(nullable) => relation.key_faults.push(KeyFault::Nullable(nullable)),
            // The order of a key is the order of its index.
            None if is_ordered => relation.keys.push(columns.clone()),
            None => {}
        }
        if is_ordered {
            relation.indexes.push(columns);
        }
    }
    for row in foreign_keys {
        let target = (row.try_get(2)?, row.try_get(3)?);
        let foreign_key = ForeignKey { name: row.try_get(1)?, columns: row.try_get(4)?, target, to: row.try_get(5)? };
        relations[places[&row.try_get::<_, u32>(0)?]].foreign_keys.push(foreign_key);
    }
    Ok(Database { relations })
}

/// Finds the orders in which indexes return the rows of relations whose key is declared: for views, by the indexes of their tables; for
/// tables of other servers, only the order of their key, because the indexes there are not known.
pub(crate) async fn read_orders(client: &Client, database: &mut Database) -> Result<(), Error> {
    for relation in &mut database.relations {
        let Some(key) = relation.keys.first() else { continue };
        let columns: Vec<_> = match relation.kind {
            RelationKind::View => {
                relation.columns.iter().filter(|column| column.is_readable && column.kind.is_some()).collect()
            }
            RelationKind::Foreign => {
                relation.columns.iter().filter(|column| key.first() == Some(&column.name)).collect()
            }
            RelationKind::Table | RelationKind::Parent | RelationKind::MaterializedView => continue,
        };
        let path = relation.path();
        let order = |first: &[&String], is_of_values: bool| {
            let mut columns: Vec<String> = first.iter().map(|column| (*column).clone()).collect();
            columns.extend(key.iter().filter(|column| !first.contains(column)).cloned());
            RowOrder { relation: path.clone(), columns, is_of_values }
        };
        let names: Vec<_> = columns.iter().map(|column| &column.name).collect();
        let sorted = indexed(client, names.iter().map(|name| order(&[name], false)).collect()).await?;
        let is_sorted = |name: &String| sorted.iter().any(|columns| columns.first() == Some(name));
        let mut others = Vec::new();
        for name in &names {
            others.push(RowOrder { relation: path.clone(), columns: vec![(*name).clone()], is_of_values: true });
            // An index that begins with the key's first column after this one would be one for the order of this one.
            let orders = names.iter().filter(|other| other != &name && is_sorted(other));
            let orders = orders.filter(|other| is_sorted(name) || key.first() != Some(other));
            others.extend(orders.map(|other| order(&[name, other], true)));
        }
        let others = if relation.kind == RelationKind::View { indexed(client, others).await? } else { Vec::new() };
        relation.indexes = sorted.into_iter().chain(others).collect();
    }
    Ok(())
}

/// The columns of the orders in which an index returns rows.
async fn indexed(client: &Client, orders: Vec<RowOrder>) -> Result<Vec<Vec<String>>, Error> {
    let are_indexed = are_indexed(client, &orders).await?;
    let indexed = orders.into_iter().zip(are_indexed).filter(|(_, is_indexed)| *is_indexed);
    Ok(indexed.map(|(order, _)| order.columns).collect())
}

fn kind(kind: &str) -> RelationKind {
    match kind {
        "i" => RelationKind::Parent,
        "v" => RelationKind::View,
        "m" => RelationKind::MaterializedView,
        "f" => RelationKind::Foreign,
        _ => RelationKind::Table,
    }
}

fn column(row: &Row) -> Result<DescribedColumn, Error> {
    let FoundType { ty, is_whole, is_not_null, collation } = FoundType::read(row, 5)?;
    let is_array = matches!(ty, ColumnType::Array(_));
    let kind = match ty.value() {
        ValueType::BuiltIn(ty) => column_kind(ty, is_whole),
        ValueType::Enum(labels) => Some(ColumnKind::Enum(*labels)),
        ValueType::DomainOfEnum(labels) => Some(ColumnKind::DomainOfEnum(*labels)),
        ValueType::Other => None,
    };
    Ok(DescribedColumn {
        name: row.try_get(1)?,
        type_name: row.try_get(2)?,
        kind,
        is_array,
        is_not_null,
        is_readable: row.try_get(3)?,
        collation,
        comment: row.try_get(4)?,
    })
}

fn column_kind(ty: &Type, is_whole: bool) -> Option<ColumnKind> {
    Some(match *ty {
        Type::TEXT | Type::NAME => ColumnKind::Text,
        Type::VARCHAR => ColumnKind::Varchar,
        Type::BPCHAR => ColumnKind::Char,
        Type::INT2 | Type::INT4 => ColumnKind::Int,
        Type::INT8 => ColumnKind::BigInt,
        Type::NUMERIC if is_whole => ColumnKind::Whole,
        Type::NUMERIC => ColumnKind::Numeric,
        Type::FLOAT4 | Type::FLOAT8 => ColumnKind::Float,
        Type::TIMESTAMP | Type::TIMESTAMPTZ => ColumnKind::Moment,
        Type::DATE => ColumnKind::Date,
        Type::BOOL => ColumnKind::Boolean,
        Type::UUID => ColumnKind::Uuid,
        Type::TIME => ColumnKind::Time,
        Type::INTERVAL => ColumnKind::Interval,
        Type::BYTEA => ColumnKind::Bytes,
        Type::JSON | Type::JSONB => ColumnKind::Json,
        _ => return None,
    })
}
