//! The definitions of a schema file, with references to types and columns still unresolved.

use graphql_parser::Pos;

use crate::catalog::aggregate::AggregateFunction;
use crate::catalog::connection::ListIndex;
use crate::catalog::normalization::Normalization;
use crate::catalog::schema::{EnumType, EnumValue};
use crate::catalog::scoped_relation::Without;
use crate::catalog::totals::TimeUnit;
use crate::search::Comparator;
use crate::value::{Enumeration, ScalarType};

/// The name of the query root type.
pub(super) const QUERY: &str = "Query";

/// A schema file.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SchemaDefinition {
    /// Every object type in the order of the file, the query root included.
    pub(super) types: Vec<TypeDefinition>,
    /// The enums of column values, in the order of the file.
    pub(super) enums: Vec<EnumDefinition>,
}

impl SchemaDefinition {
    /// The relation of the type with that name.
    pub(super) fn relation(&self, ty: &str) -> Option<&RelationDefinition> {
        self.types.iter().find(|other| other.name == ty)?.relation.as_ref()
    }
}

/// An enum of column values.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct EnumDefinition {
    pub(super) position: Pos,
    pub(super) enumeration: Enumeration,
    pub(super) description: Option<String>,
    /// The description and `@deprecated` of each value.
    pub(super) values: Vec<(Option<String>, Option<String>)>,
}

impl EnumDefinition {
    /// The enum as clients see it.
    pub(super) fn published(&self) -> EnumType {
        let values = self.enumeration.values().zip(&self.values);
        let value = |((name, _), (description, deprecation)): ((&str, _), &(Option<String>, Option<String>))| {
            EnumValue { name: name.to_owned(), description: description.clone(), deprecation: deprecation.clone() }
        };
        let (name, description) = (self.enumeration.name().to_owned(), self.description.clone());
        EnumType { name, description, values: values.map(value).collect() }
    }
}

/// An object type.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct TypeDefinition {
    pub(super) position: Pos,
    pub(super) name: String,
    pub(super) description: Option<String>,
    pub(super) relation: Option<RelationDefinition>,
    /// `@grant`: one of them shows the type. Empty if everybody sees it.
    pub(super) grants: Vec<String>,
    /// `@scope`: a caller sees the rows that fulfil all of them.
    pub(super) scopes: Vec<ScopeDefinition>,
    pub(super) parts: Vec<PartDefinition>,
    pub(super) fields: Vec<FieldDefinition>,
}

impl TypeDefinition {
    pub(super) fn is_query(&self) -> bool {
        self.name == QUERY
    }

    /// The first field that shows a column of the type's relation.
    pub(super) fn field_of(&self, column: &str) -> Option<&FieldDefinition> {
        self.fields.iter().find(|field| field.shows(column))
    }
}

impl FieldDefinition {
    /// Whether the field is bound to that column.
    pub(super) fn shows(&self, column: &str) -> bool {
        self.binding.is_none() && !self.is_list && self.column == column
    }
}

/// `@relation`: a table or view, and the columns of its primary key.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct RelationDefinition {
    pub(super) name: String,
    pub(super) key: Vec<String>,
}

/// `@scope`: which rows of the type a caller sees.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ScopeDefinition {
    pub(super) position: Pos,
    pub(super) rows: ScopedRows,
}

/// The rows that a caller sees.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum ScopedRows {
    /// Rows with a value that the caller has in the scope, in one of the columns. A copied column has the value of the row to which this
    /// row belongs.
    Values { scope: String, columns: Vec<String>, is_copied: bool },
    /// Rows that belong to a row of another type that the caller sees: the columns `to` of the other row, or its key if there are none,
    /// have the values of the columns `by`. If rows may belong to no such row, these rows, too; other rows have no `to`.
    Through { ty: String, by: Vec<String>, to: Vec<String>, without: Option<Without> },
    /// All, whatever the caller has in the scope.
    Open { scope: String },
}

/// `@part`: whose rows a change of a row is a change of.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct PartDefinition {
    pub(super) position: Pos,
    /// The name of the type with the feed.
    pub(super) of: String,
    /// The table, if it is another one than the type's.
    pub(super) relation: Option<String>,
    pub(super) by: String,
    pub(super) through: Option<ThroughDefinition>,
}

/// The relation of a part that says to which rows a row belongs.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ThroughDefinition {
    pub(super) relation: String,
    /// `by` if not given.
    pub(super) to: Option<String>,
    /// The key of the type with the feed if not given.
    pub(super) key: Option<String>,
}

