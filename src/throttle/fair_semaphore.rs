//! A semaphore that serves callers in turn: a caller with many waiting requests gets no more permits than one with a single
//! request. The requests of one caller are served in their order. Requests of high priority are served before all others.

use std::collections::{HashMap, VecDeque};
use std::iter;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

/// Permits for all callers.
#[derive(Debug, Clone)]
pub(crate) struct FairSemaphore {
    state: Arc<Mutex<State>>,
}

#[derive(Debug)]
struct State {
    free: usize,
    /// Permits that were given out so far, also to requests that had just been given up.
    given_out: u64,
    high: Waiting,
    normal: Waiting,
}

/// Which requests are served first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Priority {
    High,
    Normal,
}

/// The waiting requests of one priority.
#[derive(Debug, Default)]
struct Waiting {
    /// The waiting requests of each caller that has some, the oldest first.
    requests: HashMap<Arc<str>, VecDeque<oneshot::Sender<FairPermit>>>,
    /// The callers; the first is served next.
    turns: VecDeque<Arc<str>>,
}

/// A permit of the semaphore. It goes to the next caller when it is dropped.
#[derive(Debug)]
pub(crate) struct FairPermit {
    /// `None` if it was passed on.
    semaphore: Option<FairSemaphore>,
}

impl FairSemaphore {
    /// A semaphore with this many permits.
    pub(crate) fn new(permits: usize) -> Self {
        let state = State { free: permits, given_out: 0, high: Waiting::default(), normal: Waiting::default() };
        Self { state: Arc::new(Mutex::new(state)) }
    }

    /// A permit, if one is free.
    pub(crate) fn try_acquire(&self) -> Option<FairPermit> {
        self.state().take().then(|| FairPermit { semaphore: Some(self.clone()) })
    }

    /// Whether a permit is free.
    pub(crate) fn has_free(&self) -> bool {
        self.state().free > 0
    }

    /// Waits for a permit.
    pub(crate) async fn acquire(&self, caller: &Arc<str>) -> FairPermit {
        self.acquire_with(Priority::Normal, caller).await
    }

    /// Waits for a permit.
    pub(crate) async fn acquire_with(&self, priority: Priority, caller: &Arc<str>) -> FairPermit {
        loop {
            let permit = {
                let mut state = self.state();
                if state.take() {
                    return FairPermit { semaphore: Some(self.clone()) };
                }
                match priority {
                    Priority::High => state.high.join(caller),
                    Priority::Normal => state.normal.join(caller),
                }
            };
            // A sender is dropped only after its receiver. Otherwise the request waits anew.
            if let Ok(permit) = permit.await {
                return permit;
            }
        }
    }

    /// How many permits were given out so far.
    pub(crate) fn given_out(&self) -> u64 {
        self.state().given_out
    }

    /// How many requests wait.
    pub(crate) fn waiting(&self) -> usize {
        let state = self.state();
        let requests = [&state.high, &state.normal].into_iter().flat_map(|waiting| waiting.requests.values());
        requests.flatten().filter(|request| !request.is_closed()).count()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // A panic elsewhere cannot leave the state half changed, so a poisoned lock can be used.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Gives out a free permit. Whether there was one.
    fn take(&mut self) -> bool {
        let is_free = self.free > 0;
        self.free -= usize::from(is_free);
        self.given_out += u64::from(is_free);
        is_free
    }

    /// The request that is served next. If none waits, the permit is free.
    fn next(&mut self) -> Option<oneshot::Sender<FairPermit>> {
        let next = self.high.next().or_else(|| self.normal.next());
        match next {
            Some(_) => self.given_out += 1,
            None => self.free += 1,
        }
        next
    }
}

impl Waiting {
    /// Adds a request of the caller.
    fn join(&mut self, caller: &Arc<str>) -> oneshot::Receiver<FairPermit> {
        let (request, permit) = oneshot::channel();
        let requests = self.requests.entry(Arc::clone(caller)).or_default();
        if requests.is_empty() {
            self.turns.push_back(Arc::clone(caller));
        }
        make_room(requests);
        requests.push_back(request);
        permit
    }

