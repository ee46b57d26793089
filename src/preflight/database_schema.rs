//! The required relations that a database has: their columns, types, privileges and indexes.

use std::collections::{BTreeSet, HashMap, HashSet};

use tokio_postgres::types::Type;
use tokio_postgres::{Client, Error};

use crate::catalog::collation::Collation;
use crate::catalog::index_columns::serves;
use crate::preflight::column_type::{COLUMN_TYPE, ColumnType, FoundType, SELECTED, ValueType};
use crate::preflight::requirements::{ColumnName, Requirements, ScanRequirement};
use crate::value::MAX_VALUE_BYTES;

/// The statement that selects the columns of relations.
///
/// Finds relations by name in PostgreSQL's system catalogs, which every role can read: `to_regclass` fails for a schema
/// that the role may not use. A name without a schema means `public`, as in every statement.
fn relations() -> String {
    format!(
        "
    SELECT
        wanted.name,
        namespace.nspname::text,
        relation.relkind IN ('r', 'p', 'm'),
        has_schema_privilege(namespace.oid, 'USAGE'),
        attribute.attname::text,
        format_type(attribute.atttypid, attribute.atttypmod),
        has_column_privilege(relation.oid, attribute.attnum, 'SELECT'),
        relation.relkind IN ('r', 'p'),
        (SELECT quote_ident(server.srvname)
         FROM pg_catalog.pg_foreign_table AS foreign_table
         JOIN pg_catalog.pg_foreign_server AS server ON server.oid = foreign_table.ftserver
         WHERE foreign_table.ftrelid = relation.oid),
        pg_get_partkeydef(relation.oid),
        relation.relkind = 'r' AND EXISTS (SELECT FROM pg_catalog.pg_inherits WHERE inhparent = relation.oid),
        relation.relkind = 'p' AND NOT EXISTS (SELECT FROM pg_partition_tree(relation.oid) WHERE isleaf),{SELECTED}
    FROM unnest($1::text[]) AS wanted (name)
    CROSS JOIN LATERAL string_to_array(
        CASE WHEN strpos(wanted.name, '.') > 0 THEN wanted.name ELSE 'public.' || wanted.name END, '.'
    ) AS part
    JOIN pg_catalog.pg_namespace AS namespace ON namespace.nspname = part[1]
    JOIN pg_catalog.pg_class AS relation ON relation.relnamespace = namespace.oid AND relation.relname = part[2]
    JOIN pg_catalog.pg_attribute AS attribute ON attribute.attrelid = relation.oid{COLUMN_TYPE}
    WHERE cardinality(part) = 2
      AND relation.relkind IN ('r', 'p', 'v', 'm', 'f')
      AND attribute.attnum > 0
      AND NOT attribute.attisdropped"
    )
}

/// Selects the indexes of tables, without indexes that are not complete, of expressions, or of some rows only: their columns, the included
/// columns last; how many are not included, and how each of these is sorted; whether the index is unique, whether it compares the columns as
/// statements do, and whether it is on words.
const INDEXES: &str = "
    SELECT
        wanted.name,
        array_agg(attribute.attname::text ORDER BY key.position),
        index.indnkeyatts,
        index.indoption::int2[],
        index.indisunique AND index.indimmediate,
        coalesce(
            bool_and(class.opcdefault AND index.indcollation[key.position - 1] IN (0, attribute.attcollation))
                FILTER (WHERE key.position <= index.indnkeyatts),
            FALSE
        ),
        method.amname = 'gin'
    FROM unnest($1::text[]) AS wanted (name)
    CROSS JOIN LATERAL string_to_array(
        CASE WHEN strpos(wanted.name, '.') > 0 THEN wanted.name ELSE 'public.' || wanted.name END, '.'
    ) AS part
    JOIN pg_catalog.pg_namespace AS namespace ON namespace.nspname = part[1]
    JOIN pg_catalog.pg_class AS relation ON relation.relnamespace = namespace.oid AND relation.relname = part[2]
    JOIN pg_catalog.pg_index AS index ON index.indrelid = relation.oid
    JOIN pg_catalog.pg_class AS stored ON stored.oid = index.indexrelid
    JOIN pg_catalog.pg_am AS method ON method.oid = stored.relam
    CROSS JOIN LATERAL unnest(index.indkey::int2[]) WITH ORDINALITY AS key (number, position)
    LEFT JOIN pg_catalog.pg_opclass AS class ON class.oid = index.indclass[key.position - 1]
    JOIN pg_catalog.pg_attribute AS attribute ON attribute.attrelid = relation.oid AND attribute.attnum = key.number
    WHERE cardinality(part) = 2
      AND method.amname IN ('btree', 'gin')
      AND index.indisvalid
      AND index.indpred IS NULL
      AND index.indexprs IS NULL
    GROUP BY wanted.name, index.indexrelid, index.indnkeyatts, index.indoption, index.indisunique, index.indimmediate, method.amname";

