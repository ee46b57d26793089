//! The values of the parameters of a plan's statement, as the server sends them.

use orderql::database::parameter::BinaryParameter;
use orderql::plan::parameters::ParameterValue;
use orderql::plan::request_plan::Plan;

/// The values, `$1` first.
pub fn parameters(plan: &Plan) -> Vec<BinaryParameter<'_>> {
    let parameter = |parameter| match parameter {
        ParameterValue::Value(value) => BinaryParameter::Value(value),
        ParameterValue::Values(values) => {
            BinaryParameter::Values(values.iter().map(|value| BinaryParameter::Value(Some(value))).collect())
        }
        ParameterValue::Limit(rows) => BinaryParameter::Limit(rows),
    };
    plan.parameters().map(parameter).collect()
}
