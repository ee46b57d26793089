//! Applied updates with an `Idempotency-Key`, stored for a day. What was rejected is not stored: its cause may be gone when the
//! request comes again.

use sha2::{Digest as _, Sha256};
use thiserror::Error;
use tokio_postgres::Client;

use crate::database::error::DatabaseError;
use crate::database::transaction::Transaction;
use crate::error::code::ErrorCode;
use crate::orders::actor::Actor;
use crate::orders::outcome::{Note, UpdateOutcome};
use crate::orders::rejection::Rejection;
use crate::orders::update_request::UpdateRequest;

/// A request's idempotency key.
#[derive(Debug, Clone, Copy)]
pub(crate) struct IdempotencyKey<'a> {
    pub(crate) key: &'a str,
    /// The number of keys that the user may have stored.
    pub(crate) max_keys: u32,
}

/// Why an idempotency key cannot be used.
#[derive(Debug, Error)]
enum BadIdempotencyKey {
    #[error("this Idempotency-Key was used with other parameters")]
    Reused,
    #[error(
        "{max_keys} Idempotency-Keys are stored for you, and no more may be; each is deleted a day after its request"
    )]
    TooMany { max_keys: u32 },
}

/// The state of an idempotency key.
pub(super) enum KeyState {
    /// The key is new or expired. This transaction has locked it.
    New,
    /// The request has this outcome without being applied: it repeats one that was, or the key is rejected.
    Decided(UpdateOutcome),
}

/// Deletes some expired keys. Runs outside of an update's transaction, which would otherwise lock other keys while it
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
) -> Result<KeyState, DatabaseError> {
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
                SET request_hash = excluded.request_hash, answered_at = now(), notes = NULL \
             WHERE known.answered_at < now() - interval '1 day'",
            &[&actor.user_id, &key, &hash, &i64::from(max_keys)],
        )
        .await?;
    if inserted == 1 {
        return Ok(KeyState::New);
    }
    let row = transaction
        .query_opt(
            "SELECT request_hash, notes FROM orderql.idempotent_answer \
             WHERE user_id = $1 AND key = $2 AND answered_at >= now() - interval '1 day'",
            &[&actor.user_id, &key],
        )
        .await?;
    let Some(row) = row else { return Ok(decided(ErrorCode::Throttled, BadIdempotencyKey::TooMany { max_keys })) };
    let known: &[u8] = row.try_get(0)?;
    if known != hash {
        return Ok(decided(ErrorCode::IdempotencyKeyReused, BadIdempotencyKey::Reused));
    }
    let notes: Vec<String> = row.try_get::<_, Option<_>>(1)?.unwrap_or_default();
    let notes = notes.iter().filter_map(|note| serde_json::from_str(note).ok()).collect();
    Ok(KeyState::Decided(UpdateOutcome::Applied(notes)))
}

/// Stores what an applied update did beyond its rows. It becomes visible with the update, when the transaction commits.
pub(super) async fn store(
    transaction: &Transaction<'_>,
    actor: &Actor,
    IdempotencyKey { key, .. }: IdempotencyKey<'_>,
    notes: &[Note],
) -> Result<(), DatabaseError> {
    if !notes.is_empty() {
        // Serializing strings and numbers cannot fail.
        let notes: Vec<String> = notes.iter().filter_map(|note| serde_json::to_string(note).ok()).collect();
        let store = "UPDATE orderql.idempotent_answer SET notes = $3 WHERE user_id = $1 AND key = $2";
        transaction.execute(store, &[&actor.user_id, &key, &notes]).await?;
    }
    Ok(())
}

fn decided(code: ErrorCode, error: BadIdempotencyKey) -> KeyState {
    KeyState::Decided(UpdateOutcome::Rejected(Rejection::new(code, &[error])))
}

/// A hash of the parameters. The parameters themselves may be large, and are not needed to recognize a repeat.
fn request_hash(request: &UpdateRequest) -> Vec<u8> {
    Sha256::digest(request.canonical.as_bytes()).to_vec()
}
