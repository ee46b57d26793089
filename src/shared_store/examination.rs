//! The report of a store about itself.

use std::time::Duration;

use redis::AsyncConnectionConfig;
use tokio::time::{self, Instant};

use crate::shared_store::address::StoreAddress;
use crate::shared_store::connection::{CONNECT_TIMEOUT, StoreError};

/// The report of a store about itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StoreReport {
    /// Its version, with its name.
    pub(crate) version: String,
    /// The first number of the version of Redis whose commands it has.
    pub(crate) major: u32,
    /// Whether it may remove values when memory gets short.
    pub(crate) evicts: bool,
    /// Whether it takes writes.
    pub(crate) is_primary: bool,
    /// How long a round trip took.
    pub(crate) round_trip: Duration,
}

/// Connects to a store, and asks what it is.
pub(crate) async fn examine(address: &StoreAddress) -> Result<StoreReport, StoreError> {
    let asked = async {
        let config = AsyncConnectionConfig::new().set_connection_timeout(None).set_response_timeout(None);
        let mut connection = address.client().get_multiplexed_async_connection_with_config(&config).await?;
        let started = Instant::now();
        let _: () = redis::cmd("PING").query_async(&mut connection).await?;
        let round_trip = started.elapsed();
        let info: String = redis::cmd("INFO").query_async(&mut connection).await?;
        Ok(StoreReport { round_trip, ..StoreReport::of(&info) })
    };
    time::timeout(CONNECT_TIMEOUT, asked).await.map_err(|_| StoreError::TimedOut { within: CONNECT_TIMEOUT })?
}

impl StoreReport {
    /// From the text of `INFO`.
    fn of(info: &str) -> Self {
        let value = |name: &str| {
            info.lines().find_map(|line| line.trim_end().strip_prefix(name)?.strip_prefix(':')).unwrap_or_default()
        };
        // Valkey also has the version of Redis with which it is compatible.
        let redis = value("redis_version");
        let version = match value("valkey_version") {
            "" => format!("Redis {redis}"),
            valkey => format!("Valkey {valkey}"),
        };
        let major = redis.split('.').next().and_then(|major| major.parse().ok()).unwrap_or_default();
        let evicts = value("maxmemory") != "0" && value("maxmemory_policy") != "noeviction";
        Self { version, major, evicts, is_primary: value("role") == "master", round_trip: Duration::ZERO }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_matters_from_info() {
        let info = "# Server\r\nredis_version:7.2.4\r\nvalkey_version:8.1.1\r\n# Memory\r\nmaxmemory:0\r\n\
                    maxmemory_policy:allkeys-lru\r\n# Replication\r\nrole:slave\r\n";
        let report = StoreReport::of(info);
        assert_eq!((&*report.version, report.major, report.is_primary), ("Valkey 8.1.1", 7, false));
        assert!(!report.evicts, "there is no limit");
        let info =
            info.replace("maxmemory:0", "maxmemory:100").replace("valkey_version", "x").replace("slave", "master");
        let report = StoreReport::of(&info);
        assert_eq!((&*report.version, report.evicts, report.is_primary), ("Redis 7.2.4", true, true));
        assert!(!StoreReport::of(&info.replace("allkeys-lru", "noeviction")).evicts);
    }
}
