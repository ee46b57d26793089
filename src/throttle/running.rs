//! Limits how many requests a caller runs at the same time, in this process.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use thiserror::Error;
use tokio::sync::oneshot;

/// The running requests of each caller. A caller without any takes no memory.
#[derive(Debug, Clone, Default)]
pub(crate) struct RunningRequests {
    callers: Arc<Mutex<HashMap<Arc<str>, Caller>>>,
}

/// A caller's running and waiting requests. At least one is running.
#[derive(Debug, Default)]
struct Caller {
    running: u32,
    /// The oldest first. A request that is no longer waiting has closed its channel.
    waiting: VecDeque<oneshot::Sender<Permit>>,
}

/// The right to run one request. Handed to the caller's oldest waiting request when it is dropped.
#[derive(Debug)]
pub(crate) struct Permit {
    running: RunningRequests,
    caller: Arc<str>,
}

/// As many requests of a caller as may wait are waiting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("no more requests of the caller may wait")]
pub(crate) struct QueueFull;

impl RunningRequests {
    /// A permit for one more request of the caller, unless `limit` of them run already.
    pub(crate) fn try_acquire(&self, caller: &Arc<str>, limit: u32) -> Option<Permit> {
        start(&mut self.lock(), caller, limit).then(|| self.permit(caller))
    }

    /// Waits for a permit, behind those of the caller's requests that wait already. Fails if `queue` of them wait.
    pub(crate) async fn acquire(&self, caller: &Arc<str>, limit: u32, queue: usize) -> Result<Permit, QueueFull> {
        let permit = {
            let mut callers = self.lock();
            if start(&mut callers, caller, limit) {
                return Ok(self.permit(caller));
            }
            // A caller of whom nothing runs has a limit of zero.
            let waiting = &mut callers.get_mut(caller).ok_or(QueueFull)?.waiting;
            waiting.retain(|request| !request.is_closed());
            if waiting.len() >= queue {
                return Err(QueueFull);
            }
            let (request, permit) = oneshot::channel();
            waiting.push_back(request);
            permit
        };
        permit.await.map_err(|_| QueueFull)
    }

    fn permit(&self, caller: &Arc<str>) -> Permit {
        Permit { running: self.clone(), caller: Arc::clone(caller) }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Arc<str>, Caller>> {
        // A panic elsewhere cannot leave a number half written, so a poisoned lock can be used.
        self.callers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Callers with running requests.
    #[cfg(test)]
    fn callers(&self) -> usize {
        self.lock().len()
    }
}

/// Counts one more running request of the caller, unless `limit` of them run already.
fn start(callers: &mut HashMap<Arc<str>, Caller>, caller: &Arc<str>, limit: u32) -> bool {
    match callers.entry(Arc::clone(caller)) {
        Entry::Occupied(entry) if entry.get().running >= limit => return false,
        Entry::Occupied(mut entry) => entry.get_mut().running += 1,
        Entry::Vacant(_) if limit == 0 => return false,
        Entry::Vacant(entry) => {
            entry.insert(Caller { running: 1, waiting: VecDeque::new() });
        }
    }
    true
}

impl Drop for Permit {
    fn drop(&mut self) {
        let next = {
            let mut callers = self.running.lock();
            let Some(caller) = callers.get_mut(&self.caller) else { return };
            let next = loop {
                match caller.waiting.pop_front() {
                    Some(request) if request.is_closed() => {}
                    next => break next,
                }
            };
            if next.is_none() {
                caller.running -= 1;
                if caller.running == 0 {
                    callers.remove(&self.caller);
                }
            }
            next
        };
        if let Some(request) = next {
            // If the request has just stopped waiting, the permit is dropped here, and goes to the next one.
            let _ = request.send(self.running.permit(&self.caller));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::thread;

    use futures_util::FutureExt;

    use super::*;

    #[test]
    fn limits_each_caller_on_its_own_and_takes_permits_back() {
        let running = RunningRequests::default();
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
        let (running, permits) = (RunningRequests::default(), AtomicU32::new(0));
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

    #[tokio::test]
    async fn waiting_requests_run_in_their_order_and_those_that_gave_up_are_passed_over() {
        let running = RunningRequests::default();
        let caller: Arc<str> = "demo".into();
        let running_one = running.acquire(&caller, 1, 3).await.unwrap();
        let mut waiting: Vec<_> = (0..3).map(|_| Box::pin(running.acquire(&caller, 1, 3))).collect();
        for request in &mut waiting {
            assert!(request.as_mut().now_or_never().is_none());
        }
        assert_eq!(running.acquire(&caller, 1, 3).await.unwrap_err(), QueueFull);
        drop(waiting.remove(0));
        // The place in the queue is free again.
        waiting.push(Box::pin(running.acquire(&caller, 1, 3)));
        assert!(waiting[2].as_mut().now_or_never().is_none());

        drop(running_one);
        for mut request in waiting {
            let permit = request.as_mut().await.unwrap();
            assert!(running.try_acquire(&caller, 1).is_none());
            drop(permit);
        }
        assert_eq!(running.callers(), 0);
    }

    #[tokio::test]
    async fn a_permit_that_nobody_awaits_any_more_is_handed_on() {
        let running = RunningRequests::default();
        let caller: Arc<str> = "demo".into();
        let permit = running.acquire(&caller, 1, 2).await.unwrap();
        let (mut first, mut second) =
            (Box::pin(running.acquire(&caller, 1, 2)), Box::pin(running.acquire(&caller, 1, 2)));
        assert!(first.as_mut().now_or_never().is_none());
        assert!(second.as_mut().now_or_never().is_none());
        // The first one has been sent the permit when it is dropped.
        drop(permit);
        drop(first);
        drop(second.await.unwrap());
        assert_eq!(running.callers(), 0);
    }
}
