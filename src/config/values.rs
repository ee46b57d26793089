//! The values in force, as text.

use std::collections::BTreeMap;

use crate::config::error::ConfigError;
use crate::config::origin::SettingOrigin;
use crate::config::setting::Setting;
use crate::config::value_parser::ValueParser;

/// A setting's value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SettingValue {
    /// As it was written.
    pub(crate) text: String,
    /// The source of the value.
    pub(crate) origin: SettingOrigin,
}

/// The settings' values, by the settings' names.
#[derive(Debug, Clone, Default)]
pub(crate) struct SettingValues {
    values: BTreeMap<&'static str, SettingValue>,
}

impl SettingValues {
    /// The setting's value. A setting without one has its default.
    pub(crate) fn get(&self, setting: &Setting) -> SettingValue {
        let default = || SettingValue { text: setting.default.to_owned(), origin: SettingOrigin::Default };
        self.values.get(setting.name).cloned().unwrap_or_else(default)
    }

    /// Whether a source has a value for the setting of this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.values.contains_key(name)
    }

    /// The names of the settings whose values come from the configuration file.
    pub(crate) fn in_file(&self) -> impl Iterator<Item = &'static str> {
        self.values.iter().filter(|(_, value)| matches!(value.origin, SettingOrigin::File(_))).map(|(name, _)| *name)
    }

    /// Sets the value of the setting of this name.
    pub(crate) fn insert(&mut self, name: &'static str, value: SettingValue) {
        self.values.insert(name, value);
    }

    /// Gives a setting another default: a value for it where no source has one.
    #[cfg(feature = "tools")]
    pub(crate) fn set_default(&mut self, name: &'static str, text: impl Into<String>) {
        self.values.entry(name).or_insert_with(|| SettingValue { text: text.into(), origin: SettingOrigin::Command });
    }

    /// These values, with the values of the other that a reload puts in force.
    pub(crate) fn reloaded(&self, other: &Self, settings: &'static [Setting]) -> Self {
        let from = |setting: &Setting| if setting.live { other } else { self };
        let value = |setting: &'static Setting| Some((setting.name, from(setting).values.get(setting.name)?.clone()));
        Self { values: settings.iter().filter_map(value).collect() }
    }

    /// Whether the setting has another value there.
    pub(crate) fn differs(&self, other: &Self, setting: &Setting) -> bool {
        self.get(setting).text != other.get(setting).text
    }

    /// Parses the setting's value.
    pub(crate) fn parse<T>(&self, setting: &Setting, parser: &ValueParser<T>) -> Result<T, ConfigError> {
        let value = self.get(setting);
        (parser.parse)(&value.text).ok_or_else(|| ConfigError::BadValue {
            name: setting.name,
            value: if setting.secret { "a secret that is not shown".into() } else { format!("{:?}", value.text) },
            origin: value.origin,
            wanted: parser.wanted,
        })
    }
}
