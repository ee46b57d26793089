//! The limits of single users.

use serde_json::{Map, Value, json};
use tokio_postgres::{Client, GenericClient, Row};

use crate::access::accounts::Profile;
use crate::access::audit::Action;
use crate::access::manage::{Kind, ManageError, Operator, commit, require};

/// A limit of a profile, by its place in [`Profile::COLUMNS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit(usize);

/// Values of a profile in the order of [`Profile::COLUMNS`]; `None` is the server's default.
pub type Values = [Option<i64>; Profile::COLUMNS.len()];

impl Limit {
    /// Every limit, in the order in which they are shown.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..Profile::COLUMNS.len()).map(Self)
    }

    /// The limit's place among the values.
    pub const fn place(self) -> usize {
        self.0
    }

    /// The column that holds it.
    pub const fn column(self) -> &'static str {
        Profile::COLUMNS[self.0]
    }
}

/// The user's own limits.
pub async fn show(client: &impl GenericClient, user_id: &str) -> Result<Values, ManageError> {
    require(client, Kind::User, user_id).await?;
    read(client, user_id, "").await
}

/// Changes the limits that are given, to a value or back to the default (`None`), and leaves the others alone.
pub async fn change(
    client: &mut Client,
    operator: &Operator,
    user_id: &str,
    changes: &[(Limit, Option<i64>)],
) -> Result<bool, ManageError> {
    let transaction = client.transaction().await?;
    require(&transaction, Kind::User, user_id).await?;
    let insert = "INSERT INTO orderql.user_profile (user_id) VALUES ($1) ON CONFLICT DO NOTHING";
    transaction.execute(insert, &[&user_id]).await?;
    let before = read(&transaction, user_id, "FOR UPDATE").await?;
    let mut after = before;
    for (limit, value) in changes {
        after[limit.place()] = *value;
    }
    if before == after {
        // An empty profile that was made above goes with the transaction.
        transaction.rollback().await?;
        return Ok(false);
    }
    let sets: Vec<_> = Profile::COLUMNS
        .iter()
        .enumerate()
        .map(|(place, column)| format!("{column} = ${}::bigint", place + 2))
        .collect();
    let update = format!("UPDATE orderql.user_profile SET {} WHERE user_id = $1", sets.join(", "));
    let [cost, page, depth, size, rate, deadline, queries] = &after;
    transaction.execute(&update, &[&user_id, cost, page, depth, size, rate, deadline, queries]).await?;
    let details = [("before", named(&before)), ("after", named(&after))];
    commit(transaction, operator, true, Action::ProfileChanged, user_id, details).await
}

async fn read(client: &impl GenericClient, user_id: &str, lock: &str) -> Result<Values, ManageError> {
    let columns = Profile::COLUMNS.map(|column| format!("{column}::bigint")).join(", ");
    let select = format!("SELECT {columns} FROM orderql.user_profile WHERE user_id = $1 {lock}");
    match client.query_opt(&select, &[&user_id]).await? {
        Some(row) => Ok(values(&row)?),
        None => Ok(Values::default()),
    }
}

fn values(row: &Row) -> Result<Values, tokio_postgres::Error> {
    let mut values = Values::default();
    for (place, value) in values.iter_mut().enumerate() {
        *value = row.try_get(place)?;
    }
    Ok(values)
}

/// The values that are not the default, by their names.
fn named(values: &Values) -> Value {
    let named = Limit::all().filter_map(|limit| Some((limit.column().to_owned(), json!(values[limit.place()]?))));
    Value::Object(named.collect::<Map<_, _>>())
}
