//! The settings that are the defaults of a caller's limits, one for each.

use crate::access::caller_limits::DefaultLimits;
use crate::config::error::ConfigError;
use crate::config::setting::Setting;
use crate::config::value_parser::{CREDITS, LIMIT, SIZE, TIME, ValueParser};
use crate::config::values::SettingValues;
use crate::limits::{LIMITS, Limit, Profile, Unit};

/// The settings, with the settings of the limits between the two groups.
pub(super) const fn between<const N: usize>(before: &[Setting], after: &[Setting]) -> [Setting; N] {
    let mut settings = [before[0]; N];
    let mut index = 0;
    while index < N {
        settings[index] = if index < before.len() {
            before[index]
        } else if index < before.len() + LIMITS.len() {
            setting(&LIMITS[index - before.len()])
        } else {
            after[index - before.len() - LIMITS.len()]
        };
        index += 1;
    }
    settings
}

/// The setting of a limit.
const fn setting(limit: &Limit) -> Setting {
    let ValueParser { placeholder, wanted, .. } = parser(limit.unit);
    Setting {
        name: limit.name,
        variable: limit.variable,
        default: limit.default,
        help: limit.help,
        placeholder,
        wanted,
        secret: false,
        live: true,
        accepts: match limit.unit {
            Unit::Credits => |text| (CREDITS.parse)(text).is_some(),
            Unit::Count => |text| (LIMIT.parse)(text).is_some(),
            Unit::Time => |text| (TIME.parse)(text).is_some(),
            Unit::Bytes => |text| (SIZE.parse)(text).is_some(),
        },
    }
}

/// Parses the value of each.
pub(super) fn default_limits(values: &SettingValues) -> Result<DefaultLimits, ConfigError> {
    let mut limits = Profile::DEFAULT;
    for limit in LIMITS {
        *(limit.own)(&mut limits) = Some(values.parse(&setting(limit), &parser(limit.unit))?);
    }
    Ok(DefaultLimits(limits))
}

/// The parser of a limit's number.
pub(crate) const fn parser(unit: Unit) -> ValueParser<i64> {
    match unit {
        Unit::Credits => ValueParser {
            placeholder: CREDITS.placeholder,
            wanted: CREDITS.wanted,
            parse: |text| i64::try_from((CREDITS.parse)(text)?).ok(),
        },
        Unit::Count => ValueParser {
            placeholder: LIMIT.placeholder,
            wanted: LIMIT.wanted,
            parse: |text| (LIMIT.parse)(text).map(i64::from),
        },
        Unit::Time => ValueParser {
            placeholder: TIME.placeholder,
            wanted: TIME.wanted,
            parse: |text| i64::try_from((TIME.parse)(text)?.as_millis()).ok(),
        },
        Unit::Bytes => ValueParser {
            placeholder: SIZE.placeholder,
            wanted: SIZE.wanted,
            parse: |text| i64::try_from((SIZE.parse)(text)?).ok(),
        },
    }
}
