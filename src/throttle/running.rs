//! How many queries of a caller run at the same time.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, PoisonError};

/// Every caller's running queries. A caller without any takes no memory.
#[derive(Debug, Clone, Default)]
pub struct RunningQueries {
    callers: Arc<Mutex<HashMap<Arc<str>, u32>>>,
}

/// A running query's place; free again when it is dropped.
#[derive(Debug)]
pub struct Permit {
    running: RunningQueries,
    caller: Arc<str>,
}

impl RunningQueries {
    /// A place for one more query of the caller, unless `most` run already.
    pub fn enter(&self, caller: &Arc<str>, most: u32) -> Option<Permit> {
        // A panic elsewhere cannot leave a number half written.
        let mut callers = self.callers.lock().unwrap_or_else(PoisonError::into_inner);
        match callers.entry(Arc::clone(caller)) {
            Entry::Occupied(running) if *running.get() >= most => return None,
            Entry::Occupied(mut running) => *running.get_mut() += 1,
            Entry::Vacant(_) if most == 0 => return None,
            Entry::Vacant(running) => {
                running.insert(1);
            }
        }
        drop(callers);
        Some(Permit { running: self.clone(), caller: Arc::clone(caller) })
    }

    /// Callers that have queries running.
    pub fn callers(&self) -> usize {
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
    fn places_are_each_callers_own_and_come_back() {
        let running = RunningQueries::default();
        let (demo, bulk) = (Arc::from("demo"), Arc::from("bulk"));
        let (first, _second) = (running.enter(&demo, 2), running.enter(&demo, 2));
        assert!(first.is_some());
        assert!(running.enter(&demo, 2).is_none());
        assert!(running.enter(&bulk, 1).is_some());
        drop(first);
        assert!(running.enter(&demo, 2).is_some());
        assert!(running.enter(&bulk, 0).is_none());
        assert_eq!(running.callers(), 1);
    }

    #[test]
    fn threads_never_hold_more_places_than_there_are() {
        let (running, held) = (RunningQueries::default(), AtomicU32::new(0));
        let caller: Arc<str> = "demo".into();
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..20_000 {
                        if let Some(place) = running.enter(&caller, 3) {
                            assert!(held.fetch_add(1, Ordering::SeqCst) < 3);
                            held.fetch_sub(1, Ordering::SeqCst);
                            drop(place);
                        }
                    }
                });
            }
        });
        assert_eq!(running.callers(), 0);
    }
}
