//! Paces refusals: a caller that is refused and goes on sending gets so many refusals a second, and the others late.
//!
//! A refusal costs little, but ten thousand of them a second take the time of many queries. Clients that wait for a
//! response before they send the next request are slowed down, and those that heed `Retry-After` notice nothing.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Between two refusals of one caller.
const INTERVAL: Duration = Duration::from_millis(1);

/// The longest time that a refusal is held back. `Retry-After` is as long.
const LONGEST: Duration = Duration::from_secs(1);

/// Fewer callers are not swept.
const MIN_SWEEP: usize = 64;

/// When each caller's next refusal is due. A caller whose last refusal was long ago takes no memory.
#[derive(Debug, Default)]
pub(crate) struct RefusalPace {
    callers: Mutex<Callers>,
}

#[derive(Debug, Default)]
struct Callers {
    due: HashMap<Arc<str>, Instant>,
    /// How many callers there are when those that are due are removed next.
    sweep_at: usize,
}

impl RefusalPace {
    /// How long a refusal of the caller is held back.
    pub(crate) fn delay(&self, caller: &Arc<str>, now: Instant) -> Duration {
        // A panic elsewhere cannot leave a time half written, so a poisoned lock can be used.
        let mut callers = self.callers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(due) = callers.due.get_mut(caller) {
            let delay = due.saturating_duration_since(now).min(LONGEST);
            *due = now + delay + INTERVAL;
            return delay;
        }
        if callers.due.len() >= callers.sweep_at.max(MIN_SWEEP) {
            callers.due.retain(|_, due| *due > now);
            callers.sweep_at = 2 * callers.due.len();
        }
        callers.due.insert(Arc::clone(caller), now + INTERVAL);
        Duration::ZERO
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_caller_gets_a_refusal_a_millisecond_and_waits_for_no_more_than_a_second() {
        let (pace, now) = (RefusalPace::default(), Instant::now());
        let (busy, calm) = (Arc::from("busy"), Arc::from("calm"));
        let delays: Vec<_> = (0..2000).map(|_| pace.delay(&busy, now).as_millis()).collect();
        assert!(delays.iter().copied().eq((0..2000).map(|delay| delay.min(1000))));
        assert_eq!(pace.delay(&calm, now), Duration::ZERO);
        // Who waits before it sends again is not held back.
        for step in 2..1000 {
            assert_eq!(pace.delay(&busy, now + step * LONGEST), Duration::ZERO);
            assert_eq!(pace.delay(&calm, now + step * INTERVAL), Duration::ZERO);
        }
    }

    #[test]
    fn callers_that_are_refused_no_more_are_forgotten() {
        let (pace, now) = (RefusalPace::default(), Instant::now());
        for step in 0..10_000 {
            pace.delay(&step.to_string().into(), now + step * INTERVAL);
        }
        assert!(pace.callers.lock().unwrap().due.len() <= MIN_SWEEP + 1);
    }
}
