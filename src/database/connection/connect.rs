//! Opening a connection, and running it on a task of its own.

use tokio::task::JoinHandle;
use tokio_postgres::{Client, Error};

use crate::database::address::database_address::DatabaseAddress;
use crate::telemetry::emit;
use crate::telemetry::event::Event;

/// Connects, and runs the connection on its own task until the client is dropped.
pub async fn connect(address: impl Into<DatabaseAddress>) -> Result<Client, Error> {
    Ok(spawn(&address.into()).await?.0)
}

/// The same, with the task.
pub(crate) async fn spawn(address: &DatabaseAddress) -> Result<(Client, JoinHandle<()>), Error> {
    let (client, connection) = address.open().await?;
    let task = tokio::spawn(async move {
        if let Err(error) = connection.await {
            emit(&Event::ConnectionLost { error: &error });
        }
    });
    Ok((client, task))
}
