//! The errors of statements and of the connection pools.

use deadpool_postgres::{HookError, PoolError, TimeoutType};
use thiserror::Error;
use tokio_postgres::error::{DbError, Severity, SqlState};
use tokio_postgres::types::WrongType;

use crate::database::parameter::UnfitParameter;

/// Why a statement returned no result.
#[derive(Debug, Error)]
pub enum DatabaseError {
    /// Every connection of the pool was in use for the whole wait time.
    #[error("every database connection is busy")]
    Busy,
    /// The server cannot be reached, or the connection was lost.
    #[error("the database cannot be reached")]
    Unreachable(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// A new connection does not have the settings that results depend on.
    #[error("{0}")]
    Unsuitable(String),
    /// The response to a statement ended without all of its rows: a byte was damaged on the way, or a pooler lost a message.
    #[error("the database announced {announced:?} rows and sent {received}")]
    Incomplete {
        /// The number of rows at the end of the response; `None` if the statement was not executed.
        announced: Option<u64>,
        /// The number of rows that arrived.
        received: u64,
    },
    /// The server cannot run the statement in the state that it is in: it has no connection, memory or disk space left, is
    /// shutting down, or only reads. The same statement may succeed later, or on another connection.
    #[error("the database cannot run statements right now")]
    Unavailable(#[source] tokio_postgres::Error),
    /// The server cancelled the statement, for its `statement_timeout` or because an operator asked for it.
    #[error("the database cancelled a statement")]
    Cancelled(#[source] tokio_postgres::Error),
    /// The statement was to run together with others, and their execution failed. It may succeed when it runs alone.
    #[error("the database refused the execution of several statements")]
    Batch,
    /// The transaction conflicts with another one, or with the replay of another server's. A new attempt may succeed.
    #[error("the transaction conflicts with another one")]
    Conflict(#[source] tokio_postgres::Error),
    /// Tables were written anew whenever a snapshot of them was taken. A new attempt may succeed.
    #[error("tables were written anew while they were read")]
    Rewritten,
    /// The statement does not fit the tables: they were changed after it was prepared, or after the schema was compared with them.
    #[error("a statement does not fit the tables")]
    SchemaChanged(#[source] tokio_postgres::Error),
    /// The server rejected a statement.
    #[error("the database refused a statement")]
    Statement(#[source] tokio_postgres::Error),
}

impl DatabaseError {
    /// Whether the same statement may succeed later.
    pub(crate) fn is_temporary(&self) -> bool {
        match self {
            Self::Busy
            | Self::Unreachable(_)
            | Self::Unsuitable(_)
            | Self::Incomplete { .. }
            | Self::Unavailable(_)
            | Self::Batch
            | Self::Conflict(_)
            | Self::Rewritten => true,
            Self::Cancelled(_) | Self::SchemaChanged(_) | Self::Statement(_) => false,
        }
    }

    /// Whether what the statement was prepared for may not be there any more, so that it may succeed when it is prepared once more.
    /// PostgreSQL reports a type that was dropped as an internal error. The driver, if it was about to look the type up, as a message that
    /// it did not expect; its connection is not used again, as it may also be damaged.
    pub(crate) fn is_stale(&self) -> bool {
        match self {
            Self::SchemaChanged(_) => true,
            Self::Statement(error) => error.code() == Some(&SqlState::INTERNAL_ERROR),
            Self::Unreachable(error) => error.downcast_ref().is_some_and(is_unexpected_message),
            _ => false,
        }
    }

    /// Whether a number that the statement computes is beyond its type.
    pub(crate) fn is_out_of_range(&self) -> bool {
        matches!(self, Self::Statement(error) if error.code() == Some(&SqlState::NUMERIC_VALUE_OUT_OF_RANGE))
    }

    /// Whether the server does not accept a value, such as an unknown time zone.
    pub(crate) fn is_invalid_value(&self) -> bool {
        matches!(self, Self::Statement(error) if error.code() == Some(&SqlState::INVALID_PARAMETER_VALUE))
    }

    /// Whether the connection can run other statements after a rollback. If not, it is lost, or its messages cannot be
    /// attributed to statements any more, or its server is in a state in which another one may not be.
    pub(crate) fn spares_connection(&self) -> bool {
        match self {
            Self::Busy
            | Self::Batch
            | Self::Conflict(_)
            | Self::Rewritten
            | Self::Cancelled(_)
            | Self::SchemaChanged(_)
            | Self::Statement(_) => true,
            Self::Unreachable(_) | Self::Unsuitable(_) | Self::Incomplete { .. } | Self::Unavailable(_) => false,
        }
    }
}

impl From<PoolError> for DatabaseError {
    fn from(error: PoolError) -> Self {
        match error {
            PoolError::Timeout(TimeoutType::Wait) => Self::Busy,
            PoolError::PostCreateHook(HookError::Message(text)) => Self::Unsuitable(text.into_owned()),
            other => match refused_option(&other) {
                Some(refusal) => Self::Unsuitable(format!(
                    "a pooler refuses the settings of connections ({refusal}): set startup-options to off, and give the role \
                     what `orderql migrate --print-role-settings` prints"
                )),
                None => Self::Unreachable(Box::new(other)),
            },
        }
    }
}

impl From<tokio_postgres::Error> for DatabaseError {
    fn from(error: tokio_postgres::Error) -> Self {
        match error.as_db_error().map(ReportSubject::of) {
            None if is_about_a_parameter(&error) => Self::SchemaChanged(error),
            // Any other error without a report from the server comes from the connection.
            None | Some(ReportSubject::Connection) => Self::Unreachable(Box::new(error)),
            Some(ReportSubject::State) => Self::Unavailable(error),
            Some(ReportSubject::Cancelled) => Self::Cancelled(error),
            Some(ReportSubject::Conflict) => Self::Conflict(error),
            Some(ReportSubject::Schema) => Self::SchemaChanged(error),
            Some(ReportSubject::Statement) => Self::Statement(error),
        }
    }
}

/// The message of a pooler that refuses `options`, which PostgreSQL takes.
fn refused_option(error: &PoolError) -> Option<&str> {
    let PoolError::Backend(error) = error else { return None };
    Some(error.as_db_error()?.message()).filter(|message| message.contains("startup parameter"))
}

/// The subject of a server's report.
enum ReportSubject {
    /// The connection. After a fatal report the server closes it: it stops, starts or crashes, has no connections left, or ends
    /// idle ones. Other reports show that the server and this program do not understand each other any more.
    Connection,
    /// The state of the server.
    State,
    /// The cancellation of the statement.
    Cancelled,
    /// Another transaction.
    Conflict,
    /// The objects that the statement names, or their types.
    Schema,
    /// The statement itself.
    Statement,
}

impl ReportSubject {
    fn of(report: &DbError) -> Self {
        if matches!(report.parsed_severity(), Some(Severity::Fatal | Severity::Panic)) {
            return Self::Connection;
        }
        match *report.code() {
            SqlState::QUERY_CANCELED => Self::Cancelled,
            SqlState::T_R_SERIALIZATION_FAILURE | SqlState::T_R_DEADLOCK_DETECTED => Self::Conflict,
            SqlState::LOCK_NOT_AVAILABLE
            | SqlState::ADMIN_SHUTDOWN
            | SqlState::CRASH_SHUTDOWN
            | SqlState::CANNOT_CONNECT_NOW
            | SqlState::IO_ERROR => Self::State,
            // The server of a foreign table is away: its own errors of this kind are fatal.
            SqlState::SQLCLIENT_UNABLE_TO_ESTABLISH_SQLCONNECTION | SqlState::FDW_UNABLE_TO_ESTABLISH_CONNECTION => {
                Self::State
            }
            // An object that this program made on the connection is not there: a prepared statement, a portal, a transaction, a savepoint.
            // Or an error has ended the transaction, and its report was not seen.
            SqlState::INVALID_SQL_STATEMENT_NAME
            | SqlState::INVALID_CURSOR_NAME
            | SqlState::NO_ACTIVE_SQL_TRANSACTION
            | SqlState::IN_FAILED_SQL_TRANSACTION
            | SqlState::S_E_INVALID_SPECIFICATION => Self::Connection,
            // The statement's values were not seen, so the server was to run the portal before once more.
            SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE if report.routine() == Some("MarkPortalActive") => {
                Self::Connection
            }
            SqlState::INSUFFICIENT_PRIVILEGE => Self::Statement,
            // A prepared statement would return other types than before; a schema is not there; an enum does not have a label, or
            // a type does not have the values that are sent.
            SqlState::FEATURE_NOT_SUPPORTED
            | SqlState::INVALID_SCHEMA_NAME
            | SqlState::INVALID_TEXT_REPRESENTATION
            | SqlState::INVALID_BINARY_REPRESENTATION => Self::Schema,
            ref code if !is_well_formed(code) => Self::Connection,
            ref code => match &code.code()[..2] {
                // Connection exceptions: the server received a message that the protocol does not have.
                "08" => Self::Connection,
                // The transaction cannot do it as it is, such as writing on a standby; or insufficient resources: connections, memory,
                // disk space or a configured limit.
                "25" | "53" => Self::State,
                // A table, column, operator or type is not there, or not what it was.
                "42" => Self::Schema,
                _ => Self::Statement,
            },
        }
    }
}

/// Whether a server sends such codes.
fn is_well_formed(code: &SqlState) -> bool {
    let code = code.code().as_bytes();
    code.len() == 5 && code.iter().all(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase())
}

/// Whether the driver received a message that it did not expect: other errors of a connection have a cause, or say that it is closed.
fn is_unexpected_message(error: &tokio_postgres::Error) -> bool {
    std::error::Error::source(error).is_none() && !error.is_closed()
}

/// Whether a parameter of the statement cannot be sent: its type is not the one that the schema was compared with.
fn is_about_a_parameter(error: &tokio_postgres::Error) -> bool {
    std::error::Error::source(error).is_some_and(|source| source.is::<UnfitParameter>() || source.is::<WrongType>())
}
