//! Compares the tables that triggers keep with OFBiz's when the server starts, beside its work: a warning names tables that
//! differ.

use tokio_postgres::{Client, Error};

use crate::migration::kept_tables::KEPT_TABLES;
use crate::telemetry::emit;
use crate::telemetry::event::Event;

/// A comparison reads whole tables. `orderql doctor`, which has no such limit, compares very large ones.
const TIMEOUT: &str = "SET LOCAL statement_timeout = '30s'";

/// Compares all of them. What cannot be compared, for want of time or of a privilege, is left to `orderql doctor`.
pub(super) async fn run(mut client: Client) {
    let _ = compare(&mut client).await;
}

async fn compare(client: &mut Client) -> Result<(), Error> {
    let transaction = client.transaction().await?;
    transaction.batch_execute(TIMEOUT).await?;
    for table in &KEPT_TABLES {
        if table.exists(transaction.client()).await? {
            let count = table.differing(transaction.client()).await?;
            if count > 0 {
                emit(&Event::KeptTableDiffers { table: table.name, count });
            }
        }
    }
    transaction.commit().await
}
