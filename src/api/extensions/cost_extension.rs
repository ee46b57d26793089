//! `extensions` of GraphQL responses: `cost` in the specification's form, `warnings`, `search`, `scope`, `sync` and `plan`.

use serde::Serialize;
use serde_json::Value;

use crate::api::extensions::executed_plan::PlanExtension;
use crate::api::extensions::sync_extension::SyncExtension;
use crate::api::extensions::warning::Warning;
use crate::execute::partial_results::ShortSearch;
use crate::throttle::bucket::ThrottleStatus;

/// A response's `extensions`, which it has if the rate limiter was asked.
#[derive(Debug, Serialize)]
pub(crate) struct ResponseExtensions<'a> {
    /// The cost of the query.
    pub cost: CostExtension<'a>,
    /// Possible mistakes in a query that was executed, and totals of fewer rows than match.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning<'a>>,
    /// The searches that ended with their windows.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub search: Vec<SearchExtension<'a>>,
    /// The scopes that limited the rows, and the caller's values in each: these are not all rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<&'a Value>,
    /// How recent the changes are, if the query reads some.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sync: Option<SyncExtension>,
    /// How it was executed, if the client asked for it and may see it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan: Option<PlanExtension<'a>>,
}

impl ResponseExtensions<'_> {
    /// Appends the JSON. Most responses have nothing but their cost, whose few numbers serde takes thousands of instructions for.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self {
                cost: cost @ CostExtension { fields: None, .. },
                warnings,
                search,
                scope: None,
                sync: None,
                plan: None,
            } if warnings.is_empty() && search.is_empty() => {
                cost.write_alone(out);
            }
            // Writing to memory cannot fail, and the keys are strings.
            _ => drop(serde_json::to_writer(out, self)),
        }
    }
}

/// An entry of `extensions.search`: a search that examined as many rows as it may before it found its page and the row after it, or
/// before it knew what `pageInfo` says.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SearchExtension<'a> {
    /// The response keys that lead to the collection, without `edges` and `node`.
    pub path: Vec<&'a str>,
    /// How many rows it examined in the page's order.
    pub rows_examined: i64,
    /// The flags of `pageInfo` that are true because there are more rows; perhaps none of these rows matches.
    pub inexact: Vec<&'static str>,
}

impl<'a> From<ShortSearch<'a>> for SearchExtension<'a> {
    fn from(search: ShortSearch<'a>) -> Self {
        let flags = [(search.has_next_page, "hasNextPage"), (search.has_previous_page, "hasPreviousPage")];
        let inexact = flags.into_iter().filter(|(is_inexact, _)| *is_inexact).map(|(_, name)| name).collect();
        Self { path: search.key.split('.').collect(), rows_examined: search.rows_examined, inexact }
    }
}

/// `extensions.cost`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CostExtension<'a> {
    /// The estimate, which is debited.
    pub(crate) requested_query_cost: u64,
    /// The price computed over the rows that were returned.
    pub(crate) actual_query_cost: u64,
    /// The bucket after the debit.
    pub throttle_status: ThrottleStatus,
    /// The cost of every field, if the client asked for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fields: Option<&'a Value>,
}

impl CostExtension<'_> {
    /// Appends extensions that have nothing but this cost, without `fields`.
    fn write_alone(&self, out: &mut Vec<u8>) {
        let ThrottleStatus { maximum_available, currently_available, restore_rate } = self.throttle_status;
        let members: [(&[u8], u64); 5] = [
            (b"{\"cost\":{\"requestedQueryCost\":", self.requested_query_cost),
            (b",\"actualQueryCost\":", self.actual_query_cost),
            (b",\"throttleStatus\":{\"maximumAvailable\":", maximum_available),
            (b",\"currentlyAvailable\":", currently_available),
            (b",\"restoreRate\":", restore_rate),
        ];
        for (key, number) in members {
            out.extend_from_slice(key);
            // Writing a number to memory cannot fail.
            let _ = serde_json::to_writer(&mut *out, &number);
        }
        out.extend_from_slice(b"}}}");
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn writes_what_serde_would_write() {
        let fields = json!([{"path": ["order"], "cost": 1}]);
        for (cost, fields) in [(0, None), (391, None), (u64::MAX, None), (7, Some(&fields))] {
            let throttle_status =
                ThrottleStatus { maximum_available: 1000, currently_available: 609, restore_rate: 50 };
            let cost =
                CostExtension { requested_query_cost: cost, actual_query_cost: cost / 2, throttle_status, fields };
            let (warnings, search) = (Vec::new(), Vec::new());
            let extensions = ResponseExtensions { cost, warnings, search, scope: None, sync: None, plan: None };
            let mut written = Vec::new();
            extensions.write(&mut written);
            assert_eq!(String::from_utf8_lossy(&written), serde_json::to_string(&extensions).unwrap());
        }
    }
}
