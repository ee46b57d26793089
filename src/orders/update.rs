//! Runs an order update: one transaction, retried if it collides with another one.

use std::time::Duration;

use thiserror::Error;
use tokio_postgres::Client;
use tokio_postgres::error::SqlState;

use crate::database::error::DatabaseError;
use crate::database::pool::writer_pool::WriterPool;
use crate::database::transaction::Transaction;
use crate::database::wal_position::written;
use crate::error::code::ErrorCode;
use crate::orders::actor::Actor;
use crate::orders::apply::apply;
use crate::orders::apply::error::ApplyError;
use crate::orders::error::UpdateError;
use crate::orders::idempotency::{self, IdempotencyKey, KeyState};
use crate::orders::options::UpdateOptions;
use crate::orders::outcome::{UpdateOutcome, Updated};
use crate::orders::rejection::Rejection;
use crate::orders::update_request::UpdateRequest;

/// How often an update is attempted that collides with others.
const MAX_ATTEMPTS: usize = 5;

/// How long an update waits for another one's locks.
const LOCK_TIMEOUT: Duration = Duration::from_secs(5);

/// An update to apply, and who sends it.
pub(crate) struct OrderUpdate<'a, F> {
    pub(crate) options: UpdateOptions,
    pub(crate) actor: &'a Actor,
    pub(crate) request: &'a UpdateRequest,
    pub(crate) key: Option<IdempotencyKey<'a>>,
    /// Called before a commit is sent: from then on the update may be applied, whether or not its outcome arrives.
    pub(crate) on_commit: F,
}

impl<F: Fn()> OrderUpdate<'_, F> {
    /// Applies it in one transaction. For a repeat of an applied one with its idempotency key, returns that one's outcome instead.
    pub(crate) async fn apply(&self, writer: &WriterPool) -> Result<Updated, UpdateError> {
        let mut attempts = 1;
        loop {
            match self.attempt(writer).await {
                Err(DatabaseError::Conflict(_)) if attempts < MAX_ATTEMPTS => attempts += 1,
                Err(DatabaseError::Statement(error)) if attempts < MAX_ATTEMPTS && is_collision(&error) => {
                    attempts += 1;
                }
                result => return result.or_else(classify),
            }
        }
    }

    async fn attempt(&self, writer: &WriterPool) -> Result<Updated, DatabaseError> {
        let mut connection = writer.connection().await?;
        let outcome = match self.run(connection.client()?).await {
            Ok(outcome) => outcome,
            Err(error) => {
                if error.spares_connection() {
                    connection.release();
                } else {
                    connection.discard();
                }
                return Err(error);
            }
        };
        if !self.options.has_position {
            connection.release();
            return Ok(Updated { outcome, position: None });
        }
        // The update is committed, whatever becomes of the position.
        let position = written(connection.client()?).await.ok();
        match position {
            Some(_) => connection.release(),
            None => connection.discard(),
        }
        Ok(Updated { outcome, position })
    }

    async fn run(&self, connection: &mut Client) -> Result<UpdateOutcome, DatabaseError> {
        let Self { options, actor, request, key, .. } = *self;
        if key.is_some() {
            idempotency::delete_expired(connection).await?;
        }
        let transaction = Transaction::begin(connection).await?;
        transaction.batch_execute(&format!("SET LOCAL lock_timeout = {}", LOCK_TIMEOUT.as_millis())).await?;
        if let Some(key) = key
            && let KeyState::Decided(outcome) = idempotency::claim(&transaction, actor, key, request).await?
        {
            return Ok(outcome);
        }

        let rejection = match apply(&transaction, options, actor, request).await {
            Ok(notes) => {
                if let Some(key) = key {
                    idempotency::store(&transaction, actor, key, &notes).await?;
                }
                (self.on_commit)();
                transaction.commit().await?;
                return Ok(UpdateOutcome::Applied(notes));
            }
            Err(ApplyError::Rejected(violations)) => violations.as_slice().into(),
            Err(ApplyError::Unseen(shipments)) => Rejection::new(ErrorCode::Forbidden, &shipments),
            Err(ApplyError::Database(error)) => return Err(error),
        };
        transaction.rollback().await?;
        Ok(UpdateOutcome::Rejected(rejection))
    }
}

/// Whether another update's rows caused the error, so that a new attempt sees them.
fn is_collision(error: &tokio_postgres::Error) -> bool {
    matches!(error.code(), Some(&SqlState::UNIQUE_VIOLATION | &SqlState::FOREIGN_KEY_VIOLATION))
}

/// Nothing was applied, and a repeat fails as well: rows of a table that is no part of OFBiz refer to rows that the update deletes, or a
/// value is longer than its column in this database, such as a user's id, or a value has a character that the encoding lacks.
#[derive(Debug, Error)]
enum DataConflict<'a> {
    #[error("rows of {0} refer to what would be deleted")]
    Referenced(&'a str),
    #[error("a value is too long for the database: {0}")]
    TooLong(&'a str),
    #[error("a value has a character that the database cannot hold: {0}")]
    NotInEncoding(&'a str),
}

/// The result of an update by the error of its last attempt.
fn classify(error: DatabaseError) -> Result<Updated, UpdateError> {
    let statement = match &error {
        DatabaseError::Statement(statement) => statement,
        DatabaseError::SchemaChanged(_) => return Err(UpdateError::SchemaChanged(error)),
        _ => return Err(UpdateError::Unavailable(error)),
    };
    let Some(report) = statement.as_db_error() else { return Err(UpdateError::Internal(error)) };
    let conflict = match *report.code() {
        SqlState::FOREIGN_KEY_VIOLATION => DataConflict::Referenced(report.table().unwrap_or("a table")),
        SqlState::STRING_DATA_RIGHT_TRUNCATION => DataConflict::TooLong(report.message()),
        SqlState::UNTRANSLATABLE_CHARACTER => DataConflict::NotInEncoding(report.message()),
        _ if is_collision(statement) => return Err(UpdateError::Unavailable(error)),
        _ => return Err(UpdateError::Internal(error)),
    };
    let outcome = UpdateOutcome::Rejected(Rejection::new(ErrorCode::Conflict, &[conflict]));
    Ok(Updated { outcome, position: None })
}
