//! The description of a database, which a draft is made from.

use std::collections::BTreeMap;

use crate::catalog::collation::Collation;
use crate::catalog::key_fault::KeyFault;
use crate::value::{Enumeration, ScalarType};

/// The tables and views of a database that a role may read.
#[derive(Debug, Clone, Default)]
pub(crate) struct Database {
    /// In the order of their schemas and names.
    pub(crate) relations: Vec<DescribedRelation>,
}

/// A table or view.
#[derive(Debug, Clone, Default)]
pub(crate) struct DescribedRelation {
    /// The schema that it is in.
    pub(crate) schema: String,
    /// Without its schema.
    pub(crate) name: String,
    /// Table, view, or another kind of relation.
    pub(crate) kind: RelationKind,
    /// The comment by `COMMENT ON`.
    pub(crate) comment: Option<String>,
    /// Its columns in their order.
    pub(crate) columns: Vec<DescribedColumn>,
    /// Its columns of the type `tsvector`, which are searched for words and never shown. They are none of the others.
    pub(crate) text_columns: Vec<TextColumn>,
    /// The columns of its primary key, and of unique indexes on columns without nulls: the primary key first, then by their number of
    /// columns and name.
    pub(crate) keys: Vec<Vec<String>>,
    /// Whether the first of them is declared, and not known to PostgreSQL.
    pub(crate) has_declared_key: bool,
    /// Why its other unique indexes are no keys, in the same order.
    pub(crate) key_faults: Vec<KeyFault>,
    /// The columns of each B-tree index that has all rows in PostgreSQL's usual order, in the order of their names.
    pub(crate) indexes: Vec<Vec<String>>,
    /// In the order of their names.
    pub(crate) foreign_keys: Vec<ForeignKey>,
}

/// The kind of a relation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum RelationKind {
    /// A table, partitioned or not.
    #[default]
    Table,
    /// A table whose rows are in others that inherit from it, too.
    Parent,
    /// Computed from others, without a key and indexes.
    View,
    /// Stored, with indexes.
    MaterializedView,
    /// A table of another server.
    Foreign,
}

/// The description of a column.
#[derive(Debug, Clone)]
pub(crate) struct DescribedColumn {
    /// The name in the database, which need not be a GraphQL name.
    pub(crate) name: String,
    /// Its type in SQL.
    pub(crate) type_name: String,
    /// How values of it are read and compared; `None` for types that no scalar has.
    pub(crate) kind: Option<ColumnKind>,
    /// Whether it has arrays of such values, which are not compared.
    pub(crate) is_array: bool,
    /// Whether a constraint rules out nulls.
    pub(crate) is_not_null: bool,
    pub(crate) is_readable: bool,
    /// By what its texts are compared.
    pub(crate) collation: Collation,
    /// The comment by `COMMENT ON`.
    pub(crate) comment: Option<String>,
}

/// A column that is searched for words, which the role may read.
#[derive(Debug, Clone)]
pub(crate) struct TextColumn {
    /// The name in the database.
    pub(crate) name: String,
    /// Whether an index has the words of all rows.
    pub(crate) is_indexed: bool,
    /// The text search configuration that the words were made with, if the database tells, as a schema file names it.
    pub(crate) language: Option<String>,
}

/// The types of columns, as far as they differ for a schema file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ColumnKind {
    /// Text of any length.
    Text,
    /// Text with a longest length.
    Varchar,
    /// Text padded with spaces.
    Char,
    /// A whole number of 32 bits at most.
    Int,
    /// A whole number of 64 bits.
    BigInt,
    /// An exact decimal number without decimal places.
    Whole,
    /// Another exact decimal number.
    Numeric,
    /// A binary floating-point number of 32 or 64 bits.
    Float,
    /// A point in time, with or without a time zone.
    Moment,
    Date,
    Boolean,
    Uuid,
    /// An enum of the database: the name of its type in SQL, and its labels.
    Enum(Enumeration),
    /// A domain of such an enum, which PostgreSQL does not compare.
    DomainOfEnum(Enumeration),
    /// A time of day without a time zone.
    Time,
    /// A span of time.
    Interval,
    /// Any bytes, `bytea`.
    Bytes,
    /// JSON, as text or not.
    Json,
}

/// A constraint by which rows refer to rows of a relation.
#[derive(Debug, Clone)]
pub(crate) struct ForeignKey {
    pub(crate) name: String,
    /// The columns of the relation that has it.
    pub(crate) columns: Vec<String>,
    /// The schema and the name of the relation that it refers to.
    pub(crate) target: (String, String),
    /// The columns there, one for each.
    pub(crate) to: Vec<String>,
}

