//! `orderql query`: asks from the shell, and prints tables.
//!
//! - `remote`: asks a running server
//! - `direct`: asks a database without a server
//! - `response`: what they answer
//! - `nesting`: JSON that nests too deep
//! - `all_pages`: all pages of a list as one response
//! - `listing`: the response for people; `csv`: for spreadsheets
//! - `offer`: the query that is offered in place of one with errors
//! - `prompt`: one query after the other, at a terminal
//! - `history`: earlier queries of the prompt

mod all_pages;
mod csv;
mod direct;
mod history;
mod listing;
mod nesting;
mod offer;
mod prompt;
pub(crate) mod remote;
pub(crate) mod response;

use std::error::Error;
use std::io::{self, IsTerminal as _};
use std::path::PathBuf;

use clap::ArgGroup;
use serde_json::Value;

use crate::cli::database_flags::DatabaseFlags;
use crate::cli::outcome::Outcome;
use crate::cli::output::write;
use crate::cli::query::history::History;
use crate::cli::query::remote::CallerIdentity;
use crate::cli::query::response::Ordered;
use crate::cli::query_text::{self, variables};
use crate::cli::remote_server::{self, RemoteServer, Url};
use crate::database::address::connection_string::ConnectionString;
use crate::query::{Request, Variables};
use crate::telemetry::error_chain::ErrorChain;

/// Ask a running server, or a database, and print tables
///
/// Prints what the query cost as well. Exits with 1 if the response has errors.
#[derive(Debug, clap::Args)]
#[command(group = ArgGroup::new("of_database").args(["database_url", "config"]).multiple(true))]
pub(crate) struct Args {
    /// The server: http://HOST:PORT, https://HOST:PORT, or unix: and the path of a socket
    #[arg(long, env = "ORDERQL_URL", value_name = "URL", default_value = "http://127.0.0.1:8080",
        value_parser = remote_server::url)]
    url: Url,

    /// PEM file of the authorities whose servers are trusted, instead of those that the system trusts
    #[arg(long, value_name = "FILE")]
    ca: Option<PathBuf>,

    /// The token of a caller
    #[arg(long, env = "ORDERQL_TOKEN", value_name = "TOKEN", hide_env_values = true)]
    token: Option<String>,

    /// Sign in as this user; the password is asked for, or is a line of standard input
    #[arg(long, value_name = "USER", conflicts_with = "token")]
    user: Option<String>,

    /// Ask this database instead of a server, without limits and without a user
    #[arg(long, value_name = "URL", conflicts_with_all = ["token", "user", "ca"])]
    database_url: Option<ConnectionString>,

    /// Ask the database that this configuration file of a server names
    #[arg(long, value_name = "FILE", conflicts_with_all = ["token", "user", "ca"])]
    config: Option<PathBuf>,

    /// A schema file to use instead of the built-in one, for a database
    #[arg(long, value_name = "FILE", requires = "of_database")]
    schema: Option<PathBuf>,

    /// The values of the query's variables, a JSON object
    #[arg(long, value_name = "JSON", value_parser = variables)]
    variables: Option<Variables>,

    /// The name of the operation, if the document has several
    #[arg(long, value_name = "NAME")]
    operation: Option<String>,

    /// Read all pages of the query's list, one after the other
    #[arg(long)]
    all: bool,

    #[command(flatten)]
    form: OutputForm,

    /// If the query has errors and there is a corrected one, which is always shown, run this one
    #[arg(long)]
    corrected: bool,

    /// The query, a file that holds it, or `-` for standard input; without one, a terminal has a prompt
    #[arg(value_name = "QUERY|FILE")]
    query: Option<String>,
}

/// How the response is printed: as tables unless one is given.
#[derive(Debug, Clone, Copy, clap::Args)]
struct OutputForm {
    /// Print the rows of the query's list as CSV
    #[arg(long, conflicts_with = "json")]
    csv: bool,

    /// Print the response as JSON
    #[arg(long)]
    json: bool,
}

/// Who answers.
enum Asked {
    Database(ConnectionString, Option<PathBuf>),
    Server(RemoteServer, CallerIdentity),
}