/// Selects the text search configurations by the names that statements find them by.
const LANGUAGES: &str = "
    SELECT unnest(CASE WHEN namespace.nspname IN ('pg_catalog', 'public') THEN ARRAY[name.short, name.long] ELSE ARRAY[name.long] END)
    FROM pg_catalog.pg_ts_config AS configuration
    JOIN pg_catalog.pg_namespace AS namespace ON namespace.oid = configuration.cfgnamespace
    CROSS JOIN LATERAL (SELECT configuration.cfgname::text, namespace.nspname || '.' || configuration.cfgname) AS name (short, long)";

/// The required relations that exist.
#[derive(Debug)]
pub(super) struct DatabaseSchema {
    /// The connection's role, quoted for SQL.
    pub(super) role: String,
    /// The name of its encoding.
    pub(super) encoding: String,
    /// The names of the text search configurations; none if none is required.
    pub(super) languages: HashSet<String>,
    relations: HashMap<String, FoundRelation>,
}

/// A relation that exists.
#[derive(Debug)]
pub(super) struct FoundRelation {
    pub(super) schema: String,
    /// Whether the relation can have indexes of its own.
    pub(super) is_table: bool,
    /// Whether the relation can have constraints. The constraints of a view's tables are not looked for.
    pub(super) has_constraints: bool,
    /// The server that it is read from, quoted for SQL, if it is a foreign table.
    pub(super) server: Option<String>,
    /// How it is partitioned, if it is, such as `RANGE (order_date)`.
    pub(super) partition_key: Option<String>,
    /// Which of its rows are in other tables.
    pub(super) children: Children,
    /// Its B-tree indexes of all rows.
    pub(super) indexes: Vec<FoundIndex>,
    /// The columns that have an index on words.
    pub(super) text_indexed: HashSet<String>,
    /// Whether the role may use the relation's schema.
    pub(super) schema_is_usable: bool,
    pub(super) columns: HashMap<String, FoundColumn>,
}

/// Which rows of a relation are in other tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Children {
    /// None, or all partitions, whose indexes are the relation's.
    Own,
    /// Tables that inherit from it, whose indexes are their own.
    Inheriting,
    /// It is partitioned, and has no partition that could have rows.
    NoPartitions,
}

/// A B-tree index of all rows.
#[derive(Debug)]
pub(super) struct FoundIndex {
    /// The columns that it compares.
    pub(super) columns: Vec<String>,
    /// How each of them is sorted, as `pg_index.indoption` has it.
    pub(super) options: Vec<i16>,
    /// The other columns that it has.
    pub(super) included: Vec<String>,
    pub(super) is_unique: bool,
    /// Whether it compares the columns by their own collations, and by the operators of their types.
    pub(super) has_usual_comparison: bool,
}

