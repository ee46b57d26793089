//! Reads the description of relations from PostgreSQL's system catalogs, which every role can read.

use std::collections::HashMap;

use tokio_postgres::types::Type;
use tokio_postgres::{Client, Error, Row};

use crate::catalog::collation::Collation;
use crate::relations::column::DescribedColumn;
use crate::relations::column_type::{ColumnType, ValueType};
use crate::relations::description::DatabaseDescription;
use crate::relations::index::{DescribedIndex, IndexedRows};
use crate::relations::relation::{Children, DescribedRelation, ForeignKey, RelationKind};
use crate::value::Enumeration;

/// Selects relations by their names, whatever the role may do with them; without names, the relations that the role may read, without those of
/// the system, of extensions and of the service, and without partitions.
const RELATIONS: &str = "
    SELECT
        relation.oid,
        namespace.nspname::text,
        relation.relname::text,
        relation.relkind::text,
        obj_description(relation.oid, 'pg_class'),
        has_schema_privilege(namespace.oid, 'USAGE'),
        (SELECT quote_ident(server.srvname)
         FROM pg_catalog.pg_foreign_table AS foreign_table
         JOIN pg_catalog.pg_foreign_server AS server ON server.oid = foreign_table.ftserver
         WHERE foreign_table.ftrelid = relation.oid),
        CASE WHEN relation.relkind = 'p' THEN pg_get_partkeydef(relation.oid) END,
        relation.relkind = 'r' AND EXISTS (SELECT FROM pg_catalog.pg_inherits WHERE inhparent = relation.oid),
        relation.relkind = 'p' AND NOT EXISTS (SELECT FROM pg_partition_tree(relation.oid) WHERE isleaf)
    FROM pg_catalog.pg_class AS relation
    JOIN pg_catalog.pg_namespace AS namespace ON namespace.oid = relation.relnamespace
    WHERE relation.relkind IN ('r', 'p', 'v', 'm', 'f')
      AND CASE
            WHEN $1::text[] IS NOT NULL
            THEN (namespace.nspname::text, relation.relname::text) IN (SELECT * FROM unnest($1, $2::text[]))
            ELSE NOT relation.relispartition
                AND relation.relpersistence <> 't'
                AND namespace.nspname NOT IN ('pg_catalog', 'information_schema', 'orderql')
                AND NOT starts_with(namespace.nspname::text, 'pg_')
                AND has_schema_privilege(namespace.oid, 'USAGE')
                AND has_any_column_privilege(relation.oid, 'SELECT')
                AND NOT EXISTS (
                    SELECT FROM pg_catalog.pg_depend
                    WHERE classid = 'pg_catalog.pg_class'::regclass AND objid = relation.oid AND deptype = 'e'
                )
          END
    ORDER BY namespace.nspname <> 'public', namespace.nspname::text COLLATE \"C\", relation.relname::text COLLATE \"C\"";

