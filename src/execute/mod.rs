//! Running a plan: its steps over one snapshot, then its shape over their rows.
//!
//! - [`fault`]: values that cannot be answered as promised
//! - [`fetch`]: the steps, each as soon as its parents are there
//! - [`encode`]: PostgreSQL's binary values to JSON, and to cursors
//! - `digits`: numbers and moments as text
//! - `promises`: whether rows hold what the schema promises
//! - [`mod@write`]: the shape's program, run over the rows
//!
//! The rows are gathered before the first byte is written. The caller's budget bounds them, and so the connection goes
//! back to the pool at once, however slowly the client reads its answer.

mod digits;
pub mod encode;
pub mod field_error;
pub mod fetch;
mod nullability;
pub mod response_writer;

use std::sync::Arc;

use thiserror::Error;

use crate::database::error::DatabaseError;
use crate::database::snapshot::Snapshot;
use crate::execute::encode::Unwritable;
use crate::execute::response_writer::ResponseWriter;
use crate::plan::Plan;

/// Runs a plan. Where the future is dropped before it is done, its statements are cancelled on the server.
pub async fn execute(snapshot: Snapshot, plan: &Arc<Plan>) -> Result<ResponseWriter, ExecuteError> {
    let steps = fetch::fetch(&snapshot, plan).await?;
    snapshot.release();
    Ok(ResponseWriter::new(Arc::clone(plan), steps))
}

/// The answer to a plan that asks the database for nothing: it is all shape.
pub fn constant(plan: &Arc<Plan>) -> ResponseWriter {
    ResponseWriter::new(Arc::clone(plan), Vec::new())
}

/// Why a plan could not be run.
#[derive(Debug, Error)]
pub enum ExecuteError {
    /// The database did not answer, or refused.
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// A column is of a type that its field cannot be written from. The check at start rules it out.
    #[error(transparent)]
    Unwritable(#[from] Unwritable),
    /// The rows are not of the form that their statement gives them.
    #[error("a row is not as its statement has it")]
    Misshapen,
}
