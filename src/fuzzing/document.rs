//! The tree of a parsed document.

use graphql_parser::query::Definition;

use crate::query::parse::Document;

/// The definitions of a document, with the locations of the text.
pub fn definitions<'a, 's>(document: &'a Document<'s>) -> &'a [Definition<'s, &'s str>] {
    &document.definitions
}

/// Whether the tree has all of the document: no directives on variables, and no field of an input object twice.
pub fn is_whole(document: &Document<'_>) -> bool {
    document.is_whole()
}
