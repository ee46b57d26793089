//! The limits of a single user, which replace the server's defaults. A row of `orderql.user_profile`.

use tokio_postgres::types::ToSql;
use tokio_postgres::{Error, Row};

use crate::limits::caller_limits;

/// One of a profile's limits.
#[derive(Debug)]
pub struct ProfileLimit {
    /// The limit's name: the setting that is its default, and the flag of `orderql profile set`.
    pub name: &'static str,
    /// The column of `orderql.user_profile`.
    pub column: &'static str,
    /// What the limit is, as a sentence.
    pub help: &'static str,
    /// What its number counts.
    pub unit: Unit,
    /// The profile's field.
    pub field: fn(&mut Profile) -> &mut Option<i64>,
}

/// What a limit's number counts. Determines how the limit is written and which numbers it takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Credits, in a column of the type `bigint`.
    Credits,
    /// Rows, levels or queries, in a column of the type `integer`.
    Count,
    /// Milliseconds, in a column of the type `bigint`.
    Time,
}

/// Makes [`Profile`] and [`PROFILE_LIMITS`] from the table of limits.
macro_rules! profile {
    (query { $($query:tt)* } service { $($service:tt)* }) => {
        profile! { $($query)* $($service)* }
    };
    ($(
        #[doc = $help:literal]
        $limit:ident: $type:ty = $name:literal, $variable:literal, $default:literal, $unit:ident, $column:ident;
    )*) => {
        /// A user's own limits; `None` is the server's default. The numbers are those of the table's columns.
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
        pub struct Profile {
            $(#[doc = $help] pub $column: Option<i64>,)*
        }

        /// The limits of a profile, in the order in which they are shown.
        pub static PROFILE_LIMITS: &[ProfileLimit] = &[$(
            ProfileLimit {
                name: $name,
                column: stringify!($column),
                help: $help,
                unit: Unit::$unit,
                field: |profile| &mut profile.$column,
            },
        )*];

        impl Profile {
            /// The server's default for every limit.
            pub const DEFAULT: Self = Self { $($column: None),* };
        }
    };
}

caller_limits!(profile!);

impl Profile {
    /// Reads a row that has the columns of [`select_list`].
    pub(crate) fn from_row(row: &Row) -> Result<Self, Error> {
        let mut profile = Self::DEFAULT;
        for limit in PROFILE_LIMITS {
            *(limit.field)(&mut profile) = row.try_get(limit.column)?;
        }
        Ok(profile)
    }

    /// Each limit with its number.
    pub(crate) fn limits(mut self) -> impl Iterator<Item = (&'static ProfileLimit, Option<i64>)> {
        PROFILE_LIMITS.iter().map(move |limit| (limit, *(limit.field)(&mut self)))
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
    let columns = PROFILE_LIMITS.iter().enumerate();
    columns.map(|(index, limit)| text(index, limit.column)).collect::<Vec<_>>().join(", ")
}
