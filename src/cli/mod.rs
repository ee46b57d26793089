//! The program's commands, a file each: its arguments, and what running it comes to.

use std::{error::Error, process::ExitCode};

use clap::{Parser, Subcommand};

pub mod config;
pub mod demo;
pub mod explain;
pub mod load;
pub mod migrate;
pub mod serve;

use crate::telemetry::event::Causes;

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
    /// Tell what a query costs and how it would be answered, without a database.
    Explain(explain::Args),
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
        Command::Explain(args) => explain::run(&args),
        Command::Config(args) => config::run(&args),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("orderql: {}", Causes(&*error));
            ExitCode::FAILURE
        }
    }
}