/// Selects columns with their types. For a domain, or one over another, the type is its base type, as results have it, and for an array the
/// base type of its elements. The modifier of `numeric` has the number of digits and the number of decimal places. A text search configuration
/// is known as far as the expression of a generated column, or PostgreSQL's trigger for it, tells. Reads the same with
/// `standard_conforming_strings` off.
const COLUMNS: &str = "
    WITH RECURSIVE part AS (
        SELECT
            oid AS type, oid, typbasetype, typelem, typlen, typcategory, typtypmod, typnotnull, FALSE AS is_element, 0 AS depth
        FROM pg_catalog.pg_type
        WHERE oid IN (SELECT atttypid FROM pg_catalog.pg_attribute WHERE attrelid = ANY($1::oid[]) AND attnum > 0)
        UNION ALL
        SELECT
            part.type, inner_type.oid, inner_type.typbasetype, inner_type.typelem, inner_type.typlen, inner_type.typcategory,
            inner_type.typtypmod, inner_type.typnotnull, part.is_element OR part.typbasetype = 0, part.depth + 1
        FROM part
        JOIN pg_catalog.pg_type AS inner_type ON inner_type.oid = CASE
            WHEN part.typbasetype <> 0 THEN part.typbasetype
            WHEN part.typcategory = 'A' AND part.typlen = -1 AND NOT part.is_element THEN part.typelem
        END
    ), type AS MATERIALIZED (
        SELECT
            type AS oid,
            (array_agg(oid ORDER BY depth DESC))[1] AS base,
            bool_or(is_element) AS is_array,
            max(typtypmod) FILTER (WHERE NOT is_element) AS modifier,
            bool_or(typnotnull AND NOT is_element) AS is_not_null
        FROM part
        GROUP BY type
    )
    SELECT
        attribute.attrelid,
        attribute.attname::text,
        format_type(attribute.atttypid, attribute.atttypmod),
        has_column_privilege(attribute.attrelid, attribute.attnum, 'SELECT'),
        attribute.attgenerated <> '',
        col_description(attribute.attrelid, attribute.attnum),
        type.base,
        type.is_array,
        attribute.atttypid <> type.base,
        quote_ident(place.nspname) || '.' || quote_ident(enum.typname),
        (SELECT array_agg(enumlabel::text ORDER BY enumsortorder) FROM pg_catalog.pg_enum WHERE enumtypid = enum.oid),
        GREATEST(attribute.atttypmod, type.modifier),
        attribute.attnotnull AND (attribute.attrelid, attribute.attnum) NOT IN (
            SELECT conrelid, conkey[1] FROM pg_catalog.pg_constraint WHERE contype = 'n' AND conrelid <> 0 AND NOT convalidated
        ) OR type.is_not_null,
        CASE WHEN home.nspname = 'pg_catalog' THEN '' ELSE quote_ident(home.nspname) || '.' END || quote_ident(own.collname),
        own.collisdeterministic,
        CASE WHEN attribute.atttypid = 'pg_catalog.tsvector'::regtype THEN (
            SELECT CASE WHEN namespace.nspname = 'pg_catalog' THEN '' ELSE namespace.nspname || '.' END || configuration.cfgname
            FROM (
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
            ) AS made_with (name)
            JOIN (pg_catalog.pg_ts_config AS configuration JOIN pg_catalog.pg_namespace AS namespace ON namespace.oid = configuration.cfgnamespace)
                ON made_with.name IN (configuration.oid::regconfig::text, namespace.nspname || '.' || configuration.cfgname)
            LIMIT 1
        ) END
    FROM pg_catalog.pg_attribute AS attribute
    JOIN type ON type.oid = attribute.atttypid
    LEFT JOIN (pg_catalog.pg_type AS enum JOIN pg_catalog.pg_namespace AS place ON place.oid = enum.typnamespace)
        ON enum.oid = type.base AND enum.typtype = 'e'
    LEFT JOIN (pg_catalog.pg_collation AS own JOIN pg_catalog.pg_namespace AS home ON home.oid = own.collnamespace)
        ON own.oid = attribute.attcollation AND own.collprovider <> 'd'
    WHERE attribute.attrelid = ANY($1::oid[]) AND attribute.attnum > 0 AND NOT attribute.attisdropped
    ORDER BY attribute.attrelid, attribute.attnum";

/// Selects indexes, without indexes that are not complete or of expressions: their columns, the included columns last; how
/// many are not included, and how each of these is sorted; whether the index is unique, whether it compares the columns as statements do, and
/// whether it is on words; and the condition of its rows, if it does not have all. Primary keys come first, then indexes of few columns.
const INDEXES: &str = "
    SELECT
        index.indrelid,
        array_agg(attribute.attname::text ORDER BY key.position),
        index.indnkeyatts,
        index.indoption::int2[],
        index.indisunique AND index.indimmediate,
        coalesce(
            bool_and(class.opcdefault AND index.indcollation[key.position - 1] IN (0, attribute.attcollation))
                FILTER (WHERE key.position <= index.indnkeyatts),
            FALSE
        ),
        method.amname = 'gin',
        min(pg_get_expr(index.indpred, index.indrelid))
    FROM pg_catalog.pg_index AS index
    JOIN pg_catalog.pg_class AS stored ON stored.oid = index.indexrelid
    JOIN pg_catalog.pg_am AS method ON method.oid = stored.relam AND method.amname IN ('btree', 'gin')
    CROSS JOIN LATERAL unnest(index.indkey::int2[]) WITH ORDINALITY AS key (number, position)
    LEFT JOIN pg_catalog.pg_opclass AS class ON class.oid = index.indclass[key.position - 1]
    JOIN pg_catalog.pg_attribute AS attribute ON attribute.attrelid = index.indrelid AND attribute.attnum = key.number
    WHERE index.indrelid = ANY($1::oid[]) AND index.indisvalid AND index.indexprs IS NULL
    GROUP BY index.indexrelid, index.indrelid, index.indnkeyatts, index.indoption, index.indisprimary, index.indisunique, index.indimmediate,
        method.amname, stored.relname
    ORDER BY index.indisprimary DESC, index.indnkeyatts, stored.relname::text COLLATE \"C\"";

