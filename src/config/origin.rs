//! The source of a setting's value.

use std::fmt;
use std::path::PathBuf;

/// The source of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SettingOrigin {
    /// A flag on the command line.
    Flag(&'static str),
    /// An environment variable.
    Variable(&'static str),
    /// The configuration file.
    File(PathBuf),
    /// The command itself: `demo` knows its database.
    #[cfg(feature = "tools")]
    Command,
    /// The setting's default.
    Default,
}

impl fmt::Display for SettingOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(name) => write!(f, "the flag --{name}"),
            Self::Variable(name) => write!(f, "the variable {name}"),
            Self::File(path) => write!(f, "the file {}", path.display()),
            #[cfg(feature = "tools")]
            Self::Command => f.write_str("the command"),
            Self::Default => f.write_str("the default"),
        }
    }
}
