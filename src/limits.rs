//! The limits of a caller, in one table.
//!
//! A row is a limit. `caller_limits!` passes all rows to another macro, and these are made from them:
//!
//! - here: [`Limits`], which the compiler checks a query against
//! - in `access`: `CallerLimits`, which a `Principal` carries, and `Profile`, the limits of a single user, with the columns
//!   of `orderql.user_profile` that it is stored in
//! - in `config`: a setting for each limit, which is the limit's default, with its flag, environment variable and help
//! - in `cli`: the flags and the output of `orderql profile`
//!
//! A new limit takes a row, a migration that adds its column, and the code that enforces it. Under `query` that is the
//! compiler; `cost` takes [`Limits`] apart field by field, so it does not compile before the new one is checked. A limit
//! under `service` is enforced where a query runs; until then its field is dead code, which the compiler reports.

/// Calls the macro `$consumer` with the table, and with what follows its name. The rows under `query` are checked by the
/// compiler, before any I/O; those under `service` by the server.
///
/// A row is `field: type = setting, environment variable, default, unit, column;` with its help as doc comment. The default
/// is a number, or text in the setting's form. The units are those of `access::profile::Unit`. The types are the names in
/// scope where the table is used.
macro_rules! caller_limits {
    ($consumer:ident! $($rest:tt)*) => {
        $consumer! {
            query {
                /// Credits that one query may cost.
                max_cost: u64 = "max-cost", "ORDERQL_MAX_COST", 1000, Credits, max_cost;
                /// Rows that a page may have.
                max_page_size: u32 = "max-page-size", "ORDERQL_MAX_PAGE_SIZE", 100, Count, max_page_size;
                /// Levels of object nesting that a query may have.
                max_depth: u32 = "max-depth", "ORDERQL_MAX_DEPTH", 6, Count, max_depth;
                /// Credits in a caller's full bucket; at least max-cost.
                bucket_size: u64 = "bucket-size", "ORDERQL_BUCKET_SIZE", 1000, Credits, bucket_size;
            }
            service {
                /// Credits that a caller's bucket regains every second.
                restore_rate: u64 = "restore-rate", "ORDERQL_RESTORE_RATE", 50, Credits, restore_rate;
                /// Wall-clock budget of a query.
                deadline: Duration = "deadline", "ORDERQL_DEADLINE", "10s", Time, deadline_ms;
                /// Queries of one caller that run at the same time.
                concurrent_queries: u32 = "concurrent-queries", "ORDERQL_CONCURRENT_QUERIES", 64, Count, concurrent_queries;
                /// Order updates of one caller that run at the same time; eight times as many wait.
                concurrent_updates: u32 = "concurrent-updates", "ORDERQL_CONCURRENT_UPDATES", 2, Count, concurrent_updates;
                /// Idempotency keys of one caller that are stored at the same time, each for a day.
                idempotency_keys: u32 = "idempotency-keys", "ORDERQL_IDEMPOTENCY_KEYS", 10000, Count, idempotency_keys;
            }
            $($rest)*
        }
    };
}
#[cfg(feature = "server")]
pub(crate) use caller_limits;

/// Makes [`Limits`] from the rows under `query`.
macro_rules! limits {
    (
        query {
            $(
                #[doc = $help:literal]
                $field:ident: $type:ty =
                    $setting:literal, $variable:literal, $default:literal, $unit:ident, $column:ident;
            )*
        }
        service {
            $(
                #[doc = $service_help:literal]
                $service_field:ident: $service_type:ty =
                    $service_setting:literal, $service_variable:literal, $service_default:literal, $service_unit:ident,
                    $service_column:ident;
            )*
        }
    ) => {
        /// The default of a limit, by its setting's name, in the setting's form.
        ///
        /// # Panics
        ///
        /// If there is no such limit.
        pub(crate) fn default_of(setting: &str) -> &'static str {
            match setting {
                $($setting => concat!($default),)*
                $($service_setting => concat!($service_default),)*
                _ => unreachable!("only limits of the table are asked for"),
            }
        }

        /// The limits that the compiler checks a query against. The specification's are [`Limits::DEFAULT`]; the
        /// profile of an integration user may raise them. Above them a query fails with `COST_EXCEEDED`, `FIRST_TOO_LARGE`
        /// or `DEPTH_EXCEEDED`.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub struct Limits {
            $(#[doc = $help] pub $field: $type,)*
        }

        impl Limits {
            /// The specification's limits.
            pub const DEFAULT: Self = Self { $($field: $default),* };

            /// Limits that no query exceeds, for tests and measurements.
            pub const UNLIMITED: Self = Self { $($field: <$type>::MAX),* };

            /// The most that one query can cost: the maximum, or what a full bucket holds if that is less. Nothing
            /// more expensive can ever be debited.
            pub fn highest_cost(&self) -> u64 {
                self.max_cost.min(self.bucket_size)
            }

            /// Whether a full bucket covers the most expensive query that is allowed.
            pub fn bucket_covers_max_cost(&self) -> bool {
                self.max_cost <= self.bucket_size
            }
        }

        impl Default for Limits {
            fn default() -> Self {
                Self::DEFAULT
            }
        }
    };
}

caller_limits!(limits!);