/// Selects the foreign keys of relations to relations.
const FOREIGN_KEYS: &str = "
    SELECT
        foreign_key.conrelid,
        foreign_key.conname::text,
        namespace.nspname::text,
        target.relname::text,
        array_agg(own.attname::text ORDER BY pair.position),
        array_agg(other.attname::text ORDER BY pair.position)
    FROM pg_catalog.pg_constraint AS foreign_key
    JOIN pg_catalog.pg_class AS target ON target.oid = foreign_key.confrelid
    JOIN pg_catalog.pg_namespace AS namespace ON namespace.oid = target.relnamespace
    CROSS JOIN LATERAL unnest(foreign_key.conkey, foreign_key.confkey) WITH ORDINALITY AS pair (own, other, position)
    JOIN pg_catalog.pg_attribute AS own ON own.attrelid = foreign_key.conrelid AND own.attnum = pair.own
    JOIN pg_catalog.pg_attribute AS other ON other.attrelid = foreign_key.confrelid AND other.attnum = pair.other
    WHERE foreign_key.contype = 'f' AND foreign_key.conrelid = ANY($1::oid[])
    GROUP BY foreign_key.oid, foreign_key.conrelid, foreign_key.conname, namespace.nspname, target.relname
    ORDER BY foreign_key.conname::text COLLATE \"C\"";

/// Selects the text search configurations by the names that statements find them by.
const LANGUAGES: &str = "
    SELECT unnest(CASE WHEN namespace.nspname IN ('pg_catalog', 'public') THEN ARRAY[name.short, name.long] ELSE ARRAY[name.long] END)
    FROM pg_catalog.pg_ts_config AS configuration
    JOIN pg_catalog.pg_namespace AS namespace ON namespace.oid = configuration.cfgnamespace
    CROSS JOIN LATERAL (SELECT configuration.cfgname::text, namespace.nspname || '.' || configuration.cfgname) AS name (short, long)";

/// Describes the relations of a database that the role may read, with their foreign keys, in few round trips.
pub(crate) async fn read(client: &Client) -> Result<DatabaseDescription, Error> {
    read_relations(client, None).await
}

/// Describes the relations with these names in a schema file, whether the role may read them or not, without their foreign keys.
pub(crate) async fn read_named(client: &Client, names: &[&str]) -> Result<DatabaseDescription, Error> {
    let names = names.iter().map(|name| name.split_once('.').unwrap_or(("public", name)));
    read_relations(client, Some(names.unzip())).await
}

