//! What of a database does not fit a catalog, and what to do about it.

use std::fmt;

use crate::plan::sql::{Identifier, List, Relation};
use crate::preflight::fit::Use;

/// Something of the database that does not fit the catalog. `place` is the part of the schema that needs it, such as
/// `Order.orderItems` or `orders(sortKey: ORDER_NAME)`; names are written as the schema file has them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mismatch {
    /// There is no such table or view.
    MissingRelation {
        /// Its name.
        relation: String,
        /// What needs it.
        place: String,
    },
    /// The role may not look into a schema.
    ClosedSchema {
        /// The schema's name.
        schema: String,
        /// The role, quoted for SQL.
        role: String,
    },
    /// The role may not read a relation, or a column of it that is needed.
    ClosedRelation {
        /// The relation's name.
        relation: String,
        /// The role, quoted for SQL.
        role: String,
    },
    /// A relation has no such column.
    MissingColumn {
        /// The relation's name.
        relation: String,
        /// The column's name.
        column: String,
        /// What needs it.
        place: String,
    },
    /// A column's type is not fit for what it is used for.
    UnfitColumn {
        /// The relation's name.
        relation: String,
        /// The column's name.
        column: String,
        /// Its type as SQL has it.
        ty: String,
        /// What it is used for.
        used: Use,
        /// By what.
        place: String,
    },
    /// Two columns are to be equal whose types PostgreSQL does not compare.
    Incomparable {
        /// One column, with its relation.
        left: String,
        /// Its type.
        left_type: String,
        /// The other column.
        right: String,
        /// Its type.
        right_type: String,
        /// What compares them.
        place: String,
    },
    /// No index gives the rows in the order that is walked, or finds those with given values.
    MissingIndex {
        /// The relation's name.
        relation: String,
        /// Whether it can have indexes of its own; a view uses those of its tables.
        is_table: bool,
        /// The columns that an index has to begin with.
        columns: Vec<String>,
        /// What walks or looks so.
        place: String,
    },
    /// PostgreSQL refuses to read a relation at all.
    Unreadable {
        /// The relation's name.
        relation: String,
        /// What reads it.
        place: String,
        /// PostgreSQL's message.
        reason: String,
    },
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const MEND: &str = "run `orderql migrate`, or correct the schema file";
        match self {
            Self::MissingRelation { relation, place } => {
                write!(f, "there is no table or view {relation}, which {place} reads: {MEND}")
            }
            Self::MissingColumn { relation, column, place } => {
                write!(f, "{relation} has no column {column}, which {place} reads: {MEND}")
            }
            Self::ClosedSchema { schema, role } => {
                let schema = Identifier(schema);
                write!(f, "the role {role} may not use the schema {schema}: GRANT USAGE ON SCHEMA {schema} TO {role};")
            }
            Self::ClosedRelation { relation, role } => {
                let name = Relation(relation);
                write!(f, "the role {role} may not read {relation}: GRANT SELECT ON {name} TO {role};")
            }
            Self::UnfitColumn { relation, column, ty, used, place } => {
                write!(f, "{relation}.{column} is of type {ty}, which {place} cannot {}", purpose(*used))?;
                f.write_str(": correct the field's type or column in the schema file")
            }
            Self::Incomparable { left, left_type, right, right_type, place } => write!(
                f,
                "{place} joins {left} of type {left_type} with {right} of type {right_type}, which do not compare: \
                 correct the columns in the schema file"
            ),
            Self::MissingIndex { relation, is_table: true, columns, place } => {
                let (name, columns) = (Relation(relation), List(columns.iter().map(|column| Identifier(column))));
                write!(f, "no index serves {place}: CREATE INDEX CONCURRENTLY ON {name} ({columns});")
            }
            Self::MissingIndex { relation, is_table: false, columns, place } => write!(
                f,
                "no index serves {place}: the view {relation} needs one on the table of its columns ({}), in this order, and \
                 one for each table that it joins",
                List(columns.iter())
            ),
            Self::Unreadable { relation, place, reason } => {
                write!(f, "PostgreSQL does not read {relation} for {place}: {reason}")
            }
        }
    }
}

/// What cannot be done with a column, to finish the sentence "… cannot".
fn purpose(used: Use) -> String {
    match used {
        Use::Named | Use::Read => "read".to_owned(),
        Use::Answered(scalar) => format!("answer as {scalar}"),
        Use::Compared(scalar) => format!("compare with {scalar} values"),
        Use::Carried(scalar) => format!("find rows by as {scalar}"),
    }
}
