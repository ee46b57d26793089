//! Writes the changes of an update in its transaction, and records them for the audit.

use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use crate::database::error::DatabaseError;
use crate::database::transaction::Transaction;
use crate::orders::actor::Actor;
use crate::orders::apply::audit::UpdateChange;
use crate::orders::options::UpdateOptions;
use crate::orders::update_request::UpdateRequest;

/// Writes and records the changes of an update.
pub(super) struct ChangeWriter<'a> {
    transaction: &'a Transaction<'a>,
    pub(super) options: UpdateOptions,
    pub(super) actor: &'a Actor,
    /// The changes, in order.
    changes: Vec<UpdateChange>,
}

impl<'a> ChangeWriter<'a> {
    pub(super) fn new(transaction: &'a Transaction<'a>, options: UpdateOptions, actor: &'a Actor) -> Self {
        Self { transaction, options, actor, changes: Vec::new() }
    }

    /// Executes a statement and returns the number of rows that it affected.
    pub(super) async fn execute(&self, sql: &str, parameters: &[&(dyn ToSql + Sync)]) -> Result<u64, DatabaseError> {
        self.transaction.execute(sql, parameters).await
    }

    /// The rows of a statement.
    pub(super) async fn query(&self, sql: &str, parameters: &[&(dyn ToSql + Sync)]) -> Result<Vec<Row>, DatabaseError> {
        self.transaction.query(sql, parameters).await
    }

    /// The first row of a statement that always has one.
    pub(super) async fn query_one(&self, sql: &str, parameters: &[&(dyn ToSql + Sync)]) -> Result<Row, DatabaseError> {
        self.transaction.query_one(sql, parameters).await
    }

    /// Records a change.
    pub(super) fn record(&mut self, change: UpdateChange) {
        self.changes.push(change);
    }

    /// A new id that OFBiz's own sequences never give.
    pub(super) async fn new_id(&self) -> Result<String, DatabaseError> {
        Ok(self.query_one("SELECT 'Q' || nextval('orderql.entity_id')", &[]).await?.try_get(0)?)
    }

    /// Writes the audit row.
    pub(super) async fn finish(self, request: &UpdateRequest) -> Result<(), DatabaseError> {
        // Serializing strings cannot fail.
        let changes = serde_json::to_string(&self.changes).unwrap_or_default();
        let sql = "INSERT INTO orderql.order_update (user_id, address, request, changes) \
                   VALUES ($1, $2, to_jsonb($3::text), $4::text::jsonb)";
        self.execute(sql, &[&self.actor.user_id, &self.actor.address, &request.audited, &changes]).await?;
        Ok(())
    }
}
