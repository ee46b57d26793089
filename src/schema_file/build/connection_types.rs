//! The parts of connections that schema files leave out: arguments, connection and edge types, `PageInfo`, sort enums.

use crate::catalog::binding::{ConnectionField, EdgeField, PageInfoField};
use crate::catalog::connection::Connection;
use crate::catalog::prices::COUNT_RANGE;
use crate::catalog::schema::{Argument, ArgumentRole, EnumType, EnumValue, Field, ObjectKind, ObjectType, TypeRef};
use crate::schema_file::build::key_description;
use crate::schema_file::build::type_names::{TypeNames, TypeOrigin};
use crate::schema_file::definition::{FieldDefinition, SortKeyDefinition, TypeDefinition};
use crate::value::ScalarType;

/// The arguments of a collection root.
pub(super) fn collection_arguments(
    names: &TypeNames<'_>,
    query: &TypeDefinition,
    root: &FieldDefinition,
    connection: &Connection,
) -> Vec<Argument> {
    let mut arguments = vec![argument(
        "query",
        TypeRef::Named(names.scalar(ScalarType::String)),
        ArgumentRole::Query,
        &key_description::describe_search_keys(connection),
    )];
    arguments.extend(nested_arguments(names, query, root));
    arguments.push(argument(
        "countUpTo",
        TypeRef::Named(names.scalar(ScalarType::Int)),
        ArgumentRole::CountUpTo,
        &format!("How many rows `count` counts at most, {COUNT_RANGE}."),
    ));
    arguments
}

/// The arguments of a root with changes.
pub(super) fn changes_arguments(names: &TypeNames<'_>) -> Vec<Argument> {
    let [int, string, date_time] =
        [ScalarType::Int, ScalarType::String, ScalarType::DateTime].map(|scalar| TypeRef::Named(names.scalar(scalar)));
    vec![
        argument("after", string, ArgumentRole::After, AFTER_CHANGE),
        argument("since", date_time, ArgumentRole::Since, SINCE),
        argument("first", int.non_null(), ArgumentRole::First, "The page size."),
    ]
}

const AFTER_CHANGE: &str = "The `endCursor` of the last response: the token of what you have seen. Null for an empty page with a token \
                            for now. Tokens do not expire.";

const SINCE: &str =
    "Instead of `after`: an empty page with a token for a moment at or before this time, by the clock of the database.";

/// The arguments of a nested connection.
pub(super) fn nested_arguments(names: &TypeNames<'_>, ty: &TypeDefinition, field: &FieldDefinition) -> Vec<Argument> {
    let mut arguments = Vec::new();
    if !field.sort_keys.is_empty() {
        arguments.push(argument(
            "sortKey",
            TypeRef::Named(names.sort_enum(&ty.name, &field.name)),
            ArgumentRole::SortKey,
            &key_description::describe_sort_keys(&field.sort_keys),
        ));
        arguments.push(argument(
            "reverse",
            TypeRef::Named(names.scalar(ScalarType::Boolean)),
            ArgumentRole::Reverse,
            "True for the opposite order. False unless given.",
        ));
    }
    arguments.extend(page_arguments(names));
    arguments
}

/// The arguments of every connection. Their descriptions are short, because they are repeated for each connection; the schema's own
/// description explains pages.
fn page_arguments(names: &TypeNames<'_>) -> Vec<Argument> {
    let int = TypeRef::Named(names.scalar(ScalarType::Int));
    let string = TypeRef::Named(names.scalar(ScalarType::String));
    vec![
        argument("first", int.clone(), ArgumentRole::First, "Page size from the front. This or `last` is required."),
        argument("last", int, ArgumentRole::Last, "Page size from the end. This or `first` is required."),
        argument("after", string.clone(), ArgumentRole::After, "With `first`: the `endCursor` of the page before."),
        argument("before", string, ArgumentRole::Before, "With `last`: the `startCursor` of the page behind."),
    ]
}

pub(super) fn argument(name: &str, ty: TypeRef, role: ArgumentRole, description: &str) -> Argument {
    Argument { name: name.to_owned(), description: Some(description.to_owned()), ty, default: None, role }
}

