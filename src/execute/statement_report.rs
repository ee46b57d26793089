//! The statement of a plan as JSON, for people who want to see how a query runs: its SQL and parameters, its branches, and how they
//! find their rows.

use serde_json::{Value as Json, json};
use time::OffsetDateTime;
use time::format_description::BorrowedFormatItem;
use time::macros::format_description;

use crate::execute::encode::{self, ColumnFormat};
use crate::plan::access_path::{AccessPath, Lookup};
use crate::plan::parameters::ParameterValue;
use crate::plan::request_plan::Plan;
use crate::query::bind::ids::StepId;
use crate::value::{Numeric, ScalarType, Timestamp, Value};

const MICROSECONDS: &[BorrowedFormatItem<'_>] =
    format_description!("[year]-[month]-[day]T[hour]:[minute]:[second].[subsecond digits:6]Z");

/// The statement of a plan, and its branches.
pub(crate) fn report(plan: &Plan) -> Json {
    let statement = plan.needs_database().then(|| {
        let parameters = plan.parameters().map(value);
        json!({ "sql": plan.sql(), "parameters": parameters.collect::<Vec<_>>() })
    });
    let branches = (0..plan.steps().len()).map(|step| branch(plan, step));
    json!({ "statement": statement, "branches": branches.collect::<Vec<_>>() })
}

fn branch(plan: &Plan, id: StepId) -> Json {
    let step = &plan.steps()[id];
    let mut object = json!({ "field": step.name, "parent": step.parent });
    if let Some(rows_examined) = plan.rows_examined(id) {
        object["access"] = access(&step.access_path);
        object["rowsExamined"] = rows_examined.into();
    }
    object
}

/// The access path of a collection root.
fn access(path: &AccessPath) -> Json {
    let lookup = |lookup: &Lookup| json!({ "index": lookup.columns, "rows": lookup.rows });
    json!({
        "index": path.index,
        "lookups": path.lookups.iter().map(lookup).collect::<Vec<_>>(),
        "window": path.has_window().then_some(path.window),
    })
}

/// A parameter's value as JSON.
pub(crate) fn value(parameter: ParameterValue<'_>) -> Json {
    match parameter {
        ParameterValue::Value(value) => value.map_or(Json::Null, scalar),
        ParameterValue::Values(values) => values.iter().map(scalar).collect(),
        ParameterValue::Limit(rows) => rows.into(),
    }
}

fn scalar(value: &Value) -> Json {
    match value {
        Value::Text(text) => text.as_str().into(),
        Value::Int(number) => (*number).into(),
        Value::Decimal(number) => number.to_string().into(),
        Value::Boolean(truth) => (*truth).into(),
        Value::Numeric(number) => numeric(number),
        Value::Uuid(uuid) => uuid.to_string().into(),
        Value::DateTime(moment) => timestamp(*moment).map_or_else(|| moment.0.into(), Json::from),
    }
}

fn numeric(number: &Numeric) -> Json {
    let mut text = Vec::new();
    let is_written = encode::json(ScalarType::Decimal, ColumnFormat::Numeric, number.as_binary(), &mut text);
    let text = if is_written { serde_json::from_slice(&text).ok() } else { None };
    text.unwrap_or_else(|| "NaN or an infinity".into())
}

fn timestamp(moment: Timestamp) -> Option<String> {
    if !moment.is_finite() {
        return Some(if moment.0 > 0 { "infinity" } else { "-infinity" }.to_owned());
    }
    let moment = OffsetDateTime::from_unix_timestamp_nanos(moment.unix_micros() * 1000).ok()?;
    moment.format(MICROSECONDS).ok()
}
