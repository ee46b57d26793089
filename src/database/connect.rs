//! A single connection without a pool, for commands that work on a database and exit.

use tokio_postgres::{Client, Error};

use crate::database::database_address::DatabaseAddress;
use crate::telemetry::emit;
use crate::telemetry::event::Event;

/// Connects, and runs the connection on its own task until the client is dropped.
pub async fn connect(address: impl Into<DatabaseAddress>) -> Result<Client, Error> {
    let (client, connection) = address.into().open().await?;
    tokio::spawn(async move {
        if let Err(error) = connection.await {
            emit(&Event::ConnectionLost { error: &error });
        }
    });
    Ok(client)
}
