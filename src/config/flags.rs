//! The settings on the command line.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::builder::ValueParser;
use clap::{Arg, ArgMatches, Command};

use crate::config::setting::Setting;
use crate::config::settings::SETTINGS;

/// The flag that names the configuration file.
const FILE_FLAG: &str = "config";

/// The environment variable that names the configuration file.
pub(crate) const FILE_VARIABLE: &str = "ORDERQL_CONFIG";

/// The settings that were given on the command line. Flattened into the arguments of every command that takes settings.
#[derive(Debug, Clone, Default)]
pub(crate) struct Flags {
    /// The configuration file.
    pub(crate) file: Option<PathBuf>,
    /// The flags' values, by the flags' names.
    pub(crate) values: BTreeMap<&'static str, String>,
}

impl clap::FromArgMatches for Flags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut flags = Self::default();
        flags.update_from_arg_matches(matches)?;
        Ok(flags)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        if let Some(path) = matches.get_one::<PathBuf>(FILE_FLAG) {
            self.file = Some(path.clone());
        }
        for Setting { name, .. } in SETTINGS {
            if let Some(text) = matches.get_one::<String>(name) {
                self.values.insert(name, text.clone());
            }
        }
        Ok(())
    }
}

impl clap::Args for Flags {
    fn augment_args(command: Command) -> Command {
        let file = Arg::new(FILE_FLAG)
            .long(FILE_FLAG)
            .value_name("FILE")
            .value_parser(clap::value_parser!(PathBuf))
            .help(format!("TOML file with settings, under the flags' names [env: {FILE_VARIABLE}]"));
        command.next_help_heading("Settings").arg(file).args(SETTINGS.iter().map(flag))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

fn flag(setting: &'static Setting) -> Arg {
    let default = match setting.default {
        "" => "none",
        default => default,
    };
    let help = format!("{} [default: {default}] [env: {}]", setting.help.trim(), setting.variable);
    let parse = move |text: &str| {
        if (setting.accepts)(text) { Ok(text.to_owned()) } else { Err(format!("expected {}", setting.wanted)) }
    };
    Arg::new(setting.name)
        .long(setting.name)
        .value_name(setting.placeholder)
        .value_parser(ValueParser::new(parse))
        // Rejected by the setting, which describes valid values, and not as an unknown flag.
        .allow_negative_numbers(true)
        .hide_possible_values(true)
        .help(help)
}
