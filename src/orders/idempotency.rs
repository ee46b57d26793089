//! Outcomes of requests with an `Idempotency-Key`, stored for a day. Malformed requests do not get here.

use sha2::{Digest as _, Sha256};
use tokio_postgres::Client;

use crate::database::error::DatabaseError;
use crate::database::transaction::Transaction;
use crate::orders::actor::Actor;
use crate::orders::outcome::{RejectionCause, UpdateOutcome};
use crate::orders::update_request::UpdateRequest;

/// A request's idempotency key.
#[derive(Debug, Clone, Copy)]
pub(crate) struct IdempotencyKey<'a> {
    /// The key.
    pub(crate) key: &'a str,
    /// The number of keys that the user may have stored.
    pub(crate) max_keys: u32,
}

/// The state of an idempotency key.
pub(super) enum Claim {
    /// The key is new or expired. This transaction has locked it.
    New,
    /// The request has this outcome without being applied: that of the request which it repeats, or a rejection of the key.
    Decided(UpdateOutcome),
}

/// Deletes some expired outcomes. Runs outside of an update's transaction, which would otherwise lock other keys while it
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
    IdempotencyKey { key, max_keys }: IdempotencyKey<'_>,
    request: &UpdateRequest,
) -> Result<Claim, DatabaseError> {
    let hash = request_hash(request);
    // An expired key counts as deleted. Simultaneous requests do not see each other's keys, so a user can have a few more
    // than allowed, one for each.
    let inserted = transaction
        .execute(
            "INSERT INTO orderql.idempotent_answer AS known (user_id, key, request_hash) \
             SELECT $1::text, $2::text, $3::bytea WHERE $4 > (SELECT count(*) FROM ( \
                 SELECT FROM orderql.idempotent_answer \
                 WHERE user_id = $1::text AND answered_at >= now() - interval '1 day' LIMIT $4) AS counted) \
             ON CONFLICT (user_id, key) DO UPDATE \
                SET request_hash = excluded.request_hash, answered_at = now(), outcome = NULL, errors = NULL \
             WHERE known.answered_at < now() - interval '1 day'",
            &[&actor.user_id, &key, &hash, &i64::from(max_keys)],
        )
        .await?;
    if inserted == 1 {
        return Ok(Claim::New);
    }
    let row = transaction
        .query_opt(
            "SELECT request_hash, outcome, errors FROM orderql.idempotent_answer \
             WHERE user_id = $1 AND key = $2 AND answered_at >= now() - interval '1 day'",
            &[&actor.user_id, &key],
        )
        .await?;
    let Some(row) = row else { return Ok(Claim::Decided(UpdateOutcome::TooManyKeys)) };
    let known: &[u8] = row.try_get(0)?;
    if known != hash {
        return Ok(Claim::Decided(UpdateOutcome::KeyReused));
    }
    let errors = || row.try_get::<_, Option<Vec<String>>>(2).map(Option::unwrap_or_default);
    let outcome = match row.try_get(1)? {
        Some(APPLIED) => UpdateOutcome::Applied,
        Some(NOT_FOUND) => UpdateOutcome::Rejected { cause: RejectionCause::NotFound, errors: errors()? },
        _ => UpdateOutcome::Rejected { cause: RejectionCause::Conflict, errors: errors()? },
    };
    Ok(Claim::Decided(outcome))
}

/// Stores the outcome. It becomes visible with the update, when the transaction commits.
pub(super) async fn store(
    transaction: &Transaction<'_>,
    actor: &Actor,
    IdempotencyKey { key, .. }: IdempotencyKey<'_>,
    outcome: &UpdateOutcome,
) -> Result<(), DatabaseError> {
    let (name, errors) = match outcome {
        UpdateOutcome::Applied => (APPLIED, None),
        UpdateOutcome::Rejected { cause: RejectionCause::NotFound, errors } => (NOT_FOUND, Some(errors)),
        UpdateOutcome::Rejected { cause: RejectionCause::Conflict, errors } => (CONFLICT, Some(errors)),
        // The outcomes of requests that did not claim the key.
        UpdateOutcome::KeyReused | UpdateOutcome::TooManyKeys => return Ok(()),
    };
    transaction
        .execute(
            "UPDATE orderql.idempotent_answer SET outcome = $3, errors = $4 WHERE user_id = $1 AND key = $2",
            &[&actor.user_id, &key, &name, &errors],
        )
        .await?;
    Ok(())
}

const APPLIED: &str = "APPLIED";
const NOT_FOUND: &str = "NOT_FOUND";
const CONFLICT: &str = "CONFLICT";

/// A hash of the parameters. The parameters themselves may be large, and are not needed to recognize a repeat.
fn request_hash(request: &UpdateRequest) -> Vec<u8> {
    Sha256::digest(request.canonical.as_bytes()).to_vec()
}
