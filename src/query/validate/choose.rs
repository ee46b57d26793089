//! Which operation of a document is meant (GraphQL specification, section 6.1, `GetOperation`).

use std::fmt;

use graphql_parser::query as ast;

use crate::error::code::ErrorCode;
use crate::error::diagnostic::{Diagnostic, ErrorExtensions};
use crate::error::graphql_error::{GraphqlError, GraphqlErrors};
use crate::query::parse::document::{Document, location};
use crate::query::validate::document_index::{operation_name, operation_position};

/// The operation of that name; the only one where no name is given.
pub(super) fn choose<'d, 'a>(
    document: &'d Document<'a>,
    name: Option<&str>,
) -> Result<&'d ast::OperationDefinition<'a, &'a str>, GraphqlErrors> {
    let operations = document.definitions.iter().filter_map(|definition| match definition {
        ast::Definition::Operation(operation) => Some(operation),
        ast::Definition::Fragment(_) => None,
    });
    let operations: Vec<_> = operations.collect();
    let found = match (name, operations.as_slice()) {
        (Some(name), all) => all.iter().find(|operation| operation_name(operation) == Some(name)),
        (None, [only]) => Some(only),
        (None, _) => None,
    };
    found.copied().ok_or_else(|| {
        let names = || operations.iter().filter_map(|operation| operation_name(operation)).map(str::to_owned);
        let unclear = Unclear { asked: name.map(str::to_owned), names: names().take(MOST_NAMES).collect() };
        let places = operations.iter().take(MOST_NAMES).map(|operation| location(operation_position(operation)));
        GraphqlErrors::one(GraphqlError::new(&unclear, places))
    })
}

/// The most operations that a refusal lists.
const MOST_NAMES: usize = 10;

/// No operation is meant. The document is valid, and what came with it is not: `BAD_USER_INPUT`.
#[derive(Debug)]
struct Unclear {
    /// The name that was asked for.
    asked: Option<String>,
    /// The names that the document has.
    names: Vec<String>,
}

impl fmt::Display for Unclear {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.asked {
            Some(asked) => {
                let shown: String = asked.chars().take(60).collect();
                write!(f, "The document has no operation \"{shown}\"")?;
            }
            None => {
                f.write_str("The document has several operations, and `operationName` does not tell which is meant")?;
            }
        }
        if self.names.is_empty() { Ok(()) } else { write!(f, "; it has {}", self.names.join(", ")) }
    }
}

impl Diagnostic for Unclear {
    fn code(&self) -> ErrorCode {
        ErrorCode::BadUserInput
    }

    fn extensions(&self) -> ErrorExtensions {
        ErrorExtensions::from_iter([("operations".to_owned(), self.names.clone().into())])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::parse::Source;

    fn chosen(text: &str, name: Option<&str>) -> Result<Option<String>, String> {
        let source = Source::read(text).unwrap();
        let document = source.parse().unwrap();
        let chosen = choose(&document, name);
        chosen.map(|operation| operation_name(operation).map(str::to_owned)).map_err(|refusals| refusals.to_string())
    }

    #[test]
    fn the_only_operation_needs_no_name() {
        assert_eq!(chosen("{a}", None), Ok(None));
        assert_eq!(chosen("fragment F on Query {a} query Q {...F}", None), Ok(Some("Q".to_owned())));
    }

    #[test]
    fn a_name_chooses() {
        assert_eq!(chosen("query A {a} query B {a}", Some("B")), Ok(Some("B".to_owned())));
    }

    #[test]
    fn what_is_unclear_is_refused() {
        let several = "query A {a} query B {a}";
        insta::assert_snapshot!(chosen(several, None).unwrap_err(), @"1:1: BAD_USER_INPUT: The document has several operations, and `operationName` does not tell which is meant; it has A, B");
        insta::assert_snapshot!(chosen(several, Some("C")).unwrap_err(), @r#"1:1: BAD_USER_INPUT: The document has no operation "C"; it has A, B"#);
        insta::assert_snapshot!(chosen("{a}", Some("")).unwrap_err(), @r#"1:1: BAD_USER_INPUT: The document has no operation """#);
    }
}
