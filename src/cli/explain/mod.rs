//! `orderql explain`: prints what a query costs, the SQL that it runs, and why the server would reject it. Needs a database only to
//! say what the query takes there.
//!
//! - [`explained`]: a query with its explanation
//! - `analysis`: what it takes on a database
//! - `access`: how a statement finds the rows of its page, in words
//! - [`text`], `json`: print it for people and for programs

mod access;
mod analysis;
pub mod explained;
mod json;
pub mod text;

use std::env;
use std::io::{self, IsTerminal as _, Write as _};
use std::path::PathBuf;

use clap::value_parser;
use thiserror::Error;

use crate::access::grants::{EVERY_VALUE, secret};
use crate::access::manage::{grants, scopes};
use crate::catalog::Catalog;
use crate::catalog::scope::RowScope;
use crate::catalog::search_window::SearchWindow;
use crate::cli::database::connect;
use crate::cli::database_flags::DatabaseFlags;
use crate::cli::explain::explained::Explained;
use crate::cli::limit_flags::LimitFlags;
use crate::cli::outcome::Outcome;
use crate::cli::query_text::{self, variables};
use crate::cli::schema;
use crate::compile::explanation;
use crate::query::bind::caller::Caller;
use crate::query::{Request, Variables};
use crate::schema_file::SchemaFile;

/// Print what a query costs and the SQL that it runs, and with --analyze what that takes on a database
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

    /// Explain what this user sees of the schema, by the grants in the database; the limits are those of the flags
    #[arg(long = "as", value_name = "USER")]
    user: Option<String>,

    /// A schema file to use instead of the built-in one
    #[arg(long, value_name = "FILE")]
    schema: Option<PathBuf>,

    #[command(flatten)]
    limits: LimitFlags,

    /// Rows that a search may examine for each 50 rows of a page
    #[arg(
        long,
        value_name = "ROWS",
        default_value_t = SearchWindow::DEFAULT.rows(),
        value_parser = value_parser!(u32).range(i64::from(SearchWindow::MIN)..=i64::from(SearchWindow::MAX))
    )]
    search_window: u32,

    /// Run the query with EXPLAIN (ANALYZE), and print what each branch took
    #[arg(long)]
    analyze: bool,

    #[command(flatten)]
    database: DatabaseFlags,

    /// Print one JSON object
    #[arg(long)]
    json: bool,

    /// The query, a file that holds it, or `-` for standard input
    #[arg(value_name = "QUERY|FILE")]
    query: String,
}

/// The server would reject the query. The printed errors say why.
#[derive(Debug, Error)]
#[error("the query would be rejected")]
struct Rejected;

/// Prints the explanation to standard output, in colour if that is a terminal. Fails for a query that the server would
/// reject, after everything that is known about it is printed.
pub fn run(args: &Args) -> Outcome {
    let window = SearchWindow::new(args.search_window).unwrap_or(SearchWindow::DEFAULT);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let file = schema::file(args.schema.as_deref())?;
    let (catalog, rows) = match &args.user {
        Some(user) => runtime.block_on(seen_by(user, &args.database, &file))?,
        None => (schema::read(args.schema.as_deref())?, RowScope::default()),
    };
    let catalog = catalog.with_search_window(window);
    let request = Request {
        query: query_text::read(&args.query)?,
        operation_name: args.operation.clone(),
        variables: args.variables.clone().unwrap_or_default(),
    };
    let limits = args.limits.0;
    let explained = if args.analyze {
        runtime.block_on(analysis::analyzed(&args.database.given()?, catalog, (&file, &rows), &request, limits))?
    } else {
        let catalog = file.limit(catalog, rows.limiting());
        let result = explanation::explain(&catalog, &request, Caller { limits: &limits, rows: &rows });
        Explained { query: &request.query, limits, result, analysis: None }
    };
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
        Some(_) => Err(Rejected.into()),
    }
}

/// The part of a schema file that a user sees, and the scopes of its rows.
async fn seen_by(user: &str, database: &DatabaseFlags, file: &SchemaFile) -> Outcome<(Catalog, RowScope)> {
    let client = connect(&database.address()?).await?;
    let (granted, values) = (grants::of(&client, user).await?, scopes::of(&client, user).await?);
    let rows = file.scopes().iter().map(|scope| {
        let values = values.iter().filter(|given| given.scope == *scope).flat_map(|given| &given.values);
        let values: Vec<_> = values.map(String::as_str).collect();
        (scope.as_str(), (!values.contains(&EVERY_VALUE)).then_some(values))
    });
    let rows = RowScope::new(rows, secret(&client).await?);
    Ok((file.view(file.held(|name| granted.iter().any(|(path, _)| path == name)))?, rows))
}