/// The response has errors, which were printed.
#[derive(Debug, thiserror::Error)]
#[error("the query was not answered completely")]
struct IncompleteResponse;

/// Asks, and prints the response. Errors go to standard error.
pub(crate) fn run(args: Args) -> Outcome {
    let mut asked = match (args.database_url, args.config) {
        (Some(database), _) => Asked::Database(database, args.schema),
        (None, config @ Some(_)) => {
            let database = DatabaseFlags { config, ..DatabaseFlags::default() };
            Asked::Database(database.given()?, args.schema)
        }
        // A password comes before the query, where both come from standard input.
        (None, None) => {
            Asked::Server(RemoteServer::new(args.url, args.ca.as_deref())?, remote::caller(args.token, args.user)?)
        }
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut request =
        Request { query: String::new(), operation_name: args.operation, variables: args.variables.unwrap_or_default() };
    let mut ask = |query: &str| -> Result<(), NotAnswered> {
        query.clone_into(&mut request.query);
        let response = runtime.block_on(asked.answer(&request, args.all))?;
        let Err(error) = print(&response, args.form) else { return Ok(()) };
        let offered = offer::offer(&request, &response, |request| runtime.block_on(asked.ask(request, How::Price)))?;
        let Some((corrected, changes)) = offered else { return Err(error.into()) };
        eprintln!("Corrected: {changes}");
        if args.corrected {
            let response = runtime.block_on(asked.answer(&corrected, args.all))?;
            return Ok(print(&response, args.form)?);
        }
        Err(NotAnswered { error, corrected: Some(corrected.query) })
    };
    match args.query {
        None if io::stdin().is_terminal() => {
            let ask = |query: &str| {
                let NotAnswered { error, corrected } = ask(query).err()?;
                if !error.is::<IncompleteResponse>() {
                    eprintln!("{}", ErrorChain(&*error));
                }
                corrected
            };
            Ok(prompt::run(io::stdin().lock(), io::stdout(), &mut History::of_user(), ask)?)
        }
        query => {
            ask(&query_text::read(query.as_deref().unwrap_or("-"))?).map_err(|NotAnswered { error, corrected }| {
                if let Some(corrected) = corrected {
                    eprintln!("With --corrected this runs in its place:\n{corrected}");
                }
                error
            })
        }
    }
}

/// Whether a query is run, or only priced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum How {
    Run,
    Price,
}

/// Why a query was not answered, and the one that is offered in its place.
struct NotAnswered {
    error: Box<dyn Error + Send + Sync>,
    corrected: Option<String>,
}

impl From<Box<dyn Error + Send + Sync>> for NotAnswered {
    fn from(error: Box<dyn Error + Send + Sync>) -> Self {
        Self { error, corrected: None }
    }
}

impl Asked {
    /// The response to a request, or the responses to all pages of its list as one.
    async fn answer(&mut self, request: &Request, all: bool) -> Outcome<Ordered> {
        if all {
            all_pages::ask(async |page: &Request| self.ask(page, How::Run).await, request).await
        } else {
            self.ask(request, How::Run).await
        }
    }

    async fn ask(&mut self, request: &Request, how: How) -> Outcome<Ordered> {
        match self {
            Self::Database(database, schema) => {
                direct::ask(database, schema.as_deref(), request, how == How::Run).await
            }
            Self::Server(server, caller) => {
                let headers: &[_] = if how == How::Price { &[("graphql-cost", "validate")] } else { &[] };
                remote::ask(server, caller, request, headers).await
            }
        }
    }
}

fn print(response: &Ordered, form: OutputForm) -> Outcome {
    let text = match form {
        OutputForm { json: true, .. } => format!("{}\n", serde_json::to_string_pretty(response)?),
        OutputForm { csv: true, .. } => csv::render(response)?,
        OutputForm { .. } => listing::render(response),
    };
    write(&text)?;
    if !form.json {
        eprint!("{}", listing::warnings(response));
    }
    match response.get("errors") {
        None | Some(Ordered::Scalar(Value::Null)) => Ok(()),
        Some(errors) => {
            if !form.json {
                eprint!("{}", listing::errors(errors));
            }
            Err(IncompleteResponse.into())
        }
    }
}
