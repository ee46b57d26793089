//! Profiles in the database: rows of `orderql.user_profile`, which has a column for each limit.

use tokio_postgres::types::ToSql;
use tokio_postgres::{Error, Row};

use crate::limits::{LIMITS, Limit};

pub use crate::limits::Profile;

impl Profile {
    /// Reads a row that has the columns of [`select_list`].
    pub(crate) fn from_row(row: &Row) -> Result<Self, Error> {
        let mut profile = Self::DEFAULT;
        for limit in LIMITS {
            *(limit.own)(&mut profile) = row.try_get(limit.column)?;
        }
        Ok(profile)
    }

    /// Each limit with its number.
    pub(crate) fn limits(mut self) -> impl Iterator<Item = (&'static Limit, Option<i64>)> {
        LIMITS.iter().map(move |limit| (limit, *(limit.own)(&mut self)))
    }

    /// The numbers in the table's order, as the parameters of a statement.
    pub(crate) fn numbers(self) -> Vec<Option<i64>> {
        self.limits().map(|(_, number)| number).collect()
    }
}

/// The parameters of a statement: `$1` is the user, `$2` and so on are the numbers of the limits, as `bigint`.
pub(crate) fn parameters<'a>(user_id: &'a &str, numbers: &'a [Option<i64>]) -> Vec<&'a (dyn ToSql + Sync)> {
    let user_id: &(dyn ToSql + Sync) = user_id;
    let numbers = numbers.iter().map(|number| -> &(dyn ToSql + Sync) { number });
    [user_id].into_iter().chain(numbers).collect()
}

/// The columns of `orderql.user_profile AS profile` as `bigint`, for a `SELECT`.
pub(crate) fn select_list() -> String {
    columns(|_, column| format!("profile.{column}::bigint"))
}

/// A list of SQL with an item for each limit. `text` makes it from the limit's index and column.
pub(crate) fn columns(text: impl Fn(usize, &str) -> String) -> String {
    let columns = LIMITS.iter().enumerate();
    columns.map(|(index, limit)| text(index, limit.column)).collect::<Vec<_>>().join(", ")
}
