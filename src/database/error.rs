//! The errors of addresses, of the connection pools and of the private cluster.

use std::io;
use std::path::PathBuf;

use deadpool_postgres::{HookError, PoolError, TimeoutType};
use thiserror::Error;
use tokio_postgres::error::{DbError, Severity, SqlState};
use tokio_postgres::types::WrongType;

use crate::database::connection_string::ConnectionStringError;
use crate::database::parameter::ParameterError;
use crate::pem_files::PemError;

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
    /// The transaction conflicts with another one, or with the replay of another server's. A new attempt may succeed.
    #[error("the transaction conflicts with another one")]
    Conflict(#[source] tokio_postgres::Error),
    /// The server rejected a statement, or a parameter cannot be sent as the type that the statement expects.
    #[error("the database refused a statement")]
    Statement(#[source] tokio_postgres::Error),
}

impl DatabaseError {
    /// Whether the same statement may succeed later.
    pub fn is_temporary(&self) -> bool {
        match self {
            Self::Busy
            | Self::Unreachable(_)
            | Self::Unsuitable(_)
            | Self::Incomplete { .. }
            | Self::Unavailable(_)
            | Self::Conflict(_) => true,
            Self::Cancelled(_) | Self::Statement(_) => false,
        }
    }

    /// Whether the connection can run other statements after a rollback. If not, it is lost, or its messages cannot be
    /// attributed to statements any more, or its server is in a state in which another one may not be.
    pub fn spares_connection(&self) -> bool {
        match self {
            Self::Busy | Self::Conflict(_) | Self::Cancelled(_) | Self::Statement(_) => true,
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
        match error.as_db_error().map(Refusal::of) {
            None if is_about_a_parameter(&error) => Self::Statement(error),
            // Any other error without a report from the server comes from the connection.
            None | Some(Refusal::Connection) => Self::Unreachable(Box::new(error)),
            Some(Refusal::State) => Self::Unavailable(error),
            Some(Refusal::Cancelled) => Self::Cancelled(error),
            Some(Refusal::Conflict) => Self::Conflict(error),
            Some(Refusal::Statement) => Self::Statement(error),
        }
    }
}

/// What a pooler says that refuses `options`, which PostgreSQL takes.
fn refused_option(error: &PoolError) -> Option<&str> {
    let PoolError::Backend(error) = error else { return None };
    Some(error.as_db_error()?.message()).filter(|message| message.contains("startup parameter"))
}

/// What a server's report is about.
enum Refusal {
    /// The connection. After a fatal report the server closes it: it stops, starts or crashes, has no connections left, or ends
    /// idle ones. Other reports show that the server and this program do not understand each other any more.
    Connection,
    /// The state of the server.
    State,
    /// The cancellation of the statement.
    Cancelled,
    /// Another transaction.
    Conflict,
    /// The statement itself.
    Statement,
}

impl Refusal {
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
            // What this program made on the connection is not there: a prepared statement, a portal, a transaction, a savepoint.
            // Or an error has ended the transaction, and its report was not seen.
            SqlState::INVALID_SQL_STATEMENT_NAME
            | SqlState::INVALID_CURSOR_NAME
            | SqlState::NO_ACTIVE_SQL_TRANSACTION
            | SqlState::IN_FAILED_SQL_TRANSACTION
            | SqlState::S_E_INVALID_SPECIFICATION => Self::Connection,
            ref code if !is_well_formed(code) => Self::Connection,
            ref code => match &code.code()[..2] {
                // Connection exceptions: the server received a message that the protocol does not have.
                "08" => Self::Connection,
                // The transaction cannot do it as it is, such as writing on a standby; or insufficient resources: connections, memory,
                // disk space or a configured limit.
                "25" | "53" => Self::State,
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

/// Whether a parameter of the statement cannot be sent.
fn is_about_a_parameter(error: &tokio_postgres::Error) -> bool {
    std::error::Error::source(error).is_some_and(|source| source.is::<ParameterError>() || source.is::<WrongType>())
}

/// Why the files and variables that an address names cannot be used.
#[derive(Debug, Error)]
pub enum AddressError {
    /// The parameters of a service or of the environment are wrong.
    #[error("the database's address is not valid")]
    Parameters(#[from] ConnectionStringError),
    /// A file cannot be read.
    #[error("{path} cannot be read", path = path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The operating system's error.
        #[source]
        source: io::Error,
    },
    /// No service file has the service.
    #[error("no service file has [{name}]: name the file in PGSERVICEFILE, or correct service=")]
    NoService {
        /// The service's name.
        name: String,
    },
    /// Certificates are to be verified, but there is no root certificate.
    #[error(
        "{path} does not exist, and sslmode asks for verified certificates: name the authority's certificate in sslrootcert, \
         trust those of the system with sslrootcert=system, or use another sslmode", path = path.display()
    )]
    NoRootCertificate {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// The system's certificates are trusted for any host but the one that is meant.
    #[error(
        "sslrootcert=system needs sslmode=verify-full: anybody can get a certificate from an authority of the system"
    )]
    SystemNeedsHost,
    /// The file of a certificate or key cannot be used.
    #[error(transparent)]
    Pem(#[from] PemError),
    /// A certificate without its key, or a key without its certificate.
    #[error("sslcert and sslkey belong together: name both files")]
    HalfIdentity,
    /// The certificates cannot be used.
    #[error("the certificates cannot be used")]
    Certificates(#[source] rustls::Error),
}

/// Why the private cluster cannot be used.
#[derive(Debug, Error)]
pub enum ClusterError {
    /// PostgreSQL is not installed.
    #[error(
        "PostgreSQL's server programs (initdb, pg_ctl, postgres) are not found: install PostgreSQL 14 or later (Debian, \
         Ubuntu: apt-get install postgresql; Fedora: dnf install postgresql-server; Alpine: apk add postgresql; \
         macOS: brew install postgresql@17), or name their folder in ORDERQL_PG_BIN"
    )]
    ProgramsNotFound,
    /// The configured folder does not contain PostgreSQL.
    #[error("{folder} has no initdb, pg_ctl and postgres: name the folder of PostgreSQL's server programs", folder = folder.display())]
    ProgramsNotIn {
        /// The configured folder.
        folder: PathBuf,
    },
    /// Only versions before 14 are installed.
    #[error("PostgreSQL {found} is too old: install 14 or later")]
    ProgramsTooOld {
        /// The newest major version found.
        found: u32,
    },
    /// The data directory belongs to a major version that is not installed.
    #[error(
        "the data was made by PostgreSQL {made_by}, and only {found} is found: install PostgreSQL {made_by}, or use \
         another data folder"
    )]
    OtherVersion {
        /// The major version of the data.
        made_by: u32,
        /// The newest major version found.
        found: u32,
    },
    /// The process runs as root, and no unprivileged user exists to run PostgreSQL.
    #[error("PostgreSQL does not run as root, and there is no user postgres or nobody: start this as another user")]
    NoUser,
    /// The user that runs PostgreSQL may not enter the folder.
    #[error(
        "PostgreSQL runs as user id {user}, which may not enter {closed}: choose another data folder, or allow it \
         (chmod o+x)", closed = closed.display()
    )]
    FolderClosed {
        /// The ancestor folder without permission to enter.
        closed: PathBuf,
        /// The user's id.
        user: u32,
    },
    /// The folder has files, and no cluster of this program.
    #[error("{folder} has files of something else: name an empty folder, or one that is not there yet", folder = folder.display())]
    ForeignFolder {
        /// The folder.
        folder: PathBuf,
    },
    /// Another process has locked the cluster.
    #[error("another orderql uses {folder}: stop it, or use another data folder", folder = folder.display())]
    InUse {
        /// The cluster's folder.
        folder: PathBuf,
    },
    /// No path for the socket is short enough.
    #[error("{path} is too long for a Unix socket: use a data folder with a shorter path", path = path.display())]
    SocketPathTooLong {
        /// The socket's path.
        path: PathBuf,
    },
    /// The socket's folder belongs to another user.
    #[error("{folder} belongs to somebody else: remove it, or use a data folder with a shorter path", folder = folder.display())]
    SocketFolderTaken {
        /// The socket's folder.
        folder: PathBuf,
    },
    /// A file or folder cannot be read or written.
    #[error("{path} cannot be used", path = path.display())]
    File {
        /// The file or folder.
        path: PathBuf,
        /// The operating system's error.
        #[source]
        source: io::Error,
    },
    /// A program of PostgreSQL failed.
    #[error("{program} failed: {output}")]
    ProgramFailed {
        /// The program.
        program: &'static str,
        /// The program's output; for a server that did not start, the end of its log.
        output: String,
    },
    /// The running server rejected a statement.
    #[error("the cluster's server refused")]
    Database(#[from] tokio_postgres::Error),
}
