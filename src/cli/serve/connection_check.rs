//! Whether connections to the servers can be used, before this server listens: with a pooler between, queries might fail, or read
//! no snapshots.

use std::time::Duration;

use futures_util::future::try_join_all;
use tokio::time;

use crate::cli::outcome::Outcome;
use crate::config::settings::Config;
use crate::database::address::database_address::DatabaseAddress;
use crate::database::address::server_addresses::ServerAddresses;
use crate::database::connection::pooler;
use crate::database::pool::reader_pool::ReaderPool;

/// How long it may take. A server that does not answer is not waited for, because others may.
const LONGEST: Duration = Duration::from_secs(3);

/// Fails if a pooler cannot be used, or connections lose settings that results depend on.
pub(super) async fn check(config: &Config, servers: &ServerAddresses) -> Outcome {
    let checks = try_join_all(servers.readable().map(|server| check_server(config, server)));
    time::timeout(LONGEST, checks).await.map_or(Ok(()), |checked| checked.map(drop))
}

async fn check_server(config: &Config, server: &DatabaseAddress) -> Outcome {
    if !config.startup_options
        && let Err(error) = pooler::examine(server).await
        && error.is_lasting()
    {
        return Err(error.into());
    }
    Ok(ReaderPool::new(&config.pool(server.clone()))?.check().await?)
}
