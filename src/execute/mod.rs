//! Executing a plan: its statement, then its response template over the rows.
//!
//! - `fetch`: runs the statement and reads its rows
//! - [`statement_log`]: when it ran, and how many rows each step has
//! - `statement_rows`: its rows, in the order of the response
//! - [`response_writer`]: the template's ops, run over the rows; `response_part`: the part that is being written
//! - `partial_results`: what a response says of roots and lists that have not all of the rows that match
//! - `page_frame`: the page or lookup that is being written; `page_cursor`: its cursors
//! - [`row_limits`]: what rows may take
//! - [`response_stream`]: fetching and writing large responses side by side
//! - `statement_report`: the statement of a plan for people who want to see it
//! - [`plan_analysis`]: what its branches take
//! - [`sql_literal`]: the parameters of a statement as text
//! - `column`: a column of a row as JSON
//! - `encode`: PostgreSQL's binary values as JSON, and as cursor keys
//! - `decimal`, `timestamp`, `interval`: numbers, moments and spans of time as text
//! - `list`: arrays as lists
//! - `json_value`: JSON of the database in a response
//! - `null_check`: whether non-null fields have values
//! - `changes_state`: what a page of changes is of, and its tokens
//! - [`field_error`]: fields that cannot be written as the schema says
//! - [`error`]: why a plan could not be executed
//!
//! There is one reader, [`response_writer::ResponseWriter`]: rows in, JSON out. All rows of a response of usual size are fetched before
//! the first byte is written, so that the database connection returns to the pool at once, however slowly the client reads.

pub(crate) mod changes_state;
mod column;
mod decimal;
pub(crate) mod encode;
pub mod error;
mod fetch;
pub mod field_error;
mod interval;
mod json_value;
mod list;
mod null_check;
mod page_cursor;
mod page_frame;
pub mod partial_results;
pub mod plan_analysis;
mod response_part;
pub mod response_stream;
pub mod response_writer;
pub mod row_limits;
pub mod sql_literal;
pub mod statement_log;
pub(crate) mod statement_report;
mod statement_rows;
mod timestamp;

use std::sync::Arc;
use std::time::Instant;

use crate::database::connection::own_connection::{OwnConnection, TransactionKind};
use crate::database::connection::read_connection::ReadConnection;
use crate::execute::error::ExecuteError;
use crate::execute::fetch::{RunningStatement, parameters};
use crate::execute::response_writer::ResponseWriter;
use crate::execute::row_limits::RowLimits;
use crate::execute::statement_log::StatementLog;
use crate::plan::request_plan::Plan;

/// Executes a plan, and records it.
pub async fn execute(
    connection: ReadConnection,
    plan: &Arc<Plan>,
    log: &StatementLog,
    limits: &mut RowLimits<'_>,
) -> Result<Box<ResponseWriter>, ExecuteError> {
    if !plan.needs_database() {
        connection.release();
        return Ok(constant(plan));
    }
    match read(&connection, plan, log, limits).await {
        Ok(writer) => {
            connection.release();
            Ok(writer)
        }
        Err(error) => {
            // Dropped otherwise, which ends what still runs there.
            if !error.spares_connection() {
                connection.discard();
            }
            Err(error)
        }
    }
}

/// Executes a plan in a transaction of the connection that was begun before, and records it. After an error the transaction is of no
/// use.
pub(crate) async fn execute_within(
    connection: &OwnConnection,
    plan: &Arc<Plan>,
    log: &StatementLog,
    limits: &mut RowLimits<'_>,
) -> Result<Box<ResponseWriter>, ExecuteError> {
    let mut writer = ResponseWriter::new(Arc::clone(plan));
    log.prepare(connection.backend(), Instant::now());
    let statement = connection.prepare(plan.sql()).await?;
    let query = || connection.query(&statement, parameters(plan), TransactionKind::Open);
    RunningStatement::send(query, log).await?.read_all(&mut writer, log, limits).await?;
    Ok(writer)
}

/// The response to a plan without a statement.
pub fn constant(plan: &Arc<Plan>) -> Box<ResponseWriter> {
    let mut writer = ResponseWriter::new(Arc::clone(plan));
    writer.finish();
    writer
}

async fn read(
    connection: &ReadConnection,
    plan: &Arc<Plan>,
    log: &StatementLog,
    limits: &mut RowLimits<'_>,
) -> Result<Box<ResponseWriter>, ExecuteError> {
    let mut writer = ResponseWriter::new(Arc::clone(plan));
    log.prepare(connection.backend(), Instant::now());
    let statement = connection.prepare(plan.sql()).await?;
    let query = || connection.query(&statement, parameters(plan));
    RunningStatement::send(query, log).await?.read_all(&mut writer, log, limits).await?;
    Ok(writer)
}
