//! `orderql config`: the settings in force, as a configuration file that would set them.

use std::env;
use std::io::{self, Write};

use crate::cli::Outcome;
use crate::config::Config;
use crate::config::layers::{Flags, Values};

/// Takes every setting, to show what they would come to.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    flags: Flags,
}

/// Prints the settings, or says which one is wrong.
pub fn run(args: &Args) -> Outcome {
    let values = Values::gather(&args.flags, |name| env::var_os(name))?;
    Config::read(&values)?;
    let mut out = io::stdout().lock();
    for (setting, value) in values.iter() {
        let name = setting.name;
        let shown = match value.text.as_str() {
            "" => format!("# {name} is not set"),
            _ if setting.secret => format!("# {name} is set, and not shown"),
            text => format!("{name} = {}", toml::Value::from(text)),
        };
        writeln!(out, "{shown:<48} # {}", value.origin)?;
    }
    Ok(())
}
