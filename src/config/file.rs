//! The settings in a configuration file: TOML, with the settings' names as keys.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::config::error::ConfigError;
use crate::config::old_names::OLD_NAMES;
use crate::config::setting::Setting;
use crate::config::settings::SETTINGS;
use crate::nearest::closest;

/// Reads the file. Returns its values as text, by their keys, which may be settings' old names.
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
    let Some((name, setting)) = find(key) else {
        return Err(ConfigError::UnknownKey { file: path.to_owned(), key: key.to_owned(), nearest: nearest(key) });
    };
    match value {
        toml::Value::String(text) => Ok((name, text)),
        toml::Value::Integer(number) => Ok((name, number.to_string())),
        other => Err(ConfigError::NotScalar {
            file: path.to_owned(),
            key: name,
            found: other.type_str(),
            wanted: setting.wanted,
        }),
    }
}

/// The setting with this name or old name, and that name.
fn find(key: &str) -> Option<(&'static str, &'static Setting)> {
    let by_name = |name: &str| SETTINGS.iter().find(|setting| setting.name == name);
    match OLD_NAMES.iter().find(|old| old.name == key) {
        Some(old) => Some((old.name, by_name(old.setting)?)),
        None => by_name(key).map(|setting| (setting.name, setting)),
    }
}

fn nearest(key: &str) -> &'static str {
    let key = key.replace('_', "-");
    let closest = closest(&key, SETTINGS.iter().map(|setting| setting.name));
    closest.map_or("listen", |closest| SETTINGS[closest.index].name)
}
