//! The program's commands: each has a file or a folder of its name. The other files have what several commands need. [`run`] parses the
//! command line and runs a command.

use std::io::{self, Write};
use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

pub(crate) mod admin;
pub(crate) mod audit;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod database;
pub mod database_flags;
#[cfg(feature = "tools")]
pub mod demo;
pub(crate) mod doctor;
pub(crate) mod document_files;
pub mod explain;
pub(crate) mod grant;
pub(crate) mod group;
pub(crate) mod health;
mod http_client;
pub(crate) mod keys;
mod limit_flags;
#[cfg(feature = "tools")]
pub mod load;
pub(crate) mod manual;
pub mod migrate;
pub(crate) mod outcome;
mod output;
mod privileges;
pub(crate) mod profile;
#[cfg(feature = "mcp")]
pub(crate) mod mcp;
pub(crate) mod query;
pub(crate) mod query_text;
mod remote_server;
#[cfg(feature = "tools")]
pub(crate) mod sample;
pub(crate) mod schema;
mod scope_hint;
mod secrets;
pub(crate) mod serve;
pub(crate) mod settings;
pub(crate) mod sync;
pub(crate) mod table;
pub(crate) mod tables;
pub(crate) mod token;
mod token_flags;
pub(crate) mod user;

use crate::telemetry::error_chain::ErrorChain;

/// An order-management API over a PostgreSQL database with Apache OFBiz's tables.
#[derive(Debug, Parser)]
#[command(name = "orderql", version, max_term_width = 120)]
struct Program {
    #[command(subcommand)]
    command: Command,
}

/// Each command's help is the documentation of its arguments.
#[derive(Debug, Subcommand)]
enum Command {
    Serve(serve::Args),
    #[cfg(feature = "tools")]
    Demo(demo::Args),
    Migrate(migrate::Args),
    #[command(alias = "parties")]
    Tables(tables::Args),
    Sync(sync::Args),
    #[cfg(feature = "tools")]
    Load(load::Args),
    #[cfg(feature = "tools")]
    Sample(sample::Args),
    User(user::Args),
    Group(group::Args),
    #[command(visible_alias = "grants")]
    Grant(grant::Args),
    Profile(profile::Args),
    Token(token::Args),
    Keys(keys::Args),
    Audit(audit::Args),
    Query(query::Args),
    #[cfg(feature = "mcp")]
    Mcp(mcp::Args),
    Explain(explain::Args),
    Schema(schema::Args),
    Config(config::Args),
    Doctor(doctor::Args),
    Health(health::Args),
    Completions(completions::Args),
    #[command(hide = true)]
    Manual(manual::Args),
}

/// Parses the command line and runs the command. Exits with 1 if the command fails, and with 2, as clap does, if the
/// arguments are wrong.
pub fn run() -> ExitCode {
    let program = Program::try_parse().unwrap_or_else(|error| secrets::hide(error).exit());
    let outcome = match program.command {
        Command::Serve(args) => serve::run(&args),
        #[cfg(feature = "tools")]
        Command::Demo(args) => demo::run(&args),
        Command::Migrate(args) => migrate::run(args),
        Command::Tables(args) => tables::run(&args),
        Command::Sync(args) => sync::run(args),
        #[cfg(feature = "tools")]
        Command::Load(args) => load::run(args),
        #[cfg(feature = "tools")]
        Command::Sample(args) => sample::run(args),
        Command::User(args) => user::run(args),
        Command::Group(args) => group::run(args),
        Command::Grant(args) => grant::run(args),
        Command::Profile(args) => profile::run(args),
        Command::Token(args) => token::run(&args),
        Command::Keys(args) => keys::run(&args),
        Command::Audit(args) => audit::run(args),
        Command::Query(args) => query::run(args),
        #[cfg(feature = "mcp")]
        Command::Mcp(args) => mcp::run(args),
        Command::Explain(args) => explain::run(&args),
        Command::Schema(args) => schema::run(&args),
        Command::Config(args) => config::run(&args),
        Command::Doctor(args) => doctor::run(&args),
        Command::Health(args) => health::run(&args),
        Command::Completions(args) => completions::run(&args, Program::command()),
        Command::Manual(args) => manual::run(&args, Program::command()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Standard error may be closed, which must not change the exit code.
            let _ = writeln!(io::stderr(), "orderql: {}", ErrorChain(&*error));
            ExitCode::FAILURE
        }
    }
}
