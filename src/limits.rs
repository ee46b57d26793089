//! The limits of a caller: [`LIMITS`] is their table, [`Profile`] has a field for each, and [`Limits`] has the compiler's.
//!
//! A new limit is one row of `limits!` below, its column of `orderql.user_profile` in `migration/declared/service_tables.txt`, and the code
//! that enforces it. All else reads the table: the settings that are the limits' defaults, the flags and output of `orderql profile` and
//! `orderql explain`, the statements that read and write profiles.
//!
//! A limit under `query` is checked by the compiler, before any I/O: `cost::limit_check` takes [`Limits`] apart field by
//! field, and so does not compile before it checks the new one. A limit under `service` is checked by the server, and is a
//! field of `access::caller_limits::CallerLimits`, which is reported as never read until then.

/// A bound on what a caller may ask for, with its names and its default.
#[derive(Debug)]
pub struct Limit {
    /// Its name: the setting that is its default, and its flag.
    pub name: &'static str,
    /// The setting's environment variable.
    pub variable: &'static str,
    /// The default in the setting's form.
    pub default: &'static str,
    /// What it is, as a sentence.
    pub help: &'static str,
    /// What its number counts.
    pub unit: Unit,
    /// The column of `orderql.user_profile`.
    pub column: &'static str,
    /// Its field in a profile.
    pub own: fn(&mut Profile) -> &mut Option<i64>,
    /// Whether the compiler checks it, and not the server.
    pub is_of_query: bool,
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
    /// Bytes, in a column of the type `bigint`.
    Bytes,
}

/// A row is `column[: type] = default, unit, setting, environment variable;` with its help as doc comment. The default is a
/// number, or text in the setting's form. The rows under `query` are fields of [`Limits`], of their type; where the setting's form is
/// another one, it follows the number.
macro_rules! limits {
    (
        query { $(
            #[doc = $help:literal]
            $limit:ident: $type:ty = $default:literal $($text:literal)?, $unit:ident, $name:literal, $variable:literal;
        )* }
        service { $(
            #[doc = $s_help:literal]
            $s_limit:ident = $s_default:literal, $s_unit:ident, $s_name:literal, $s_variable:literal;
        )* }
    ) => {
        /// All limits, in the order in which they are shown.
        pub static LIMITS: &[Limit] = &[
            $(Limit {
                name: $name, variable: $variable, default: limits!(@text $default $($text)?), help: $help,
                unit: Unit::$unit,
                column: stringify!($limit), own: |profile| &mut profile.$limit, is_of_query: true,
            },)*
            $(Limit {
                name: $s_name, variable: $s_variable, default: concat!($s_default), help: $s_help, unit: Unit::$s_unit,
                column: stringify!($s_limit), own: |profile| &mut profile.$s_limit, is_of_query: false,
            },)*
        ];

        /// The limits that the compiler checks a query against. The specification's are [`Limits::DEFAULT`]; the
        /// profile of an integration user may raise them. Above them a query fails with `COST_EXCEEDED`, `FIRST_TOO_LARGE`,
        /// `DEPTH_EXCEEDED` or `RESPONSE_TOO_LARGE`.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub struct Limits {
            $(#[doc = $help] pub $limit: $type,)*
        }

        impl Limits {
            /// The specification's limits.
            pub const DEFAULT: Self = Self { $($limit: $default),* };

            /// Limits that no query exceeds, for tests and measurements.
            pub const UNLIMITED: Self = Self { $($limit: <$type>::MAX),* };

            /// The limits of a profile. Where it has none, or one out of range, the default.
            pub fn of(profile: &Profile) -> Self {
                Self { $($limit: number(profile.$limit).unwrap_or(Self::DEFAULT.$limit),)* }
            }
        }

        /// Limits by their columns of `orderql.user_profile`. Those of a single user replace the server's defaults; `None` is
        /// the default.
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
        pub struct Profile {
            $(#[doc = $help] pub $limit: Option<i64>,)*
            $(#[doc = $s_help] pub $s_limit: Option<i64>,)*
        }

        impl Profile {
            /// The server's default for every limit.
            pub const DEFAULT: Self = Self { $($limit: None,)* $($s_limit: None,)* };
        }
    };
    (@text $default:literal) => { concat!($default) };
    (@text $default:literal $text:literal) => { $text };
}

limits! {
    query {
        /// Credits that one query may cost.
        max_cost: u64 = 1000, Credits, "max-cost", "ORDERQL_MAX_COST";
        /// Rows that a page may have.
        max_page_size: u32 = 100, Count, "max-page-size", "ORDERQL_MAX_PAGE_SIZE";
        /// Levels of object nesting that a query may have.
        max_depth: u32 = 6, Count, "max-depth", "ORDERQL_MAX_DEPTH";
        /// Credits in a caller's full bucket; at least max-cost.
        bucket_size: u64 = 1000, Credits, "bucket-size", "ORDERQL_BUCKET_SIZE";
        /// Bytes that the data of a response, or of an export's page, may have; more if the query costs much: 1 KiB a credit.
        response_size: u64 = 4_194_304 "4MiB", Bytes, "response-size", "ORDERQL_RESPONSE_SIZE";
    }
    service {
        /// Credits that a caller's bucket regains every second.
        restore_rate = 50, Credits, "restore-rate", "ORDERQL_RESTORE_RATE";
        /// Wall-clock budget of a query.
        deadline_ms = "10s", Time, "deadline", "ORDERQL_DEADLINE";
        /// Queries of one caller that run at the same time.
        concurrent_queries = 64, Count, "concurrent-queries", "ORDERQL_CONCURRENT_QUERIES";
        /// Order updates of one caller that run at the same time; eight times as many wait.
        concurrent_updates = 2, Count, "concurrent-updates", "ORDERQL_CONCURRENT_UPDATES";
        /// Order updates of one caller in a second; those of one second may come at once.
        updates_per_second = 50, Count, "updates-per-second", "ORDERQL_UPDATES_PER_SECOND";
        /// Idempotency keys of one caller that are stored at the same time, each for a day.
        idempotency_keys = 10000, Count, "idempotency-keys", "ORDERQL_IDEMPOTENCY_KEYS";
    }
}

impl Limits {
    /// The most that one query can cost: the maximum, or what a full bucket holds if that is less. Nothing more expensive
    /// can ever be debited.
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

impl Unit {
    /// Whether a limit may have this number.
    fn takes(self, number: i64) -> bool {
        match self {
            Self::Credits => number >= 0,
            Self::Count => u32::try_from(number).is_ok(),
            Self::Time | Self::Bytes => number > 0,
        }
    }
}

impl Profile {
    /// These limits, and the others' where there is none, or one out of range.
    #[must_use]
    pub fn or(mut self, default: &Self) -> Self {
        let mut default = *default;
        for limit in LIMITS {
            let own = (limit.own)(&mut self);
            if own.is_none_or(|number| !limit.unit.takes(number)) {
                *own = *(limit.own)(&mut default);
            }
        }
        self
    }
}

/// A limit's number in the type of its field; `None` if it is out of range.
pub(crate) fn number<T: TryFrom<i64>>(own: Option<i64>) -> Option<T> {
    T::try_from(own?).ok()
}

/// The default of the limit of this name, in the setting's form; empty if there is none.
pub(crate) fn default_of(name: &str) -> &'static str {
    LIMITS.iter().find(|limit| limit.name == name).map_or("", |limit| limit.default)
}
