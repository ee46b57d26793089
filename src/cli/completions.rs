//! `orderql completions`: what a shell completes.

use std::io;

use clap::Command;
use clap_complete::Shell;

use crate::cli::outcome::Outcome;

/// Print the completions of a shell
#[derive(Debug, clap::Args)]
#[command(after_help = "For bash: orderql completions bash > /usr/share/bash-completion/completions/orderql")]
pub(crate) struct Args {
    /// The shell that completes
    shell: Shell,
}

/// Prints the completions of this program.
pub(crate) fn run(args: &Args, mut program: Command) -> Outcome {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut program, "orderql", &mut text);
    Ok(io::Write::write_all(&mut io::stdout(), &text)?)
}
