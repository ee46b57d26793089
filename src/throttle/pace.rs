//! Paces free work: a caller gets a limited amount a second, and the rest late or not at all.
//!
//! A refusal costs little, but ten thousand of them a second take the time of many queries. Clients that wait for each response
//! are slowed down. Clients that heed `Retry-After` notice nothing. Reports of prices cost as much as compiling a query, and
//! introspection as much as writing the schema; requests that would be late by too much are refused. So are large texts after
//! others of the caller that did not compile, which is known only once the time is spent.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Between two refusals of one caller.
const INTERVAL: Duration = Duration::from_millis(1);

/// The longest time that anything is held back. The `Retry-After` of refusals is as long.
const LONGEST: Duration = Duration::from_secs(1);

/// The longest time by which something that is charged afterwards is put off. What claims more is free by as much.
const LONGEST_DEBT: Duration = Duration::from_secs(5);

/// Fewer callers are not swept.
const MIN_SWEEP: usize = 64;

/// When each caller's next response is due. A caller whose last one was long ago takes no memory.
#[derive(Debug, Default)]
pub(crate) struct Pace {
    callers: Mutex<Callers>,
}

#[derive(Debug, Default)]
struct Callers {
    due: HashMap<Arc<str>, Instant>,
    /// The number of callers at which callers without a delay are removed next.
    sweep_at: usize,
}

impl Pace {
    /// How long a refusal of the caller is held back.
    pub(crate) fn delay(&self, caller: &Arc<str>, now: Instant) -> Duration {
        self.with_due(caller, now, |due| {
            let delay = due.saturating_duration_since(now).min(LONGEST);
            *due = now + delay + INTERVAL;
            delay
        })
    }

    /// How long a free request of the caller is held back, after which the next one is due in `interval`. Fails with the time until
    /// one is due if that is too long; nothing is claimed then.
    pub(crate) fn claim(&self, caller: &Arc<str>, now: Instant, interval: Duration) -> Result<Duration, Duration> {
        self.with_due(caller, now, |due| {
            let delay = due.saturating_duration_since(now);
            if delay > LONGEST {
                return Err(delay);
            }
            *due = now + delay + interval;
            Ok(delay)
        })
    }

    /// Fails with the time until a free request of the caller would not be too late if it is now. Claims nothing.
    pub(crate) fn check(&self, caller: &Arc<str>, now: Instant) -> Result<(), Duration> {
        let callers = self.callers();
        let due = callers.due.get(caller).copied().unwrap_or(now);
        due.saturating_duration_since(now).checked_sub(LONGEST).filter(|late| !late.is_zero()).map_or(Ok(()), Err)
    }

    /// Claims `interval` for a free request of the caller that was done before it was known to be free. Returns how long its response is
    /// held back.
    pub(crate) fn charge(&self, caller: &Arc<str>, now: Instant, interval: Duration) -> Duration {
        self.with_due(caller, now, |due| {
            let delay = due.saturating_duration_since(now);
            *due = now + (delay + interval).min(LONGEST_DEBT);
            delay.min(LONGEST)
        })
    }

    /// Calls `change` with the time when the caller's next response is due.
    fn with_due<T>(&self, caller: &Arc<str>, now: Instant, change: impl FnOnce(&mut Instant) -> T) -> T {
        let mut callers = self.callers();
        if let Some(due) = callers.due.get_mut(caller) {
            return change(due);
        }
        if callers.due.len() >= callers.sweep_at.max(MIN_SWEEP) {
            callers.due.retain(|_, due| *due > now);
            callers.sweep_at = 2 * callers.due.len();
        }
        change(callers.due.entry(Arc::clone(caller)).or_insert(now))
    }

    fn callers(&self) -> MutexGuard<'_, Callers> {
        // A panic elsewhere cannot leave a time half written, so a poisoned lock can be used.
        self.callers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_caller_gets_a_refusal_a_millisecond_and_waits_for_no_more_than_a_second() {
        let (pace, now) = (Pace::default(), Instant::now());
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
    fn a_report_that_would_be_late_by_more_than_a_second_is_refused() {
        let (pace, now, caller) = (Pace::default(), Instant::now(), Arc::from("busy"));
        let claim = |now, interval| pace.claim(&caller, now, Duration::from_millis(interval));
        assert_eq!(claim(now, 600), Ok(Duration::ZERO));
        assert_eq!(claim(now, 600), Ok(Duration::from_millis(600)));
        for _ in 0..3 {
            assert_eq!(claim(now, 600), Err(Duration::from_millis(1200)));
        }
        assert_eq!(claim(now + Duration::from_millis(200), 5), Ok(LONGEST));
        assert_eq!(claim(now + Duration::from_secs(2), 5), Ok(Duration::ZERO));
    }

    #[test]
    fn what_is_charged_afterwards_delays_and_then_excludes_the_next_ones() {
        let (pace, now, caller) = (Pace::default(), Instant::now(), Arc::from("busy"));
        let charge = |now| pace.charge(&caller, now, Duration::from_millis(600));
        assert_eq!(pace.check(&caller, now), Ok(()));
        let delays = [charge(now), charge(now), charge(now), charge(now)].map(|delay| delay.as_millis());
        assert_eq!(delays, [0, 600, 1000, 1000]);
        assert_eq!(pace.check(&caller, now), Err(Duration::from_millis(1400)));
        assert_eq!(pace.check(&Arc::from("calm"), now), Ok(()));
        let later = now + Duration::from_millis(1400);
        assert_eq!(pace.check(&caller, later), Ok(()));
        assert_eq!(charge(later), LONGEST);
        assert_eq!(charge(now + Duration::from_secs(9)), Duration::ZERO);
        for _ in 0..100 {
            charge(later);
        }
        assert_eq!(pace.check(&caller, later), Err(Duration::from_secs(4)));
    }

    #[test]
    fn callers_that_are_refused_no_more_are_forgotten() {
        let (pace, now) = (Pace::default(), Instant::now());
        for step in 0..10_000 {
            pace.delay(&step.to_string().into(), now + step * INTERVAL);
        }
        assert!(pace.callers.lock().unwrap().due.len() <= MIN_SWEEP + 1);
    }
}
