//! The sources of values and their order: flags over environment variables over the file over the defaults.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

use crate::config::error::ConfigError;
use crate::config::file;
use crate::config::flags::{FILE_VARIABLE, Flags};
use crate::config::origin::SettingOrigin;
use crate::config::setting::Setting;
use crate::config::settings::SETTINGS;
use crate::config::values::{SettingValue, SettingValues};

/// The values in force: each setting is looked for in all sources. `environment` returns a variable's value, as `std::env::var_os` does.
pub(crate) fn gather(
    flags: &Flags,
    environment: impl Fn(&str) -> Option<OsString>,
) -> Result<SettingValues, ConfigError> {
    let path = flags.file.clone().or_else(|| environment(FILE_VARIABLE).map(PathBuf::from));
    let path = path.filter(|path| !path.as_os_str().is_empty()).unwrap_or_default();
    let in_file = if path.as_os_str().is_empty() { BTreeMap::new() } else { file::read(&path)? };
    let sources = Sources { flags, environment, path, in_file };
    let mut values = SettingValues::default();
    for setting in SETTINGS {
        if let Some(value) = sources.find(setting)? {
            values.insert(setting.name, value);
        }
    }
    Ok(values)
}

struct Sources<'a, E> {
    flags: &'a Flags,
    environment: E,
    path: PathBuf,
    in_file: BTreeMap<&'static str, String>,
}

impl<E: Fn(&str) -> Option<OsString>> Sources<'_, E> {
    /// The setting's value in the highest source that has one.
    fn find(&self, setting: &'static Setting) -> Result<Option<SettingValue>, ConfigError> {
        let Setting { name, variable, .. } = setting;
        if let Some(text) = self.flags.values.get(name) {
            return Ok(Some(SettingValue { text: text.clone(), origin: SettingOrigin::Flag(name) }));
        }
        if let Some(text) = (self.environment)(variable) {
            let text = text.into_string().map_err(|_| ConfigError::NotText(variable))?;
            return Ok(Some(SettingValue { text, origin: SettingOrigin::Variable(variable) }));
        }
        let in_file = self.in_file.get(name);
        Ok(in_file.map(|text| SettingValue { text: text.clone(), origin: SettingOrigin::File(self.path.clone()) }))
    }
}
