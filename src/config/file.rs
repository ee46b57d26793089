//! The settings in a configuration file: TOML, with the settings' names as keys.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::config::error::ConfigError;
use crate::config::settings::SETTINGS;
use crate::nearest::closest;

/// Reads the file. Returns its values as text, by the settings' names.
pub(crate) fn read(path: &Path) -> Result<BTreeMap<&'static str, String>, ConfigError> {
    let text = fs::read_to_string(path).map_err(|error| ConfigError::Unreadable(path.to_owned(), error))?;
    let table: toml::Table = text.parse().map_err(|error| not_toml(path, &text, &error))?;
    table.into_iter().map(|(key, value)| entry(path, &key, value)).collect()
}

fn not_toml(path: &Path, text: &str, error: &toml::de::Error) -> ConfigError {
    let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
    let line = before.matches('\n').count() + 1;
    ConfigError::NotToml { file: path.to_owned(), line, message: error.message().to_owned() }
}

fn entry(path: &Path, key: &str, value: toml::Value) -> Result<(&'static str, String), ConfigError> {
    let Some(setting) = SETTINGS.iter().find(|setting| setting.name == key) else {
        return Err(ConfigError::UnknownKey { file: path.to_owned(), key: key.to_owned(), nearest: nearest(key) });
    };
    match value {
        toml::Value::String(text) => Ok((setting.name, text)),
        toml::Value::Integer(number) => Ok((setting.name, number.to_string())),
        other => Err(ConfigError::NotScalar {
            file: path.to_owned(),
            key: setting.name,
            found: other.type_str(),
            wanted: setting.wanted,
        }),
    }
}

fn nearest(key: &str) -> &'static str {
    let key = key.replace('_', "-");
    let closest = closest(&key, SETTINGS.iter().map(|setting| setting.name));
    closest.map_or("listen", |closest| SETTINGS[closest.index].name)
}
