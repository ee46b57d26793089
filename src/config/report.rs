//! The settings in force as JSON, for operators. Secrets are not shown.

use serde_json::{Map, Value, json};

use crate::config::setting::Setting;
use crate::config::settings::SETTINGS;
use crate::config::values::SettingValues;

/// Each setting with its value, and where that comes from.
pub(crate) fn report(values: &SettingValues) -> Value {
    SETTINGS.iter().map(|setting| (setting.name.to_owned(), describe(setting, values))).collect::<Map<_, _>>().into()
}

/// A setting. Its value is null if it has none; the value of a secret is left out.
fn describe(setting: &Setting, values: &SettingValues) -> Value {
    let value = values.get(setting);
    let origin = value.origin.to_string();
    match value.text.as_str() {
        "" => json!({ "value": null, "origin": origin }),
        _ if setting.secret => json!({ "isSecret": true, "origin": origin }),
        text => json!({ "value": text, "origin": origin }),
    }
}
