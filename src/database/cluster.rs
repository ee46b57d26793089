//! A private PostgreSQL cluster: made, started and stopped by this program, reached over a Unix socket that nobody else
//! can open. The demo keeps one, the tests throw theirs away.
//!
//! Everything is in one folder: `data/` is PostgreSQL's, `data/server.log` what it says, `socket/` its door, and `lock` keeps
//! a second program out. Started as root, PostgreSQL runs as `postgres` or `nobody`, as it refuses to be root.

use std::fs::{self, File, Permissions, TryLockError};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use tokio_postgres::Config;
use tokio_postgres::error::SqlState;

use crate::telemetry::emit;
use crate::telemetry::event::Event;

use super::connect::connect;
use super::programs::Programs;
use super::server::{Runner, SUPERUSER, data_version, is_root, running};

/// How much a crash may cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// As PostgreSQL is: what is committed stays.
    Durable,
    /// Fast: a crash of the machine may ruin the data. For tests.
    ThrowAway,
}

/// Where and how to run a cluster.
#[derive(Debug, Clone)]
pub struct Options {
    /// The folder of the cluster. Made if it is not there.
    pub folder: PathBuf,
    /// The folder of PostgreSQL's programs (`ORDERQL_PG_BIN`), instead of looking for it.
    pub programs: Option<PathBuf>,
    /// How much a crash may cost.
    pub durability: Durability,
    /// Settings of PostgreSQL beyond ours, by name. A cluster that is found running keeps those it was started with.
    pub settings: Vec<(String, String)>,
}

/// A running cluster. Dropping it stops it.
#[derive(Debug)]
pub struct Cluster {
    /// How to run PostgreSQL's programs.
    runner: Runner,
    data: PathBuf,
    address: Address,
    /// Whether dropping stops the server. Cleared when it is stopped already, or left running.
    stops: bool,
    /// Held as long as the cluster, so that no other program takes it over or stops it.
    _lock: File,
}

/// Where a running cluster's databases are. Whoever may use its socket is its superuser.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    pub(super) socket: PathBuf,
    pub(super) port: u16,
}

/// Why there is no cluster.
#[derive(Debug, thiserror::Error)]
pub enum ClusterError {
    /// No PostgreSQL on this machine.
    #[error(
        "PostgreSQL's server programs (initdb, pg_ctl, postgres) are not found: install PostgreSQL 14 or later (Debian, \
         Ubuntu: apt-get install postgresql; Fedora: dnf install postgresql-server; Alpine: apk add postgresql; \
         macOS: brew install postgresql@17), or name their folder in ORDERQL_PG_BIN"
    )]
    ProgramsNotFound,
    /// The folder that was named has no PostgreSQL.
    #[error("{folder} has no initdb, pg_ctl and postgres: name the folder of PostgreSQL's server programs", folder = folder.display())]
    ProgramsNotIn {
        /// The folder.
        folder: PathBuf,
    },
    /// Only PostgreSQL before 14.
    #[error("PostgreSQL {found} is too old: install 14 or later")]
    ProgramsTooOld {
        /// The newest major version found.
        found: u32,
    },
    /// The data was made by a version that is not there.
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
    /// Started as root, and nobody to run PostgreSQL as.
    #[error("PostgreSQL does not run as root, and there is no user postgres or nobody: start this as another user")]
    NoUser,
    /// The user that PostgreSQL runs as cannot reach the folder.
    #[error(
        "PostgreSQL runs as user id {user}, which may not enter {closed}: choose another data folder, or allow it \
         (chmod o+x)", closed = closed.display()
    )]
    FolderClosed {
        /// The folder on the way that may not be entered.
        closed: PathBuf,
        /// The user's id.
        user: u32,
    },
    /// Another program has the cluster.
    #[error("another orderql uses {folder}: stop it, or use another data folder", folder = folder.display())]
    InUse {
        /// The cluster's folder.
        folder: PathBuf,
    },
    /// There is no short enough path for the socket.
    #[error("{path} is too long for a Unix socket: use a data folder with a shorter path", path = path.display())]
    SocketPathTooLong {
        /// The socket's path.
        path: PathBuf,
    },
    /// Somebody else has the folder that the socket would be in.
    #[error("{folder} belongs to somebody else: remove it, or use a data folder with a shorter path", folder = folder.display())]
    SocketFolderTaken {
        /// The socket's folder.
        folder: PathBuf,
    },
    /// A file or folder cannot be used.
    #[error("{path} cannot be used", path = path.display())]
    File {
        /// The file or folder.
        path: PathBuf,
        /// The system's reason.
        #[source]
        source: io::Error,
    },
    /// A program of PostgreSQL failed.
    #[error("{program} failed: {said}")]
    ProgramFailed {
        /// The program.
        program: &'static str,
        /// What it printed, or for a server that did not start the end of its log.
        said: String,
    },
    /// The running server refused.
    #[error("the cluster's server refused")]
    Database(#[from] tokio_postgres::Error),
}