impl DescribedColumn {
    /// Whether values of it, of that scalar, can be searched and sorted by.
    pub(super) fn is_compared(&self, kind: ColumnKind, scalar: ScalarType) -> bool {
        !self.is_array && self.collation.nondeterministic().is_none() && kind.is_compared(scalar)
    }

    /// Whether PostgreSQL has values of it that no field has: an array may have any number of elements and dimensions.
    pub(super) fn has_unrepresentable(&self, kind: ColumnKind) -> bool {
        self.is_array || kind.has_unrepresentable()
    }
}

impl RelationKind {
    /// Whether PostgreSQL may know no key of such relations, so that one is declared.
    pub(super) fn takes_key(self) -> bool {
        matches!(self, Self::View | Self::MaterializedView | Self::Foreign)
    }
}

impl ColumnKind {
    /// The scalar of a column's field. A key is an ID where it can be. `published` has the enums of the file, by the enums of the database.
    pub(super) fn scalar(self, is_key: bool, published: &BTreeMap<Enumeration, Enumeration>) -> ScalarType {
        match self {
            Self::Enum(labels) | Self::DomainOfEnum(labels) => {
                ScalarType::Enum(published.get(&labels).copied().unwrap_or(labels))
            }
            Self::Text | Self::Varchar | Self::Char | Self::Int | Self::BigInt | Self::Whole | Self::Uuid if is_key => {
                ScalarType::Id
            }
            Self::Text | Self::Varchar | Self::Char => ScalarType::String,
            Self::Int => ScalarType::Int,
            Self::BigInt => ScalarType::BigInt,
            Self::Whole | Self::Numeric => ScalarType::Decimal,
            Self::Float => ScalarType::Float,
            Self::Moment => ScalarType::DateTime,
            Self::Date => ScalarType::Date,
            Self::Time => ScalarType::Time,
            Self::Interval => ScalarType::Interval,
            Self::Boolean => ScalarType::Boolean,
            Self::Uuid => ScalarType::Uuid,
            Self::Bytes => ScalarType::Bytes,
            Self::Json => ScalarType::Json,
        }
    }

    /// Whether a column of that scalar can be searched and sorted by. A file may show one as another scalar than a draft does.
    pub(super) fn is_compared(self, scalar: ScalarType) -> bool {
        match scalar {
            ScalarType::Decimal => matches!(self, Self::Whole | Self::Numeric),
            ScalarType::DateTime => self == Self::Moment,
            ScalarType::Enum(_) => matches!(self, Self::Enum(_) | Self::Text | Self::Varchar | Self::Char),
            _ => scalar.is_compared(),
        }
    }

    /// Whether PostgreSQL has values of it that no field has: NaN and infinities, JSON that most parsers reject, or bytes of files.
    fn has_unrepresentable(self) -> bool {
        match self {
            Self::Whole
            | Self::Numeric
            | Self::Float
            | Self::Moment
            | Self::Date
            | Self::Interval
            | Self::Json
            | Self::Bytes => true,
            Self::Text
            | Self::Varchar
            | Self::Char
            | Self::Int
            | Self::BigInt
            | Self::Boolean
            | Self::Uuid
            | Self::Enum(_)
            | Self::DomainOfEnum(_)
            | Self::Time => false,
        }
    }

    /// Whether PostgreSQL compares columns of both by an index on this one.
    pub(super) fn is_found_by(self, other: Self) -> bool {
        let family = |kind| match kind {
            Self::Text | Self::Varchar | Self::Char => 0,
            Self::Int | Self::BigInt | Self::Whole | Self::Numeric | Self::Float => 1,
            Self::Moment | Self::Date => 2,
            Self::Uuid => 3,
            Self::Boolean => 4,
            Self::Time => 5,
            Self::Interval => 6,
            Self::Bytes => 7,
            Self::Json => 8,
            Self::Enum(_) | Self::DomainOfEnum(_) => 9,
        };
        match (self, other) {
            (Self::Enum(labels), Self::Enum(others)) => labels == others,
            // PostgreSQL casts the column of the index.
            (Self::Char, Self::Text)
            | (Self::Varchar, Self::Char)
            | (Self::Int | Self::BigInt, Self::Whole | Self::Numeric | Self::Float)
            | (Self::Whole | Self::Numeric, Self::Float) => false,
            _ => family(self) == family(other),
        }
    }
}

impl DescribedRelation {
    /// Its name in a schema file.
    pub(super) fn path(&self) -> String {
        if self.schema == "public" { self.name.clone() } else { format!("{}.{}", self.schema, self.name) }
    }

    /// The column with that name, if the role may read it.
    pub(super) fn column(&self, name: &str) -> Option<&DescribedColumn> {
        self.columns.iter().find(|column| column.name == name && column.is_readable)
    }
}
