//! Which requests are logged.

use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::telemetry::event::ServedRequest;

/// Which requests are logged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccessLog {
    /// None.
    Off,
    /// Requests with an error, and requests whose client left before the end of the response.
    Errors,
    /// One request in this number.
    Sampled(NonZeroU32),
    /// Every request.
    All,
}

impl AccessLog {
    /// Parses a setting.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        match text {
            "off" => Some(Self::Off),
            "errors" => Some(Self::Errors),
            "all" => Some(Self::All),
            _ => text.strip_prefix("sampled:")?.parse().ok().map(Self::Sampled),
        }
    }

    /// Logs these requests from now on.
    pub(super) fn open(self) {
        let every = match self {
            Self::Off => NEVER,
            Self::Errors => ERRORS,
            Self::Sampled(every) => u64::from(every.get()),
            Self::All => 1,
        };
        EVERY.store(every, Ordering::Relaxed);
    }
}

const NEVER: u64 = 0;
const ERRORS: u64 = u64::MAX;

/// One in this number of requests is logged, unless it is one of the values above.
static EVERY: AtomicU64 = AtomicU64::new(1);

/// Requests that were, or were not, logged.
static REQUESTS: AtomicU64 = AtomicU64::new(0);

/// Whether the request is logged.
pub(super) fn admits(request: &ServedRequest<'_>) -> bool {
    match EVERY.load(Ordering::Relaxed) {
        NEVER => false,
        1 => true,
        ERRORS => {
            request.error_code.is_some() || request.broken_off || request.status.is_none_or(|status| status >= 400)
        }
        every => REQUESTS.fetch_add(1, Ordering::Relaxed).is_multiple_of(every),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_the_setting() {
        for (text, expected) in [
            ("off", Some(AccessLog::Off)),
            ("errors", Some(AccessLog::Errors)),
            ("all", Some(AccessLog::All)),
            ("sampled:100", NonZeroU32::new(100).map(AccessLog::Sampled)),
            ("sampled:0", None),
            ("sampled:", None),
            ("sampled", None),
            ("", None),
        ] {
            assert_eq!(AccessLog::parse(text), expected, "{text}");
        }
    }
}
