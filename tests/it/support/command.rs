//! The `orderql` program as a command.

use std::io::Write as _;
use std::process::{Command, Stdio};

use crate::support::database::Database;
use crate::support::server::connection_string;

/// The exit and the output of a command.
#[derive(Debug)]
pub struct CommandResult {
    pub succeeded: bool,
    pub stdout: String,
    pub stderr: String,
}

/// The program, without settings from the environment.
pub fn orderql() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_orderql"));
    command.env_remove("ORDERQL_SCHEMA").env_remove("ORDERQL_DATABASE_URL");
    command
}

/// The program with a database, run by the operator `ann`.
pub fn orderql_on(database: &Database) -> Command {
    let mut command = orderql();
    command.env("ORDERQL_DATABASE_URL", connection_string(&database.config())).env("SUDO_USER", "ann");
    command
}

/// Runs a command with that standard input.
pub fn run(command: &mut Command, input: &str) -> CommandResult {
    let mut program = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // A program that reads no input may have ended.
    let _ = program.stdin.take().unwrap().write_all(input.as_bytes());
    let output = program.wait_with_output().unwrap();
    CommandResult {
        succeeded: output.status.success(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}
