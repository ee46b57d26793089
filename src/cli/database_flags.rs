//! The database of a command: from a flag, the environment, or the server's configuration file.

use std::path::PathBuf;

use crate::cli::database::address;
use crate::cli::outcome::Outcome;
use crate::cli::settings;
use crate::config::error::ConfigError;
use crate::config::flags::Flags;
use crate::config::settings::Config;
use crate::database::address::connection_string::ConnectionString;
use crate::database::address::database_address::DatabaseAddress;

/// The flags of a command that takes a database.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct DatabaseFlags {
    /// The database: `postgresql://user:password@host/name`, or `host=… user=… dbname=…` [env: `ORDERQL_DATABASE_URL`]
    #[arg(long, value_name = "URL", global = true,
        value_parser = |text: &str| text.parse::<ConnectionString>().map(|_| text.to_owned()))]
    pub database_url: Option<String>,

    /// The server's configuration file, which names the database, too [env: `ORDERQL_CONFIG`]
    #[arg(long, value_name = "FILE", global = true)]
    pub config: Option<PathBuf>,
}

impl DatabaseFlags {
    /// The settings, with the values of further flags.
    pub(crate) fn settings(&self, further: &[(&'static str, Option<&String>)]) -> Result<Config, ConfigError> {
        let given = further.iter().copied().chain([("database-url", self.database_url.as_ref())]);
        let values = given.filter_map(|(name, value)| Some((name, value?.clone()))).collect();
        Config::read(&settings::gather(&Flags { file: self.config.clone(), values })?)
    }

    /// The database's address as it was given.
    pub(crate) fn given(&self) -> Result<ConnectionString, ConfigError> {
        self.settings(&[])?.database()
    }

    /// The database's address. Fails if none is named.
    pub(crate) fn address(&self) -> Outcome<DatabaseAddress> {
        Ok(address(&self.given()?)?)
    }
}
