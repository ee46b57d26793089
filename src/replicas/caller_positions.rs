//! The positions that each caller has written and seen lately, in the memory of this server.
//!
//! Older writes and reads need not be remembered: a replica that may be read has everything that was committed so long ago.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::database::wal_position::WalPosition;
use crate::replicas::positions::{SeenRead, ServerId};

/// How long a caller's last order update counts, at least.
const WRITES_COUNT: Duration = Duration::from_secs(10);

/// How much longer than the longest lag something counts: positions are a moment old.
const MARGIN: Duration = Duration::from_secs(1);

/// The number of callers at which entries that can be forgotten are removed.
const FIRST_SWEEP: usize = 1024;

/// The positions that callers have written and seen.
#[derive(Debug)]
pub(super) struct CallerPositions {
    callers: Mutex<Callers>,
    writes_count: Duration,
    reads_count: Duration,
}

#[derive(Debug, Default)]
struct Callers {
    entries: HashMap<Arc<str>, KnownCaller>,
    /// The number of entries at which old ones are removed.
    next_sweep: usize,
}

#[derive(Debug, Default)]
struct KnownCaller {
    written: Option<(Write, Instant)>,
    /// The last read on each server.
    seen: Vec<SeenRead>,
    /// Until when its requests do not wait for replicas, because that was in vain.
    waits_again_at: Option<Instant>,
}

/// A caller's last order update.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Write {
    /// It was sent, and whether it was committed is not known.
    Unknown,
    /// It is in the log up to this position.
    UpTo(WalPosition),
}

impl CallerPositions {
    pub(super) fn new(longest_lag: Duration) -> Self {
        let reads_count = longest_lag.saturating_add(MARGIN);
        let callers = Callers { entries: HashMap::new(), next_sweep: FIRST_SWEEP };
        Self { callers: Mutex::new(callers), writes_count: WRITES_COUNT.max(reads_count), reads_count }
    }

    /// The caller has written something. A known position takes the place of an unknown one; of two, the later counts, because they
    /// may become known in any order.
    pub(super) fn record_write(&self, caller: &Arc<str>, write: Write, now: Instant) {
        let mut callers = self.callers();
        let caller = callers.caller(caller, now, self.writes_count);
        let write = match (caller.written, write) {
            (Some((Write::UpTo(known), _)), Write::UpTo(position)) => Write::UpTo(known.max(position)),
            (_, write) => write,
        };
        caller.written = Some((write, now));
    }

    /// How long a write counts.
    pub(super) fn writes_count(&self) -> Duration {
        self.writes_count
    }

    /// The caller has read from this server until now.
    pub(super) fn record_read(&self, caller: &Arc<str>, server: ServerId, now: Instant) {
        let mut callers = self.callers();
        let seen = &mut callers.caller(caller, now, self.writes_count).seen;
        seen.retain(|read| read.server != server && !is_over(read.at, self.reads_count, now));
        seen.push(SeenRead { server, at: now, position: None });
    }

    /// Gives the caller's last write and its last reads to `use_them`, as far as they still count. `use_them` may complete the reads.
    pub(super) fn with<T>(
        &self,
        caller: &str,
        now: Instant,
        use_them: impl FnOnce(Option<Write>, &mut [SeenRead]) -> T,
    ) -> T {
        let mut callers = self.callers();
        let Some(caller) = callers.entries.get_mut(caller) else { return use_them(None, &mut []) };
        caller.seen.retain(|read| !is_over(read.at, self.reads_count, now));
        let written = caller.written.filter(|(_, at)| !is_over(*at, self.writes_count, now));
        use_them(written.map(|(write, _)| write), &mut caller.seen)
    }

    /// The caller's requests do not wait for replicas until then.
    pub(super) fn skip_waiting(&self, caller: &str, until: Instant) {
        if let Some(caller) = self.callers().entries.get_mut(caller) {
            caller.waits_again_at = Some(until);
        }
    }

    /// Whether the caller's requests may wait for replicas.
    pub(super) fn may_wait(&self, caller: &str, now: Instant) -> bool {
        let callers = self.callers();
        callers.entries.get(caller).and_then(|caller| caller.waits_again_at).is_none_or(|until| until <= now)
    }

    fn callers(&self) -> MutexGuard<'_, Callers> {
        // A panic elsewhere cannot leave an entry half changed, so a poisoned lock can be used.
        self.callers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Callers {
    /// The caller's entry. Now and then, removes entries that do not count any more.
    fn caller(&mut self, caller: &Arc<str>, now: Instant, longest: Duration) -> &mut KnownCaller {
        if self.entries.len() >= self.next_sweep {
            self.entries.retain(|_, caller| {
                let reads = caller.seen.iter().map(|read| read.at);
                caller.written.iter().map(|(_, at)| *at).chain(reads).any(|at| !is_over(at, longest, now))
            });
            self.next_sweep = FIRST_SWEEP.max(2 * self.entries.len());
        }
        self.entries.entry(Arc::clone(caller)).or_default()
    }
}

fn is_over(at: Instant, longest: Duration, now: Instant) -> bool {
    now.saturating_duration_since(at) > longest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_write_counts_for_ten_seconds_or_as_long_as_a_replica_may_lag() {
        let (start, caller): (_, Arc<str>) = (Instant::now(), "demo".into());
        let at = |text: &str| Write::UpTo(text.parse().unwrap());
        for (lag, counts) in [(2, 10), (60, 61)] {
            let positions = CallerPositions::new(Duration::from_secs(lag));
            let written = |seconds| positions.with("demo", start + Duration::from_secs(seconds), |write, _| write);
            assert_eq!(written(0), None);
            positions.record_write(&caller, Write::Unknown, start);
            assert_eq!(written(1), Some(Write::Unknown));
            positions.record_write(&caller, at("0/2"), start);
            positions.record_write(&caller, at("0/1"), start);
            assert_eq!((written(counts), written(counts + 1)), (Some(at("0/2")), None));
        }
    }

    #[test]
    fn one_read_of_each_server_counts_and_callers_are_forgotten() {
        let start = Instant::now();
        let positions = CallerPositions::new(Duration::from_secs(2));
        let caller: Arc<str> = "demo".into();
        for server in [ServerId::Primary, ServerId::Replica(1), ServerId::Primary] {
            positions.record_read(&caller, server, start);
        }
        let seen = |seconds| positions.with("demo", start + Duration::from_secs(seconds), |_, seen| seen.len());
        assert_eq!((seen(3), seen(4)), (2, 0));
        for number in 0..3 * FIRST_SWEEP {
            let now = start + Duration::from_millis(20 * number as u64);
            positions.record_read(&format!("user{number}").into(), ServerId::Primary, now);
        }
        assert!(positions.callers().entries.len() <= FIRST_SWEEP);
    }
}
