//! `orderql explain`: what a query costs, how it would be answered, and why it would be refused. No database is asked.
//!
//! - [`text`]: for people
//! - [`json`]: for programs

pub mod json;
pub mod text;

use std::io::{self, IsTerminal as _, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::{env, fs};

use thiserror::Error;

use crate::cli::{Outcome, schema};
use crate::compile::explanation::{self, Explanation};
use crate::config::value_parser::limit_parser;
use crate::error::graphql_error::GraphqlErrors;
use crate::limits::{Limits, caller_limits};
use crate::query::{Request, Variables};

/// Takes a query as it would be sent to the server.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The values of the query's variables, a JSON object
    #[arg(long, value_name = "JSON", value_parser = variables)]
    variables: Option<Variables>,

    /// Which of the document's operations is meant, where it has several
    #[arg(long, value_name = "NAME")]
    operation: Option<String>,

    /// A schema file to take instead of the built-in one
    #[arg(long, value_name = "FILE")]
    schema: Option<PathBuf>,

    #[command(flatten)]
    limits: LimitFlags,

    /// Print one JSON object
    #[arg(long)]
    json: bool,

    /// The query, a file that holds it, or `-` for standard input
    #[arg(value_name = "QUERY|FILE")]
    query: String,
}

/// Makes [`LimitFlags`] from the table of limits.
macro_rules! limit_flags {
    (
        query {
            $(
                #[doc = $help:literal]
                $limit:ident: $type:ty =
                    $name:literal, $variable:literal, $default:literal, $unit:ident, $column:ident;
            )*
        }
        service { $($service:tt)* }
    ) => {
        /// The limits of the caller, a flag each.
        #[derive(Debug, clap::Args)]
        struct LimitFlags {
            $(
                #[doc = $help]
                #[arg(
                    long = $name,
                    value_name = "N",
                    default_value_t = Limits::default().$limit,
                    value_parser = |text: &str| limit_parser!($unit).read(text)
                )]
                $limit: $type,
            )*
        }

        impl LimitFlags {
            fn limits(&self) -> Limits {
                Limits { $($limit: self.$limit),* }
            }
        }
    };
}

caller_limits!(limit_flags!);

/// A query and what is to be told about it.
#[derive(Debug)]
pub struct Explained<'a> {
    /// The document's text.
    pub query: &'a str,
    /// What the caller is held to.
    pub limits: Limits,
    /// The explanation, or the refusals where there is nothing to explain.
    pub outcome: Result<Explanation, GraphqlErrors>,
}

impl Explained<'_> {
    /// Why the query would be refused, if it would.
    pub fn refusals(&self) -> Option<&GraphqlErrors> {
        match &self.outcome {
            Ok(explanation) => explanation.errors.as_ref(),
            Err(refusals) => Some(refusals),
        }
    }
}

/// Why nothing can be explained.
#[derive(Debug, Error)]
pub enum ExplainError {
    /// A file that is not there or not text.
    #[error("{} cannot be read", path.display())]
    Read {
        /// Its path.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Standard input that cannot be read or is not text.
    #[error("the query cannot be read from standard input")]
    Input(#[source] io::Error),
    /// The query would be refused; what was printed says why.
    #[error("the query would be refused")]
    Refused,
}

/// Prints the explanation on standard output, in colour where that is a terminal. A query that would be refused is an
/// error, after all that can be told about it is printed.
pub fn run(args: &Args) -> Outcome {
    let catalog = schema::read(args.schema.as_deref())?;
    let request = Request {
        query: query(&args.query)?,
        operation_name: args.operation.clone(),
        variables: args.variables.clone().unwrap_or_default(),
    };
    let limits = args.limits.limits();
    let outcome = explanation::explain(&catalog, &request, &limits);
    let explained = Explained { query: &request.query, limits, outcome };
    let told = if args.json {
        format!("{:#}\n", json::render(&explained))
    } else {
        let is_coloured = io::stdout().is_terminal() && env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        text::render(&explained, if is_coloured { &text::COLOURED } else { &text::PLAIN })
    };
    match io::stdout().write_all(told.as_bytes()) {
        // Whoever closed the pipe has seen enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
        written => written?,
    }
    match explained.refusals() {
        None => Ok(()),
        Some(_) => Err(ExplainError::Refused.into()),
    }
}

fn variables(text: &str) -> Result<Variables, String> {
    serde_json::from_str(text).map_err(|error| format!("a JSON object such as {{\"first\": 10}} is wanted: {error}"))
}

/// The text of the argument: standard input, the file of that name if there is one, or itself.
fn query(argument: &str) -> Result<String, ExplainError> {
    if argument == "-" {
        let mut text = String::new();
        return io::stdin().read_to_string(&mut text).map(|_| text).map_err(ExplainError::Input);
    }
    let path = Path::new(argument);
    // Every selection has a brace. Without one it can only be meant as a file, and is told that there is none.
    let is_file = path.is_file() || !argument.contains('{');
    if is_file { read(path) } else { Ok(argument.to_owned()) }
}

fn read(path: &Path) -> Result<String, ExplainError> {
    fs::read_to_string(path).map_err(|source| ExplainError::Read { path: path.to_owned(), source })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::BUILT_IN;

    #[test]
    fn a_query_is_text_or_a_file_that_is_there() {
        assert_eq!(query("{ __typename }").unwrap(), "{ __typename }");
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/grammar/schema.graphql");
        assert_eq!(query(file).unwrap(), BUILT_IN);
        let missing = query("no/such/file.graphql").unwrap_err();
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