/// A field of an object type.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct FieldDefinition {
    pub(super) position: Pos,
    pub(super) name: String,
    pub(super) description: Option<String>,
    /// The name of the field's type, or of its elements' type.
    pub(super) ty: String,
    /// The type, if it is no object.
    pub(super) scalar: Option<ScalarType>,
    pub(super) is_list: bool,
    /// Whether a list has no nulls.
    pub(super) is_element_non_null: bool,
    pub(super) is_non_null: bool,
    pub(super) arguments: Vec<ArgumentDefinition>,
    /// The name given by `@column`, or the field's name in snake case.
    pub(super) column: String,
    /// The binding directive; `None` for columns and collection roots.
    pub(super) binding: Option<BindingDefinition>,
    /// `@search`
    pub(super) search_keys: Vec<SearchKeyDefinition>,
    /// `@index`
    pub(super) indexes: Vec<IndexDefinition>,
    /// `@sort`
    pub(super) sort_keys: Vec<SortKeyDefinition>,
    /// `@group`
    pub(super) groups: Vec<GroupDefinition>,
    /// `@sum`
    pub(super) sums: Vec<SumDefinition>,
    /// `@deprecated`: the reason.
    pub(super) deprecation: Option<String>,
    /// `@grant`: one of them shows the field. Empty if everybody sees it who sees the type.
    pub(super) grants: Vec<String>,
}

/// An argument of a lookup field.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ArgumentDefinition {
    pub(super) name: String,
    pub(super) description: Option<String>,
    /// The name of the argument's scalar type.
    pub(super) ty: String,
    /// The type, if there is one.
    pub(super) scalar: Option<ScalarType>,
    pub(super) is_non_null: bool,
    /// The name given by `@column`, or the argument's name in snake case.
    pub(super) column: String,
}

/// A binding directive of a field.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum BindingDefinition {
    /// `@one`: the parent's columns, and the target's.
    One(ColumnPairs),
    Many(ManyDefinition),
    Aggregate(AggregateDefinition),
    /// `@point`: the relation with the target's columns, if not the target's own.
    Lookup {
        through: Option<String>,
    },
    /// `@changes`: the type with the feed.
    Changes {
        of: String,
    },
    /// `@totals`: the root connection whose rows are summed up, and the path to the currency of amounts of money.
    Totals {
        of: String,
        currency: Option<String>,
    },
}

/// Columns of two relations that are equal, in pairs.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ColumnPairs {
    pub(super) by: Vec<String>,
    pub(super) to: Vec<String>,
}

/// `@many`
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ManyDefinition {
    /// The parent's columns, and the node's.
    pub(super) pairs: ColumnPairs,
    /// The relation that has the node's, if not the node's own.
    pub(super) through: Option<String>,
    /// The node's column that is null in the rows.
    pub(super) where_null: Option<String>,
    pub(super) found_by: ListIndex,
}

/// `@aggregate`
#[derive(Debug, Clone, PartialEq)]
pub(super) struct AggregateDefinition {
    pub(super) function: AggregateFunction,
    pub(super) column: String,
    /// The rows over which it is computed.
    pub(super) rows: AggregatedRows,
}

/// The rows of an aggregate.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum AggregatedRows {
    /// `over`: the rows of that connection of the same type.
    Connection(String),
    /// `within` and `by`: the rows of the relation whose columns equal the row's own columns of the same names.
    Relation(String, Vec<String>),
}

/// `@search`
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SearchKeyDefinition {
    pub(super) name: String,
    /// The text after the key's colon in the published description.
    pub(super) example: Option<String>,
    pub(super) column: String,
    pub(super) comparators: Vec<Comparator>,
    /// Whether it is declared that a selective index serves the key.
    pub(super) indexed: Option<bool>,
    /// Whether a view computes the column from other tables.
    pub(super) computed: bool,
    /// Whether an index begins with the column.
    pub(super) lookup: bool,
    /// The names of the sort keys in whose order an index returns the rows of one value.
    pub(super) in_order_of: Vec<String>,
    /// The further columns that an index has.
    pub(super) include: Vec<String>,
    /// The relation of a semi-join and the columns that it joins by.
    pub(super) within: Option<(String, Vec<String>)>,
    /// The type whose key the column of the semi-join's relation has: callers find rows only by rows of this type that they see.
    pub(super) of: Option<String>,
    /// The relation that lists the known values.
    pub(super) vocabulary: Option<String>,
    /// The normal form of values that are compared.
    pub(super) normalization: Option<Normalization>,
    /// The text search configuration, if the key searches text.
    pub(super) language: Option<String>,
    /// `grant`: one of them shows the key. Empty if everybody sees it who sees the root.
    pub(super) grants: Vec<String>,
}

/// `@index`
#[derive(Debug, Clone, PartialEq)]
pub(super) struct IndexDefinition {
    /// The names of the two search keys whose columns the index begins with.
    pub(super) keys: Vec<String>,
    /// The names of the sort keys in whose order it returns the rows of two values.
    pub(super) in_order_of: Vec<String>,
    /// The further columns that it has in the order of the first of them.
    pub(super) include: Vec<String>,
}

/// `@group`
#[derive(Debug, Clone, PartialEq)]
pub(super) struct GroupDefinition {
    pub(super) name: String,
    /// The names of fields, with dots between them.
    pub(super) path: String,
    pub(super) unit: Option<TimeUnit>,
}

/// `@sum`
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SumDefinition {
    pub(super) name: String,
    /// The names of fields, with dots between them.
    pub(super) path: String,
    /// The factor's column, if there is a factor.
    pub(super) times: Option<String>,
    pub(super) is_money: bool,
}

/// `@sort`
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SortKeyDefinition {
    pub(super) name: String,
    pub(super) column: String,
    /// The most rows with one value, if an index has the column alone.
    pub(super) ties: Option<u32>,
}
