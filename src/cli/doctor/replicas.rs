//! Checks the replicas: whether each follows the primary and fits the schema.

use std::time::Duration;

use tokio::time::{self, Instant};
use tokio_postgres::{Client, Error};

use crate::cli::database::{ConnectError, connect};
use crate::cli::doctor::finding::Finding;
use crate::cli::schema::{self, check_database};
use crate::config::settings::Config;
use crate::database::address::database_address::DatabaseAddress;
use crate::telemetry::error_chain::ErrorChain;

/// The area of findings about replicas.
const AREA: &str = "replicas";

/// Between two looks at a replica that is behind.
const PAUSE: Duration = Duration::from_millis(50);

/// Which cluster a server has, whether it is a standby, and how far it is.
const STATE: &str = "
    SELECT system_identifier::text, pg_is_in_recovery(),
           (CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_insert_lsn() END - '0/0')::bigint
    FROM pg_control_system()";

/// Why a replica cannot be checked.
#[derive(Debug, thiserror::Error)]
enum ReplicaError {
    #[error(transparent)]
    Connect(#[from] ConnectError),
    #[error("the database reported an error")]
    Database(#[from] Error),
}

/// Checks each replica. The server works without them, so nothing is a failure.
pub(super) async fn check(primary: &Client, replicas: &[DatabaseAddress], config: &Config) -> Vec<Finding> {
    let mut findings = Vec::new();
    for replica in replicas {
        let name = replica.server_name();
        findings.push(examine(primary, replica, &name, config).await.unwrap_or_else(|error| {
            let text = format!("{name} cannot be read: {}", ErrorChain(&error));
            Finding::warning(AREA, text, "correct replica-urls, or start it; meanwhile the others are read")
        }));
    }
    findings
}

async fn examine(
    primary: &Client,
    replica: &DatabaseAddress,
    name: &str,
    config: &Config,
) -> Result<Finding, ReplicaError> {
    let client = connect(replica).await?;
    let before = State::read(primary).await?;
    let found = State::read(&client).await?;
    if !found.is_standby {
        return Ok(Finding::warning(
            AREA,
            format!("{name} is no standby"),
            "name standbys of the primary in replica-urls",
        ));
    }
    if found.cluster != before.cluster {
        let text = format!("{name} is a standby of another primary");
        return Ok(Finding::warning(AREA, text, "name standbys of the primary in replica-urls"));
    }
    if let Some(text) = unfit(&client, config).await {
        return Ok(Finding::warning(AREA, format!("{name}: {text}"), "wait until it has replayed the last migration"));
    }
    let behind = before.position.saturating_sub(found.position);
    if behind == 0 || catches_up(&client, before.position, config.replica_lag).await? {
        return Ok(Finding::ok(AREA, format!("{name} follows the primary, {behind} bytes behind")));
    }
    let lag = config.replica_lag.as_secs_f64();
    Ok(Finding::warning(
        AREA,
        format!("{name} is {behind} bytes behind, more than {lag} s, so that it is not read"),
        "SELECT * FROM pg_stat_replication; on the primary says why; SELECT pg_wal_replay_resume(); ends a pause on the replica; \
         or raise replica-lag",
    ))
}

/// Whether a replica reaches a position of the primary within a time.
async fn catches_up(replica: &Client, position: u64, lag: Duration) -> Result<bool, Error> {
    let until = Instant::now() + lag;
    loop {
        if State::read(replica).await?.position >= position {
            return Ok(true);
        }
        if Instant::now() >= until {
            return Ok(false);
        }
        time::sleep(PAUSE).await;
    }
}

/// The mismatch between the schema and the replica.
async fn unfit(client: &Client, config: &Config) -> Option<String> {
    // A schema that is none was reported before.
    let catalog = schema::read(config.schema.as_deref()).ok()?.with_search_window(config.search_window);
    let checked = check_database(client, &catalog, config.schema_constraints).await;
    checked.err().map(|error| ErrorChain(&*error).to_string())
}

/// The position of a server, and the id of its cluster.
struct State {
    cluster: String,
    is_standby: bool,
    position: u64,
}

impl State {
    async fn read(client: &Client) -> Result<Self, Error> {
        let row = client.query_one(STATE, &[]).await?;
        Ok(Self {
            cluster: row.try_get(0)?,
            is_standby: row.try_get(1)?,
            position: row.try_get::<_, i64>(2)?.unsigned_abs(),
        })
    }
}
