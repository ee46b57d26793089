//! The values of groups in the scopes of a schema file: which rows their members see.

use serde_json::json;
use tokio_postgres::Client;

use crate::access::audit::Action;
use crate::access::manage::change::{commit, require};
use crate::access::manage::error::{ManageError, NameKind};
use crate::access::manage::operator::Operator;

/// The values of a group in a scope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GroupScope {
    pub(crate) group: String,
    pub(crate) scope: String,
    /// Sorted. `*` stands for all.
    pub(crate) values: Vec<String>,
}

/// The values of all groups, or of one, in all scopes, or in one. Sorted by group and scope.
pub(crate) async fn list(
    client: &Client,
    group: Option<&str>,
    scope: Option<&str>,
) -> Result<Vec<GroupScope>, ManageError> {
    if let Some(group) = group {
        require(client, NameKind::Group, group).await?;
    }
    let select = "
        SELECT group_id, scope, array_agg(value ORDER BY value) AS values
        FROM orderql.group_scope
        WHERE group_id = coalesce($1, group_id) AND scope = coalesce($2, scope)
        GROUP BY group_id, scope
        ORDER BY group_id, scope";
    let rows = client.query(select, &[&group, &scope]).await?;
    rows.iter()
        .map(|row| {
            let (group, scope) = (row.try_get("group_id")?, row.try_get("scope")?);
            Ok(GroupScope { group, scope, values: row.try_get("values")? })
        })
        .collect()
}

/// What a user has in a scope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UserScope {
    pub(crate) scope: String,
    /// The groups of the user by which that is, sorted.
    pub(crate) groups: Vec<String>,
    /// Sorted. `*` stands for all.
    pub(crate) values: Vec<String>,
}

/// What a user has in all scopes, sorted by scope. Fails if there is no such user.
pub(crate) async fn of(client: &Client, user_id: &str) -> Result<Vec<UserScope>, ManageError> {
    require(client, NameKind::User, user_id).await?;
    let select = "
        SELECT scope, array_agg(DISTINCT group_id ORDER BY group_id) AS groups,
               array_agg(DISTINCT value ORDER BY value) AS values
        FROM orderql.group_member
        JOIN orderql.group_scope USING (group_id)
        WHERE user_id = $1
        GROUP BY scope
        ORDER BY scope";
    let rows = client.query(select, &[&user_id]).await?;
    rows.iter()
        .map(|row| {
            Ok(UserScope {
                scope: row.try_get("scope")?,
                groups: row.try_get("groups")?,
                values: row.try_get("values")?,
            })
        })
        .collect()
}

/// Gives a group values in a scope. Returns whether anything changed.
pub(crate) async fn add(
    client: &mut Client,
    operator: &Operator,
    group_id: &str,
    scope: &str,
    values: &[String],
) -> Result<bool, ManageError> {
    let insert = "INSERT INTO orderql.group_scope (group_id, scope, value) SELECT $1, $2, unnest($3::text[]) ON CONFLICT DO NOTHING";
    change(client, operator, Action::ScopeAdded, insert, (group_id, scope, values)).await
}

/// Takes values in a scope from a group. Returns whether anything changed.
pub(crate) async fn remove(
    client: &mut Client,
    operator: &Operator,
    group_id: &str,
    scope: &str,
    values: &[String],
) -> Result<bool, ManageError> {
    let delete = "DELETE FROM orderql.group_scope WHERE group_id = $1 AND scope = $2 AND value = ANY ($3)";
    change(client, operator, Action::ScopeRemoved, delete, (group_id, scope, values)).await
}

async fn change(
    client: &mut Client,
    operator: &Operator,
    action: Action,
    statement: &str,
    (group_id, scope, values): (&str, &str, &[String]),
) -> Result<bool, ManageError> {
    let transaction = client.transaction().await?;
    require(&transaction, NameKind::Group, group_id).await?;
    let changed = transaction.execute(statement, &[&group_id, &scope, &values]).await? > 0;
    let details = [("scope", json!(scope)), ("values", json!(values))];
    commit(transaction, operator, changed, action, group_id, details).await
}
