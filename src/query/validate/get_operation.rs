//! The operation of a document that a request asks for (GraphQL specification, section 6.1, `GetOperation`).

use graphql_parser::query as ast;
use thiserror::Error;

use crate::error::code::ErrorCode;
use crate::error::diagnostic::{Diagnostic, ErrorExtensions};
use crate::error::graphql_error::{GraphqlError, GraphqlErrors};
use crate::query::parse::document::{Document, location, operation_parts};

/// The most operations that an error lists.
const MAX_LISTED: usize = 10;

/// The most characters of the requested name that an error repeats.
const MAX_NAME_IN_ERROR: usize = 60;

/// The operation with that name, or the only one if `name` is `None`.
pub(super) fn get_operation<'d, 'a>(
    document: &'d Document<'a>,
    name: Option<&str>,
) -> Result<&'d ast::OperationDefinition<'a, &'a str>, GraphqlErrors> {
    let operations = document.definitions.iter().filter_map(|definition| match definition {
        ast::Definition::Operation(operation) => Some(operation),
        ast::Definition::Fragment(_) => None,
    });
    let operations: Vec<_> = operations.collect();
    let operation = match (name, operations.as_slice()) {
        (Some(name), all) => all.iter().find(|operation| operation_parts(operation).name == Some(name)),
        (None, [only]) => Some(only),
        (None, _) => None,
    };
    operation.copied().ok_or_else(|| {
        let names = operations.iter().filter_map(|operation| operation_parts(operation).name).map(str::to_owned);
        let operations_in_document = names.take(MAX_LISTED).collect();
        let error = match name {
            Some(name) => OperationError::Unknown {
                name: name.chars().take(MAX_NAME_IN_ERROR).collect(),
                operations: operations_in_document,
            },
            None => OperationError::Ambiguous { operations: operations_in_document },
        };
        let listed = operations.iter().take(MAX_LISTED);
        GraphqlErrors::one(GraphqlError::new(
            &error,
            listed.map(|operation| location(operation_parts(operation).position)),
        ))
    })
}

/// Why a request does not identify an operation of its document. The document itself is valid.
#[derive(Debug, Error)]
enum OperationError {
    #[error("The document has no operation \"{name}\"{}", list(.operations))]
    Unknown { name: String, operations: Vec<String> },
    #[error("The document has several operations, and `operationName` does not tell which is meant{}", list(.operations))]
    Ambiguous { operations: Vec<String> },
}

fn list(operations: &[String]) -> String {
    if operations.is_empty() { String::new() } else { format!("; it has {}", operations.join(", ")) }
}

impl Diagnostic for OperationError {
    fn code(&self) -> ErrorCode {
        ErrorCode::BadUserInput
    }

    fn extensions(&self) -> ErrorExtensions {
        let (Self::Unknown { operations, .. } | Self::Ambiguous { operations }) = self;
        ErrorExtensions::from_iter([("operations".to_owned(), operations.clone().into())])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::parse::Source;

    fn operation(text: &str, name: Option<&str>) -> Result<Option<String>, String> {
        let source = Source::read(text).unwrap();
        let document = source.parse().unwrap();
        let operation = get_operation(&document, name);
        operation
            .map(|operation| operation_parts(operation).name.map(str::to_owned))
            .map_err(|errors| errors.to_string())
    }

    #[test]
    fn returns_the_only_operation_without_a_name() {
        assert_eq!(operation("{a}", None), Ok(None));
        assert_eq!(operation("fragment F on Query {a} query Q {...F}", None), Ok(Some("Q".to_owned())));
    }

    #[test]
    fn returns_the_operation_with_the_name() {
        assert_eq!(operation("query A {a} query B {a}", Some("B")), Ok(Some("B".to_owned())));
    }

    #[test]
    fn rejects_unknown_names_and_missing_ones() {
        let several = "query A {a} query B {a}";
        insta::assert_snapshot!(operation(several, None).unwrap_err(), @"1:1: BAD_USER_INPUT: The document has several operations, and `operationName` does not tell which is meant; it has A, B");
        insta::assert_snapshot!(operation(several, Some("C")).unwrap_err(), @r#"1:1: BAD_USER_INPUT: The document has no operation "C"; it has A, B"#);
        insta::assert_snapshot!(operation("{a}", Some("")).unwrap_err(), @r#"1:1: BAD_USER_INPUT: The document has no operation """#);
    }
}
