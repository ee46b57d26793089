//! An explanation for programs: one JSON object.

use serde_json::{Map, Value as Json, json};

use crate::cli::explain::explained::Explained;
use crate::cost::breakdown::CostNode;
use crate::execute::statement_report::report;

/// The explanation as JSON, with the same facts as [`super::text::render`].
pub(super) fn render(explained: &Explained<'_>) -> Json {
    let mut object = Map::new();
    let limits = &explained.limits;
    let errors = explained.errors();
    object.insert("admitted".to_owned(), errors.is_none().into());
    if let Ok(explanation) = &explained.result {
        object.insert("operation".to_owned(), json!(explanation.operation_name.as_deref()));
        object.insert("cost".to_owned(), json!(explanation.estimate.cost()));
        object.insert("breakdown".to_owned(), explanation.cost.iter().map(cost).collect());
        object.insert("depth".to_owned(), json!(explanation.depth));
        object.insert("responseBytes".to_owned(), json!(explanation.response_size.measured));
        object.insert("plan".to_owned(), report(&explanation.plan, explained.analysis.as_ref()));
    }
    let allowed = json!({
        "cost": limits.highest_cost(), "pageSize": limits.max_page_size, "depth": limits.max_depth,
        "responseBytes": limits.response_size,
    });
    object.insert("limits".to_owned(), allowed);
    object.insert("errors".to_owned(), errors.into_iter().flatten().map(|error| json!(error)).collect());
    Json::Object(object)
}

fn cost(node: &CostNode) -> Json {
    let mut object = json!({
        "key": node.key,
        "field": node.field,
        "own": node.own,
        "times": node.times,
        "penalty": node.penalty,
        "total": node.total,
    });
    if !node.parts.is_empty() {
        object["parts"] = node.parts.iter().map(cost).collect();
    }
    object
}

#[cfg(test)]
mod tests {
    use crate::cli::explain::text::tests::explained;

    #[test]
    fn renders_the_cost_and_the_statements() {
        let query =
            "query Some { orders(first: 2, query: \"statusId:ORDER_HELD\") { edges { node { id: orderId } } } }";
        insta::assert_snapshot!(format!("{:#}", super::render(&explained(query))));
    }

    #[test]
    fn a_rejected_query_has_no_cost() {
        insta::assert_snapshot!(format!("{:#}", super::render(&explained("{ orders { pageInfo { endCursor } } }"))));
    }
}
