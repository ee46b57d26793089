//! An explanation for programs: one JSON object.

use serde_json::{Map, Value as Json, json};

use crate::cli::explain::Explained;
use crate::cli::explain::text::{from, value};
use crate::cost::breakdown::CostNode;
use crate::plan::request_plan::Plan;
use crate::query::bind::ids::StepId;

/// What [`super::text::render`] tells, as JSON. What is not known is left out.
pub fn render(explained: &Explained<'_>) -> Json {
    let mut told = Map::new();
    let limits = &explained.limits;
    let refusals = explained.refusals();
    told.insert("admitted".to_owned(), refusals.is_none().into());
    if let Ok(explanation) = &explained.outcome {
        let plan = &explanation.plan;
        let statements = (0..plan.steps().len()).map(|step| statement(plan, step));
        told.insert("operation".to_owned(), json!(explanation.operation_name.as_deref()));
        told.insert("cost".to_owned(), json!(explanation.estimate.cost()));
        told.insert("breakdown".to_owned(), explanation.cost.iter().map(cost).collect());
        told.insert("depth".to_owned(), json!(explanation.depth));
        told.insert("statements".to_owned(), statements.collect());
    }
    let allowed = json!({ "cost": limits.max_cost, "pageSize": limits.max_page_size, "depth": limits.max_depth });
    told.insert("limits".to_owned(), allowed);
    told.insert("errors".to_owned(), refusals.into_iter().flatten().map(|refusal| json!(refusal)).collect());
    Json::Object(told)
}

fn cost(node: &CostNode) -> Json {
    let mut told = json!({
        "key": node.key,
        "field": node.field,
        "own": node.own,
        "times": node.times,
        "penalty": node.penalty,
        "total": node.total,
    });
    if !node.parts.is_empty() {
        told["parts"] = node.parts.iter().map(cost).collect();
    }
    told
}

fn statement(plan: &Plan, place: StepId) -> Json {
    let step = &plan.steps()[place];
    let parameters = plan.parameters(place).map(|parameter| value(parameter, &step.parents));
    json!({ "sql": step.sql, "parameters": parameters.collect::<Vec<_>>(), "parents": from(&step.parents) })
}

#[cfg(test)]
mod tests {
    use crate::cli::explain::text::tests::explained;

    #[test]
    fn everything_is_told() {
        let query =
            "query Some { orders(first: 2, query: \"statusId:ORDER_HELD\") { edges { node { id: orderId } } } }";
        insta::assert_snapshot!(format!("{:#}", super::render(&explained(query))));
    }

    #[test]
    fn what_is_refused_has_no_cost() {
        insta::assert_snapshot!(format!("{:#}", super::render(&explained("{ orders { pageInfo { endCursor } } }"))));
    }
}
