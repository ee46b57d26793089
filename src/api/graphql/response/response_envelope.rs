//! The JSON around a query's data: `{"data": …, "errors": …, "extensions": …}`.

use serde_json::{Value, json};

use crate::api::extensions::cost_extension::ResponseExtensions;
use crate::error::code::ErrorCode;
use crate::execute::field_error::{Cause, FieldError, PathPart};

/// The beginning of the response of every executed query. Its `data` follows.
pub(crate) const START: &[u8] = b"{\"data\":";

/// The member `errors`, which follows `data`: fields that are null because their values cannot be used. Empty if there
/// are none.
pub(crate) fn errors(errors: &[FieldError]) -> String {
    if errors.is_empty() {
        return String::new();
    }
    format!(",\"errors\":{}", errors.iter().map(error).collect::<Value>())
}

/// An entry of `errors`.
pub(crate) fn error(error: &FieldError) -> Value {
    let part = |part: &PathPart| match part {
        PathPart::Key(key) => Value::from(&**key),
        PathPart::Index(index) => Value::from(*index),
    };
    json!({
        "message": error.cause.to_string(),
        "path": error.path.iter().map(part).collect::<Vec<_>>(),
        "extensions": {"code": code(&error.cause).as_str()},
    })
}

/// A null in a non-null field is a fault of the schema or the database. Nothing is at fault if the database has a value that
/// GraphQL's types do not have.
fn code(cause: &Cause) -> ErrorCode {
    match cause {
        Cause::Missing => ErrorCode::InternalServerError,
        Cause::ListTooLong { .. } => ErrorCode::ListTooLong,
        Cause::TooLong(_) => ErrorCode::ValueTooLarge,
        Cause::Unwritable(_) => ErrorCode::UnrepresentableValue,
    }
}

/// Appends what the response of every executed query ends with, after its `data` and `errors`.
pub(crate) fn write_end(extensions: &ResponseExtensions<'_>, out: &mut Vec<u8>) {
    out.extend_from_slice(b",\"extensions\":");
    extensions.write(out);
    out.push(b'}');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::extensions::cost_extension::CostExtension;
    use crate::throttle::bucket::ThrottleStatus;

    #[test]
    fn start_data_and_end_are_one_object() {
        let bucket = ThrottleStatus { maximum_available: 1000, currently_available: 609, restore_rate: 50 };
        let cost =
            CostExtension { requested_query_cost: 391, actual_query_cost: 9, throttle_status: bucket, fields: None };
        let mut text = [START, b"{\"order\":null}"].concat();
        let (warnings, search) = (Vec::new(), Vec::new());
        write_end(&ResponseExtensions { cost, warnings, search, scope: None, sync: None, plan: None }, &mut text);
        let expected = json!({
            "data": {"order": null},
            "extensions": {"cost": {
                "requestedQueryCost": 391,
                "actualQueryCost": 9,
                "throttleStatus": {"maximumAvailable": 1000, "currentlyAvailable": 609, "restoreRate": 50},
            }},
        });
        assert_eq!(serde_json::from_slice::<Value>(&text).unwrap(), expected);
    }
}
