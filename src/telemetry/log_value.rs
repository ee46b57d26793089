//! How the fields of events are written to the log: their types decide it.

use std::convert::identity;
use std::error::Error;
use std::fmt;
use std::net::IpAddr;
use std::panic::Location;
use std::path::Path;
use std::time::{Duration, SystemTime};

use serde_json::Map;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;
use tracing::Value;
use tracing::field::{debug, display};

use crate::telemetry::error_chain::ErrorChain;
use crate::telemetry::trace_context::TraceId;

/// A field of an event.
pub(super) trait LogValue {
    fn log_value(&self) -> impl Value;
}

/// A row is `type => function [, function];`. The log has the result of the functions, the last one applied first.
macro_rules! log_values {
    ($($type:ty => $outer:path $(, $inner:path)?;)+) => {
        $(impl LogValue for $type {
            fn log_value(&self) -> impl Value {
                $outer($($inner)?(*self))
            }
        })+
    };
}

log_values! {
    &str => identity;
    u32 => identity;
    u64 => identity;
    i64 => identity;
    usize => identity;
    f64 => identity;
    Duration => debug;
    IpAddr => display;
    TraceId => display;
    &Location<'_> => display;
    &Path => display, Path::display;
    &dyn Error => display, ErrorChain;
    &Map<String, serde_json::Value> => display, Json;
    &[(&str, SystemTime)] => display, Keys;
    &[SlowBranch<'_>] => display, Branches;
}

/// A missing value is not written.
impl<T: LogValue> LogValue for Option<T> {
    fn log_value(&self) -> impl Value {
        self.as_ref().map(T::log_value)
    }
}

/// A branch of the statement of a query that took long.
#[derive(Debug)]
pub(crate) struct SlowBranch<'a> {
    /// The path of response keys, as `orderql explain` prints it.
    pub(crate) field: &'a str,
    /// How many rows it returned; none if the statement did not finish.
    pub(crate) rows: Option<u64>,
}

/// The branches of a statement, each with its rows.
struct Branches<'a>(&'a [SlowBranch<'a>]);

impl fmt::Display for Branches<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, SlowBranch { field, rows }) in self.0.iter().enumerate() {
            write!(f, "{}{field}: ", if index == 0 { "" } else { "; " })?;
            match rows {
                None => f.write_str("not finished")?,
                Some(rows) => write!(f, "{rows} rows")?,
            }
        }
        Ok(())
    }
}

/// Keys, each with the time at which it was made.
struct Keys<'a>(&'a [(&'a str, SystemTime)]);

impl fmt::Display for Keys<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (id, made)) in self.0.iter().enumerate() {
            let made = OffsetDateTime::from(*made).replace_nanosecond(0).ok();
            let made = made.and_then(|made| made.format(&Rfc3339).ok()).unwrap_or_default();
            write!(f, "{}{id} of {made}", if index == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}

/// A map as JSON text.
struct Json<'a>(&'a Map<String, serde_json::Value>);

impl fmt::Display for Json<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&serde_json::to_string(self.0).map_err(|_| fmt::Error)?)
    }
}

/// Milliseconds to three decimals: precise enough for a cache hit, short enough to read.
pub(crate) fn milliseconds(duration: Duration) -> f64 {
    (duration.as_secs_f64() * 1e6).round() / 1e3
}
