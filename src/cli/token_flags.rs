//! The settings of commands that work with the keys of tokens. They take all settings, so that they can be run with the server's.
//! Their help shows the settings that matter to them.

use clap::{Arg, ArgMatches};

use crate::config::flags::Flags;
use crate::config::settings::SETTINGS;

/// The settings in the help. The way to the database is one, because these commands write to the audit trail.
const SHOWN: [&str; 3] = ["database-url", "key-folder", "signing-key"];

/// The settings that were given on the command line.
#[derive(Debug, Clone, Default)]
pub(crate) struct TokenFlags(pub(crate) Flags);

impl clap::Args for TokenFlags {
    fn augment_args(command: clap::Command) -> clap::Command {
        let is_of_others = |arg: &Arg| {
            let name = arg.get_id().as_str();
            SETTINGS.iter().any(|setting| setting.name == name) && !SHOWN.contains(&name)
        };
        Flags::augment_args(command).mut_args(|arg| if is_of_others(&arg) { arg.hide(true) } else { arg })
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Self::augment_args(command)
    }
}

impl clap::FromArgMatches for TokenFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        Flags::from_arg_matches(matches).map(Self)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        self.0.update_from_arg_matches(matches)
    }
}
