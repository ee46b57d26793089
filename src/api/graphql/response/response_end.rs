//! The end of a response, after its `data`: the errors of fields, and `extensions`.

use std::sync::Arc;

use serde_json::Value;

use crate::api::extensions::cost_extension::{CostExtension, ResponseExtensions, SearchExtension};
use crate::api::extensions::executed_plan::ExecutedPlan;
use crate::api::extensions::scope_extension;
use crate::api::extensions::sync_extension::SyncExtension;
use crate::api::extensions::warning::Warning;
use crate::api::graphql::gates::prepared_query::{AdmittedQuery, PreparedQuery};
use crate::api::graphql::response::response_envelope::{errors, write_end};
use crate::compile::compiled::Compiled;
use crate::cost::estimate::Estimate;
use crate::execute::response_writer::ResponseWriter;
use crate::execute::statement_log::StatementLog;
use crate::telemetry::emit;
use crate::telemetry::event::Event;
use crate::throttle::rate_limiter::Debit;
use crate::vocabulary::UnknownValue;

/// The facts for a response's end that are known before its rows.
#[derive(Debug)]
pub(crate) struct ResponseEnd {
    /// The credits that were debited, and the bucket.
    pub debit: Debit,
    estimate: Estimate,
    /// The cost of every field, if the client asked for it.
    field_costs: Option<Value>,
    /// How it was executed, if the client asked for it.
    plan: Option<ExecutedPlan>,
    unknown_values: Vec<UnknownValue>,
    /// The values that limited the rows, if there are some.
    scope: Option<Value>,
}

impl ResponseEnd {
    /// The end of this query's response, whose steps the log records.
    pub(crate) fn new(query: AdmittedQuery, log: &Arc<StatementLog>) -> Self {
        let PreparedQuery { compiled, field_costs, includes_plan, .. } = query.prepared;
        let Compiled { estimate, plan, unknown_values, .. } = compiled;
        let scope = scope_extension::of(&plan);
        let plan = includes_plan.then(|| ExecutedPlan::new(plan, log));
        Self { debit: query.paid.debit, estimate, field_costs, plan, unknown_values, scope }
    }

    /// The cost of the query by its rows.
    pub(crate) fn actual_cost(&self, rows: &ResponseWriter) -> u64 {
        self.estimate.actual(&rows.row_counts())
    }

    /// Appends the end of a response whose `data` is written.
    pub(crate) fn write(&self, rows: &ResponseWriter, request_id: &str, out: &mut Vec<u8>) {
        if rows.field_error_count() > 0 {
            emit(&Event::NullabilityViolations { request_id, count: rows.field_error_count() });
        }
        out.extend_from_slice(errors(rows.field_errors()).as_bytes());
        let unknown_values = self.unknown_values.iter().map(Warning::from);
        let extensions = ResponseExtensions {
            cost: CostExtension {
                requested_query_cost: self.debit.cost,
                actual_query_cost: self.actual_cost(rows),
                throttle_status: self.debit.bucket,
                fields: self.field_costs.as_ref(),
            },
            warnings: unknown_values.chain(rows.partial_totals().map(Warning::from)).collect(),
            search: rows.short_searches().map(SearchExtension::from).collect(),
            scope: self.scope.as_ref(),
            sync: rows.changes_states().next().map(|(_, state)| SyncExtension::from(&state)),
            plan: self.plan.as_ref().map(ExecutedPlan::extension),
        };
        write_end(&extensions, out);
    }
}
