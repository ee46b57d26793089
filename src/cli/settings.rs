//! The settings of a command: its flags, the environment and the configuration file.

use std::env;

use crate::config::error::ConfigError;
use crate::config::flags::Flags;
use crate::config::layers;
use crate::config::values::SettingValues;

/// Gathers the settings.
pub(crate) fn gather(flags: &Flags) -> Result<SettingValues, ConfigError> {
    layers::gather(flags, |name| env::var_os(name))
}

/// Prints a warning to standard error.
pub(crate) fn warn(warning: &str) {
    eprintln!("orderql: warning: {warning}");
}
