//! The errors of the private cluster.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

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
        /// The one that was to become the cluster's.
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
        /// Its name without a folder.
        program: &'static str,
        /// The program's output; for a server that did not start, the end of its log.
        output: String,
    },
    /// The running server rejected a statement.
    #[error("the cluster's server refused")]
    Database(#[from] tokio_postgres::Error),
}
