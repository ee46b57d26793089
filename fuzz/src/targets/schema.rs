//! `schema`: an operator's schema file.
//!
//! - What cannot be used has a message.
//! - A file that can be used, printed by `graphql_parser` and read again, publishes the same schema.
//! - The published SDL is SDL, and defines every type of the catalog.
//! - Memory grows with the file's length at most.

use graphql_parser::schema::{Definition, TypeDefinition, parse_schema};
use orderql::catalog::Catalog;
use orderql::catalog::schema::Type;

use crate::support::allocation::{Allowance, within};

/// The introspection types are added to every file.
const ALLOWANCE: Allowance = Allowance { per_byte: 20_000, constant: 8_000_000 };

/// Runs the target.
pub fn run(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else { return };
    let catalog = match within(ALLOWANCE, text.len(), || Catalog::parse(text)) {
        Ok(catalog) => catalog,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    let file = parse_schema::<String>(text).expect("a file that can be used is SDL");
    // graphql-parser writes the decimal number of a control character where GraphQL has a hexadecimal one.
    if !text.chars().any(|c| c.is_control() && !matches!(c, '\t' | '\n' | '\r')) {
        let printed = file.to_string();
        match Catalog::parse(&printed) {
            Ok(again) => assert_eq!(again.sdl(), catalog.sdl(), "{printed}"),
            Err(error) => panic!("{error}\n{printed}"),
        }
    }
    // graphql-parser takes a description of types alone.
    let sdl = catalog.sdl().replacen("schema {\n  query: Query\n}", "type TheSchema { query: Query }", 1);
    let published = parse_schema::<String>(&sdl).unwrap_or_else(|error| panic!("{error}\n{sdl}"));
    let defines = |name: &str| {
        published.definitions.iter().any(|definition| match definition {
            Definition::TypeDefinition(TypeDefinition::Object(object)) => object.name == name,
            Definition::TypeDefinition(TypeDefinition::Enum(enumeration)) => enumeration.name == name,
            _ => false,
        })
    };
    for ty in catalog.types() {
        let is_built_in = matches!(ty, Type::Scalar(_)) || ty.name().starts_with("__");
        assert!(is_built_in || defines(ty.name()), "{} is not published", ty.name());
    }
}
