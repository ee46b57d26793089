//! The operator who makes a change.

use tokio_postgres::{Client, Error, Transaction};

/// The operator who makes changes, and its connection to the database.
pub(crate) struct Operator {
    pub(crate) client: Client,
    /// The name in the audit trail.
    pub(crate) name: String,
}

/// A change, and the operator who makes it.
pub(super) struct Change<'a> {
    pub(super) transaction: Transaction<'a>,
    pub(super) operator: &'a str,
}

impl Operator {
    /// Begins a change.
    pub(super) async fn begin(&mut self) -> Result<Change<'_>, Error> {
        Ok(Change { transaction: self.client.transaction().await?, operator: &self.name })
    }
}
