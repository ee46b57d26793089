//! User groups and their members.

use serde_json::json;
use tokio_postgres::Client;
use tokio_postgres::error::SqlState;

use crate::access::audit::Action;
use crate::access::manage::change::{check_name, require, unknown};
use crate::access::manage::error::{ManageError, NameKind};
use crate::access::manage::operator::Operator;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Group {
    pub(crate) name: String,
    /// Its purpose, in words.
    pub(crate) description: Option<String>,
    /// Its members, sorted by name.
    pub(crate) members: Vec<String>,
    /// The paths of the artifacts that it may use.
    pub(crate) grants: Vec<String>,
}

/// All groups, sorted by name.
pub(crate) async fn list(client: &Client) -> Result<Vec<Group>, ManageError> {
    let select = "
        SELECT group_id, description,
               ARRAY(SELECT user_id FROM orderql.group_member AS member
                     WHERE member.group_id = user_group.group_id ORDER BY user_id) AS members,
               ARRAY(SELECT path FROM orderql.artifact_grant AS artifact_grant
                     JOIN orderql.artifact_group USING (artifact_group_id)
                     WHERE artifact_grant.group_id = user_group.group_id ORDER BY path) AS grants
        FROM orderql.user_group AS user_group
        ORDER BY group_id";
    let rows = client.query(select, &[]).await?;
    rows.iter()
        .map(|row| {
            Ok(Group {
                name: row.try_get("group_id")?,
                description: row.try_get("description")?,
                members: row.try_get("members")?,
                grants: row.try_get("grants")?,
            })
        })
        .collect()
}

/// Creates a group without members and grants. Fails if there is one with this name.
pub(crate) async fn add(operator: &mut Operator, group_id: &str, description: Option<&str>) -> Result<(), ManageError> {
    check_name(NameKind::Group, group_id)?;
    let change = operator.begin().await?;
    let transaction = &change.transaction;
    let insert = "INSERT INTO orderql.user_group (group_id, description) VALUES ($1, $2)";
    match transaction.execute(insert, &[&group_id, &description]).await {
        Err(error) if error.code() == Some(&SqlState::UNIQUE_VIOLATION) => {
            return Err(ManageError::Exists { kind: NameKind::Group, name: group_id.to_owned() });
        }
        result => result?,
    };
    change.commit(true, Action::GroupAdded, group_id, []).await?;
    Ok(())
}

/// Removes a group with its memberships and grants. Fails if there is none with this name.
pub(crate) async fn remove(operator: &mut Operator, group_id: &str) -> Result<(), ManageError> {
    let change = operator.begin().await?;
    let transaction = &change.transaction;
    let delete = "DELETE FROM orderql.user_group WHERE group_id = $1";
    if transaction.execute(delete, &[&group_id]).await? == 0 {
        return Err(unknown(transaction, NameKind::Group, group_id).await);
    }
    change.commit(true, Action::GroupRemoved, group_id, []).await?;
    Ok(())
}

/// Makes the user a member. Returns whether anything changed.
pub(crate) async fn join(operator: &mut Operator, group_id: &str, user_id: &str) -> Result<bool, ManageError> {
    let change = operator.begin().await?;
    let transaction = &change.transaction;
    require(transaction, NameKind::Group, group_id).await?;
    require(transaction, NameKind::User, user_id).await?;
    let insert = "INSERT INTO orderql.group_member (group_id, user_id) VALUES ($1, $2) ON CONFLICT DO NOTHING";
    let changed = transaction.execute(insert, &[&group_id, &user_id]).await? > 0;
    change.commit(changed, Action::GroupJoined, user_id, [("group", json!(group_id))]).await
}

/// Ends the user's membership. Returns whether anything changed.
pub(crate) async fn leave(operator: &mut Operator, group_id: &str, user_id: &str) -> Result<bool, ManageError> {
    let change = operator.begin().await?;
    let transaction = &change.transaction;
    require(transaction, NameKind::Group, group_id).await?;
    require(transaction, NameKind::User, user_id).await?;
    let delete = "DELETE FROM orderql.group_member WHERE group_id = $1 AND user_id = $2";
    let changed = transaction.execute(delete, &[&group_id, &user_id]).await? > 0;
    change.commit(changed, Action::GroupLeft, user_id, [("group", json!(group_id))]).await
}
