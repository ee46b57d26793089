//! `orderql config`: the settings in force, in the form of a configuration file.

use std::io::{self, Write};

use crate::cli::outcome::Outcome;
use crate::cli::settings;
use crate::config::flags::Flags;
use crate::config::report::report;
use crate::config::settings::{Config, SETTINGS};

/// Print the settings in force, and where each comes from
///
/// The output is a configuration file. Exits with 1 if a setting is not valid.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Print JSON: for each setting its value, and where it comes from
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    flags: Flags,
}

/// Prints the settings. Fails if one is not valid.
pub(crate) fn run(args: &Args) -> Outcome {
    let values = settings::gather(&args.flags)?;
    Config::read(&values)?;
    let mut out = io::stdout().lock();
    if args.json {
        writeln!(out, "{:#}", report(&values))?;
        return Ok(());
    }
    for setting in SETTINGS {
        let (name, value) = (setting.name, values.get(setting));
        let shown = match value.text.as_str() {
            "" => format!("# {name} is not set"),
            _ if setting.secret => format!("# {name} is set, and not shown"),
            text => format!("{name} = {}", toml::Value::from(text)),
        };
        writeln!(out, "{shown:<48} # {}", value.origin)?;
    }
    Ok(())
}
