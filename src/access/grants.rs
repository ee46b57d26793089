//! A snapshot of all accounts with their grants and limits. Held in memory, so that no request asks the database for them.

use std::sync::Arc;

use fnv::FnvHashMap;
use tokio_postgres::{Client, Error};

use crate::access::caller_limits::{CallerLimits, DefaultLimits};
use crate::access::profile::select_list;
use crate::limits::Profile;
use crate::seal::Secret;

/// The path of the GraphQL API for documents that the server knows.
const DOCUMENTS: &str = "/graphql/documents";

/// An artifact that a user group can be granted access to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Artifact {
    /// The GraphQL API.
    Graphql,
    /// The order update.
    UpdateOrder,
    /// The plans of queries.
    Plan,
}

/// An authenticated caller.
#[derive(Debug, Clone)]
pub(crate) struct Principal {
    /// The name of the user's account.
    pub(crate) user_id: Arc<str>,
    /// The caller's limits.
    pub(crate) limits: CallerLimits,
    /// The first second since 1970 whose tokens are accepted. Older ones were issued for a removed account of this name, or
    /// for an older password.
    pub(crate) tokens_from: u64,
    granted: [bool; Artifact::ALL.len()],
    /// Whether the caller may use the GraphQL API for documents that the server knows, and for no others.
    documents_alone: bool,
    /// The names in a schema file that show more of the schema, sorted.
    names: Box<[String]>,
    /// The values of its groups in scopes of a schema file: each scope, `=` and a value, sorted.
    scopes: Box<[String]>,
    /// The secret that seals cursors where a scope limits rows.
    pub(crate) secret: Secret,
}

/// The settings that apply to all accounts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GrantOptions {
    /// The limits of a user without a profile.
    pub(crate) limits: DefaultLimits,
    /// Whether a new password ends the tokens that were issued before.
    pub(crate) revokes_on_password_change: bool,
}

/// The first second whose tokens an account accepts: the one after its creation, because tokens have whole seconds, and one
/// from the second of the creation may be older. `$1` is whether a new password counts as well.
pub(super) const TOKENS_FROM: &str = "1 + floor(extract(epoch FROM greatest('epoch', least('9999-12-31', CASE WHEN $1::boolean
    THEN greatest(account.created_at, account.password_changed_at) ELSE account.created_at END))))::bigint AS tokens_from";

/// The values of an account's groups in scopes: each scope, `=` and a value. No name of a scope has a `=`.
const SCOPES: &str = "ARRAY(
           SELECT DISTINCT given.scope || '=' || given.value
           FROM orderql.group_member AS member
           JOIN orderql.group_scope AS given USING (group_id)
           WHERE member.user_id = account.user_id
           ORDER BY 1
       )";

/// All accounts that are not disabled, as of one moment.
#[derive(Debug)]
pub(crate) struct Grants {
    accounts: FnvHashMap<Arc<str>, Account>,
}

#[derive(Debug)]
struct Account {
    password_hash: Arc<str>,
    principal: Arc<Principal>,
}

impl Artifact {
    /// All artifacts.
    const ALL: [Self; 3] = [Self::Graphql, Self::UpdateOrder, Self::Plan];

    /// The artifact's path, its name in `orderql.artifact_group`.
    pub(crate) const fn path(self) -> &'static str {
        match self {
            Self::Graphql => "/graphql",
            Self::UpdateOrder => "/api/updateOrder",
            Self::Plan => "/graphql/plan",
        }
    }
}

impl Principal {
    /// Whether one of the caller's groups has the grant on the artifact.
    pub(crate) fn may(&self, artifact: Artifact) -> bool {
        self.granted[artifact as usize]
    }

    /// Whether the caller may run documents that the server knows, and no others.
    pub(crate) fn sends_documents_alone(&self) -> bool {
        self.documents_alone
    }

    /// Whether one of the caller's groups has the grant that a schema file gives this name.
    pub(crate) fn holds(&self, name: &str) -> bool {
        self.names.binary_search_by(|held| (**held).cmp(name)).is_ok()
    }

    /// The values that the caller's groups have in a scope of a schema file; `None` if the scope does not limit the caller.
    pub(crate) fn values_in(&self, scope: &str) -> Option<Vec<&str>> {
        values_in(&self.scopes, scope)
    }
}

