//! Where values come from, and which one is in force: flag before environment variable before file before default.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::{fmt, fs, io};

use clap::{Arg, ArgMatches, Command};

use crate::config::value_parser::ValueParser;
use crate::config::{SETTINGS, Setting};
use crate::nearest::closest;

/// The flag and the environment variable that name the configuration file.
const FILE_FLAG: &str = "config";
const FILE_VARIABLE: &str = "ORDERQL_CONFIG";

/// The settings that were given on the command line. Flattened into the arguments of every command that serves.
#[derive(Debug, Clone, Default)]
pub struct Flags {
    file: Option<PathBuf>,
    given: BTreeMap<&'static str, String>,
}

/// Every setting's value as text, and where it comes from.
#[derive(Debug, Clone)]
pub struct Values {
    values: BTreeMap<&'static str, Value>,
}

/// A value in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Value {
    /// As it was written.
    pub text: String,
    /// By whom.
    pub origin: Origin,
}

/// Where a value comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// A flag on the command line.
    Flag(&'static str),
    /// A variable of the environment.
    Variable(&'static str),
    /// The configuration file.
    File(PathBuf),
    /// The command itself: `demo` knows its database.
    Command,
    /// Nobody gave one.
    Default,
}

/// Why the configuration cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// A value that its setting cannot take.
    #[error("{name} is {value}, as {origin} says; expected {wanted}")]
    BadValue {
        /// The setting.
        name: &'static str,
        /// The value in quotes, or that it is not shown.
        value: String,
        /// Where it comes from.
        origin: Origin,
        /// What would be right.
        wanted: &'static str,
    },
    /// A setting without a default that nobody gave.
    #[error("{name} is not set; give --{name}, {variable} or `{name} = …` in a configuration file")]
    Missing {
        /// The setting.
        name: &'static str,
        /// Its environment variable.
        variable: &'static str,
    },
    /// A variable that is not text.
    #[error("the environment variable {0} is not valid UTF-8")]
    NotText(&'static str),
    /// The file cannot be read.
    #[error("cannot read the configuration file {}", .0.display())]
    Unreadable(PathBuf, #[source] io::Error),
    /// The file is not TOML.
    #[error("{} is not TOML", .0.display())]
    NotToml(PathBuf, #[source] Box<toml::de::Error>),
    /// The file has a key that is no setting.
    #[error("{}: there is no setting `{key}`; did you mean `{nearest}`?", .file.display())]
    UnknownKey {
        /// The file.
        file: PathBuf,
        /// The key.
        key: String,
        /// The setting with the most similar name.
        nearest: &'static str,
    },
    /// The file has a table or a list where a value belongs.
    #[error("{}: `{key}` is of the type {found}; expected {wanted}", .file.display())]
    NotScalar {
        /// The file.
        file: PathBuf,
        /// The key.
        key: &'static str,
        /// What stands there.
        found: &'static str,
        /// What would be right.
        wanted: &'static str,
    },
}

impl Values {
    /// Looks in all sources. `environment` is `std::env::var_os`, or what a test says.
    pub fn gather(flags: &Flags, environment: impl Fn(&str) -> Option<OsString>) -> Result<Self, ConfigError> {
        let file = flags.file.clone().or_else(|| environment(FILE_VARIABLE).map(PathBuf::from));
        let mut in_file = match file {
            Some(path) if !path.as_os_str().is_empty() => read_file(path)?,
            _ => BTreeMap::new(),
        };
        let mut values = BTreeMap::new();
        for setting in SETTINGS {
            let from_file = in_file.remove(setting.name);
            let value = if let Some(text) = flags.given.get(setting.name) {
                Value { text: text.clone(), origin: Origin::Flag(setting.name) }
            } else if let Some(text) = environment(setting.variable) {
                let text = text.into_string().map_err(|_| ConfigError::NotText(setting.variable))?;
                Value { text, origin: Origin::Variable(setting.variable) }
            } else if let Some(value) = from_file {
                value
            } else {
                Value { text: setting.default.to_owned(), origin: Origin::Default }
            };
            values.insert(setting.name, value);
        }
        Ok(Self { values })
    }

    /// Sets a value that a command knows better than any source.
    pub fn set(&mut self, name: &'static str, text: impl Into<String>) {
        self.values.insert(name, Value { text: text.into(), origin: Origin::Command });
    }

    /// Gives a setting that nobody has given another default.
    pub fn set_default(&mut self, name: &'static str, text: impl Into<String>) {
        if self.values.get(name).is_none_or(|value| value.origin == Origin::Default) {
            self.set(name, text);
        }
    }

    /// Every setting with its value, in the table's order.
    pub fn iter(&self) -> impl Iterator<Item = (&'static Setting, &Value)> {
        SETTINGS.iter().filter_map(|setting| Some((setting, self.values.get(setting.name)?)))
    }

    /// The setting's value, read.
    pub(super) fn read<T>(&self, setting: &Setting, form: &ValueParser<T>) -> Result<T, ConfigError> {
        let unset = Value { text: setting.default.to_owned(), origin: Origin::Default };
        let value = self.values.get(setting.name).unwrap_or(&unset);
        (form.parse)(&value.text).ok_or_else(|| ConfigError::BadValue {
            name: setting.name,
            value: if setting.secret { "a secret that is not shown".into() } else { format!("{:?}", value.text) },
            origin: value.origin.clone(),
            wanted: form.wanted,
        })
    }
}

fn read_file(path: PathBuf) -> Result<BTreeMap<&'static str, Value>, ConfigError> {
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) => return Err(ConfigError::Unreadable(path, error)),
    };
    let table: toml::Table = match text.parse() {
        Ok(table) => table,
        Err(error) => return Err(ConfigError::NotToml(path, Box::new(error))),
    };
    let mut values = BTreeMap::new();
    for (key, value) in table {
        let Some(setting) = SETTINGS.iter().find(|setting| setting.name == key) else {
            let nearest = nearest(&key);
            return Err(ConfigError::UnknownKey { file: path, key, nearest });
        };
        let text = match value {
            toml::Value::String(text) => text,
            toml::Value::Integer(number) => number.to_string(),
            other => {
                return Err(ConfigError::NotScalar {
                    file: path,
                    key: setting.name,
                    found: other.type_str(),
                    wanted: setting.wanted,
                });
            }
        };
        values.insert(setting.name, Value { text, origin: Origin::File(path.clone()) });
    }
    Ok(values)
}

fn nearest(key: &str) -> &'static str {
    let key = key.replace('_', "-");
    let closest = closest(&key, SETTINGS.iter().map(|setting| setting.name));
    closest.map_or("listen", |closest| SETTINGS[closest.index].name)
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(name) => write!(f, "the flag --{name}"),
            Self::Variable(name) => write!(f, "the variable {name}"),
            Self::File(path) => write!(f, "the file {}", path.display()),
            Self::Command => f.write_str("the command"),
            Self::Default => f.write_str("the default"),
        }
    }
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
        for setting in SETTINGS {
            if let Some(text) = matches.get_one::<String>(setting.name) {
                self.given.insert(setting.name, text.clone());
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
    let read = move |text: &str| {
        if (setting.accepts)(text) { Ok(text.to_owned()) } else { Err(format!("expected {}", setting.wanted)) }
    };
    Arg::new(setting.name)
        .long(setting.name)
        .value_name(setting.placeholder)
        .value_parser(clap::builder::ValueParser::new(read))
        .hide_possible_values(true)
        .help(format!("{} [default: {default}] [env: {}]", setting.help.trim(), setting.variable))
}
