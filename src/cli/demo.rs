//! `orderql demo`: the server on a PostgreSQL of its own.

use std::env;
use std::path::PathBuf;

use tokio_postgres::Config;

use crate::database::cluster::{Cluster, ClusterError, Durability, Options, started_as_root};
use crate::database::connect::connect;
use crate::database::migrate::{MigrateError, migrate};

/// The database of the demo, in its cluster.
const DATABASE: &str = "orderql";

/// Why the demo's database is not ready.
#[derive(Debug, thiserror::Error)]
pub enum PrepareError {
    /// There is nowhere to put the data.
    #[error("no folder for the data: HOME is not set; name one with --data-dir")]
    NoFolder,
    /// The demo's PostgreSQL does not run.
    #[error("the demo's PostgreSQL does not run")]
    Cluster(#[from] ClusterError),
    /// The demo's database cannot be connected to.
    #[error("the demo's database cannot be connected to")]
    Connect(#[from] tokio_postgres::Error),
    /// The demo's database cannot be migrated.
    #[error("the demo's database cannot be migrated")]
    Migrate(#[from] MigrateError),
}

/// Opens the demo's cluster, made if it is not there yet, with a migrated database in it. The cluster stops when it is
/// dropped. `data_dir` is where it is kept, by default the user's data folder, or `/var/lib/orderql` for root, whose home
/// PostgreSQL could not enter. Progress goes to standard error.
pub async fn prepare(data_dir: Option<PathBuf>) -> Result<(Cluster, Config), PrepareError> {
    let folder = data_dir.or_else(default_folder).ok_or(PrepareError::NoFolder)?;
    if !Cluster::is_made(&folder) {
        eprintln!("Making a PostgreSQL cluster in {}", folder.display());
    }
    // Blocks, which disturbs nobody: the server has not started.
    let cluster = Cluster::open(&Options {
        folder,
        programs: env::var_os("ORDERQL_PG_BIN").map(PathBuf::from),
        durability: Durability::Durable,
        settings: Vec::new(),
    })?;
    if cluster.address().create_database(DATABASE, None).await? {
        eprintln!("Making the database");
    }
    let config = cluster.address().config(DATABASE);
    let mut client = connect(&config).await?;
    let migrated = migrate(&mut client).await?;
    tracing::info!(migrations = migrated.migrations.len(), "the demo's database is up to date");
    Ok((cluster, config))
}

fn default_folder() -> Option<PathBuf> {
    if started_as_root() {
        return Some(PathBuf::from("/var/lib/orderql"));
    }
    // An empty or relative XDG_DATA_HOME counts as not set, as its specification says.
    let data_home = env::var_os("XDG_DATA_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let home = || env::home_dir().filter(|home| home.is_absolute()).map(|home| home.join(".local/share"));
    Some(data_home.or_else(home)?.join("orderql"))
}
