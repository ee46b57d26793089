//! A part of a request, with its times, and the parts of one request together.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::num::NonZeroU64;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::telemetry::trace_context::TraceId;

/// The spans of a request.
#[derive(Debug)]
pub(crate) struct Trace {
    /// The trace that it belongs to.
    pub(crate) id: TraceId,
    /// The spans; the first one is the whole request.
    pub(crate) spans: Vec<Span>,
}

/// A part of a request.
#[derive(Debug)]
pub(crate) struct Span {
    /// Its id.
    pub(crate) id: NonZeroU64,
    /// The span that it is a part of.
    pub(crate) parent: Option<NonZeroU64>,
    /// What it does.
    pub(crate) name: String,
    /// Its side.
    pub(crate) kind: SpanKind,
    /// When it began and ended, in nanoseconds since 1970.
    pub(crate) times: [u64; 2],
    /// More about it. Never values of a request.
    pub(crate) attributes: Vec<(&'static str, Attribute)>,
    /// Whether it failed.
    pub(crate) has_failed: bool,
}

/// The side of a span, as OTLP numbers it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SpanKind {
    /// Inside of the server.
    Internal = 1,
    /// A request to the server.
    Server = 2,
    /// A request of the server to the database.
    Client = 3,
}

/// The value of an attribute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Attribute {
    /// A text.
    Text(String),
    /// A number.
    Number(u64),
}

/// Converts the monotonic clock's times to those of the calendar.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Calendar {
    instant: Instant,
    nanoseconds: u64,
}

impl Calendar {
    /// As of now.
    pub(crate) fn now() -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self { instant: Instant::now(), nanoseconds: u64::try_from(now.as_nanos()).unwrap_or(u64::MAX) }
    }

    /// Nanoseconds from 1970 to a moment in the past.
    pub(crate) fn nanoseconds(self, past: Instant) -> u64 {
        self.before_end(self.instant.saturating_duration_since(past))
    }

    /// Nanoseconds from 1970 to so long before this was made.
    pub(crate) fn before_end(self, time: Duration) -> u64 {
        self.nanoseconds.saturating_sub(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX))
    }

    /// Nanoseconds from 1970 to the moment that this was made.
    pub(crate) fn end(self) -> u64 {
        self.nanoseconds
    }
}

/// A random number that is not zero.
pub(crate) fn random_id() -> NonZeroU64 {
    static KEYS: LazyLock<RandomState> = LazyLock::new(RandomState::new);
    static NEXT: AtomicU64 = AtomicU64::new(0);
    loop {
        if let Some(id) = NonZeroU64::new(KEYS.hash_one(NEXT.fetch_add(1, Ordering::Relaxed))) {
            return id;
        }
    }
}
