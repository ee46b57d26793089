//! What accounts are granted, as of one moment: a snapshot in memory, so that no request asks the database for it.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use tokio_postgres::{Client, Error, Row};

use crate::limits::Limits;
use crate::throttle::bucket::Rate;

/// A thing that access is granted to, per user group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Artifact {
    /// The GraphQL API.
    Graphql,
    /// The order update.
    UpdateOrder,
}

/// What holds for a user whose profile does not say otherwise.
#[derive(Debug, Clone, Copy)]
pub struct Defaults {
    /// What one query may ask.
    pub limits: Limits,
    /// The bucket.
    pub rate: Rate,
    /// The wall-clock budget of a request.
    pub deadline: Duration,
    /// Queries of one user that run at the same time.
    pub concurrent_queries: u32,
}

/// An authenticated caller and what it is held to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Principal {
    /// Who it is.
    pub user_id: Arc<str>,
    /// What one query may ask.
    pub limits: Limits,
    /// Its bucket.
    pub rate: Rate,
    /// The wall-clock budget of a request.
    pub deadline: Duration,
    /// Queries that run at the same time.
    pub concurrent_queries: u32,
    granted: [bool; Artifact::ALL.len()],
}

/// All accounts that are not disabled, with their grants and profiles, as of one moment.
#[derive(Debug, Default)]
pub struct Grants {
    accounts: HashMap<Arc<str>, Account>,
}

#[derive(Debug)]
struct Account {
    password_hash: Arc<str>,
    principal: Arc<Principal>,
}

impl Artifact {
    /// Every artifact there is.
    pub const ALL: [Self; 2] = [Self::Graphql, Self::UpdateOrder];

    /// The path by which the artifact is named in `orderql.artifact_group`.
    pub const fn path(self) -> &'static str {
        match self {
            Self::Graphql => "/graphql",
            Self::UpdateOrder => "/api/updateOrder",
        }
    }
}

impl Principal {
    /// Whether one of the caller's groups has the grant.
    pub fn may(&self, artifact: Artifact) -> bool {
        self.granted[artifact as usize]
    }
}

impl Grants {
    /// The user's hash, if there is such an account and it is not disabled.
    pub fn password_hash(&self, user_id: &str) -> Option<Arc<str>> {
        self.accounts.get(user_id).map(|account| Arc::clone(&account.password_hash))
    }

    /// The user, if there is such an account and it is not disabled.
    pub fn principal(&self, user_id: &str) -> Option<Arc<Principal>> {
        self.accounts.get(user_id).map(|account| Arc::clone(&account.principal))
    }

    /// Accounts there are.
    pub fn len(&self) -> usize {
        self.accounts.len()
    }

    /// Whether there is no account.
    pub fn is_empty(&self) -> bool {
        self.accounts.is_empty()
    }
}

/// One statement, and so one moment.
const ALL_ACCOUNTS: &str = "
SELECT account.user_id, account.password_hash,
       profile.max_cost::bigint, profile.max_page_size::bigint, profile.max_depth::bigint,
       profile.bucket_size::bigint, profile.restore_rate::bigint, profile.deadline_ms::bigint,
       profile.concurrent_queries::bigint,
       ARRAY(
           SELECT artifact.path
           FROM orderql.group_member AS member
           JOIN orderql.artifact_grant USING (group_id)
           JOIN orderql.artifact_group AS artifact USING (artifact_group_id)
           WHERE member.user_id = account.user_id
       ) AS paths
FROM orderql.user_account AS account
LEFT JOIN orderql.user_profile AS profile USING (user_id)
WHERE NOT account.disabled";

/// Reads the grants as they are now.
pub async fn load(client: &Client, defaults: &Defaults) -> Result<Grants, Error> {
    let mut accounts = HashMap::new();
    for row in client.query(ALL_ACCOUNTS, &[]).await? {
        let user_id: Arc<str> = row.try_get::<_, &str>("user_id")?.into();
        let paths: Vec<&str> = row.try_get("paths")?;
        let principal = Principal {
            user_id: Arc::clone(&user_id),
            limits: Limits {
                max_cost: given(&row, "max_cost", defaults.limits.max_cost)?,
                max_page_size: given(&row, "max_page_size", defaults.limits.max_page_size)?,
                max_depth: given(&row, "max_depth", defaults.limits.max_depth)?,
            },
            rate: Rate {
                capacity: given(&row, "bucket_size", defaults.rate.capacity)?,
                restore_per_second: given(&row, "restore_rate", defaults.rate.restore_per_second)?,
            },
            deadline: given::<u64>(&row, "deadline_ms", 0).map(|milliseconds| match milliseconds {
                0 => defaults.deadline,
                _ => Duration::from_millis(milliseconds),
            })?,
            concurrent_queries: given(&row, "concurrent_queries", defaults.concurrent_queries)?,
            granted: Artifact::ALL.map(|artifact| paths.contains(&artifact.path())),
        };
        let password_hash = row.try_get::<_, &str>("password_hash")?.into();
        accounts.insert(user_id, Account { password_hash, principal: Arc::new(principal) });
    }
    Ok(Grants { accounts })
}

/// A number of the profile, or its default where it is null or out of range (which the table's checks prevent).
fn given<T: TryFrom<i64>>(row: &Row, column: &str, default: T) -> Result<T, Error> {
    let value: Option<i64> = row.try_get(column)?;
    Ok(value.and_then(|value| T::try_from(value).ok()).unwrap_or(default))
}
