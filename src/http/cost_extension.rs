//! `extensions` of GraphQL responses: `cost` in the specification's form, `warnings`, `search` and `plan`.

use serde::Serialize;
use serde_json::Value;

use crate::execute::response_writer::ShortSearch;
use crate::http::executed_plan::PlanExtension;
use crate::http::value_warning::ValueWarning;
use crate::throttle::bucket::ThrottleStatus;

/// A response's `extensions`, which it has if the rate limiter was asked.
#[derive(Debug, Serialize)]
pub(crate) struct ResponseExtensions<'a> {
    /// What the query costs.
    pub cost: CostExtension<'a>,
    /// What may be wrong with a query that was executed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<ValueWarning<'a>>,
    /// The searches that ended with their windows.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub search: Vec<SearchExtension<'a>>,
    /// How it was executed, if the client asked for it and may see it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan: Option<PlanExtension<'a>>,
}

/// An entry of `extensions.search`: a search that examined as many rows as it may before it found its page and the row after it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SearchExtension<'a> {
    /// The response key of the collection root.
    pub path: [&'a str; 1],
    /// How many rows it examined in the page's order.
    pub rows_examined: i64,
}

impl<'a> From<ShortSearch<'a>> for SearchExtension<'a> {
    fn from(ShortSearch { key, rows_examined }: ShortSearch<'a>) -> Self {
        Self { path: [key], rows_examined }
    }
}

/// `extensions.cost`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CostExtension<'a> {
    /// The estimate, which is debited.
    pub requested_query_cost: u64,
    /// The same sum over the rows that were returned.
    pub actual_query_cost: u64,
    /// The bucket after the debit.
    pub throttle_status: ThrottleStatus,
    /// The cost of every field, if the client asked for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fields: Option<&'a Value>,
}