    /// The oldest request of the caller whose turn it is. The caller's next turn comes after the turns of all others.
    fn next(&mut self) -> Option<oneshot::Sender<FairPermit>> {
        while let Some(caller) = self.turns.pop_front() {
            let Some(requests) = self.requests.get_mut(&caller) else { continue };
            let next = iter::from_fn(|| requests.pop_front()).find(|request| !request.is_closed());
            if requests.is_empty() {
                self.requests.remove(&caller);
            } else {
                self.turns.push_back(caller);
            }
            if next.is_some() {
                return next;
            }
        }
        None
    }
}

/// Removes the requests that were given up before they would take more memory, or grows by half of the taken memory at least: so joining
/// takes the same time, on average, however many requests wait.
fn make_room(requests: &mut VecDeque<oneshot::Sender<FairPermit>>) {
    if requests.len() == requests.capacity() {
        requests.retain(|request| !request.is_closed());
        requests.reserve(requests.capacity() / 2 + 1);
    }
}

impl Drop for FairPermit {
    fn drop(&mut self) {
        let Some(semaphore) = self.semaphore.take() else { return };
        loop {
            let mut state = semaphore.state();
            let Some(next) = state.next() else { return };
            drop(state);
            match next.send(Self { semaphore: Some(semaphore.clone()) }) {
                Ok(()) => return,
                // It no longer waits. The next one gets the permit, not by dropping this one: many may have given up.
                Err(mut permit) => permit.semaphore = None,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    #[tokio::test]
    async fn serves_callers_in_turn_and_each_ones_requests_in_their_order() {
        let semaphore = FairSemaphore::new(1);
        let (busy, calm, new): (Arc<str>, Arc<str>, Arc<str>) = ("busy".into(), "calm".into(), "new".into());
        let mut permit = semaphore.acquire(&busy).await;
        let mut waiting = Vec::new();
        for (caller, name) in [(&busy, "a1"), (&busy, "a2"), (&busy, "gone"), (&busy, "a3"), (&calm, "b1")] {
            let mut request = Box::pin(semaphore.acquire(caller));
            assert!(request.as_mut().now_or_never().is_none());
            waiting.push((name, request));
        }
        waiting.retain(|(name, _)| *name != "gone");
        let mut served = Vec::new();
        while !waiting.is_empty() {
            drop(permit);
            let (index, next) = waiting
                .iter_mut()
                .enumerate()
                .find_map(|(index, (_, request))| Some((index, request.as_mut().now_or_never()?)))
                .unwrap();
            served.push(waiting.remove(index).0);
            permit = next;
            if served.len() == 1 {
                let mut request = Box::pin(semaphore.acquire(&new));
                assert!(request.as_mut().now_or_never().is_none());
                waiting.push(("c1", request));
            }
        }
        assert_eq!(served, ["a1", "b1", "a2", "c1", "a3"]);
        drop(permit);
        let state = semaphore.state();
        assert_eq!((state.free, state.normal.requests.len(), state.normal.turns.len()), (1, 0, 0));
    }

    #[tokio::test]
    async fn requests_that_were_given_up_take_no_memory() {
        let semaphore = FairSemaphore::new(1);
        let caller: Arc<str> = "demo".into();
        let permit = semaphore.acquire(&caller).await;
        let mut patient: Vec<_> = (0..3).map(|_| Box::pin(semaphore.acquire(&caller))).collect();
        assert!(patient.iter_mut().all(|request| request.as_mut().now_or_never().is_none()));
        for _ in 0..1000 {
            assert!(semaphore.acquire(&caller).now_or_never().is_none());
        }
        assert!(semaphore.state().normal.requests[&caller].capacity() < 20);
        assert_eq!(semaphore.waiting(), 3);
        drop(permit);
        for request in patient {
            drop(request.await);
        }
        assert_eq!(semaphore.state().free, 1);
    }

    #[tokio::test]
    async fn counts_the_permits_that_were_given_out() {
        let semaphore = FairSemaphore::new(1);
        let caller: Arc<str> = "demo".into();
        assert_eq!(semaphore.given_out(), 0);
        let permit = semaphore.acquire(&caller).await;
        assert!(semaphore.try_acquire().is_none());
        let mut waiting = Box::pin(semaphore.acquire(&caller));
        assert!(waiting.as_mut().now_or_never().is_none());
        assert_eq!(semaphore.given_out(), 1);
        drop(permit);
        drop(waiting.await);
        assert_eq!(semaphore.given_out(), 2);
        assert!(semaphore.try_acquire().is_some());
        assert_eq!(semaphore.given_out(), 3);
    }

    #[tokio::test]
    async fn a_permit_that_nobody_takes_any_more_is_passed_on() {
        let semaphore = FairSemaphore::new(1);
        let caller: Arc<str> = "demo".into();
        let permit = semaphore.acquire(&caller).await;
        let (mut first, mut second) = (Box::pin(semaphore.acquire(&caller)), Box::pin(semaphore.acquire(&caller)));
        assert!(first.as_mut().now_or_never().is_none());
        assert!(second.as_mut().now_or_never().is_none());
        // The first one has been sent the permit when it is dropped.
        drop(permit);
        drop(first);
        drop(second.await);
        assert_eq!(semaphore.state().free, 1);
    }
}
