//! Grants to groups. What is granted is an artifact, named by its path, such as `/graphql`, or more of the schema, by a name that its file
//! gives, such as `NOTES`.

use serde_json::json;
use tokio_postgres::{Client, Transaction};

use crate::access::audit::Action;
use crate::access::manage::change::require;
use crate::access::manage::error::{ManageError, NameKind};
use crate::access::manage::operator::Operator;

/// Something that can be granted, with its grants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ArtifactGrants {
    /// An artifact's path, or a name of the schema file.
    pub(crate) path: String,
    /// The groups that have the grant.
    pub(crate) groups: Vec<String>,
    /// The members of these groups, without disabled accounts.
    pub(crate) users: Vec<String>,
}

/// A user or group with what it is granted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Granted {
    pub(crate) name: String,
    /// The groups of the user, or the group itself.
    pub(crate) groups: Vec<String>,
    /// Paths and names, sorted.
    pub(crate) paths: Vec<String>,
}

impl Granted {
    pub(crate) fn holds(&self, path: &str) -> bool {
        self.paths.iter().any(|held| held == path)
    }
}

/// Everything that can be granted with its grants, sorted by path.
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

/// The grants of a user, each with the groups of the user that have it. Fails if there is no such user.
pub(crate) async fn of(client: &Client, user_id: &str) -> Result<Vec<(String, Vec<String>)>, ManageError> {
    require(client, NameKind::User, user_id).await?;
    let select = "
        SELECT path, array_agg(group_id ORDER BY group_id) AS groups
        FROM orderql.group_member
        JOIN orderql.artifact_grant USING (group_id)
        JOIN orderql.artifact_group USING (artifact_group_id)
        WHERE user_id = $1
        GROUP BY path
        ORDER BY path";
    let rows = client.query(select, &[&user_id]).await?;
    rows.iter().map(|row| Ok((row.try_get("path")?, row.try_get("groups")?))).collect()
}

/// The users who may sign in, sorted by name.
pub(crate) async fn by_user(client: &Client) -> Result<Vec<Granted>, ManageError> {
    let select = "
        SELECT user_id AS name,
               ARRAY(SELECT group_id FROM orderql.group_member AS member
                     WHERE member.user_id = account.user_id ORDER BY group_id) AS groups,
               ARRAY(SELECT DISTINCT path FROM orderql.group_member AS member
                     JOIN orderql.artifact_grant USING (group_id)
                     JOIN orderql.artifact_group USING (artifact_group_id)
                     WHERE member.user_id = account.user_id ORDER BY path) AS paths
        FROM orderql.user_account AS account
        WHERE NOT disabled
        ORDER BY user_id";
    granted(client, select).await
}

/// The groups that have members, sorted by name.
pub(crate) async fn by_group(client: &Client) -> Result<Vec<Granted>, ManageError> {
    let select = "
        SELECT group_id AS name, ARRAY[group_id] AS groups,
               ARRAY(SELECT path FROM orderql.artifact_grant AS given
                     JOIN orderql.artifact_group USING (artifact_group_id)
                     WHERE given.group_id = user_group.group_id ORDER BY path) AS paths
        FROM orderql.user_group AS user_group
        WHERE EXISTS (SELECT FROM orderql.group_member AS member WHERE member.group_id = user_group.group_id)
        ORDER BY group_id";
    granted(client, select).await
}

async fn granted(client: &Client, select: &str) -> Result<Vec<Granted>, ManageError> {
    let rows = client.query(select, &[]).await?;
    rows.iter()
        .map(|row| {
            Ok(Granted { name: row.try_get("name")?, groups: row.try_get("groups")?, paths: row.try_get("paths")? })
        })
        .collect()
}

/// Grants something to the group. `names` are the names in the schema file, which can be granted although no group has them yet. Returns
/// whether anything changed.
pub(crate) async fn add(
    operator: &mut Operator,
    group_id: &str,
    path: &str,
    names: &[String],
) -> Result<bool, ManageError> {
    let change = operator.begin().await?;
    let transaction = &change.transaction;
    if names.iter().any(|name| name == path) {
        let insert = "INSERT INTO orderql.artifact_group (artifact_group_id, path)
                      SELECT '@' || $1::text, $1 ON CONFLICT DO NOTHING";
        transaction.execute(insert, &[&path]).await?;
    }
    let insert = "INSERT INTO orderql.artifact_grant (group_id, artifact_group_id)
                  SELECT $1, artifact_group_id FROM orderql.artifact_group WHERE path = $2 ON CONFLICT DO NOTHING";
    let changed = execute(transaction, insert, group_id, path).await?;
    change.commit(changed, Action::GrantAdded, group_id, [("path", json!(path))]).await
}

/// Withdraws the grant. Returns whether anything changed.
pub(crate) async fn remove(operator: &mut Operator, group_id: &str, path: &str) -> Result<bool, ManageError> {
    let delete = "DELETE FROM orderql.artifact_grant USING orderql.artifact_group AS artifact
                  WHERE artifact_grant.artifact_group_id = artifact.artifact_group_id AND group_id = $1 AND path = $2";
    let change = operator.begin().await?;
    let changed = execute(&change.transaction, delete, group_id, path).await?;
    change.commit(changed, Action::GrantRemoved, group_id, [("path", json!(path))]).await
}

/// Whether the statement changes anything.
async fn execute(
    transaction: &Transaction<'_>,
    statement: &str,
    group_id: &str,
    path: &str,
) -> Result<bool, ManageError> {
    require(transaction, NameKind::Group, group_id).await?;
    require(transaction, NameKind::Artifact, path).await?;
    Ok(transaction.execute(statement, &[&group_id, &path]).await? > 0)
}
