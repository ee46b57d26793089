//! The first answer to a request with an `Idempotency-Key`, given again to its repeats for a day.

use tokio_postgres::{Client, Transaction};

use crate::database::error::DatabaseError;
use crate::orders::UpdateError;
use crate::orders::answer::Answer;
use crate::orders::apply::Actor;
use crate::orders::update_form::UpdateForm;

/// Forgets some answers that have had their day. It is done outside of an update's transaction, which would otherwise
/// keep other keys locked while it waits for its own.
pub async fn forget(client: &Client) -> Result<(), DatabaseError> {
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

/// Claims a key for this transaction, or returns the answer that it has already. A repeat that comes while the first runs
/// waits for it here.
pub async fn claim(
    transaction: &Transaction<'_>,
    actor: &Actor,
    key: &str,
    form: &UpdateForm,
) -> Result<Option<Answer>, UpdateError> {
    let request = canonical(form);
    let claimed = async {
        // An answer that has had its day is as good as none, whether or not it has been forgotten.
        let inserted = transaction
            .execute(
                "INSERT INTO orderql.idempotent_answer AS known (user_id, key, request) VALUES ($1, $2, $3) \
                 ON CONFLICT (user_id, key) DO UPDATE \
                    SET request = excluded.request, answered_at = now(), status = NULL, body = NULL \
                 WHERE known.answered_at < now() - interval '1 day'",
                &[&actor.user_id, &key, &request],
            )
            .await?;
        if inserted == 1 {
            return Ok(None);
        }
        transaction
            .query_opt(
                "SELECT request, status, body FROM orderql.idempotent_answer WHERE user_id = $1 AND key = $2",
                &[&actor.user_id, &key],
            )
            .await
    };
    let Some(row) = claimed.await.map_err(DatabaseError::from)? else { return Ok(None) };
    let known: &str = row.try_get(0).map_err(DatabaseError::from)?;
    if known != request {
        return Err(UpdateError::KeyReused);
    }
    let status: Option<i16> = row.try_get(1).map_err(DatabaseError::from)?;
    let body: Option<String> = row.try_get(2).map_err(DatabaseError::from)?;
    Ok(status.zip(body).map(|(status, body)| Answer { status: status.unsigned_abs(), body }))
}

/// Keeps the answer, which becomes visible when the transaction is committed: with the update or not at all.
pub async fn keep(
    transaction: &Transaction<'_>,
    actor: &Actor,
    key: &str,
    answer: &Answer,
) -> Result<(), DatabaseError> {
    let status = i16::try_from(answer.status).unwrap_or(i16::MAX);
    transaction
        .execute(
            "UPDATE orderql.idempotent_answer SET status = $3, body = $4 WHERE user_id = $1 AND key = $2",
            &[&actor.user_id, &key, &status, &answer.body],
        )
        .await?;
    Ok(())
}

/// The parameters in one form, however they were encoded.
pub(super) fn canonical(form: &UpdateForm) -> String {
    form_urlencoded::Serializer::new(String::new()).extend_pairs(form.iter()).finish()
}
