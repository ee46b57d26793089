//! The values of a row's fields that are not ids: flags, numbers and comments.

use crate::orders::error::{MAX_COMMENT, MAX_EXCLUSION_DAYS, MAX_ID_BYTES, ParameterError};
use crate::orders::param_name::{CASCADE, COMMENTS, EXCLUSION, LOWERS_QOH, MAY_SPLIT, ROW_SUBMIT, parse_number};

/// Checks the value of the parameter `name`, which is a row's field, or the facility if there is no field.
pub(super) fn check(name: &str, field: Option<&str>, value: &str) -> Result<(), ParameterError> {
    let (is_valid, error): (bool, fn(String) -> ParameterError) = match field {
        Some(COMMENTS) => (value.chars().count() <= MAX_COMMENT, ParameterError::LongComment),
        _ if value.len() > MAX_ID_BYTES => (false, ParameterError::TooLong),
        Some(ROW_SUBMIT) => (parse_number(value).is_some(), ParameterError::NotANumber),
        Some(MAY_SPLIT | CASCADE | LOWERS_QOH) => (parse_flag(value).is_some(), ParameterError::NotAFlag),
        Some(EXCLUSION) => (parse_days(value).is_some(), ParameterError::NotDays),
        _ => return Ok(()),
    };
    if is_valid { Ok(()) } else { Err(error(name.to_owned())) }
}

/// Parses a flag as OFBiz's columns have it, or as JSON does: the store's app sends both.
pub(super) fn parse_flag(text: &str) -> Option<bool> {
    match text {
        "Y" | "true" => Some(true),
        "N" | "false" => Some(false),
        _ => None,
    }
}

pub(super) fn parse_days(text: &str) -> Option<u32> {
    parse_number(text).filter(|days| *days <= MAX_EXCLUSION_DAYS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_the_form_and_the_length_that_their_field_allows() {
        let long = "é".repeat(MAX_COMMENT);
        for (field, value, is_valid) in [
            (Some(MAY_SPLIT), "Y", true),
            (Some(CASCADE), "false", true),
            (Some(LOWERS_QOH), "true", true),
            (Some(LOWERS_QOH), "", false),
            (Some(MAY_SPLIT), "y", false),
            (Some(EXCLUSION), "0", true),
            (Some(EXCLUSION), "3650", true),
            (Some(EXCLUSION), "3651", false),
            (Some(EXCLUSION), "-1", false),
            (Some(EXCLUSION), "", false),
            (Some(COMMENTS), &long, true),
            (Some(COMMENTS), &format!("{long}."), false),
            (None, &long, false),
            (Some(ROW_SUBMIT), "x", false),
        ] {
            assert_eq!(check("name", field, value).is_ok(), is_valid, "{field:?} {value}");
        }
    }
}