async fn read_relations(client: &Client, named: Option<(Vec<&str>, Vec<&str>)>) -> Result<DatabaseDescription, Error> {
    let (schemas, names) = named.unzip();
    let rows = client.query(RELATIONS, &[&schemas, &names]).await?;
    let oids = rows.iter().map(|row| row.try_get(0)).collect::<Result<Vec<u32>, _>>()?;
    let places: HashMap<_, _> = oids.iter().enumerate().map(|(place, oid)| (*oid, place)).collect();
    let mut database = DatabaseDescription::of(rows.iter().map(relation).collect::<Result<_, _>>()?);
    let (role, languages, columns, indexes, foreign_keys) = tokio::try_join!(
        async { client.query_one("SELECT quote_ident(current_user), getdatabaseencoding()::text", &[]).await },
        async { client.query(LANGUAGES, &[]).await },
        async { client.query(COLUMNS, &[&oids]).await },
        async { client.query(INDEXES, &[&oids]).await },
        async { if schemas.is_none() { client.query(FOREIGN_KEYS, &[&oids]).await } else { Ok(Vec::new()) } },
    )?;
    (database.role, database.encoding) = (role.try_get(0)?, role.try_get(1)?);
    database.languages = languages.iter().map(|row| row.try_get(0)).collect::<Result<_, _>>()?;
    let place = |row: &Row| row.try_get::<_, u32>(0).map(|oid| places[&oid]);
    for row in &columns {
        database.relations[place(row)?].columns.push(column(row)?);
    }
    for row in &indexes {
        let (relation, index) = (&mut database.relations[place(row)?], index(row)?);
        let predicate: Option<&str> = row.try_get(7)?;
        match predicate.map(IndexedRows::read) {
            None => relation.indexes.push(index),
            Some(Some(rows)) => relation.partial_indexes.push(DescribedIndex { rows, ..index }),
            Some(None) => {}
        }
    }
    for row in &foreign_keys {
        let target = (row.try_get(2)?, row.try_get(3)?);
        let foreign_key = ForeignKey { name: row.try_get(1)?, columns: row.try_get(4)?, target, to: row.try_get(5)? };
        database.relations[place(row)?].foreign_keys.push(foreign_key);
    }
    Ok(database)
}

fn relation(row: &Row) -> Result<DescribedRelation, Error> {
    Ok(DescribedRelation {
        schema: row.try_get(1)?,
        name: row.try_get(2)?,
        kind: match row.try_get(3)? {
            "v" => RelationKind::View,
            "m" => RelationKind::MaterializedView,
            "f" => RelationKind::Foreign,
            _ => RelationKind::Table,
        },
        comment: row.try_get(4)?,
        schema_is_usable: row.try_get(5)?,
        server: row.try_get(6)?,
        partition_key: row.try_get(7)?,
        children: match (row.try_get(8)?, row.try_get(9)?) {
            (true, _) => Children::Inheriting,
            (false, true) => Children::NoPartitions,
            (false, false) => Children::Own,
        },
        ..DescribedRelation::default()
    })
}

fn column(row: &Row) -> Result<DescribedColumn, Error> {
    let (name, labels): (Option<String>, Option<Vec<String>>) = (row.try_get(9)?, row.try_get(10)?);
    let value = match (Type::from_oid(row.try_get(6)?), name) {
        (Some(ty), _) => ValueType::BuiltIn(ty),
        (None, Some(name)) => {
            let labels = labels.unwrap_or_default().into_iter().map(|label| (label.clone(), label));
            let labels = Enumeration::new(name, labels.collect());
            if row.try_get(8)? { ValueType::DomainOfEnum(labels) } else { ValueType::Enum(labels) }
        }
        (None, None) => ValueType::Other,
    };
    Ok(DescribedColumn {
        name: row.try_get(1)?,
        ty: if row.try_get(7)? { ColumnType::Array(value) } else { ColumnType::Value(value) },
        type_name: row.try_get(2)?,
        is_readable: row.try_get(3)?,
        #[cfg(feature = "tools")]
        is_generated: row.try_get(4)?,
        comment: row.try_get(5)?,
        modifier: row.try_get(11)?,
        is_not_null: row.try_get(12)?,
        collation: match (row.try_get(13)?, row.try_get(14)?) {
            (Some(name), Some(is_deterministic)) => Collation::named(name, is_deterministic),
            _ => Collation::Default,
        },
        language: row.try_get(15)?,
    })
}

fn index(row: &Row) -> Result<DescribedIndex, Error> {
    let mut columns: Vec<String> = row.try_get(1)?;
    let compared = usize::try_from(row.try_get::<_, i16>(2)?).unwrap_or(usize::MAX).min(columns.len());
    Ok(DescribedIndex {
        included: columns.split_off(compared),
        columns,
        options: row.try_get(3)?,
        is_unique: row.try_get(4)?,
        has_usual_comparison: row.try_get(5)?,
        is_of_words: row.try_get(6)?,
        rows: IndexedRows::default(),
    })
}
