//! The machinery of connections, which the schema file leaves out: the arguments that choose a page, and the types in which
//! a page is told.

use crate::catalog::binding::{Binding, PageInfoField};
use crate::catalog::names::{Name, Names};
use crate::catalog::schema::{Argument, ArgumentRole, EnumType, Field, ObjectType, TypeRef};
use crate::catalog::sdl_source::{SourceField, SourceType};
use crate::value::ScalarType;

/// The arguments of every connection; told at the roots alone, or they would drown the rest of the SDL.
pub(super) fn paging(names: &Names<'_>, described: bool) -> Vec<Argument> {
    let argument = |name: &str, scalar, role, description: &str| Argument {
        name: name.to_owned(),
        description: described.then(|| description.to_owned()),
        ty: TypeRef::Named(names.scalar(scalar)),
        default: None,
        role,
    };
    vec![
        argument(
            "first",
            ScalarType::Int,
            ArgumentRole::First,
            "The page size, from the front; it or `last` is required.",
        ),
        argument(
            "last",
            ScalarType::Int,
            ArgumentRole::Last,
            "The page size, from the back; it or `first` is required.",
        ),
        argument(
            "after",
            ScalarType::String,
            ArgumentRole::After,
            "Only what follows this cursor: the `endCursor` of the page before.",
        ),
        argument(
            "before",
            ScalarType::String,
            ArgumentRole::Before,
            "Only what stands before this cursor: the `startCursor` of the page behind.",
        ),
    ]
}

/// The arguments that a collection root has beside those.
pub(super) fn searching(names: &Names<'_>, root: &SourceField) -> Vec<Argument> {
    let argument = |name: &str, ty, role, description: &str| Argument {
        name: name.to_owned(),
        description: Some(description.to_owned()),
        ty: TypeRef::Named(ty),
        default: None,
        role,
    };
    let enumeration = names.sort_enum(&root.name);
    let (text, truth) = (names.scalar(ScalarType::String), names.scalar(ScalarType::Boolean));
    vec![
        argument(
            "query",
            text,
            ArgumentRole::Query,
            "Space-separated `key:value` terms that all hold; the keys are told with the field.",
        ),
        argument(
            "sortKey",
            enumeration,
            ArgumentRole::SortKey,
            "The order of the walk; the first of the enum unless given.",
        ),
        argument("reverse", truth, ArgumentRole::Reverse, "Walks from the other end."),
    ]
}

/// The connection over a type: a page of its rows.
pub(super) fn connection_type(names: &Names<'_>, node: &SourceType) -> ObjectType {
    let edge = TypeRef::Named(names.edge(&node.name)).non_null();
    let page_info = TypeRef::Named(names.page_info()).non_null();
    machinery(
        Name::Connection(node).text(),
        format!("A page of a walk over `{}`.", node.name),
        vec![
            plain("edges", "The rows of the page.", TypeRef::List(Box::new(edge)).non_null(), Binding::Edges),
            plain("pageInfo", "Where the page stands in the walk.", page_info, Binding::PageInfo),
        ],
    )
}

/// The edge of that connection: a row of the page.
pub(super) fn edge_type(names: &Names<'_>, node: &SourceType) -> ObjectType {
    let text = TypeRef::Named(names.scalar(ScalarType::String)).non_null();
    let reference = TypeRef::Named(names.ids[&node.name]).non_null();
    machinery(
        Name::Edge(node).text(),
        format!("One `{}` of a page, and its place in the walk.", node.name),
        vec![
            plain("node", "The row.", reference, Binding::Node),
            plain("cursor", "The row's place in the walk, for `after` and `before`.", text, Binding::Cursor),
        ],
    )
}

/// What every page tells of itself.
pub(super) fn page_info(names: &Names<'_>) -> ObjectType {
    let truth = TypeRef::Named(names.scalar(ScalarType::Boolean)).non_null();
    let text = TypeRef::Named(names.scalar(ScalarType::String));
    let fact =
        |name, description, ty: &TypeRef, fact| plain(name, description, ty.clone(), Binding::PageInfoField(fact));
    machinery(
        Name::PageInfo.text(),
        "Where a page stands in its walk. Both flags are exact in both directions.".to_owned(),
        vec![
            fact("hasNextPage", "Whether rows follow the page's last.", &truth, PageInfoField::HasNextPage),
            fact(
                "hasPreviousPage",
                "Whether rows stand before the page's first.",
                &truth,
                PageInfoField::HasPreviousPage,
            ),
            fact("startCursor", "The first row's cursor; null on an empty page.", &text, PageInfoField::StartCursor),
            fact("endCursor", "The last row's cursor; null on an empty page.", &text, PageInfoField::EndCursor),
        ],
    )
}

/// The sort keys of a collection root.
pub(super) fn sort_enum(root: &SourceField) -> EnumType {
    EnumType {
        name: Name::SortEnum(root).text(),
        description: Some(format!("The orders in which `{}` can be walked.", root.name)),
        values: root.sort.iter().map(|(key, _)| key.clone()).collect(),
    }
}

fn plain(name: &str, description: &str, ty: TypeRef, binding: Binding) -> Field {
    let (name, description) = (name.to_owned(), Some(description.to_owned()));
    Field { name, description, arguments: Vec::new(), ty, binding, deprecation: None }
}

/// A type of our own making, whose few fields are surely distinct.
fn machinery(name: String, description: String, fields: Vec<Field>) -> ObjectType {
    let by_name = (0..).zip(&fields).map(|(place, field)| (field.name.clone(), place)).collect();
    ObjectType { name, description: Some(description), fields, entity: None, unlisted: Vec::new(), by_name }
}
