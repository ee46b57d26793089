//! `orderql config`: the settings in force, in the form of a configuration file.

use std::io::{self, Write};

use serde_json::{Map, Value, json};

use crate::cli::outcome::Outcome;
use crate::cli::settings;
use crate::config::flags::Flags;
use crate::config::setting::Setting;
use crate::config::settings::{Config, SETTINGS};
use crate::config::values::Values;

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
        let settings: Map<_, _> =
            SETTINGS.iter().map(|setting| (setting.name.to_owned(), described(setting, &values))).collect();
        writeln!(out, "{:#}", Value::Object(settings))?;
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

/// A setting as JSON. Its value is null if it has none; a secret is not shown.
fn described(setting: &Setting, values: &Values) -> Value {
    let value = values.get(setting);
    let origin = value.origin.to_string();
    match value.text.as_str() {
        "" => json!({ "value": null, "origin": origin }),
        _ if setting.secret => json!({ "isSecret": true, "origin": origin }),
        text => json!({ "value": text, "origin": origin }),
    }
}
