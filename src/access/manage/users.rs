//! Creates, lists, disables and removes accounts, and changes their passwords.

use serde_json::json;
use tokio_postgres::Client;
use tokio_postgres::error::SqlState;

use crate::access::audit::Action;
use crate::access::grants::{TOKENS_FROM, second};
use crate::access::manage::change::{check_name, require, unknown};
use crate::access::manage::error::{ManageError, NameKind};
use crate::access::manage::operator::Operator;
use crate::access::password::Passwords;

/// The longest password, in bytes. More would only make hashing slower.
const LONGEST_PASSWORD: usize = 1024;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Account {
    /// Its name.
    pub(crate) user_id: String,
    /// Whether its user may not sign in.
    pub(crate) disabled: bool,
    /// The groups that it is a member of, sorted by name.
    pub(crate) groups: Vec<String>,
    /// When it was created, as ISO-8601 in UTC.
    pub(crate) created_at: String,
}

/// All accounts, sorted by name.
pub(crate) async fn list(client: &Client) -> Result<Vec<Account>, ManageError> {
    let select = "
        SELECT user_id, disabled, to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"') AS created_at,
               ARRAY(SELECT group_id FROM orderql.group_member AS member
                     WHERE member.user_id = account.user_id ORDER BY group_id) AS groups
        FROM orderql.user_account AS account
        ORDER BY user_id";
    let rows = client.query(select, &[]).await?;
    rows.iter()
        .map(|row| {
            Ok(Account {
                user_id: row.try_get("user_id")?,
                disabled: row.try_get("disabled")?,
                groups: row.try_get("groups")?,
                created_at: row.try_get("created_at")?,
            })
        })
        .collect()
}

/// An account to be created, and the groups that it is a member of. Has no `Debug`, so that the password cannot be logged.
pub(crate) struct NewAccount<'a> {
    pub(crate) user_id: &'a str,
    pub(crate) password: String,
    pub(crate) groups: &'a [String],
}

/// Creates an account. Fails if there is one with this name, or if a group is unknown.
pub(crate) async fn add(
    operator: &mut Operator,
    passwords: &Passwords,
    account: NewAccount<'_>,
) -> Result<(), ManageError> {
    let NewAccount { user_id, password, groups } = account;
    check_name(NameKind::User, user_id)?;
    check_password(&password)?;
    let hash = passwords.hash(password).await?;
    let change = operator.begin().await?;
    let transaction = &change.transaction;
    let insert = "INSERT INTO orderql.user_account (user_id, password_hash) VALUES ($1, $2)";
    match transaction.execute(insert, &[&user_id, &hash]).await {
        Err(error) if error.code() == Some(&SqlState::UNIQUE_VIOLATION) => {
            return Err(ManageError::Exists { kind: NameKind::User, name: user_id.to_owned() });
        }
        result => result?,
    };
    for group in groups {
        require(transaction, NameKind::Group, group).await?;
        let insert = "INSERT INTO orderql.group_member (group_id, user_id) VALUES ($1, $2) ON CONFLICT DO NOTHING";
        transaction.execute(insert, &[group, &user_id]).await?;
    }
    change.commit(true, Action::UserAdded, user_id, [("groups", json!(groups))]).await?;
    Ok(())
}

/// Changes the password of an account.
pub(crate) async fn set_password(
    operator: &mut Operator,
    passwords: &Passwords,
    user_id: &str,
    password: String,
) -> Result<(), ManageError> {
    check_password(&password)?;
    // Checked before the hash is made, so that a misspelt name is reported at once.
    require(&operator.client, NameKind::User, user_id).await?;
    let hash = passwords.hash(password).await?;
    let change = operator.begin().await?;
    let transaction = &change.transaction;
    let update = "UPDATE orderql.user_account SET password_hash = $2, changed_at = now(), password_changed_at = clock_timestamp() WHERE user_id = $1";
    if transaction.execute(update, &[&user_id, &hash]).await? == 0 {
        return Err(unknown(transaction, NameKind::User, user_id).await);
    }
    change.commit(true, Action::PasswordChanged, user_id, []).await?;
    Ok(())
}

/// Disables an account, or enables it again. Servers reject the tokens of a disabled account. Returns whether anything
/// changed.
pub(crate) async fn set_disabled(operator: &mut Operator, user_id: &str, disabled: bool) -> Result<bool, ManageError> {
    let change = operator.begin().await?;
    let transaction = &change.transaction;
    require(transaction, NameKind::User, user_id).await?;
    let update = "UPDATE orderql.user_account SET disabled = $2, changed_at = now()
                  WHERE user_id = $1 AND disabled <> $2";
    let changed = transaction.execute(update, &[&user_id, &disabled]).await? > 0;
    let action = if disabled { Action::UserDisabled } else { Action::UserEnabled };
    change.commit(changed, action, user_id, []).await
}

/// Removes an account with its memberships and its profile.
pub(crate) async fn remove(operator: &mut Operator, user_id: &str) -> Result<(), ManageError> {
    let change = operator.begin().await?;
    let transaction = &change.transaction;
    let delete = "DELETE FROM orderql.user_account WHERE user_id = $1";
    if transaction.execute(delete, &[&user_id]).await? == 0 {
        return Err(unknown(transaction, NameKind::User, user_id).await);
    }
    change.commit(true, Action::UserRemoved, user_id, []).await?;
    Ok(())
}

/// Fails if there is no account with this name.
pub(crate) async fn find(client: &Client, user_id: &str) -> Result<(), ManageError> {
    require(client, NameKind::User, user_id).await
}

/// The first second whose tokens the account accepts; `None` if it is disabled. Fails if there is none with this name.
pub(crate) async fn tokens_from(
    client: &Client,
    user_id: &str,
    revokes_on_password_change: bool,
) -> Result<Option<u64>, ManageError> {
    let select = format!("SELECT disabled, {TOKENS_FROM} FROM orderql.user_account AS account WHERE user_id = $2");
    match client.query_opt(&select, &[&revokes_on_password_change, &user_id]).await? {
        Some(row) if row.try_get(0)? => Ok(None),
        Some(row) => Ok(Some(second(row.try_get(1)?))),
        None => Err(unknown(client, NameKind::User, user_id).await),
    }
}

/// Fails for a password that cannot be sent as a Basic credential.
fn check_password(password: &str) -> Result<(), ManageError> {
    let is_valid = (1..=LONGEST_PASSWORD).contains(&password.len()) && !password.chars().any(char::is_control);
    if is_valid { Ok(()) } else { Err(ManageError::BadPassword) }
}
