//! Logs why requests were answered with 503: each cause at most once a second, with the number of requests that it has hit.
//! During an outage every request has the same cause.

use std::error::Error;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::telemetry::emit;
use crate::telemetry::error_chain::ErrorChain;
use crate::telemetry::event::Event;

/// How long a cause is not logged again.
const PERIOD: Duration = Duration::from_secs(1);

/// The most causes that are logged in a period.
const MAX_CAUSES: usize = 32;

static CAUSES: Mutex<Causes> = Mutex::new(Causes(Vec::new()));

/// Logs the cause, unless it was logged a moment ago.
pub(crate) fn report(error: &(dyn Error + 'static)) {
    let text = ErrorChain(error).to_string();
    let requests = CAUSES.lock().unwrap_or_else(PoisonError::into_inner).add(text, Instant::now());
    if let Some(requests) = requests {
        emit(&Event::Unavailable { error, requests });
    }
}

/// The causes that were logged last.
struct Causes(Vec<UnavailabilityCause>);

struct UnavailabilityCause {
    text: String,
    logged: Instant,
    /// Requests since then.
    requests: u64,
}

impl Causes {
    /// Counts a request. If its cause is to be logged, returns the number of requests since it was logged last.
    fn add(&mut self, text: String, now: Instant) -> Option<u64> {
        let is_due = |cause: &UnavailabilityCause| now.saturating_duration_since(cause.logged) >= PERIOD;
        if let Some(cause) = self.0.iter_mut().find(|cause| cause.text == text) {
            cause.requests += 1;
            if !is_due(cause) {
                return None;
            }
            cause.logged = now;
            return Some(std::mem::take(&mut cause.requests));
        }
        if self.0.len() == MAX_CAUSES {
            self.0.retain(|cause| !is_due(cause));
        }
        if self.0.len() == MAX_CAUSES {
            return None;
        }
        self.0.push(UnavailabilityCause { text, logged: now, requests: 0 });
        Some(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logs_each_cause_once_a_period_and_counts_its_requests() {
        let (start, mut causes) = (Instant::now(), Causes(Vec::new()));
        let mut add =
            |text: &str, milliseconds| causes.add(text.to_owned(), start + Duration::from_millis(milliseconds));
        assert_eq!([add("a", 0), add("a", 10), add("b", 20), add("a", 999)], [Some(1), None, Some(1), None]);
        assert_eq!([add("a", 1000), add("a", 1999), add("b", 2000), add("a", 5000)], [Some(3), None, Some(1), Some(2)]);
    }

    #[test]
    fn remembers_a_bounded_number_of_causes() {
        let (start, mut causes) = (Instant::now(), Causes(Vec::new()));
        let logged = (0..1000).filter(|number| causes.add(number.to_string(), start).is_some()).count();
        assert_eq!((logged, causes.0.len()), (MAX_CAUSES, MAX_CAUSES));
        assert_eq!(causes.add("another".to_owned(), start + PERIOD), Some(1));
        assert_eq!(causes.0.len(), 1);
    }
}
