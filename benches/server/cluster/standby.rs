//! A standby server of the database, on the same machine.

use std::env;
use std::fs;
use std::io;
use std::path::PathBuf;
use std::process::Command;

use orderql::private_cluster::cluster::{Cluster, started_as_root};
use orderql::private_cluster::options::{ClusterOptions, Durability};

use crate::database::{Database, NAME, server_settings, url};
use crate::error::{BenchError, Result};

/// A running standby. Dropping it removes it.
pub struct Standby {
    // Stopped before its folder is removed.
    cluster: Option<Cluster>,
    folder: PathBuf,
    /// The first process of its PostgreSQL.
    pub postmaster: u32,
}

impl Standby {
    /// Copies the primary, and starts the copy as its standby.
    pub fn start(primary: &Database, number: usize) -> Result<Self> {
        let folder = primary.folder().with_extension(format!("standby-{number}"));
        eprintln!("copying the primary to {}", folder.display());
        let _ = fs::remove_dir_all(&folder);
        let options = ClusterOptions {
            folder: folder.clone(),
            programs: env::var_os("ORDERQL_PG_BIN").map(PathBuf::from),
            durability: Durability::ThrowAway,
            settings: server_settings(),
        };
        let failed = || BenchError::io(format!("create {}", folder.display()));
        fs::create_dir_all(&folder).map_err(failed())?;
        // It marks the folder as that of a cluster.
        fs::write(folder.join("lock"), "").map_err(failed())?;
        let data = folder.join("data");
        let mut backup = primary.client_program("pg_basebackup");
        backup.args(["--write-recovery-conf", "--wal-method=stream", "--checkpoint=fast", "--no-sync", "--pgdata"]);
        succeed(backup.arg(&data).stdout(io::stderr()))?;
        if started_as_root() {
            // PostgreSQL runs as the owner of the primary's data.
            let owner = format!("--reference={}", primary.folder().join("data").display());
            succeed(Command::new("chown").args(["-R", &owner]).arg(&data))?;
        }
        let mut standby = Self { cluster: Some(Cluster::open(&options)?), folder, postmaster: 0 };
        let id = fs::read_to_string(data.join("postmaster.pid")).unwrap_or_default();
        let id = id.lines().next().and_then(|line| line.trim().parse().ok());
        standby.postmaster = id.ok_or_else(|| BenchError::Data(format!("{} has no process", data.display())))?;
        Ok(standby)
    }

    /// Its address as `--replica-urls` takes it.
    pub fn url(&self) -> String {
        self.cluster.as_ref().map(|cluster| url(&cluster.address().config(NAME))).unwrap_or_default()
    }
}

impl Drop for Standby {
    fn drop(&mut self) {
        drop(self.cluster.take());
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn succeed(command: &mut Command) -> Result<()> {
    let program = command.get_program().to_string_lossy().into_owned();
    let status = command.status().map_err(BenchError::io(format!("start {program}")))?;
    if status.success() { Ok(()) } else { Err(BenchError::Program { program, output: "see above".to_owned() }) }
}
