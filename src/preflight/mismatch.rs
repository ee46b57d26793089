//! How a database does not fit a catalog, and how to fix it.

use std::fmt::{self, Display};

use thiserror::Error;

use crate::plan::sql::{Identifier, List, Relation, WhereNull, direction};
use crate::relations::column_use::ColumnUse;
use crate::relations::join_fault::JoinFault;
use crate::relations::key_fault::KeyFault;

/// Something in the database that does not fit the catalog. The message says how to fix it. `required_by` is the part
/// of the schema that requires it, such as `Order.orderItems` or `orders(sortKey: ORDER_NAME)`. Names are as in the
/// schema file.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Mismatch {
    /// The database has no encoding, so its bytes need not be characters.
    #[error(
        "the database has the encoding SQL_ASCII, so that a text may have bytes that are no characters: dump it with pg_dump --encoding (the \
         encoding that its programs write), and restore it into a database with CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0;"
    )]
    NoEncoding,
    /// There is no such table or view.
    #[error(
        "there is no table or view {relation}, which {required_by} reads: {}, or correct the schema file",
        making_relation(relation, *.is_migrated)
    )]
    MissingRelation {
        /// The relation's name.
        relation: String,
        /// Whether migrations make it.
        is_migrated: bool,
        /// The part of the schema that requires it.
        required_by: String,
    },
    /// The role lacks the privilege `USAGE` on a schema.
    #[error("the role {role} may not use the schema {0}: GRANT USAGE ON SCHEMA {0} TO {role};", Identifier(.schema))]
    MissingUsagePrivilege {
        /// The schema's name.
        schema: String,
        /// The role, quoted for SQL.
        role: String,
    },
    /// The role lacks the privilege `SELECT` on a relation, or on a required column of it.
    #[error("the role {role} may not read {relation}: GRANT SELECT ON {} TO {role};", Relation(.relation))]
    MissingSelectPrivilege {
        /// The relation's name.
        relation: String,
        /// The role, quoted for SQL.
        role: String,
    },
    /// A relation has no such column.
    #[error(
        "{relation} has no column {column}, which {required_by} reads: {}correct the schema file",
        migrating(*.is_migrated)
    )]
    MissingColumn {
        /// The relation's name.
        relation: String,
        /// Whether migrations make the relation.
        is_migrated: bool,
        /// The column's name.
        column: String,
        /// The part of the schema that requires it.
        required_by: String,
    },
    /// A column's type is not compatible with its use.
    #[error(
        "{relation}.{column} is of type {ty}, which {required_by} cannot {}: correct the field's type or column in the \
         schema file",
        purpose(*.column_use)
    )]
    IncompatibleColumn {
        /// The relation's name.
        relation: String,
        /// The column's name.
        column: String,
        /// The column's type in SQL.
        ty: String,
        /// How statements use the column.
        column_use: ColumnUse,
        /// The part of the schema that uses it so.
        required_by: String,
    },
    /// A join compares columns whose types or collations PostgreSQL does not compare, or not by an index.
    #[error("{required_by} joins {fault}: correct the columns in the schema file")]
    IncomparableColumns {
        /// The columns, and why.
        fault: JoinFault,
        /// The part of the schema that joins them.
        required_by: String,
    },
    /// No index of a table returns rows in a required order, or finds the rows with given values.
    #[error(
        "no index serves {required_by}: {}CREATE INDEX CONCURRENTLY ON {} ({}){};",
        migrating(*.is_migrated),
        Relation(.relation),
        index_columns(.columns, *.is_first_descending, Identifier),
        WhereNull(.where_null.as_deref())
    )]
    MissingIndex {
        /// The table's name.
        relation: String,
        /// Whether migrations make the relation and its indexes.
        is_migrated: bool,
        /// The columns that an index must begin with.
        columns: Vec<String>,
        /// Whether the first of them is descending.
        is_first_descending: bool,
        /// The column that is null in its rows, if it must not have all rows.
        where_null: Option<String>,
        /// The part of the schema that requires it.
        required_by: String,
    },
    /// The same for a view, which uses the indexes of its tables.
    #[error(
        "no index serves {required_by}: {}the view {relation} needs one on the table of its columns ({}), in this order, \
         and one for each table that it joins{}",
        migrating(*.is_migrated),
        index_columns(.columns, *.is_first_descending, |column| column),
        WhereNull(.where_null.as_deref())
    )]
    MissingIndexOfView {
        /// The view's name.
        relation: String,
        /// Whether migrations make the relation and its indexes.
        is_migrated: bool,
        /// The columns that an index must begin with.
        columns: Vec<String>,
        /// Whether the first of them is descending.
        is_first_descending: bool,
        /// The column that is null in its rows, if it must not have all rows.
        where_null: Option<String>,
        /// The part of the schema that requires it.
        required_by: String,
    },
    /// No index of a table has all columns that a look-up reads.
    #[error(
        "no index has all columns that {required_by} includes: {}leave `include` out of the schema file, or CREATE INDEX \
         CONCURRENTLY ON {} ({}) INCLUDE ({});",
        migrating(*.is_migrated),
        Relation(.relation),
        List(.columns.iter().map(|column| Identifier(column))),
        List(.include.iter().map(|column| Identifier(column)))
    )]
    NoCoveringIndex {
        /// The table's name.
        relation: String,
        /// Whether migrations make the relation and its indexes.
        is_migrated: bool,
        /// The columns that an index must begin with.
        columns: Vec<String>,
        /// The columns that it must have beside these.
        include: Vec<String>,
        /// The part of the schema that requires it.
        required_by: String,
    },
    /// No index of a table has the words of a text.
    #[error("no index serves {required_by}: CREATE INDEX CONCURRENTLY ON {} USING gin ({});", Relation(.relation), Identifier(.column))]
    NoTextIndex {
        /// The table's name.
        relation: String,
        /// The column with the text.
        column: String,
        /// The part of the schema that requires it.
        required_by: String,
    },
    /// There is no text search configuration of this name.
    #[error(
        "there is no text search configuration `{language}`, by which {required_by} searches: correct `language` in the schema file, or \
         CREATE TEXT SEARCH CONFIGURATION {} (…);",
        Relation(.language)
    )]
    NoTextSearchConfiguration {
        /// Its name.
        language: String,
        /// The part of the schema that requires it.
        required_by: String,
    },
    /// An enum declares values that the enum of the database does not have.
    #[error(
        "the enum {ty} has no {}, which {enumeration} declares and {required_by} has: correct the schema file, or {}",
        quoted_labels(.labels),
        adding_labels(ty, .labels)
    )]
    MissingLabels {
        /// The enum of the schema file.
        enumeration: String,
        /// The enum of the database, quoted for SQL.
        ty: String,
        /// The labels that it does not have.
        labels: Vec<String>,
        /// The part of the schema that has the enum.
        required_by: String,
    },
    /// The enum of the database has values that the schema file does not declare. Fields that have them are null.
    #[error("the enum {ty} has {}, which {enumeration} does not declare and {required_by} may have: add them to the schema file", quoted_labels(.labels))]
    UndeclaredLabels {
        /// The enum of the schema file.
        enumeration: String,
        /// The enum of the database, quoted for SQL.
        ty: String,
        /// The labels that are not declared.
        labels: Vec<String>,
        /// The part of the schema that has the enum.
        required_by: String,
    },
    /// The key of a type does not identify the rows of a table.
    #[error("the key of {required_by} does not identify the rows of {relation}: {fault}; {}", making_fit(relation, .columns, .fault))]
    UnfitKey {
        /// The table's name.
        relation: String,
        /// The columns of the key.
        columns: Vec<String>,
        /// Why.
        fault: KeyFault,
        /// Whether the table stood before migrations, and some columns of the key identify its rows and are never null.
        is_of_standing_table: bool,
        /// The type whose key it is.
        required_by: String,
    },
    /// A column that is compared has a collation in which texts with other bytes are equal.
    #[error(
        "{relation}.{column} has the collation {collation}, in which different texts are equal, and {required_by} compares it: only show it, \
         or search, sort and join by a column of a deterministic collation"
    )]
    NondeterministicCollation {
        /// The relation's name.
        relation: String,
        /// The column's name.
        column: String,
        /// The collation, quoted for SQL.
        collation: String,
        /// The part of the schema that compares it.
        required_by: String,
    },
    /// A field is non-null, and the column that it reads may be null.
    #[error(
        "{required_by} is non-null, but {relation}.{column} may be null: make the field nullable in the schema file, or \
         ALTER TABLE {} ALTER COLUMN {} SET NOT NULL;",
        Relation(.relation),
        Identifier(.column)
    )]
    NullableColumn {
        /// The table's name.
        relation: String,
        /// Whether migrations know the table.
        is_migrated: bool,
        /// The column's name.
        column: String,
        /// The field.
        required_by: String,
    },
    /// A table of another server cannot be read.
    #[error(
        "the foreign table {relation}, which {required_by} reads, cannot be read from the server {server}: {message}: see to that \
         server, or ALTER SERVER {server} OPTIONS …, ALTER USER MAPPING FOR … SERVER {server} OPTIONS …, ALTER FOREIGN TABLE {} …",
        Relation(.relation)
    )]
    UnreachableForeignTable {
        /// The foreign table's name.
        relation: String,
        /// The foreign server, quoted for SQL.
        server: String,
        /// The part of the schema that reads it.
        required_by: String,
        /// PostgreSQL's message.
        message: String,
    },
    /// PostgreSQL fails to plan a scan of a relation.
    #[error("PostgreSQL does not read {relation} for {required_by}: {message}")]
    Unreadable {
        /// The relation's name.
        relation: String,
        /// The part of the schema that reads it.
        required_by: String,
        /// PostgreSQL's message.
        message: String,
    },
}

