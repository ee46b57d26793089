//! `orderql explain`: prints what a query costs, the SQL that it runs, and why the server would reject it. Needs no database.
//!
//! - [`explained`]: a query with its explanation
//! - `access`: how a statement finds the rows of its page, in words
//! - [`text`], `json`: print it for people and for programs

mod access;
pub mod explained;
mod json;
pub mod text;

use std::io::{self, IsTerminal as _, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::{env, fs};

use clap::value_parser;
use thiserror::Error;

use crate::catalog::search_window::SearchWindow;
use crate::cli::explain::explained::Explained;
use crate::cli::outcome::Outcome;
use crate::cli::schema;
use crate::compile::explanation;
use crate::config::value_parser::limit_parser;
use crate::limits::{Limits, caller_limits};
use crate::query::{Request, Variables};

/// Print what a query costs and the SQL that it runs, without a database
///
/// Exits with 1 if the server would reject the query.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The values of the query's variables, a JSON object
    #[arg(long, value_name = "JSON", value_parser = variables)]
    variables: Option<Variables>,

    /// The name of the operation to explain, if the document has several
    #[arg(long, value_name = "NAME")]
    operation: Option<String>,

    /// A schema file to use instead of the built-in one
    #[arg(long, value_name = "FILE")]
    schema: Option<PathBuf>,

    #[command(flatten)]
    limits: LimitFlags,

    /// Rows that a search may examine to fill a page
    #[arg(
        long,
        value_name = "ROWS",
        default_value_t = SearchWindow::DEFAULT.rows(),
        value_parser = value_parser!(u32).range(i64::from(SearchWindow::MIN)..=i64::from(SearchWindow::MAX))
    )]
    search_window: u32,

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

/// Why `explain` fails.
#[derive(Debug, Error)]
pub enum ExplainError {
    /// A file does not exist, or is not text.
    #[error("{} cannot be read", path.display())]
    Read {
        /// Its path.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Standard input cannot be read, or is not text.
    #[error("the query cannot be read from standard input")]
    Input(#[source] io::Error),
    /// The server would reject the query. The printed errors say why.
    #[error("the query would be rejected")]
    Rejected,
}

/// Prints the explanation to standard output, in colour if that is a terminal. Fails for a query that the server would
/// reject, after everything that is known about it is printed.
pub fn run(args: &Args) -> Outcome {
    let window = SearchWindow::new(args.search_window).unwrap_or(SearchWindow::DEFAULT);
    let catalog = schema::read(args.schema.as_deref())?.with_search_window(window);
    let request = Request {
        query: query(&args.query)?,
        operation_name: args.operation.clone(),
        variables: args.variables.clone().unwrap_or_default(),
    };
    let limits = args.limits.limits();
    let result = explanation::explain(&catalog, &request, &limits);
    let explained = Explained { query: &request.query, limits, result };
    let text = if args.json {
        format!("{:#}\n", json::render(&explained))
    } else {
        let is_coloured = io::stdout().is_terminal() && env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        text::render(&explained, if is_coloured { &text::COLOURED } else { &text::PLAIN })
    };
    match io::stdout().write_all(text.as_bytes()) {
        // The reader closed the pipe: it needs no more.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
        written => written?,
    }
    match explained.errors() {
        None => Ok(()),
        Some(_) => Err(ExplainError::Rejected.into()),
    }
}

fn variables(text: &str) -> Result<Variables, String> {
    serde_json::from_str(text).map_err(|error| format!("a JSON object such as {{\"first\": 10}} is wanted: {error}"))
}

/// The query: standard input for `-`, the content of the file of that name if there is one, or the argument itself.
fn query(argument: &str) -> Result<String, ExplainError> {
    if argument == "-" {
        let mut text = String::new();
        return io::stdin().read_to_string(&mut text).map(|_| text).map_err(ExplainError::Input);
    }
    let path = Path::new(argument);
    // Every query has a brace. An argument without one can only be the name of a file, which then does not exist.
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
    fn a_query_is_text_or_the_name_of_a_file() {
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
