//! What a caller may do at most.

use std::time::Duration;

use crate::access::profile::Profile;
use crate::limits::{Limits, caller_limits};
use crate::throttle::bucket::Rate;

/// Makes [`DefaultLimits`] and [`CallerLimits`] from the table of limits.
macro_rules! limits_of_a_caller {
    (
        query {
            $(
                #[doc = $query_help:literal]
                $query_limit:ident: $query_type:ty = $query_setting:literal, $query_variable:literal,
                    $query_default:literal, $query_unit:ident, $query_column:ident;
            )*
        }
        service {
            $(
                #[doc = $help:literal]
                $limit:ident: $type:ty =
                    $setting:literal, $variable:literal, $default:literal, $unit:ident, $column:ident;
            )*
        }
    ) => {
        /// The limits of a user without a profile, which the configuration sets.
        #[derive(Debug, Clone, Copy)]
        pub(crate) struct DefaultLimits {
            /// The limits that the compiler checks a query against.
            pub(crate) query: Limits,
            $(#[doc = $help] pub(crate) $limit: $type,)*
        }

        /// The limits of a caller. A type of its own beside [`DefaultLimits`], so that its fields are read only where
        /// they are enforced, and the compiler reports a limit that nothing enforces.
        #[derive(Debug, Clone, Copy)]
        pub(crate) struct CallerLimits {
            /// The limits that the compiler checks a query against.
            pub(crate) query: Limits,
            $(#[doc = $help] pub(crate) $limit: $type,)*
        }

        impl CallerLimits {
            /// The limits of the profile, and the default where it has none.
            pub(crate) fn new(profile: &Profile, default: &DefaultLimits) -> Self {
                Self {
                    query: Limits {
                        $($query_limit: own(profile.$query_column).unwrap_or(default.query.$query_limit),)*
                    },
                    $($limit: own(profile.$column).unwrap_or(default.$limit),)*
                }
            }
        }
    };
}

caller_limits!(limits_of_a_caller!);

impl CallerLimits {
    /// The caller's bucket: its size, and how fast it refills.
    pub(crate) fn rate(&self) -> Rate {
        Rate { capacity: self.query.bucket_size, restore_per_second: self.restore_rate }
    }
}

/// A profile's own limit. A number out of range, which the table's checks prevent, counts as none.
fn own<T: LimitType>(stored: Option<i64>) -> Option<T> {
    stored.and_then(T::from_stored)
}

/// The type of a limit, made from the number that a profile's column holds.
trait LimitType: Sized {
    fn from_stored(number: i64) -> Option<Self>;
}

impl LimitType for u64 {
    fn from_stored(number: i64) -> Option<Self> {
        Self::try_from(number).ok()
    }
}

impl LimitType for u32 {
    fn from_stored(number: i64) -> Option<Self> {
        Self::try_from(number).ok()
    }
}

impl LimitType for Duration {
    fn from_stored(milliseconds: i64) -> Option<Self> {
        u64::try_from(milliseconds).ok().filter(|milliseconds| *milliseconds > 0).map(Self::from_millis)
    }
}
