//! The limits of single users.

use serde_json::{Map, Value, json};
use tokio_postgres::GenericClient;

use crate::access::audit::Action;
use crate::access::caller_limits::{CallerLimits, DefaultLimits};
use crate::access::manage::change::require;
use crate::access::manage::error::{ManageError, NameKind};
use crate::access::manage::operator::Operator;
use crate::access::profile::{columns, parameters, select_list};
use crate::limits::{Limit, Limits, Profile};

/// The user's own limits.
pub(crate) async fn show(client: &impl GenericClient, user_id: &str) -> Result<Profile, ManageError> {
    require(client, NameKind::User, user_id).await?;
    read(client, user_id, "").await
}

/// Sets the given limits to a number or back to the default (`None`), and leaves the others alone. Returns whether
/// anything changed. Fails if the user's bucket could then never cover the most expensive query that the user may send.
pub(crate) async fn change(
    operator: &mut Operator,
    user_id: &str,
    changes: &[(&Limit, Option<i64>)],
    default: &DefaultLimits,
) -> Result<bool, ManageError> {
    let change = operator.begin().await?;
    let transaction = &change.transaction;
    require(transaction, NameKind::User, user_id).await?;
    let insert = "INSERT INTO orderql.user_profile (user_id) VALUES ($1) ON CONFLICT DO NOTHING";
    transaction.execute(insert, &[&user_id]).await?;
    let before = read(transaction, user_id, "FOR UPDATE").await?;
    let mut after = before;
    for (limit, number) in changes {
        *(limit.own)(&mut after) = *number;
    }
    if before == after {
        // Takes back the row that was inserted above.
        change.transaction.rollback().await?;
        return Ok(false);
    }
    check(&after, default)?;
    let sets = columns(|index, column| format!("{column} = ${}::bigint", index + 2));
    let update = format!("UPDATE orderql.user_profile SET {sets} WHERE user_id = $1");
    transaction.execute(&update, &parameters(&user_id, &after.numbers())).await?;
    let details = [("before", by_column(&before)), ("after", by_column(&after))];
    change.commit(true, Action::ProfileChanged, user_id, details).await
}

/// Fails if the profile allows queries that its bucket can never cover. A profile that sets neither is the server's
/// configuration, which the server checks.
fn check(profile: &Profile, default: &DefaultLimits) -> Result<(), ManageError> {
    let limits = CallerLimits::new(profile, default).query;
    let has_default = profile.max_cost.is_none() || profile.bucket_size.is_none();
    if limits.bucket_covers_max_cost() || (profile.max_cost, profile.bucket_size) == (None, None) {
        return Ok(());
    }
    let Limits { max_cost, bucket_size, .. } = limits;
    Err(ManageError::CostAboveBucket { max_cost, bucket_size, has_default })
}

async fn read(client: &impl GenericClient, user_id: &str, lock: &str) -> Result<Profile, ManageError> {
    let select = format!("SELECT {} FROM orderql.user_profile AS profile WHERE user_id = $1 {lock}", select_list());
    match client.query_opt(&select, &[&user_id]).await? {
        Some(row) => Ok(Profile::from_row(&row)?),
        None => Ok(Profile::DEFAULT),
    }
}

/// The limits that are not the default, by their columns.
fn by_column(profile: &Profile) -> Value {
    let limits = profile.limits().filter_map(|(limit, number)| Some((limit.column.to_owned(), json!(number?))));
    Value::Object(limits.collect::<Map<_, _>>())
}
