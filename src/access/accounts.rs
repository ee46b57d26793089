//! Creates accounts with a password, groups and limits. Doing it twice changes nothing.

use std::sync::Arc;

use tokio_postgres::{Client, Error, Transaction};

use crate::access::password::{PasswordError, Passwords};
use crate::access::profile::{Profile, columns, parameters};

/// The wanted state of a user.
#[derive(Debug, Clone, Copy)]
pub struct User<'a> {
    /// The name to sign in with.
    pub user_id: &'a str,
    /// In clear; only its hash is stored.
    pub password: &'a str,
    /// Groups that the user is a member of, which must exist. Other memberships are not changed.
    pub groups: &'a [&'a str],
    /// The user's own limits.
    pub profile: Profile,
}

/// Why an account cannot be created.
#[derive(Debug, thiserror::Error)]
pub enum AccountError {
    /// The database reported an error.
    #[error("cannot store the account")]
    Database(#[from] Error),
    /// The password cannot be hashed.
    #[error("cannot hash the account's password")]
    Password(#[from] PasswordError),
}

/// Creates the user, or changes it to the wanted state. Writes nothing and notifies no server if nothing changes: a
/// password that is right already keeps its hash.
pub async fn ensure_user(client: &mut Client, passwords: &Passwords, user: &User<'_>) -> Result<(), AccountError> {
    let stored =
        client.query_opt("SELECT password_hash FROM orderql.user_account WHERE user_id = $1", &[&user.user_id]).await?;
    let stored: Option<Arc<str>> = match stored {
        Some(row) => Some(row.try_get::<_, &str>(0)?.into()),
        None => None,
    };
    let hash = match stored {
        Some(stored) if passwords.verify(user.password.to_owned(), Some(Arc::clone(&stored))).await? => stored,
        _ => passwords.hash(user.password.to_owned()).await?.into(),
    };

    let transaction = client.transaction().await?;
    transaction
        .execute(
            "INSERT INTO orderql.user_account AS account (user_id, password_hash) VALUES ($1, $2)
             ON CONFLICT (user_id) DO UPDATE SET password_hash = excluded.password_hash, disabled = false,
                 password_changed_at = CASE WHEN account.password_hash = excluded.password_hash
                                       THEN account.password_changed_at ELSE clock_timestamp() END
             WHERE (account.password_hash, account.disabled)
                   IS DISTINCT FROM (excluded.password_hash, false)",
            &[&user.user_id, &&*hash],
        )
        .await?;
    for group in user.groups {
        transaction
            .execute(
                "INSERT INTO orderql.group_member (group_id, user_id) VALUES ($1, $2) ON CONFLICT DO NOTHING",
                &[group, &user.user_id],
            )
            .await?;
    }
    store_profile(&transaction, user.user_id, &user.profile).await?;
    transaction.commit().await?;
    Ok(())
}

async fn store_profile(transaction: &Transaction<'_>, user_id: &str, profile: &Profile) -> Result<(), Error> {
    let names = columns(|_, column| column.to_owned());
    let values = columns(|index, _| format!("${}::bigint", index + 2));
    let stored = columns(|_, column| format!("profile.{column}"));
    let wanted = columns(|_, column| format!("excluded.{column}"));
    let upsert = format!(
        "INSERT INTO orderql.user_profile AS profile (user_id, {names}) VALUES ($1, {values})
         ON CONFLICT (user_id) DO UPDATE SET ({names}) = ({wanted})
         WHERE ({stored}) IS DISTINCT FROM ({wanted})"
    );
    transaction.execute(&upsert, &parameters(&user_id, &profile.numbers())).await?;
    Ok(())
}