impl Mismatch {
    /// Whether every row may fit all the same: only a constraint that would guarantee it is missing.
    pub(crate) fn is_missing_guarantee(&self) -> bool {
        matches!(self, Self::UnfitKey { .. } | Self::NullableColumn { .. } | Self::UndeclaredLabels { .. })
    }

    /// Whether queries can be answered all the same: an index that migrations make is missing, so that some take longer, or a table that
    /// stood before has a column that may be null.
    pub(crate) fn can_be_served(&self) -> bool {
        match self {
            Self::MissingIndex { is_migrated, .. }
            | Self::MissingIndexOfView { is_migrated, .. }
            | Self::NoCoveringIndex { is_migrated, .. }
            | Self::NullableColumn { is_migrated, .. } => *is_migrated,
            Self::UnfitKey { is_of_standing_table, .. } => *is_of_standing_table,
            _ => false,
        }
    }

    /// Whether a table that stood before has a column that may be null, and a field of the built-in schema is not.
    pub(crate) fn is_of_standing_table(&self) -> bool {
        matches!(
            self,
            Self::NullableColumn { is_migrated: true, .. } | Self::UnfitKey { is_of_standing_table: true, .. }
        )
    }

    /// The relation that the role may not read, with its schema and quoted for SQL.
    pub(crate) fn unreadable_relation(&self) -> Option<String> {
        let Self::MissingSelectPrivilege { relation, .. } = self else { return None };
        let schema = if relation.contains('.') { "" } else { "public." };
        Some(format!("{schema}{}", Relation(relation)))
    }
}

