//! The queues of all callers: places for running requests, and tickets for waiting ones.
//!
//! Every change of a queue goes through `State::change`, which calls the queue's first request afterwards. So no request is
//! forgotten, whatever lets it start: a response that was handed over, a client that hung up, a raised limit.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use fnv::FnvHashMap;
use tokio::sync::Notify;

use crate::throttle::caller_queue::{CallerQueue, Demand, Load, Obstacle};

/// The queues of all callers. A caller without running and waiting requests takes no memory.
#[derive(Debug, Clone)]
pub(crate) struct Queues {
    shared: Arc<QueuesState>,
}

#[derive(Debug)]
struct QueuesState {
    state: Mutex<State>,
    /// Notified when they are closed.
    closing: Notify,
}

#[derive(Debug, Default)]
struct State {
    bounds: QueueBounds,
    callers: FnvHashMap<Arc<str>, CallerQueue<Arc<Notify>>>,
    /// Requests that wait, and their bytes.
    waiting: usize,
    bytes: usize,
    /// The number of the next request that waits.
    next: u64,
    is_closed: bool,
}

/// How much may wait.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct QueueBounds {
    /// Bytes of one caller's requests.
    pub(crate) bytes_per_caller: usize,
    /// Requests of all callers.
    pub(crate) requests: usize,
    /// Bytes of all callers' requests.
    pub(crate) bytes: usize,
}

/// How many of one caller's requests may run, and how many may wait.
#[derive(Debug, Clone, Copy)]
pub(crate) struct QueryPlaces {
    pub(crate) running: u32,
    pub(crate) waiting: usize,
}

/// The right to run one request. Passed on when it is dropped.
#[derive(Debug)]
pub(crate) struct Permit {
    queues: Queues,
    caller: Arc<str>,
    /// False once it was passed to a ticket.
    has_place: bool,
}

/// A place in a caller's queue. The request leaves the queue when it is dropped.
#[derive(Debug)]
pub(crate) struct Ticket {
    queues: Queues,
    caller: Arc<str>,
    number: u64,
    /// Notified when the request is called, when credits were put back, and when the queues are closed.
    signal: Arc<Notify>,
    has_left: bool,
}

/// The state of a waiting request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turn {
    /// Other requests are before it.
    Waiting,
    /// It has a place, and may pay.
    Called,
    /// The server is stopping: nothing waits any more.
    Closed,
}

/// Why a request cannot wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CannotWait {
    /// As many requests wait as are allowed, of the caller or in all.
    Full,
    /// The server is stopping.
    Closed,
}

impl Queues {
    /// Empty queues.
    pub(crate) fn new(bounds: QueueBounds) -> Self {
        Self {
            shared: Arc::new(QueuesState {
                state: Mutex::new(State { bounds, ..State::default() }),
                closing: Notify::new(),
            }),
        }
    }

    /// Changes how much may wait. Waiting requests stay.
    pub(crate) fn resize(&self, bounds: QueueBounds) {
        self.state().bounds = bounds;
    }

    /// Why a request of the caller cannot start now.
    pub(crate) fn obstacle(&self, caller: &str, places: QueryPlaces, credits: u64) -> Option<Obstacle> {
        match self.state().callers.get(caller) {
            Some(queue) => queue.obstacle(places.running, credits),
            None => (places.running == 0).then_some(Obstacle::Place),
        }
    }

    /// A permit for one more request of the caller, unless there is an obstacle.
    pub(crate) fn start(&self, caller: &Arc<str>, places: QueryPlaces, credits: u64) -> Result<Permit, Obstacle> {
        self.change(caller, |queue| queue.start(places.running, credits))?;
        Ok(self.permit(caller))
    }

    /// A ticket at the end of the caller's queue.
    pub(crate) fn wait(&self, caller: &Arc<str>, places: QueryPlaces, demand: Demand) -> Result<Ticket, CannotWait> {
        self.enter(caller, places, demand, CallerQueue::push)
    }

