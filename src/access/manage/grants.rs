//! Grants to groups. What is granted is an artifact, named by its path, such as `/graphql`.

use serde_json::json;
use tokio_postgres::Client;

use crate::access::audit::Action;
use crate::access::manage::change::{commit, require};
use crate::access::manage::error::{Kind, ManageError};
use crate::access::manage::operator::Operator;

/// An artifact with its grants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ArtifactGrants {
    /// The artifact's path.
    pub(crate) path: String,
    /// The groups that have the grant.
    pub(crate) groups: Vec<String>,
    /// The members of these groups, without disabled accounts.
    pub(crate) users: Vec<String>,
}

/// All artifacts with their grants, sorted by path.
pub(crate) async fn list(client: &Client) -> Result<Vec<ArtifactGrants>, ManageError> {
    let select = "
        SELECT path,
               ARRAY(SELECT group_id FROM orderql.artifact_grant AS given
                     WHERE given.artifact_group_id = artifact.artifact_group_id ORDER BY group_id) AS groups,
               ARRAY(SELECT DISTINCT user_id FROM orderql.artifact_grant AS given
                     JOIN orderql.group_member USING (group_id)
                     JOIN orderql.user_account USING (user_id)
                     WHERE given.artifact_group_id = artifact.artifact_group_id AND NOT disabled
                     ORDER BY user_id) AS users
        FROM orderql.artifact_group AS artifact
        ORDER BY path";
    let rows = client.query(select, &[]).await?;
    rows.iter()
        .map(|row| {
            Ok(ArtifactGrants {
                path: row.try_get("path")?,
                groups: row.try_get("groups")?,
                users: row.try_get("users")?,
            })
        })
        .collect()
}

/// Grants the artifact to the group. Returns whether anything changed.
pub(crate) async fn add(
    client: &mut Client,
    operator: &Operator,
    group_id: &str,
    path: &str,
) -> Result<bool, ManageError> {
    let insert = "INSERT INTO orderql.artifact_grant (group_id, artifact_group_id)
                  SELECT $1, artifact_group_id FROM orderql.artifact_group WHERE path = $2 ON CONFLICT DO NOTHING";
    change(client, operator, Action::GrantAdded, insert, group_id, path).await
}

/// Withdraws the grant. Returns whether anything changed.
pub(crate) async fn remove(
    client: &mut Client,
    operator: &Operator,
    group_id: &str,
    path: &str,
) -> Result<bool, ManageError> {
    let delete = "DELETE FROM orderql.artifact_grant USING orderql.artifact_group AS artifact
                  WHERE artifact_grant.artifact_group_id = artifact.artifact_group_id AND group_id = $1 AND path = $2";
    change(client, operator, Action::GrantRemoved, delete, group_id, path).await
}

async fn change(
    client: &mut Client,
    operator: &Operator,
    action: Action,
    statement: &str,
    group_id: &str,
    path: &str,
) -> Result<bool, ManageError> {
    let transaction = client.transaction().await?;
    require(&transaction, Kind::Group, group_id).await?;
    require(&transaction, Kind::Artifact, path).await?;
    let changed = transaction.execute(statement, &[&group_id, &path]).await? > 0;
    commit(transaction, operator, changed, action, group_id, [("path", json!(path))]).await
}
