//! The program's commands, a file each: its arguments, and what running it comes to.

use std::error::Error;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

pub(crate) mod audit;
pub(crate) mod config;
pub mod demo;
pub(crate) mod grant;
pub(crate) mod group;
pub(crate) mod keys;
pub mod explain;
pub mod load;
pub(crate) mod manage;
pub mod migrate;
pub(crate) mod profile;
pub(crate) mod sample;
pub(crate) mod schema;
pub(crate) mod serve;
pub(crate) mod settings;
pub(crate) mod table;
pub(crate) mod token;
pub(crate) mod user;

use crate::telemetry::error_chain::ErrorChain;

/// What a command comes to: nothing, or an error that is printed with its causes before the program exits with 1.
pub type Outcome = Result<(), Box<dyn Error + Send + Sync>>;

/// An order-management API over a PostgreSQL database with Apache OFBiz's tables.
#[derive(Debug, Parser)]
#[command(name = "orderql", version, max_term_width = 120)]
struct Program {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serve a database.
    Serve(serve::Args),
    /// Serve OFBiz's demo orders from a PostgreSQL of its own.
    Demo(demo::Args),
    /// Add to a database what orderql needs, or make its tables in an empty one.
    Migrate(migrate::Args),
    /// Load OFBiz data files into a database.
    Load(load::Args),
    /// Fill a database with made-up orders.
    Sample(sample::Args),
    /// Make, list, close and remove the users who may ask for tokens.
    User(user::Args),
    /// Make, list and remove user groups, and say who is in them.
    Group(group::Args),
    /// Say which groups may use what.
    Grant(grant::Args),
    /// Hold single users to other limits than everybody.
    Profile(profile::Args),
    /// Print a token for a user, such as a service that has no password to send.
    Token(token::Args),
    /// Make, list and retire the keys that sign tokens.
    Keys(keys::Args),
    /// Show who signed in, and who changed users, groups, grants and profiles.
    Audit(audit::Args),
    /// Tell what a query costs and how it would be answered, without a database.
    Explain(explain::Args),
    /// Print the schema that is published, or hold it against a database.
    Schema(schema::Args),
    /// Print the settings in force, and where each comes from.
    Config(config::Args),
}

/// Runs the command that the arguments name. Wrong arguments end the process with 2, as clap has it.
pub fn run() -> ExitCode {
    let outcome = match Program::parse().command {
        Command::Serve(args) => serve::run(&args),
        Command::Demo(args) => demo::run(&args),
        Command::Migrate(args) => migrate::run(args),
        Command::Load(args) => load::run(args),
        Command::Sample(args) => sample::run(args),
        Command::User(args) => user::run(args),
        Command::Group(args) => group::run(args),
        Command::Grant(args) => grant::run(args),
        Command::Profile(args) => profile::run(args),
        Command::Token(args) => token::run(&args),
        Command::Keys(args) => keys::run(&args),
        Command::Audit(args) => audit::run(args),
        Command::Explain(args) => explain::run(&args),
        Command::Schema(args) => schema::run(&args),
        Command::Config(args) => config::run(&args),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("orderql: {}", ErrorChain(&*error));
            ExitCode::FAILURE
        }
    }
}