/// A column that exists.
#[derive(Debug)]
pub(super) struct FoundColumn {
    /// The column's type.
    pub(super) ty: ColumnType,
    /// The column's type in SQL.
    pub(super) type_name: String,
    /// Whether the role may read the column.
    pub(super) is_readable: bool,
    /// Whether a constraint rules out nulls.
    pub(super) is_not_null: bool,
    /// Whether the column, if it is numeric, has no decimal places.
    pub(super) is_whole: bool,
    pub(super) collation: Collation,
}

/// The declared characters of a column whose values, of four bytes each at most, cannot be longer than [`MAX_VALUE_BYTES`].
const SHORT: usize = MAX_VALUE_BYTES / 4;

/// How `pg_index.indoption` says that a column is sorted as `ORDER BY` sorts it, ascending or descending.
const ASCENDING: i16 = 0;
const DESCENDING: i16 = 3;

impl FoundRelation {
    /// Its unique indexes.
    pub(super) fn unique(&self) -> impl Iterator<Item = &FoundIndex> {
        self.indexes.iter().filter(|index| index.is_unique)
    }

    /// Lists of columns. No two rows have the same values in the columns of a list.
    pub(super) fn unique_columns(&self) -> impl Iterator<Item = &[String]> {
        let usual = self.unique().filter(|index| index.has_usual_comparison && self.children != Children::Inheriting);
        usual.map(|index| index.columns.as_slice())
    }

    /// Whether the indexes of a table say that one of them serves a scan. PostgreSQL may know others: those of a view's tables, of
    /// partitions, and of expressions.
    pub(super) fn has_index_for(&self, scan: &ScanRequirement<'_>) -> bool {
        let is_of_one = scan.is_of_one
            && self.unique_columns().any(|index| index.iter().all(|one| scan.equal.contains(&one.as_str())));
        let has_own_rows = match self.children {
            Children::Own => self.partition_key.is_none(),
            Children::Inheriting => false,
            Children::NoPartitions => true,
        };
        is_of_one || has_own_rows && self.indexes.iter().any(|index| index.serves(scan))
    }
}

impl FoundIndex {
    /// Whether it compares no other columns than these.
    pub(super) fn is_within(&self, columns: &[&str]) -> bool {
        self.columns.iter().all(|column| columns.contains(&column.as_str()))
    }

    /// Whether it begins with some columns, and has the others as well.
    pub(super) fn covers(&self, first: &[&str], others: &[&str]) -> bool {
        let has = |column: &&str| self.columns.iter().chain(&self.included).any(|found| found == column);
        self.columns.iter().chain(&self.included).zip(first).all(|(one, other)| one == other)
            && first.iter().chain(others).all(has)
    }

    /// Whether it has the rows in the order of a scan, read from one end or from the other.
    fn serves(&self, scan: &ScanRequirement<'_>) -> bool {
        let is_sorted = |first: i16, others: i16| {
            let mut options = self.options.iter().take(scan.equal.len() + scan.order.len());
            options.next().is_none_or(|option| *option == first) && options.all(|option| *option == others)
        };
        let is_in_order = if scan.is_first_descending {
            is_sorted(DESCENDING, ASCENDING) || is_sorted(ASCENDING, DESCENDING)
        } else {
            is_sorted(ASCENDING, ASCENDING) || is_sorted(DESCENDING, DESCENDING)
        };
        self.has_usual_comparison && serves(&self.columns, &scan.equal, &scan.order) && is_in_order
    }
}

impl FoundColumn {
    /// Its type in SQL, with its collation if that is not the database's.
    pub(super) fn collated_type(&self) -> String {
        format!("{}{}", self.type_name, self.collation)
    }

    /// Whether its values may be longer than [`MAX_VALUE_BYTES`].
    pub(super) fn is_long(&self) -> bool {
        let ValueType::BuiltIn(ty) = self.ty.value() else { return false };
        let has_any_length =
            matches!(*ty, Type::TEXT | Type::VARCHAR | Type::BPCHAR | Type::BYTEA | Type::JSON | Type::JSONB);
        let declared = self.type_name.split_once('(').and_then(|(_, length)| length.strip_suffix(')'));
        let is_short = declared.and_then(|length| length.parse().ok()).is_some_and(|length: usize| length <= SHORT);
        has_any_length && !is_short
    }
}

