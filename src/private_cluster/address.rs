//! The address of a private cluster, and its databases.

use std::path::PathBuf;

use tokio_postgres::Config;
use tokio_postgres::error::SqlState;

use crate::database::connection::connect::connect;
use crate::private_cluster::error::ClusterError;

/// The superuser of the cluster. It is not called orderql, because a role searches the schema of its own name first.
pub(super) const SUPERUSER: &str = "postgres";

/// The address of a running cluster. Every process that may open its socket is a superuser of its databases.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClusterAddress {
    pub(super) socket: PathBuf,
    pub(super) port: u16,
}

impl ClusterAddress {
    /// The configuration to connect to a database of the cluster as its superuser.
    pub fn config(&self, database: &str) -> Config {
        let mut config = Config::new();
        config.host_path(&self.socket).port(self.port).user(SUPERUSER).dbname(database).application_name("orderql");
        config
    }

    /// Creates a database, empty or as a copy of `template`, which must have no connections. Returns false if the database
    /// exists already.
    pub async fn create_database(&self, name: &str, template: Option<&str>) -> Result<bool, ClusterError> {
        let client = connect(&self.config("postgres")).await?;
        let template = template.unwrap_or("template0");
        let create = format!("CREATE DATABASE {} TEMPLATE {}", quote_identifier(name), quote_identifier(template));
        match client.batch_execute(&create).await {
            Ok(()) => Ok(true),
            Err(error) if error.code() == Some(&SqlState::DUPLICATE_DATABASE) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Drops a database and closes its connections. Does nothing if the database does not exist.
    pub async fn drop_database(&self, name: &str) -> Result<(), ClusterError> {
        let client = connect(&self.config("postgres")).await?;
        Ok(client.batch_execute(&format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", quote_identifier(name))).await?)
    }
}

fn quote_identifier(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
