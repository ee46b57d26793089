//! `extensions.scope`: that the rows of a response are not all, and what limited them.

use serde_json::{Map, Value, json};

use crate::plan::request_plan::Plan;

/// The scopes that limit the rows of a plan, each with the caller's values in it; `None` if nothing limits them.
pub(crate) fn of(plan: &Plan) -> Option<Value> {
    let scopes = plan.limited_by();
    if scopes.is_empty() {
        return None;
    }
    let scopes = plan.scope().describe(scopes).map(|(name, values)| (name.to_owned(), json!(values)));
    Some(Value::Object(scopes.collect::<Map<_, _>>()))
}