impl Cluster {
    /// Makes the cluster if its folder has none, and starts it, or takes it over where a program that ended badly has left
    /// it running. Blocks: seconds for the first time, a fraction of one later.
    pub fn open(options: &Options) -> Result<Self, ClusterError> {
        let folder = make_folder(&options.folder)?;
        let lock = lock(&folder)?;
        let data = folder.join("data");
        let programs = Programs::find(options.programs.as_deref(), data_version(&data))?;
        let runner = Runner::new(programs, &folder, &data)?;
        if !data.exists() {
            runner.init(&data, options.durability)?;
        }
        let address = match running(&data) {
            Some(server) if server.answers() => server.address,
            found => {
                if found.is_some() {
                    // Starting, stopping, or another program's process id since the machine crashed: whatever it is, it
                    // ends here. What is no server of ours is not touched, only its claim on the folder.
                    runner.end_half_running(&data)?;
                }
                runner.start(&data, options)?
            }
        };
        Ok(Self { runner, data, address, stops: true, _lock: lock })
    }

    /// Whether the folder has a cluster already. If not, [`Cluster::open`] takes some seconds.
    pub fn is_made(folder: &Path) -> bool {
        folder.join("data").exists()
    }

    /// Where the cluster's databases are.
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// Stops the server: who is connected is cut off, what is committed is kept. Blocks until it has ended.
    pub fn stop(mut self) -> Result<(), ClusterError> {
        self.stops = false;
        self.runner.stop(&self.data)
    }

    /// Leaves the server running for whoever opens the cluster next.
    pub fn leave_running(mut self) -> Address {
        self.stops = false;
        self.address.clone()
    }
}

impl Address {
    /// How to connect to a database of the cluster, as its superuser.
    pub fn config(&self, database: &str) -> Config {
        let mut config = Config::new();
        config.host_path(&self.socket).port(self.port).user(SUPERUSER).dbname(database).application_name("orderql");
        config
    }

    /// Makes a database, empty or as a copy of another one that nobody is connected to. False if it is there already.
    pub async fn create_database(&self, name: &str, template: Option<&str>) -> Result<bool, ClusterError> {
        let client = connect(&self.config("postgres")).await?;
        let template = template.unwrap_or("template0");
        match client.batch_execute(&format!("CREATE DATABASE {} TEMPLATE {}", quoted(name), quoted(template))).await {
            Ok(()) => Ok(true),
            Err(error) if error.code() == Some(&SqlState::DUPLICATE_DATABASE) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Drops a database, and cuts off who is connected to it. Nothing happens if there is none.
    pub async fn drop_database(&self, name: &str) -> Result<(), ClusterError> {
        let client = connect(&self.config("postgres")).await?;
        Ok(client.batch_execute(&format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", quoted(name))).await?)
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        if self.stops
            && let Err(error) = self.runner.stop(&self.data)
        {
            emit(&Event::ClusterStopFailed { error: &error, data: &self.data });
        }
    }
}

/// Whether this program runs as root, and the server of a new cluster would not.
pub fn started_as_root() -> bool {
    is_root()
}

fn make_folder(path: &Path) -> Result<PathBuf, ClusterError> {
    let file = |source| ClusterError::File { path: path.to_owned(), source };
    if !path.exists() {
        fs::create_dir_all(path).map_err(file)?;
        // Let the server's user through, whatever our umask; the data and the socket below are private.
        fs::set_permissions(path, Permissions::from_mode(0o755)).map_err(file)?;
    }
    fs::canonicalize(path).map_err(file)
}

fn lock(folder: &Path) -> Result<File, ClusterError> {
    let path = folder.join("lock");
    let file = |source| ClusterError::File { path: path.clone(), source };
    let lock = File::options().create(true).append(true).open(&path).map_err(file)?;
    match lock.try_lock() {
        Ok(()) => Ok(lock),
        Err(TryLockError::WouldBlock) => Err(ClusterError::InUse { folder: folder.to_owned() }),
        Err(TryLockError::Error(source)) => Err(file(source)),
    }
}

/// As an identifier of SQL.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
