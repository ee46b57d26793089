//! A setting: a row of the table.

/// The names of a setting in each place that can set it, and its meaning.
#[derive(Debug, Clone, Copy)]
pub struct Setting {
    /// The flag without its dashes, and the key in a file.
    pub name: &'static str,
    /// The environment variable.
    pub variable: &'static str,
    /// The default as it would be written; empty where there is none.
    pub default: &'static str,
    /// Its purpose, in words.
    pub help: &'static str,
    /// The placeholder for the value in `--help`.
    pub placeholder: &'static str,
    /// A description of valid values, to follow "expected".
    pub wanted: &'static str,
    /// Whether its value is never shown.
    pub secret: bool,
    /// Whether a reload puts another value in force. If not, the server has to be started again.
    pub live: bool,
    /// Whether a text is a valid value.
    pub(crate) accepts: fn(&str) -> bool,
}
