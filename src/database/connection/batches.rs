//! Executions that serve several requests of the same text.

use std::sync::Arc;

use tokio::time::timeout;
use tokio_postgres::types::{IsNull, ToSql, Type, to_sql_checked};
use tokio_postgres::{Row, Statement};

use crate::database::connection::batch_queue::{BatchMember, BatchQueue, PreparedText, RequestBatch};
use crate::database::connection::batch_text::is_array;
use crate::database::connection::rows::Rows;
use crate::database::connection::shared_connection::PATIENCE;
use crate::database::connection::shared_turn::SharedTurn;
use crate::database::error::DatabaseError;
use crate::database::parameter::{BinaryParameter, RawValue};

/// A place of one request in the next execution of its text.
#[derive(Debug)]
pub struct BatchTurn {
    queue: Arc<BatchQueue>,
    text: PreparedText,
    /// The most rows that the statement examines.
    examined: u64,
    /// The statement of one request, on one of the connections.
    statement: Statement,
}

/// A parameter of an execution.
#[derive(Debug)]
enum BatchParameter<'m> {
    /// A value that is the same for all members, or that of the only one.
    Value(Option<RawValue<'m>>),
    /// The values of all members.
    Values(Vec<Option<RawValue<'m>>>),
}

impl ToSql for BatchParameter<'_> {
    fn to_sql(&self, ty: &Type, out: &mut bytes::BytesMut) -> Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
        match self {
            Self::Value(value) => value.to_sql(ty, out),
            Self::Values(values) => values.to_sql(ty, out),
        }
    }

    // The values are encoded already, for the types of the statement of one request.
    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

impl BatchTurn {
    pub(super) fn new(queue: &Arc<BatchQueue>, text: PreparedText, examined: u64, statement: Statement) -> Self {
        Self { queue: Arc::clone(queue), text, examined, statement }
    }

    pub(super) fn statement(&self) -> &Statement {
        &self.statement
    }

    /// Waits for the execution, and returns the request's rows.
    pub(super) async fn query<'p>(
        &self,
        parameters: impl Iterator<Item = BinaryParameter<'p>>,
    ) -> Result<Rows<'_>, DatabaseError> {
        let reply = self.queue.push((self.text.clone(), self.examined), self.statement.params(), parameters)?;
        let reply = timeout(PATIENCE, reply).await;
        // A batch that is dropped has no reply.
        let (rows, requests) =
            reply.map_or(Err(DatabaseError::Batch), |reply| reply.unwrap_or(Err(DatabaseError::Batch)))?;
        Ok(Rows::arrived(rows, requests))
    }
}

/// Bytes of rows that an execution may have. Each request has limits of its own, by which its rows are read when it runs alone. A statement
/// with more has connections of its own from then on.
pub(crate) const MAX_BYTES: usize = 1 << 20;

/// Runs a batch, whose requests get their rows when the last one is there. `single` is the statement of one request, with this key: it is the
/// turn's if the batch has one member.
pub(super) async fn run(turn: SharedTurn, batch: RequestBatch, key: u64, single: Statement) {
    let Some(rows) = turn.while_it_answers(read(&turn, batch.members(), &single)).await else {
        turn.discard();
        return batch.fail(DatabaseError::Batch);
    };
    match rows {
        Ok(rows) => {
            turn.finish();
            batch.reply(rows);
        }
        Err(error) => {
            if batch.members().len() > 1 && matches!(error, DatabaseError::Statement(_)) {
                turn.rest(key);
            }
            match &error {
                // Rows still come: the turn ends after them.
                DatabaseError::Batch => drop(turn),
                error if error.spares_connection() => turn.finish(),
                _ => turn.discard(),
            }
            // Whose fault it is shows when each runs alone. What is prepared is out of date for all.
            batch.fail(if error.is_stale() { error } else { DatabaseError::Batch });
        }
    }
}

/// The rows of each member.
async fn read(turn: &SharedTurn, members: &[BatchMember], single: &Statement) -> Result<Vec<Vec<Row>>, DatabaseError> {
    let is_single = members.len() == 1;
    let types = single.params().iter().enumerate();
    let parameters = types.map(|(index, ty)| parameter(members, index, is_single || is_array(ty)));
    let mut rows = turn.query(parameters.collect::<Vec<_>>()).await?;
    let (mut of_members, mut bytes) = (vec![Vec::new(); members.len()], 0);
    while let Some(row) = rows.next().await? {
        bytes += row.raw_size_bytes();
        if bytes > MAX_BYTES {
            return Err(DatabaseError::Batch);
        }
        let number: Option<i64> = if is_single { Some(1) } else { row.try_get(row.len() - 1).ok() };
        let member = number.and_then(|number| of_members.get_mut(usize::try_from(number).ok()?.checked_sub(1)?));
        // A damaged row must not reach another request.
        member.ok_or(DatabaseError::Incomplete { announced: None, received: 0 })?.push(row);
    }
    Ok(of_members)
}

fn parameter(members: &[BatchMember], index: usize, is_same: bool) -> BatchParameter<'_> {
    fn value(member: &BatchMember, index: usize) -> Option<RawValue<'_>> {
        member.values.get(index)?.as_deref().map(RawValue)
    }
    if is_same {
        return BatchParameter::Value(members.first().and_then(|member| value(member, index)));
    }
    BatchParameter::Values(members.iter().map(|member| value(member, index)).collect())
}
