//! A private PostgreSQL cluster: this program creates, starts and stops it, and connects over a Unix socket that only its
//! own user can open. The demo keeps its cluster; tests remove theirs.
//!
//! Everything is in one folder: `data/` is PostgreSQL's data directory, `data/server.log` the server's log, `socket/`
//! contains the socket, and `lock` excludes a second process. PostgreSQL refuses to run as root, so a process started as
//! root runs it as `postgres` or `nobody`.

use std::fs::{self, File, Permissions, TryLockError};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::private_cluster::address::ClusterAddress;
use crate::private_cluster::error::ClusterError;
use crate::private_cluster::options::ClusterOptions;
use crate::private_cluster::postmaster::Postmaster;
use crate::private_cluster::programs::Programs;
use crate::private_cluster::server::{ServerPrograms, data_version};
use crate::private_cluster::server_user::is_root;
use crate::telemetry::emit;
use crate::telemetry::event::Event;

/// The file in the cluster's folder that excludes a second process.
const LOCK: &str = "lock";

/// A running cluster. Dropping it stops the server.
#[derive(Debug)]
pub struct Cluster {
    server: ServerPrograms,
    data: PathBuf,
    address: ClusterAddress,
    /// Whether dropping stops the server. False after `stop` and `leave_running`.
    stops_on_drop: bool,
    /// Keeps other processes from using or stopping the cluster while this value lives.
    _lock: File,
}

impl Cluster {
    /// Starts the cluster in the folder, and creates it first if the folder has none. Adopts a server that an earlier
    /// process left running. Blocks: seconds for a new cluster, a fraction of a second for an existing one.
    pub fn open(options: &ClusterOptions) -> Result<Self, ClusterError> {
        let folder = create_folder(&options.folder)?;
        let lock = lock(&folder)?;
        let data = folder.join("data");
        let programs = Programs::find(options.programs.as_deref(), data_version(&data))?;
        let server = ServerPrograms::new(programs, &folder, &data)?;
        if !data.exists() {
            server.init(&data, options.durability)?;
        }
        let address = match Postmaster::read(&data) {
            Some(running) if running.accepts_connections() => running.address,
            found => {
                if found.is_some() {
                    // The server is starting or stopping, or its process id belongs to another program since a crash of
                    // the machine.
                    server.clear_stale(&data)?;
                }
                server.start(&data, options)?
            }
        };
        Ok(Self { server, data, address, stops_on_drop: true, _lock: lock })
    }

    /// Whether the folder contains a cluster. If not, [`Cluster::open`] takes seconds.
    pub fn exists(folder: &Path) -> bool {
        folder.join("data").exists()
    }

    /// The cluster's address.
    pub fn address(&self) -> &ClusterAddress {
        &self.address
    }

    /// Stops the server. Closes all connections; committed data is kept. Blocks until the server has exited.
    pub fn stop(mut self) -> Result<(), ClusterError> {
        self.stops_on_drop = false;
        self.server.stop(&self.data)
    }

    /// Leaves the server running, for the next process that opens the cluster.
    pub fn leave_running(mut self) -> ClusterAddress {
        self.stops_on_drop = false;
        self.address.clone()
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        if self.stops_on_drop
            && let Err(error) = self.server.stop(&self.data)
        {
            emit(&Event::ClusterStopFailed { error: &error, data: &self.data });
        }
    }
}

/// Whether this process runs as root, so that a new cluster's server runs as another user.
pub fn started_as_root() -> bool {
    is_root()
}

fn create_folder(path: &Path) -> Result<PathBuf, ClusterError> {
    let file_error = |source| ClusterError::File { path: path.to_owned(), source };
    // The lock comes first into a cluster's folder.
    if path.is_dir() && !path.join(LOCK).exists() && fs::read_dir(path).map_err(file_error)?.next().is_some() {
        return Err(ClusterError::ForeignFolder { folder: path.to_owned() });
    }
    if !path.exists() {
        fs::create_dir_all(path).map_err(file_error)?;
        // The server's user must be able to enter, whatever our umask is. The data and the socket inside are private.
        fs::set_permissions(path, Permissions::from_mode(0o755)).map_err(file_error)?;
    }
    fs::canonicalize(path).map_err(file_error)
}

fn lock(folder: &Path) -> Result<File, ClusterError> {
    let path = folder.join(LOCK);
    let file_error = |source| ClusterError::File { path: path.clone(), source };
    let lock = File::options().create(true).append(true).open(&path).map_err(file_error)?;
    match lock.try_lock() {
        Ok(()) => Ok(lock),
        Err(TryLockError::WouldBlock) => Err(ClusterError::InUse { folder: folder.to_owned() }),
        Err(TryLockError::Error(source)) => Err(file_error(source)),
    }
}
