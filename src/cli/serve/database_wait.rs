//! Connects at the start to a database that may not be up yet: both may be started at the same time.

use std::time::Duration;

use tokio::time::{self, Instant};
use tokio_postgres::Client;

use crate::cli::database::{self, ConnectError};
use crate::cli::serve::service_manager;
use crate::database::database_address::DatabaseAddress;
use crate::telemetry::emit;
use crate::telemetry::event::Event;

/// The pause between two attempts.
const PAUSE: Duration = Duration::from_millis(250);

/// Connects. Tries again for so long, if there is hope.
pub(super) async fn connect(database: &DatabaseAddress, longest: Option<Duration>) -> Result<Client, ConnectError> {
    let longest = longest.unwrap_or_default();
    let started = Instant::now();
    let mut is_reported = false;
    loop {
        let error = match database::connect(database).await {
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
