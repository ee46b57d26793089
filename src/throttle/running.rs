//! Limits how many queries a caller runs at the same time, in this process.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, PoisonError};

/// The number of running queries of each caller. A caller without any takes no memory.
#[derive(Debug, Clone, Default)]
pub(crate) struct RunningQueries {
    callers: Arc<Mutex<HashMap<Arc<str>, u32>>>,
}

/// The right to run one query. Returned when it is dropped.
#[derive(Debug)]
pub(crate) struct Permit {
    running: RunningQueries,
    caller: Arc<str>,
}

impl RunningQueries {
    /// A permit for one more query of the caller, unless `limit` of them run already.
    pub(crate) fn try_acquire(&self, caller: &Arc<str>, limit: u32) -> Option<Permit> {
        // A panic elsewhere cannot leave a number half written, so a poisoned lock can be used.
        let mut callers = self.callers.lock().unwrap_or_else(PoisonError::into_inner);
        match callers.entry(Arc::clone(caller)) {
            Entry::Occupied(running) if *running.get() >= limit => return None,
            Entry::Occupied(mut running) => *running.get_mut() += 1,
            Entry::Vacant(_) if limit == 0 => return None,
            Entry::Vacant(running) => {
                running.insert(1);
            }
        }
        drop(callers);
        Some(Permit { running: self.clone(), caller: Arc::clone(caller) })
    }

    /// Callers with running queries.
    #[cfg(test)]
    fn callers(&self) -> usize {
        self.callers.lock().unwrap_or_else(PoisonError::into_inner).len()
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let mut callers = self.running.callers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(running) = callers.get_mut(&self.caller) {
            *running -= 1;
            if *running == 0 {
                callers.remove(&self.caller);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::thread;

    use super::*;

    #[test]
    fn limits_each_caller_on_its_own_and_takes_permits_back() {
        let running = RunningQueries::default();
        let (demo, bulk) = (Arc::from("demo"), Arc::from("bulk"));
        let (first, _second) = (running.try_acquire(&demo, 2), running.try_acquire(&demo, 2));
        assert!(first.is_some());
        assert!(running.try_acquire(&demo, 2).is_none());
        assert!(running.try_acquire(&bulk, 1).is_some());
        drop(first);
        assert!(running.try_acquire(&demo, 2).is_some());
        assert!(running.try_acquire(&bulk, 0).is_none());
        assert_eq!(running.callers(), 1);
    }

    #[test]
    fn threads_never_have_more_permits_than_the_limit() {
        let (running, permits) = (RunningQueries::default(), AtomicU32::new(0));
        let caller: Arc<str> = "demo".into();
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..20_000 {
                        if let Some(permit) = running.try_acquire(&caller, 3) {
                            assert!(permits.fetch_add(1, Ordering::SeqCst) < 3);
                            permits.fetch_sub(1, Ordering::SeqCst);
                            drop(permit);
                        }
                    }
                });
            }
        });
        assert_eq!(running.callers(), 0);
    }
}
