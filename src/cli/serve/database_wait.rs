//! Connects at the start to a database that may not be up yet: both may be started at the same time.

use std::error::Error;
use std::iter;
use std::time::Duration;

use tokio::time::{self, Instant};
use tokio_postgres::Client;
use tokio_postgres::error::SqlState;

use crate::cli::database::{self, ConnectError};
use crate::cli::serve::service_manager;
use crate::database::address::server_addresses::ServerAddresses;
use crate::telemetry::emit;
use crate::telemetry::event::Event;

/// The pause between two attempts.
const PAUSE: Duration = Duration::from_millis(250);

/// How long a server may take to answer if another one can be asked.
const LONGEST_ANSWER: Duration = Duration::from_secs(3);

/// Connects to the primary, or to a replica if that is away. Tries again for so long, if there is hope.
pub(super) async fn connect(servers: &ServerAddresses, longest: Option<Duration>) -> Result<Client, ConnectError> {
    let longest = longest.unwrap_or_default();
    let started = Instant::now();
    let mut is_reported = false;
    loop {
        let error = match connect_once(servers).await {
            Ok(client) => return Ok(client),
            Err(error) => error,
        };
        if !error.may_pass() || started.elapsed() + PAUSE > longest {
            return Err(error);
        }
        if !is_reported {
            emit(&Event::DatabaseAwaited { error: &error, longest });
            service_manager::extend_start(longest);
            is_reported = true;
        }
        time::sleep(PAUSE).await;
    }
}

/// Reads what the server needs to begin with, and again if the connection is lost meanwhile, for so long.
pub(super) async fn read<T>(
    longest: Option<Duration>,
    mut attempt: impl AsyncFnMut() -> Result<T, Box<dyn Error + Send + Sync>>,
) -> Result<T, Box<dyn Error + Send + Sync>> {
    let started = Instant::now();
    loop {
        match attempt().await {
            Err(error) if is_lost(&*error) && started.elapsed() + PAUSE <= longest.unwrap_or_default() => {
                time::sleep(PAUSE).await;
            }
            result => return result,
        }
    }
}

/// Whether a connection was closed, or could not be made, so that another attempt may succeed.
fn is_lost(error: &(dyn Error + 'static)) -> bool {
    iter::successors(Some(error), |&error| error.source()).any(|cause| {
        if let Some(error) = cause.downcast_ref::<tokio_postgres::Error>() {
            let ends = [SqlState::ADMIN_SHUTDOWN, SqlState::CRASH_SHUTDOWN, SqlState::CANNOT_CONNECT_NOW];
            return error.is_closed() || error.code().is_some_and(|code| ends.contains(code));
        }
        cause.downcast_ref::<ConnectError>().is_some_and(ConnectError::may_pass)
    })
}

/// Connects to the primary, or to a replica if that is away. Fails with the primary's error.
pub(super) async fn connect_once(servers: &ServerAddresses) -> Result<Client, ConnectError> {
    let primary = database::connect(&servers.primary);
    if servers.replicas.is_empty() {
        return primary.await;
    }
    let mut primary = Box::pin(primary);
    let error = match time::timeout(LONGEST_ANSWER, &mut primary).await {
        Ok(Ok(client)) => return Ok(client),
        Ok(Err(error)) if !error.may_pass() => return Err(error),
        Ok(Err(error)) => Some(error),
        Err(_) => None,
    };
    for replica in &servers.replicas {
        if let Ok(Ok(client)) = time::timeout(LONGEST_ANSWER, database::connect(replica)).await {
            return Ok(client);
        }
    }
    match error {
        Some(error) => Err(error),
        // It may answer yet.
        None => primary.await,
    }
}
