//! Executing a plan: its steps over one snapshot, then its response template over their rows.
//!
//! - `dispatch`: when each statement is sent, and in which form
//! - `fetch`: the rows of the steps
//! - [`step_log`]: when the steps ran, and how many rows they fetched
//! - `step_rows`: the rows of a step, grouped by their parents
//! - [`response_writer`]: the template's ops, run over the rows
//! - [`response_stream`]: fetching and writing large responses side by side
//! - `statement_report`: the statements of a plan for people who want to see them
//! - `encode`: PostgreSQL's binary values as JSON, and as cursor keys
//! - `digits`: numbers and timestamps as text
//! - `nullability`: whether non-null fields have values
//! - [`field_error`]: fields that cannot be written as the schema says
//! - [`error`]: why a plan could not be executed
//!
//! All rows of a response of usual size are fetched before the first byte is written. So the database connection returns to the
//! pool at once, however slowly the client reads.

mod digits;
mod dispatch;
pub(crate) mod encode;
pub mod error;
mod fetch;
pub mod field_error;
mod nullability;
pub mod response_stream;
pub mod response_writer;
pub(crate) mod statement_report;
pub mod step_log;
mod step_rows;

use std::sync::Arc;

use crate::database::snapshot::Snapshot;
use crate::execute::error::ExecuteError;
use crate::execute::fetch::Transaction;
use crate::execute::response_writer::ResponseWriter;
use crate::execute::step_log::StepLog;
use crate::plan::request_plan::Plan;

/// Executes a plan, and records its steps. If the future is dropped before it is done, its statements are cancelled on the
/// server.
pub async fn execute(snapshot: Snapshot, plan: &Arc<Plan>, log: &StepLog) -> Result<ResponseWriter, ExecuteError> {
    match fetch::fetch(&snapshot, plan, Transaction::Own, log).await {
        Ok(steps) => {
            snapshot.release();
            Ok(ResponseWriter::new(Arc::clone(plan), steps))
        }
        Err(error) => {
            if !error.spares_connection() {
                snapshot.discard();
            }
            Err(error)
        }
    }
}

/// Executes a plan in the snapshot's transaction, which was begun before, and records its steps. After an error the
/// transaction is of no use.
pub async fn execute_within(
    snapshot: &Snapshot,
    plan: &Arc<Plan>,
    log: &StepLog,
) -> Result<ResponseWriter, ExecuteError> {
    let steps = fetch::fetch(snapshot, plan, Transaction::Open, log).await?;
    Ok(ResponseWriter::new(Arc::clone(plan), steps))
}

/// The response to a plan without statements.
pub fn constant(plan: &Arc<Plan>) -> ResponseWriter {
    ResponseWriter::new(Arc::clone(plan), Vec::new())
}
