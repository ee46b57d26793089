//! Making accounts and giving them grants. Doing it twice changes nothing.

use std::sync::Arc;

use tokio_postgres::{Client, Error};

use crate::access::password::{PasswordError, Passwords};

/// A user as it shall be.
#[derive(Debug, Clone, Copy)]
pub struct User<'a> {
    /// The name it signs in with.
    pub user_id: &'a str,
    /// Its password.
    pub password: &'a str,
    /// The groups it is a member of, which must exist; other memberships are left alone.
    pub groups: &'a [&'a str],
    /// What it is held to.
    pub profile: Profile,
}

/// What a user is held to; `None` is the server's default.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Profile {
    /// Credits that one query may be estimated at.
    pub max_cost: Option<i64>,
    /// Rows a page may have.
    pub max_page_size: Option<i32>,
    /// Levels of nesting.
    pub max_depth: Option<i32>,
    /// Credits in a full bucket.
    pub bucket_size: Option<i64>,
    /// Credits that come back every second.
    pub restore_rate: Option<i64>,
    /// The wall-clock budget of a request, in milliseconds.
    pub deadline_ms: Option<i64>,
}

impl Profile {
    /// The server's defaults throughout.
    pub const DEFAULT: Self = Self {
        max_cost: None,
        max_page_size: None,
        max_depth: None,
        bucket_size: None,
        restore_rate: None,
        deadline_ms: None,
    };
}

/// Why an account cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum AccountError {
    /// The database refused.
    #[error("cannot store the account")]
    Database(#[from] Error),
    /// The password cannot be hashed.
    #[error("cannot hash the account's password")]
    Password(#[from] PasswordError),
}

/// Makes the user, or mends it where it is not as it shall be. A password that already opens the account keeps its hash,
/// so nothing is written, and no server told, where nothing changes.
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
            "INSERT INTO orderql.user_account (user_id, password_hash) VALUES ($1, $2)
             ON CONFLICT (user_id) DO UPDATE SET password_hash = excluded.password_hash, disabled = false
             WHERE (user_account.password_hash, user_account.disabled)
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
    let Profile { max_cost, max_page_size, max_depth, bucket_size, restore_rate, deadline_ms } = user.profile;
    transaction
        .execute(
            "INSERT INTO orderql.user_profile AS profile
                 (user_id, max_cost, max_page_size, max_depth, bucket_size, restore_rate, deadline_ms)
             VALUES ($1, $2, $3, $4, $5, $6, $7)
             ON CONFLICT (user_id) DO UPDATE
             SET (max_cost, max_page_size, max_depth, bucket_size, restore_rate, deadline_ms)
               = (excluded.max_cost, excluded.max_page_size, excluded.max_depth, excluded.bucket_size,
                  excluded.restore_rate, excluded.deadline_ms)
             WHERE (profile.max_cost, profile.max_page_size, profile.max_depth, profile.bucket_size,
                    profile.restore_rate, profile.deadline_ms)
                   IS DISTINCT FROM
                   (excluded.max_cost, excluded.max_page_size, excluded.max_depth, excluded.bucket_size,
                    excluded.restore_rate, excluded.deadline_ms)",
            &[&user.user_id, &max_cost, &max_page_size, &max_depth, &bucket_size, &restore_rate, &deadline_ms],
        )
        .await?;
    transaction.commit().await?;
    Ok(())
}
