//! The missing objects of a database, for roles that cannot migrate it.

use tokio_postgres::{Client, Error};

use crate::migration::declaration::{Declaration, TableScope};
use crate::migration::difference::Difference;
use crate::migration::record::has_order_tables;

/// The declared tables, columns and objects that the database lacks, by name.
pub(crate) async fn pending(client: &Client) -> Result<Vec<String>, Error> {
    let scope = if has_order_tables(client).await? { TableScope::All } else { TableScope::Service };
    let difference = Difference::read(client, Declaration::of(scope), None).await?;
    Ok(difference.names())
}
