//! Runs the statement of a plan and reads its rows.

use std::time::Instant;

use crate::database::connection::rows::Rows;
use crate::database::error::DatabaseError;
use crate::database::metrics::{Operation, record};
use crate::database::parameter::BinaryParameter;
use crate::execute::error::ExecuteError;
use crate::execute::response_writer::ResponseWriter;
use crate::execute::row_limits::RowLimits;
use crate::execute::statement_log::StatementLog;
use crate::plan::parameters::ParameterValue;
use crate::plan::request_plan::Plan;

/// Bytes of rows that are read at once, beside the bytes of one row more.
const BYTES: usize = 256 << 10;

/// The running statement of a plan.
pub(super) struct RunningStatement<'c> {
    rows: Rows<'c>,
    sent: Instant,
}

impl<'c> RunningStatement<'c> {
    /// Sends the prepared statement by a query of a connection, and records it.
    pub(super) async fn send<Q: Future<Output = Result<Rows<'c>, DatabaseError>>>(
        query: impl FnOnce() -> Q,
        log: &StatementLog,
    ) -> Result<Self, ExecuteError> {
        let sent = Instant::now();
        log.begin(sent);
        let rows = query().await;
        // A statement has its locks before its parameters are bound, and PostgreSQL confirms the binding.
        log.has_locks(rows.as_ref().map_or(0, Rows::requests));
        let rows = rows.inspect_err(|error| record(Operation::Select, sent.elapsed(), Some(error)))?;
        Ok(Self { rows, sent })
    }

    /// Reads all rows, unless they take too much.
    pub(super) async fn read_all(
        &mut self,
        writer: &mut ResponseWriter,
        log: &StatementLog,
        limits: &mut RowLimits<'_>,
    ) -> Result<(), ExecuteError> {
        while self.read(writer, log, usize::MAX).await? {
            limits.check(writer)?;
        }
        Ok(())
    }

    /// Reads the next row, and others that have arrived, up to a number or to some bytes. Returns whether there may be more.
    pub(super) async fn read(
        &mut self,
        writer: &mut ResponseWriter,
        log: &StatementLog,
        most: usize,
    ) -> Result<bool, ExecuteError> {
        let result = self.rows.next().await;
        let row = result.inspect_err(|error| record(Operation::Select, self.sent.elapsed(), Some(error)))?;
        let Some(row) = row else {
            writer.finish();
            let end = Instant::now();
            record(Operation::Select, end.duration_since(self.sent), None);
            log.end(end, || writer.row_counts().into());
            return Ok(false);
        };
        let full = writer.memory() + BYTES;
        writer.push(row)?;
        for _ in 1..most {
            if writer.memory() >= full {
                break;
            }
            let Some(row) = self.rows.next_arrived()? else { break };
            writer.push(row)?;
        }
        Ok(true)
    }
}

/// The parameters of a plan's statement.
pub(super) fn parameters(plan: &Plan) -> impl ExactSizeIterator<Item = BinaryParameter<'_>> {
    let characters = plan.characters();
    plan.parameters().map(move |parameter| match parameter {
        ParameterValue::Value(value) => BinaryParameter::Value(value.and_then(|value| characters.sent(value))),
        ParameterValue::Values(values) => {
            BinaryParameter::Values(values.iter().map(|value| BinaryParameter::Value(characters.sent(value))).collect())
        }
        ParameterValue::Limit(rows) => BinaryParameter::Limit(rows),
    })
}
