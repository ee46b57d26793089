//! The statement of a plan as JSON, for people who want to see how a query runs: its SQL and parameters, its branches, and how they
//! find their rows.

use serde_json::{Value as Json, json};

use crate::execute::plan_analysis::PlanAnalysis;
use crate::execute::sql_literal::text;
use crate::plan::access_path::expected_pages::ExpectedPages;
use crate::plan::access_path::{Strategy, Window};
use crate::plan::parameters::ParameterValue;
use crate::plan::request_plan::Plan;
use crate::query::bind::step_id::StepId;
use crate::value::Value;

/// The statement of a plan, and its branches; and what they took, if that is known.
pub(crate) fn report(plan: &Plan, analysis: Option<&PlanAnalysis>) -> Json {
    let statement = plan.needs_database().then(|| {
        let parameters = plan.parameters().map(value);
        json!({ "sql": plan.sql(), "parameters": parameters.collect::<Vec<_>>() })
    });
    let branches = (0..plan.steps().len()).map(|step| branch(plan, step, analysis));
    let mut report = json!({ "statement": statement, "branches": branches.collect::<Vec<_>>() });
    if let Some(PlanAnalysis { planning, execution, .. }) = analysis {
        report["planningMilliseconds"] = json!(planning);
        report["milliseconds"] = json!(execution);
    }
    report
}

fn branch(plan: &Plan, id: StepId, analysis: Option<&PlanAnalysis>) -> Json {
    let step = &plan.steps()[id];
    let mut object = json!({ "field": step.name, "parent": step.parent });
    if let Some(rows_examined) = plan.rows_examined(id) {
        object["access"] = access(plan, id);
        object["expectedPages"] = json!(plan.expected_pages(id).map(pages));
        object["rowsExamined"] = rows_examined.into();
    }
    if let Some(analysis) = analysis {
        object["actual"] = json!(analysis.branches.get(id));
    }
    object
}

/// The access path of a collection root, of a bounded list, or of a list with a window.
fn access(plan: &Plan, step: StepId) -> Json {
    let path = &plan.steps()[step].access_path;
    let lookups = match &path.strategy {
        Strategy::Order(_) => Vec::new(),
        Strategy::Window(Window { lookups, .. }) => {
            lookups.iter().map(|lookup| looked_up(&lookup.columns, plan.lookup_rows(step, lookup))).collect()
        }
        Strategy::Key(key) => vec![looked_up(std::slice::from_ref(&key.column), plan.multiplied(step))],
        Strategy::Parent(parent) => vec![looked_up(&parent.columns, parent.at_most)],
    };
    let mut access = json!({
        "index": path.index(),
        "lookups": lookups,
        "window": path.window().map(|_| path.window_of(plan.rows(step))),
        "fillsPages": path.window().is_none(),
    });
    if let Some(ties) = path.ties() {
        access["ties"] = ties.into();
    }
    access
}

/// A search by an index of its own that is used if it finds this many rows at most.
fn looked_up(index: &[String], rows: impl Into<Json>) -> Json {
    json!({ "index": index, "rows": rows.into() })
}

/// The pages that are read for a page of rows.
fn pages(ExpectedPages { fewest, one_row_of, checked }: ExpectedPages<'_>) -> Json {
    json!({ "fewest": fewest, "oneRowOf": one_row_of, "checked": checked })
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
        Value::Int(number) => (*number).into(),
        Value::Boolean(truth) => (*truth).into(),
        _ => text(value).into(),
    }
}
