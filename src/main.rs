//! The `orderql` program.

use std::process::ExitCode;

fn main() -> ExitCode {
    orderql::cli::run()
}
