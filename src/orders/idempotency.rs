//! Responses to requests with an `Idempotency-Key`, stored for a day.

use tokio_postgres::{Client, Transaction};

use crate::database::error::DatabaseError;
use crate::orders::actor::Actor;
use crate::orders::outcome::StoredResponse;
use crate::orders::update_request::UpdateRequest;

/// The state of an idempotency key.
pub(super) enum Claim {
    /// The key is new or expired. This transaction has locked it.
    New,
    /// The key was used for the same request.
    Repeat(StoredResponse),
    /// The key was used for another request.
    Reused,
}

/// Deletes some expired responses. Runs outside of an update's transaction, which would otherwise lock other keys while it
/// waits for its own.
pub(super) async fn delete_expired(client: &Client) -> Result<(), DatabaseError> {
    client
        .execute(
            "DELETE FROM orderql.idempotent_answer WHERE (user_id, key) IN ( \
                 SELECT user_id, key FROM orderql.idempotent_answer \
                 WHERE answered_at < now() - interval '1 day' \
                 ORDER BY answered_at LIMIT 100 FOR UPDATE SKIP LOCKED)",
            &[],
        )
        .await?;
    Ok(())
}

/// Claims a key for this transaction. Waits for a transaction that has claimed it before.
pub(super) async fn claim(
    transaction: &Transaction<'_>,
    actor: &Actor,
    key: &str,
    request: &UpdateRequest,
) -> Result<Claim, DatabaseError> {
    // An expired response counts as deleted.
    let inserted = transaction
        .execute(
            "INSERT INTO orderql.idempotent_answer AS known (user_id, key, request) VALUES ($1, $2, $3) \
             ON CONFLICT (user_id, key) DO UPDATE \
                SET request = excluded.request, answered_at = now(), status = NULL, body = NULL \
             WHERE known.answered_at < now() - interval '1 day'",
            &[&actor.user_id, &key, &request.canonical],
        )
        .await?;
    if inserted == 1 {
        return Ok(Claim::New);
    }
    let row = transaction
        .query_opt(
            "SELECT request, status, body FROM orderql.idempotent_answer WHERE user_id = $1 AND key = $2",
            &[&actor.user_id, &key],
        )
        .await?;
    let Some(row) = row else { return Ok(Claim::New) };
    let known: &str = row.try_get(0)?;
    if known != request.canonical {
        return Ok(Claim::Reused);
    }
    let (status, body): (Option<i16>, Option<String>) = (row.try_get(1)?, row.try_get(2)?);
    let response = status.zip(body).map(|(status, body)| StoredResponse { status: status.unsigned_abs(), body });
    Ok(response.map_or(Claim::New, Claim::Repeat))
}

/// Stores the response. It becomes visible with the update, when the transaction commits.
pub(super) async fn store(
    transaction: &Transaction<'_>,
    actor: &Actor,
    key: &str,
    response: &StoredResponse,
) -> Result<(), DatabaseError> {
    let status = i16::try_from(response.status).unwrap_or(i16::MAX);
    transaction
        .execute(
            "UPDATE orderql.idempotent_answer SET status = $3, body = $4 WHERE user_id = $1 AND key = $2",
            &[&actor.user_id, &key, &status, &response.body],
        )
        .await?;
    Ok(())
}
