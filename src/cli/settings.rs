//! The settings of a command: its flags, the environment and the configuration file.

use std::env;

use crate::config::error::ConfigError;
use crate::config::flags::Flags;
use crate::config::layers::{self, Gathered};
use crate::config::values::SettingValues;

/// Gathers the settings. Prints a warning to standard error for each old name that was used.
pub(crate) fn gather(flags: &Flags) -> Result<SettingValues, ConfigError> {
    let Gathered { values, warnings } = layers::gather(flags, |name| env::var_os(name))?;
    for warning in warnings {
        warn(&warning.to_string());
    }
    Ok(values)
}

/// Prints a warning to standard error.
pub(crate) fn warn(warning: &str) {
    eprintln!("orderql: warning: {warning}");
}