    /// A ticket for a request that started and cannot pay. The place goes from its permit to its ticket.
    pub(crate) fn wait_to_pay(
        &self,
        mut permit: Permit,
        places: QueryPlaces,
        demand: Demand,
    ) -> Result<Ticket, CannotWait> {
        let ticket = self.enter(&permit.caller, places, demand, CallerQueue::push_started)?;
        permit.has_place = false;
        Ok(ticket)
    }

    /// Whether another request of the caller could not wait.
    pub(crate) fn is_full(&self, caller: &str, places: QueryPlaces, bytes: usize) -> bool {
        let state = self.state();
        let load = state.callers.get(caller).map(CallerQueue::load).unwrap_or_default();
        !state.has_room(places, load, bytes)
    }

    /// How many of the caller's requests wait.
    pub(crate) fn waiting(&self, caller: &str) -> usize {
        self.state().callers.get(caller).map_or(0, |queue| queue.load().requests)
    }

    /// How many requests of all callers wait.
    pub(crate) fn waiting_in_all(&self) -> usize {
        self.state().waiting
    }

    /// The credits of the caller's waiting requests together.
    pub(crate) fn credits_waiting(&self, caller: &str) -> u64 {
        self.state().callers.get(caller).map_or(0, |queue| queue.load().credits)
    }

    /// The caller's bucket has more credits than time has restored.
    pub(crate) fn credits_were_refunded(&self, caller: &str) {
        if let Some(signal) = self.state().callers.get(caller).and_then(CallerQueue::payer) {
            signal.notify_one();
        }
    }

    /// From now on nothing waits: all waiting requests get [`Turn::Closed`].
    pub(crate) fn close(&self) {
        let mut state = self.state();
        state.is_closed = true;
        state.callers.values().flat_map(CallerQueue::signals).for_each(|signal| signal.notify_one());
        self.shared.closing.notify_waiters();
    }

    /// Completes when they are closed.
    pub(crate) async fn closed(&self) {
        // It is notified from now on, also before it is polled.
        let closing = self.shared.closing.notified();
        if !self.is_closed() {
            closing.await;
        }
    }

    /// Whether they are closed.
    pub(crate) fn is_closed(&self) -> bool {
        self.state().is_closed
    }

    fn enter(
        &self,
        caller: &Arc<str>,
        places: QueryPlaces,
        demand: Demand,
        push: impl FnOnce(&mut CallerQueue<Arc<Notify>>, u64, Demand, Arc<Notify>),
    ) -> Result<Ticket, CannotWait> {
        let signal = Arc::new(Notify::new());
        let mut state = self.state();
        if state.is_closed {
            return Err(CannotWait::Closed);
        }
        let load = state.callers.get(caller).map(CallerQueue::load).unwrap_or_default();
        if !state.has_room(places, load, demand.bytes) {
            return Err(CannotWait::Full);
        }
        let number = state.next;
        state.next += 1;
        state.change(caller, |queue| push(queue, number, demand, Arc::clone(&signal)));
        Ok(Ticket { queues: self.clone(), caller: Arc::clone(caller), number, signal, has_left: false })
    }

    fn permit(&self, caller: &Arc<str>) -> Permit {
        Permit { queues: self.clone(), caller: Arc::clone(caller), has_place: true }
    }

    fn change<T>(&self, caller: &Arc<str>, change: impl FnOnce(&mut CallerQueue<Arc<Notify>>) -> T) -> T {
        self.state().change(caller, change)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // A panic elsewhere cannot leave a queue half changed, so a poisoned lock can be used.
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Changes a caller's queue, and calls its first request.
    fn change<T>(&mut self, caller: &Arc<str>, change: impl FnOnce(&mut CallerQueue<Arc<Notify>>) -> T) -> T {
        let queue = self.callers.entry(Arc::clone(caller)).or_default();
        let before = queue.load();
        let result = change(queue);
        if let Some(signal) = queue.call() {
            signal.notify_one();
        }
        let after = queue.load();
        self.waiting = self.waiting + after.requests - before.requests;
        self.bytes = self.bytes + after.bytes - before.bytes;
        if queue.is_idle() {
            self.callers.remove(caller);
        }
        result
    }

    /// Whether a request with this many bytes may wait beside these of its caller.
    fn has_room(&self, places: QueryPlaces, load: Load, bytes: usize) -> bool {
        let bounds = &self.bounds;
        load.requests < places.waiting
            && load.bytes + bytes <= bounds.bytes_per_caller
            && self.waiting < bounds.requests
            && self.bytes + bytes <= bounds.bytes
    }
}

impl Ticket {
    /// Whether it is the request's turn.
    pub(crate) fn turn(&self) -> Turn {
        let state = self.queues.state();
        match state.callers.get(&self.caller) {
            _ if state.is_closed => Turn::Closed,
            Some(queue) if queue.is_called(self.number) => Turn::Called,
            _ => Turn::Waiting,
        }
    }