/// The connection type of a node type. The rows of roots can be counted.
pub(super) fn connection_type(names: &TypeNames<'_>, node: &TypeDefinition, is_of_root: bool) -> ObjectType {
    let fields = ConnectionField::ALL.into_iter().filter(|field| is_of_root || *field != ConnectionField::Count);
    let fields = fields.map(|connection_field| match connection_field {
        ConnectionField::Edges => {
            let edge = TypeRef::Named(names.edge(&node.name)).non_null();
            field("edges", "The rows of the page.", TypeRef::List(Box::new(edge)).non_null())
        }
        ConnectionField::PageInfo => {
            let page_info = TypeRef::Named(names.page_info()).non_null();
            field("pageInfo", "The page's position in the connection.", page_info)
        }
        ConnectionField::Count => field("count", COUNT, TypeRef::Named(names.scalar(ScalarType::Int))),
    });
    let (name, description) = (TypeOrigin::Connection(node).type_name(), format!("A page of `{}` rows.", node.name));
    ObjectType::new(name, Some(description), ObjectKind::Connection, fields.collect())
}

const COUNT: &str = "How many rows match the search, on all pages together. It is exact below the argument `countUpTo` of the root; that \
                     number itself says that there may be more. Null without the argument, and if the search ended before so \
                     many rows were found. Costs 5.";

/// The edge type of a node type.
pub(super) fn edge_type(names: &TypeNames<'_>, node: &TypeDefinition) -> ObjectType {
    let fields = EdgeField::ALL.map(|edge_field| match edge_field {
        EdgeField::Node => field("node", "The row.", TypeRef::Named(names.ids[&node.name]).non_null()),
        EdgeField::Cursor => {
            let cursor = TypeRef::Named(names.scalar(ScalarType::String)).non_null();
            field("cursor", "The row's position in the connection, for `after` and `before`.", cursor)
        }
    });
    let description = format!("One `{}` row of a page, and its cursor.", node.name);
    ObjectType::new(TypeOrigin::Edge(node).type_name(), Some(description), ObjectKind::Edge, fields.into())
}

const PAGE_INFO: &str = "A page's position in its connection. Both flags are exact, but for those that `extensions.search` names: \
                         such a flag is true because a search ended before all rows were examined. If its page was not full \
                         by then, it may be empty, and the cursor is that of the last row examined. Page on from there.";

/// The type `PageInfo`.
pub(super) fn page_info(names: &TypeNames<'_>) -> ObjectType {
    let flag = || TypeRef::Named(names.scalar(ScalarType::Boolean)).non_null();
    let cursor = || TypeRef::Named(names.scalar(ScalarType::String));
    let fields = PageInfoField::ALL.map(|page_info_field| match page_info_field {
        PageInfoField::HasNextPage => field("hasNextPage", "Whether rows follow the page's last.", flag()),
        PageInfoField::HasPreviousPage => field("hasPreviousPage", "Whether rows precede the page's first.", flag()),
        PageInfoField::StartCursor => field("startCursor", "The first row's cursor; null on an empty page.", cursor()),
        PageInfoField::EndCursor => field("endCursor", "The last row's cursor; null on an empty page.", cursor()),
    });
    let (name, description) = (TypeOrigin::PageInfo.type_name(), PAGE_INFO.to_owned());
    ObjectType::new(name, Some(description), ObjectKind::PageInfo, fields.into())
}

/// The sort enum of a connection.
pub(super) fn sort_enum(name: String, sorted: &FieldDefinition, node: &TypeDefinition) -> EnumType {
    let value = |(index, key): (usize, &SortKeyDefinition)| EnumValue {
        name: key.name.clone(),
        description: Some(key_description::describe_sort_key(node, key, index == 0)),
        deprecation: None,
    };
    EnumType {
        name,
        description: Some(format!("The orders that `{}` can be in.", sorted.name)),
        values: sorted.sort_keys.iter().enumerate().map(value).collect(),
    }
}

pub(super) fn field(name: &str, description: &str, ty: TypeRef) -> Field {
    let (name, description) = (name.to_owned(), Some(description.to_owned()));
    Field { name, description, arguments: Vec::new(), ty, deprecation: None }
}