/// Stands for every value of a scope.
pub(crate) const EVERY_VALUE: &str = "*";

/// The values in a scope among the values of groups; `None` if the scope limits nothing. Each is a scope, `=` and a value.
pub(crate) fn values_in<'v>(values: &'v [String], scope: &str) -> Option<Vec<&'v str>> {
    let of_scope = || values.iter().filter_map(|value| value.strip_prefix(scope)?.strip_prefix('='));
    (!of_scope().any(|value| value == EVERY_VALUE)).then(|| of_scope().collect())
}

impl Grants {
    /// The hash of the account's password. `None` if there is no such account, or if it is disabled.
    pub(crate) fn password_hash(&self, user_id: &str) -> Option<Arc<str>> {
        self.accounts.get(user_id).map(|account| Arc::clone(&account.password_hash))
    }

    /// How many accounts there are.
    pub(crate) fn account_count(&self) -> usize {
        self.accounts.len()
    }

    /// The caller with this account. `None` if there is no such account, or if it is disabled.
    pub(crate) fn principal(&self, user_id: &str) -> Option<Arc<Principal>> {
        self.accounts.get(user_id).map(|account| Arc::clone(&account.principal))
    }
}

/// Reads the grants, with one statement, so that they are a consistent snapshot.
pub(crate) async fn load(client: &Client, options: &GrantOptions) -> Result<Grants, Error> {
    let limits = select_list();
    let select = format!(
        "
SELECT account.user_id, account.password_hash,
       {limits}, {TOKENS_FROM},
       ARRAY(
           SELECT DISTINCT artifact.path
           FROM orderql.group_member AS member
           JOIN orderql.artifact_grant USING (group_id)
           JOIN orderql.artifact_group AS artifact USING (artifact_group_id)
           WHERE member.user_id = account.user_id
       ) AS paths,
       {SCOPES} AS scopes
FROM orderql.user_account AS account
LEFT JOIN orderql.user_profile AS profile USING (user_id)
WHERE NOT account.disabled"
    );
    let secret = secret(client).await?;
    let mut accounts = FnvHashMap::default();
    for row in client.query(&select, &[&options.revokes_on_password_change]).await? {
        let user_id: Arc<str> = row.try_get::<_, &str>("user_id")?.into();
        let paths: Vec<&str> = row.try_get("paths")?;
        let principal = Principal {
            user_id: Arc::clone(&user_id),
            limits: CallerLimits::new(&Profile::from_row(&row)?, &options.limits),
            tokens_from: second(row.try_get("tokens_from")?),
            granted: Artifact::ALL.map(|artifact| may(&paths, artifact)),
            documents_alone: !paths.contains(&Artifact::Graphql.path()),
            names: names(&paths),
            scopes: row.try_get::<_, Vec<String>>("scopes")?.into(),
            secret,
        };
        let password_hash = row.try_get::<_, &str>("password_hash")?.into();
        accounts.insert(user_id, Account { password_hash, principal: Arc::new(principal) });
    }
    Ok(Grants { accounts })
}

/// Whether one of these paths is a grant on the artifact. Who may run documents uses the GraphQL API for them.
pub(crate) fn may(paths: &[impl AsRef<str>], artifact: Artifact) -> bool {
    let has = |path: &str| paths.iter().any(|granted| granted.as_ref() == path);
    has(artifact.path()) || artifact == Artifact::Graphql && has(DOCUMENTS)
}

/// The secret that seals cursors where a scope limits rows.
pub(crate) async fn secret(client: &Client) -> Result<Secret, Error> {
    let row = client.query_one("SELECT secret FROM orderql.cursor_secret", &[]).await?;
    // The table has no other.
    Ok(Secret::new(row.try_get("secret")?).unwrap_or_default())
}

/// The granted names that are grants of a schema file. All other things that can be granted have paths that begin with a slash.
fn names(granted: &[&str]) -> Box<[String]> {
    let mut names: Vec<_> = granted.iter().filter(|path| !path.starts_with('/')).map(|&name| name.to_owned()).collect();
    names.sort_unstable();
    names.into()
}

/// A second since 1970 from the database.
pub(super) fn second(seconds: i64) -> u64 {
    u64::try_from(seconds).unwrap_or_default()
}