    /// Waits until something may have changed for the request.
    pub(crate) async fn changed(&self) {
        self.signal.notified().await;
    }

    /// The credits of the requests before this one.
    pub(crate) fn credits_before(&self) -> u64 {
        self.queues.state().callers.get(&self.caller).map_or(0, |queue| queue.credits_before(self.number))
    }

    /// Lets the request run. It was called, and has paid.
    pub(crate) fn admit(mut self) -> Permit {
        self.has_left = true;
        self.queues.change(&self.caller, |queue| queue.admit(self.number));
        self.queues.permit(&self.caller)
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        if !self.has_left {
            self.queues.change(&self.caller, |queue| queue.leave(self.number));
        }
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        if self.has_place {
            self.queues.change(&self.caller, CallerQueue::finish);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::thread;

    use futures_util::FutureExt;

    use super::*;

    const WIDE: QueueBounds = QueueBounds { bytes_per_caller: 1 << 20, requests: 1 << 20, bytes: 1 << 20 };

    fn places(running: u32, waiting: usize) -> QueryPlaces {
        QueryPlaces { running, waiting }
    }

    fn demand(bytes: usize) -> Demand {
        Demand { credits: 0, bytes }
    }

    #[test]
    fn limits_each_caller_on_its_own_and_takes_permits_back() {
        let queues = Queues::new(WIDE);
        let (demo, bulk) = (Arc::from("demo"), Arc::from("bulk"));
        let start = |caller, running| queues.start(caller, places(running, 0), 0);
        let (first, _second) = (start(&demo, 2).unwrap(), start(&demo, 2).unwrap());
        assert_eq!(start(&demo, 2).unwrap_err(), Obstacle::Place);
        assert!(start(&bulk, 1).is_ok());
        drop(first);
        assert!(start(&demo, 2).is_ok());
        assert_eq!(start(&bulk, 0).unwrap_err(), Obstacle::Place);
        assert_eq!(queues.obstacle("bulk", places(0, 0), 0), Some(Obstacle::Place));
        assert_eq!(queues.state().callers.len(), 1);
    }

    #[test]
    fn threads_never_have_more_permits_than_the_limit() {
        let (queues, permits) = (Queues::new(WIDE), AtomicU32::new(0));
        let caller: Arc<str> = "demo".into();
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..20_000 {
                        if let Ok(permit) = queues.start(&caller, places(3, 0), 0) {
                            assert!(permits.fetch_add(1, Ordering::SeqCst) < 3);
                            permits.fetch_sub(1, Ordering::SeqCst);
                            drop(permit);
                        }
                    }
                });
            }
        });
        assert!(queues.state().callers.is_empty());
    }

    #[test]
    fn tickets_are_called_in_their_order_and_those_that_were_given_up_are_passed_over() {
        let queues = Queues::new(WIDE);
        let caller: Arc<str> = "demo".into();
        let running = queues.start(&caller, places(1, 9), 0).unwrap();
        let mut tickets: Vec<_> = (0..4).map(|_| queues.wait(&caller, places(1, 9), demand(1)).unwrap()).collect();
        drop(tickets.remove(1));
        drop(running);
        // The first is called, hangs up, and so calls the next.
        assert_eq!(tickets[0].turn(), Turn::Called);
        drop(tickets.remove(0));
        for ticket in tickets {
            assert_eq!(ticket.turn(), Turn::Called);
            assert!(ticket.changed().now_or_never().is_some(), "it was notified");
            let permit = ticket.admit();
            assert!(queues.start(&caller, places(1, 9), 0).is_err());
            drop(permit);
        }
        let state = queues.state();
        assert_eq!((state.callers.len(), state.waiting, state.bytes), (0, 0, 0));
    }

    #[test]
    fn requests_and_bytes_that_wait_are_bounded_for_each_caller_and_in_all() {
        let queues = Queues::new(QueueBounds { bytes_per_caller: 100, requests: 5, bytes: 150 });
        let callers: Vec<Arc<str>> = ["a", "b", "c"].map(Arc::from).to_vec();
        let permits: Vec<_> = callers.iter().map(|caller| queues.start(caller, places(1, 3), 0).unwrap()).collect();
        let wait = |caller: usize, bytes| queues.wait(&callers[caller], places(1, 3), demand(bytes));
        // Of one caller.
        let many = [wait(0, 1).unwrap(), wait(0, 1).unwrap(), wait(0, 1).unwrap()];
        assert_eq!(wait(0, 1).unwrap_err(), CannotWait::Full);
        assert!(queues.is_full("a", places(1, 3), 1) && !queues.is_full("b", places(1, 3), 1));
        drop(many);
        let large = wait(0, 100).unwrap();
        assert_eq!(wait(0, 1).unwrap_err(), CannotWait::Full);
        // In all.
        let other = wait(1, 50).unwrap();
        assert_eq!(wait(2, 1).unwrap_err(), CannotWait::Full);
        drop((large, other));
        let five: Vec<_> = [0, 0, 1, 1, 2].into_iter().map(|caller| wait(caller, 1).unwrap()).collect();
        assert_eq!(wait(2, 1).unwrap_err(), CannotWait::Full);
        // Other bounds apply from then on, and not to requests that wait already.
        queues.resize(QueueBounds { bytes_per_caller: 201, requests: 6, bytes: 205 });
        let large = wait(2, 200).unwrap();
        queues.resize(QueueBounds { bytes_per_caller: 200, requests: 6, bytes: 10 });
        assert_eq!(wait(2, 1).unwrap_err(), CannotWait::Full);
        drop((five, permits, large));
        assert!(queues.state().callers.is_empty());
    }

    #[test]
    fn a_place_goes_from_a_permit_to_its_ticket_and_back() {
        let queues = Queues::new(WIDE);
        let caller: Arc<str> = "demo".into();
        let permit = queues.start(&caller, places(1, 1), 5).unwrap();
        let ticket = queues.wait_to_pay(permit, places(1, 1), demand(1)).unwrap();
        assert_eq!(ticket.turn(), Turn::Called);
        assert!(queues.start(&caller, places(1, 1), 0).is_err());
        let permit = ticket.admit();
        assert!(queues.start(&caller, places(1, 1), 0).is_err());
        // A request that cannot wait gives its place up.
        assert_eq!(queues.wait_to_pay(permit, places(1, 0), demand(1)).unwrap_err(), CannotWait::Full);
        assert!(queues.state().callers.is_empty());
    }

    #[test]
    fn closed_queues_tell_all_that_wait_and_let_no_more_in() {
        let queues = Queues::new(WIDE);
        let caller: Arc<str> = "demo".into();
        let _permit = queues.start(&caller, places(1, 9), 0).unwrap();
        let tickets: Vec<_> = (0..2).map(|_| queues.wait(&caller, places(1, 9), demand(1)).unwrap()).collect();
        let mut closed = Box::pin(queues.closed());
        assert!(closed.as_mut().now_or_never().is_none());
        queues.close();
        assert!(closed.now_or_never().is_some() && queues.closed().now_or_never().is_some());
        assert!(
            tickets.iter().all(|ticket| ticket.turn() == Turn::Closed && ticket.changed().now_or_never().is_some())
        );
        assert_eq!(queues.wait(&caller, places(1, 9), demand(1)).unwrap_err(), CannotWait::Closed);
        assert!(queues.start(&caller, places(2, 9), 0).is_err(), "those that wait are still before it");
        drop(tickets);
        assert!(queues.start(&caller, places(2, 9), 0).is_ok());
    }
}
