//! The sources of values and their order: flags over environment variables over the file over the defaults.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

use crate::config::error::ConfigError;
use crate::config::file;
use crate::config::flags::{FILE_VARIABLE, Flags};
use crate::config::old_names::{OldNameUsed, SettingName, names};
use crate::config::origin::SettingOrigin;
use crate::config::setting::Setting;
use crate::config::settings::SETTINGS;
use crate::config::values::{SettingValue, SettingValues};

/// The values in force, and the old names under which some were found.
#[derive(Debug, Clone, Default)]
pub(crate) struct Gathered {
    pub(crate) values: SettingValues,
    /// To be shown to the user.
    pub(crate) warnings: Vec<OldNameUsed>,
}

/// Looks for each setting in all sources. `environment` returns a variable's value, as `std::env::var_os` does.
pub(crate) fn gather(flags: &Flags, environment: impl Fn(&str) -> Option<OsString>) -> Result<Gathered, ConfigError> {
    let path = flags.file.clone().or_else(|| environment(FILE_VARIABLE).map(PathBuf::from));
    let path = path.filter(|path| !path.as_os_str().is_empty()).unwrap_or_default();
    let in_file = if path.as_os_str().is_empty() { BTreeMap::new() } else { file::read(&path)? };
    let sources = Sources { flags, environment, path, in_file };
    let mut gathered = Gathered::default();
    for setting in SETTINGS {
        if let Some((value, warning)) = sources.find(setting)? {
            gathered.values.insert(setting.name, value);
            gathered.warnings.extend(warning);
        }
    }
    Ok(gathered)
}

struct Sources<'a, E> {
    flags: &'a Flags,
    environment: E,
    path: PathBuf,
    in_file: BTreeMap<&'static str, String>,
}

impl<E: Fn(&str) -> Option<OsString>> Sources<'_, E> {
    /// The setting's value in the highest source that has one, with a warning if it is there under an old name.
    fn find(&self, setting: &'static Setting) -> Result<Option<(SettingValue, Option<OldNameUsed>)>, ConfigError> {
        for SettingName { name, .. } in names(setting) {
            if let Some(text) = self.flags.values.get(name) {
                let warning = (name != setting.name).then_some(OldNameUsed::Flag { old: name, new: setting.name });
                return Ok(Some((SettingValue { text: text.clone(), origin: SettingOrigin::Flag(name) }, warning)));
            }
        }
        for SettingName { variable, .. } in names(setting) {
            if let Some(text) = (self.environment)(variable) {
                let text = text.into_string().map_err(|_| ConfigError::NotText(variable))?;
                let new = setting.variable;
                let warning = (variable != new).then_some(OldNameUsed::Variable { old: variable, new });
                return Ok(Some((SettingValue { text, origin: SettingOrigin::Variable(variable) }, warning)));
            }
        }
        for SettingName { name, .. } in names(setting) {
            if let Some(text) = self.in_file.get(name) {
                let file = || self.path.clone();
                let warning =
                    (name != setting.name).then(|| OldNameUsed::Key { old: name, new: setting.name, file: file() });
                return Ok(Some((SettingValue { text: text.clone(), origin: SettingOrigin::File(file()) }, warning)));
            }
        }
        Ok(None)
    }
}
