//! The values of the parameters of a plan's statement, as the server sends them.

use orderql::database::parameter::SqlParam;
use orderql::plan::request_plan::{Parameter, Plan};

/// The values, `$1` first.
pub fn parameters(plan: &Plan) -> Vec<SqlParam<'_>> {
    let parameter = |parameter| match parameter {
        Parameter::Value(value) => SqlParam::Value(value),
        Parameter::Values(values) => SqlParam::values(values),
        Parameter::Limit(rows) => SqlParam::Limit(rows),
    };
    plan.parameters().map(parameter).collect()
}
