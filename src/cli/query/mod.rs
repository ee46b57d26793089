//! `orderql query`: asks from the shell, and prints tables.
//!
//! - `remote`: asks a running server
//! - `direct`: asks a database without a server
//! - `response`: what they answer
//! - `listing`: the response for people

mod direct;
mod listing;
mod remote;
mod response;

use std::io::{self, Write as _};
use std::path::PathBuf;

use serde_json::Value;

use crate::cli::outcome::Outcome;
use crate::cli::query::remote::{Credentials, Server};
use crate::cli::query::response::Ordered;
use crate::cli::query_text::{self, variables};
use crate::database::address::connection_string::ConnectionString;
use crate::query::{Request, Variables};

/// Ask a running server, or a database, and print tables
///
/// Prints what the query cost as well. Exits with 1 if the response has errors.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The server: http://HOST:PORT, https://HOST:PORT, or unix: and the path of a socket
    #[arg(long, env = "ORDERQL_URL", value_name = "URL", default_value = "http://127.0.0.1:8080",
        value_parser = remote::url)]
    url: remote::Url,

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

    /// A schema file to use instead of the built-in one, with --database-url
    #[arg(long, value_name = "FILE", requires = "database_url")]
    schema: Option<PathBuf>,

    /// The values of the query's variables, a JSON object
    #[arg(long, value_name = "JSON", value_parser = variables)]
    variables: Option<Variables>,

    /// The name of the operation, if the document has several
    #[arg(long, value_name = "NAME")]
    operation: Option<String>,

    /// Print the response as JSON
    #[arg(long)]
    json: bool,

    /// The query, a file that holds it, or `-` for standard input
    #[arg(value_name = "QUERY|FILE", default_value = "-")]
    query: String,
}

/// Who answers.
enum Asked {
    Database(ConnectionString),
    Server(Server, Credentials),
}

/// The response has errors, which were printed.
#[derive(Debug, thiserror::Error)]
#[error("the query was not answered completely")]
struct Incomplete;

/// Asks, and prints the response. Errors go to standard error.
pub(crate) fn run(args: Args) -> Outcome {
    let asked = match args.database_url {
        Some(database) => Asked::Database(database),
        // A password comes before the query, where both come from standard input.
        None => Asked::Server(Server::new(args.url, args.ca.as_deref())?, remote::credentials(args.token, args.user)?),
    };
    let request = Request {
        query: query_text::read(&args.query)?,
        operation_name: args.operation,
        variables: args.variables.unwrap_or_default(),
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let response = match asked {
        Asked::Database(database) => runtime.block_on(direct::ask(&database, args.schema.as_deref(), &request))?,
        Asked::Server(server, credentials) => runtime.block_on(server.ask(credentials, &request))?,
    };
    let text =
        if args.json { format!("{}\n", serde_json::to_string_pretty(&response)?) } else { listing::render(&response) };
    match io::stdout().write_all(text.as_bytes()) {
        // The reader closed the pipe: it needs no more.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
        written => written?,
    }
    match response.get("errors") {
        None | Some(Ordered::Scalar(Value::Null)) => Ok(()),
        Some(errors) => {
            if !args.json {
                eprint!("{}", listing::errors(errors));
            }
            Err(Incomplete.into())
        }
    }
}
