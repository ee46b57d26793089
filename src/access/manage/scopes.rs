//! The values of groups in the scopes of a schema file: which rows their members see.

use serde_json::json;
use tokio_postgres::Client;

use crate::access::audit::Action;
use crate::access::manage::change::require;
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

/// The values of a user in a scope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UserScope {
    pub(crate) scope: String,
    /// The groups of the user that have this, sorted.
    pub(crate) groups: Vec<String>,
    /// Sorted. `*` stands for all.
    pub(crate) values: Vec<String>,
}

/// The values of a user in all scopes, sorted by scope. Fails if there is no such user.
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

/// Values of a group in a scope, to be given or taken.
pub(crate) struct ScopeValues<'a> {
    pub(crate) group: &'a str,
    pub(crate) scope: &'a str,
    pub(crate) values: &'a [String],
}

/// Gives a group values in a scope. Returns whether anything changed.
pub(crate) async fn add(operator: &mut Operator, given: &ScopeValues<'_>) -> Result<bool, ManageError> {
    let insert = "INSERT INTO orderql.group_scope (group_id, scope, value) SELECT $1, $2, unnest($3::text[]) ON CONFLICT DO NOTHING";
    change(operator, Action::ScopeAdded, insert, given).await
}

/// Takes values in a scope from a group. Returns whether anything changed.
pub(crate) async fn remove(operator: &mut Operator, taken: &ScopeValues<'_>) -> Result<bool, ManageError> {
    let delete = "DELETE FROM orderql.group_scope WHERE group_id = $1 AND scope = $2 AND value = ANY ($3)";
    change(operator, Action::ScopeRemoved, delete, taken).await
}

async fn change(
    operator: &mut Operator,
    action: Action,
    statement: &str,
    ScopeValues { group, scope, values }: &ScopeValues<'_>,
) -> Result<bool, ManageError> {
    let change = operator.begin().await?;
    require(&change.transaction, NameKind::Group, group).await?;
    let changed = change.transaction.execute(statement, &[group, scope, values]).await? > 0;
    change.commit(changed, action, group, [("scope", json!(scope)), ("values", json!(values))]).await
}
