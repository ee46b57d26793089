//! Timestamps of the sample's rows.

use std::fmt;

use time::macros::datetime;
use time::{Duration, PrimitiveDateTime};

/// Microseconds since 2000-01-01 00:00:00 UTC, PostgreSQL's epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::sample) struct SampleTime(pub(in crate::sample) i64);

impl SampleTime {
    const EPOCH: PrimitiveDateTime = datetime!(2000-01-01 0:00);
    pub(in crate::sample) const SECOND: i64 = 1_000_000;
    pub(in crate::sample) const MINUTE: i64 = 60 * Self::SECOND;
    pub(in crate::sample) const HOUR: i64 = 60 * Self::MINUTE;
    pub(in crate::sample) const DAY: i64 = 24 * Self::HOUR;

    /// Adds microseconds.
    pub(in crate::sample) const fn after(self, microseconds: i64) -> Self {
        Self(self.0 + microseconds)
    }

    /// Rounds down to a multiple of `unit` microseconds, such as [`SampleTime::DAY`].
    pub(in crate::sample) const fn floor(self, unit: i64) -> Self {
        Self(self.0 - self.0.rem_euclid(unit))
    }
}

/// Its ISO text in UTC. A column of a type without time zone takes it as UTC, too.
impl fmt::Display for SampleTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}Z", Self::EPOCH + Duration::microseconds(self.0))
    }
}
