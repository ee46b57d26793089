//! Names that settings had before. They are accepted for one version, with a warning; then their rows are removed.

use std::fmt;
use std::path::PathBuf;

use crate::config::setting::Setting;

/// A setting's old name.
#[derive(Debug)]
pub(crate) struct OldName {
    /// The flag without its dashes, and the key in a file.
    pub(crate) name: &'static str,
    /// The environment variable.
    pub(crate) variable: &'static str,
    /// The setting's name now.
    pub(crate) setting: &'static str,
}

/// The old names that are still accepted.
pub(crate) static OLD_NAMES: &[OldName] = &[
    OldName { name: "outside-jwks", variable: "ORDERQL_OUTSIDE_JWKS", setting: "external-jwks" },
    OldName { name: "outside-issuer", variable: "ORDERQL_OUTSIDE_ISSUER", setting: "external-issuer" },
    OldName { name: "outside-audience", variable: "ORDERQL_OUTSIDE_AUDIENCE", setting: "external-audience" },
    OldName { name: "outside-user-claim", variable: "ORDERQL_OUTSIDE_USER_CLAIM", setting: "external-user-claim" },
];

/// A name of a setting: its own, or an old one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SettingName {
    /// The flag without its dashes, and the key in a file.
    pub(crate) name: &'static str,
    /// The environment variable.
    pub(crate) variable: &'static str,
}

/// The setting's names, its own first.
pub(crate) fn names(setting: &'static Setting) -> impl Iterator<Item = SettingName> {
    let old = OLD_NAMES.iter().filter(|old| old.setting == setting.name);
    let own = SettingName { name: setting.name, variable: setting.variable };
    [own].into_iter().chain(old.map(|old| SettingName { name: old.name, variable: old.variable }))
}

/// An old name was used. Its text says what to write instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum OldNameUsed {
    /// On the command line.
    Flag { old: &'static str, new: &'static str },
    /// In the environment.
    Variable { old: &'static str, new: &'static str },
    /// In the configuration file.
    Key { old: &'static str, new: &'static str, file: PathBuf },
}

impl fmt::Display for OldNameUsed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag { old, new } => write!(f, "--{old} is now called --{new}")?,
            Self::Variable { old, new } => write!(f, "{old} is now called {new}")?,
            Self::Key { old, new, file } => write!(f, "{}: `{old}` is now called `{new}`", file.display())?,
        }
        f.write_str("; the old name will be removed in the next version")
    }
}
