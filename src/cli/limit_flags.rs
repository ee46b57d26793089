//! The limits of a caller for whom a query is compiled, a flag each.

use clap::{Arg, ArgMatches};

use crate::config::limit_settings::parser;
use crate::limits::{LIMITS, Limit, Limits, Profile};

/// The limits of the caller, a flag each.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LimitFlags(pub(crate) Limits);

impl clap::Args for LimitFlags {
    fn augment_args(command: clap::Command) -> clap::Command {
        let flag = |limit: &'static Limit| {
            let arg =
                Arg::new(limit.name).long(limit.name).value_name("N").help(limit.help.trim().trim_end_matches('.'));
            arg.default_value(limit.default).value_parser(|text: &str| parser(limit.unit).read(text))
        };
        command.args(LIMITS.iter().filter(|limit| limit.is_of_query).map(flag))
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Self::augment_args(command)
    }
}

impl clap::FromArgMatches for LimitFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut limits = Profile::DEFAULT;
        for limit in LIMITS.iter().filter(|limit| limit.is_of_query) {
            *(limit.own)(&mut limits) = matches.get_one(limit.name).copied();
        }
        Ok(Self(Limits::of(&limits)))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