/// The beginning of a remedy: the command, if migrations make the object.
fn migrating(is_migrated: bool) -> &'static str {
    if is_migrated { "run `orderql migrate`, or " } else { "" }
}

/// Labels of an enum as in SQL.
fn quoted_labels(labels: &[String]) -> String {
    labels.iter().map(|label| format!("'{}'", label.replace('\'', "''"))).collect::<Vec<_>>().join(", ")
}

fn adding_labels(ty: &str, labels: &[String]) -> String {
    let statement =
        |label: &String| format!("ALTER TYPE {ty} ADD VALUE {};", quoted_labels(std::slice::from_ref(label)));
    labels.iter().map(statement).collect::<Vec<_>>().join(" ")
}

/// How a key identifies rows.
fn making_fit(relation: &str, columns: &[String], fault: &KeyFault) -> String {
    let table = Relation(relation);
    match fault {
        KeyFault::Inherited => {
            format!(
                "in the schema file, name the tables that inherit, or a view of its own rows (SELECT … FROM ONLY {table})"
            )
        }
        // It may still lack an index that PostgreSQL would make.
        KeyFault::NotUnique { partition_key: Some(key), .. } => format!(
            "correct the key in the schema file, or partition the table by the hash of a column of the key, or not at all: it is partitioned \
             by {key}, and PostgreSQL makes no unique index on it without these columns"
        ),
        KeyFault::NotUnique { .. } | KeyFault::OtherComparison(_) => {
            let columns = List(columns.iter().map(|column| Identifier(column)));
            format!("correct the key in the schema file, or CREATE UNIQUE INDEX CONCURRENTLY ON {table} ({columns});")
        }
        KeyFault::Nullable(nullable) => {
            let alter = |column: &String| format!("ALTER COLUMN {} SET NOT NULL", Identifier(column));
            let alter = nullable.iter().map(alter).collect::<Vec<_>>().join(", ");
            format!("correct the key in the schema file, or ALTER TABLE {table} {alter};")
        }
    }
}

/// How a relation is made.
fn making_relation(relation: &str, is_migrated: bool) -> String {
    if is_migrated {
        return "run `orderql migrate`".to_owned();
    }
    let (schema, name) = relation.split_once('.').unwrap_or(("public", relation));
    let (schema, name) = (Identifier(schema), Identifier(name));
    format!(
        "create it (a table of another server: IMPORT FOREIGN SCHEMA … LIMIT TO ({name}) FROM SERVER … INTO {schema};)"
    )
}

/// The columns of an index.
fn index_columns<'a, D: Display + 'a>(
    columns: &'a [String],
    is_first_descending: bool,
    name: impl Fn(&'a str) -> D + Copy + 'a,
) -> impl Display + 'a {
    fmt::from_fn(move |f| {
        List(columns.iter().enumerate().map(|(index, column)| {
            let direction = direction(!(is_first_descending && index == 0));
            fmt::from_fn(move |f| write!(f, "{}{direction}", name(column)))
        }))
        .fmt(f)
    })
}

/// The use that a column is not fit for, to complete the sentence "… cannot".
fn purpose(column_use: ColumnUse) -> String {
    match column_use {
        ColumnUse::Internal => "read".to_owned(),
        ColumnUse::Output(scalar) => format!("answer as {scalar}"),
        ColumnUse::OutputList(scalar) => format!("answer as a list of {scalar}"),
        ColumnUse::Compared(scalar) => format!("compare with {scalar} values"),
        ColumnUse::Searched => "search for words, as it is no tsvector".to_owned(),
        ColumnUse::ScopeValue => "compare with the values of a scope, which are text".to_owned(),
        ColumnUse::ParentKey(scalar) => format!("find rows by as {scalar}"),
    }
}
