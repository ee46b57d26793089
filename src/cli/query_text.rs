//! A query on the command line, and its variables.

use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::query::Variables;

/// Why there is no query.
#[derive(Debug, Error)]
pub(crate) enum QueryTextError {
    #[error("{} cannot be read", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("the query cannot be read from standard input")]
    Input(#[source] io::Error),
}

/// The query: standard input for `-`, the content of the file of that name if there is one, or the argument itself.
pub(crate) fn read(argument: &str) -> Result<String, QueryTextError> {
    if argument == "-" {
        let mut text = String::new();
        return io::stdin().read_to_string(&mut text).map(|_| text).map_err(QueryTextError::Input);
    }
    let path = Path::new(argument);
    // Every query has a brace. An argument without one can only be the name of a file, which then does not exist.
    let is_file = path.is_file() || !argument.contains('{');
    if is_file { read_file(path) } else { Ok(argument.to_owned()) }
}

fn read_file(path: &Path) -> Result<String, QueryTextError> {
    fs::read_to_string(path).map_err(|source| QueryTextError::Read { path: path.to_owned(), source })
}

/// Parses the values of variables.
pub(crate) fn variables(text: &str) -> Result<Variables, String> {
    serde_json::from_str(text).map_err(|error| format!("a JSON object such as {{\"first\": 10}} is wanted: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema_file::BUILT_IN;

    #[test]
    fn a_query_is_text_or_the_name_of_a_file() {
        assert_eq!(read("{ __typename }").unwrap(), "{ __typename }");
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/grammar/schema.graphql");
        assert_eq!(read(file).unwrap(), BUILT_IN);
        let missing = read("no/such/file.graphql").unwrap_err();
        assert_eq!(missing.to_string(), "no/such/file.graphql cannot be read");
    }

    #[test]
    fn variables_are_a_json_object() {
        assert_eq!(variables(r#"{"first": 10}"#).unwrap()["first"], 10);
        for text in ["", "10", "[1]", "{first: 10}"] {
            assert!(variables(text).unwrap_err().starts_with("a JSON object such as"), "{text}");
        }
    }
}
