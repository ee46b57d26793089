//! One connection outside the pool, for commands that work on a database and end.

use tokio_postgres::{Client, Config, Error, NoTls};

/// Connects, and drives the connection on a task of its own until the client is dropped.
pub async fn connect(config: &Config) -> Result<Client, Error> {
    let (client, connection) = config.connect(NoTls).await?;
    tokio::spawn(async move {
        if let Err(error) = connection.await {
            tracing::debug!(%error, "a database connection ended");
        }
    });
    Ok(client)
}