impl DatabaseSchema {
    /// Reads all required relations in few round trips.
    pub(super) async fn read(client: &Client, requirements: &Requirements<'_>) -> Result<Self, Error> {
        let wanted: BTreeSet<_> = requirements.columns.iter().map(|column| column.column.relation).collect();
        let wanted: Vec<_> = wanted.into_iter().collect();
        let role = async {
            let row = client.query_one("SELECT quote_ident(current_user), getdatabaseencoding()::text", &[]).await?;
            Ok((row.try_get(0)?, row.try_get(1)?))
        };
        let found = async { client.query(&relations(), &[&wanted]).await };
        let indexes = async { client.query(INDEXES, &[&wanted]).await };
        let languages = async {
            let is_required = !requirements.text_searches.is_empty();
            if is_required { client.query(LANGUAGES, &[]).await } else { Ok(Vec::new()) }
        };
        let ((role, encoding), rows, indexes, languages) = tokio::try_join!(role, found, indexes, languages)?;
        let mut relations: HashMap<String, FoundRelation> = HashMap::with_capacity(wanted.len());
        for row in rows {
            let relation = FoundRelation {
                schema: row.try_get(1)?,
                is_table: row.try_get(2)?,
                schema_is_usable: row.try_get(3)?,
                has_constraints: row.try_get(7)?,
                server: row.try_get(8)?,
                partition_key: row.try_get(9)?,
                children: match (row.try_get(10)?, row.try_get(11)?) {
                    (true, _) => Children::Inheriting,
                    (false, true) => Children::NoPartitions,
                    (false, false) => Children::Own,
                },
                indexes: Vec::new(),
                text_indexed: HashSet::new(),
                columns: HashMap::new(),
            };
            let FoundType { ty, is_whole, is_not_null, collation } = FoundType::read(&row, 12)?;
            let (type_name, is_readable) = (row.try_get(5)?, row.try_get(6)?);
            let column = FoundColumn { ty, type_name, is_readable, is_not_null, is_whole, collation };
            relations.entry(row.try_get(0)?).or_insert(relation).columns.insert(row.try_get(4)?, column);
        }
        for row in indexes {
            let Some(relation) = relations.get_mut(row.try_get::<_, &str>(0)?) else { continue };
            let mut columns: Vec<String> = row.try_get(1)?;
            if row.try_get(6)? {
                relation.text_indexed.extend(columns);
                continue;
            }
            let compared = usize::try_from(row.try_get::<_, i16>(2)?).unwrap_or(usize::MAX).min(columns.len());
            relation.indexes.push(FoundIndex {
                included: columns.split_off(compared),
                columns,
                options: row.try_get(3)?,
                is_unique: row.try_get(4)?,
                has_usual_comparison: row.try_get(5)?,
            });
        }
        let languages = languages.iter().map(|row| row.try_get(0)).collect::<Result<_, _>>()?;
        Ok(Self { role, encoding, languages, relations })
    }

    /// Lists of columns. No two rows of the relation have the same values in the columns of a list.
    pub(super) fn unique_columns(&self) -> impl Iterator<Item = (&str, &[String])> {
        let relations = self.relations.iter();
        relations.flat_map(|(name, relation)| relation.unique_columns().map(|columns| (name.as_str(), columns)))
    }

    /// The relation with that name in the catalog.
    pub(super) fn relation(&self, name: &str) -> Option<&FoundRelation> {
        self.relations.get(name)
    }

    /// The column with that name in the catalog.
    pub(super) fn column(&self, column: ColumnName<'_>) -> Option<&FoundColumn> {
        self.relation(column.relation)?.columns.get(column.name)
    }
}
