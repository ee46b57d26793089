//! One caller's requests: how many run, and the waiting requests, the oldest first. Pure: no clock, no task.
//!
//! A request needs a place among the running requests, and then its credits. Only the first request of the queue is served: it is given a
//! place as soon as there is one, is called, pays, and leaves the queue with its place. So requests are admitted in their order, and a
//! request that waits for credits keeps no more than one place from the others.

use std::collections::VecDeque;

/// The queue of one caller. `S` is how a waiting request is called.
#[derive(Debug)]
pub(super) struct CallerQueue<S> {
    /// How many requests may run, as the last request said.
    limit: u32,
    running: u32,
    waiting: VecDeque<Waiter<S>>,
    load: Load,
}

/// A request that waits.
#[derive(Debug)]
struct Waiter<S> {
    number: u64,
    demand: Demand,
    /// Whether it counts as running already.
    has_place: bool,
    is_called: bool,
    signal: S,
}

/// The credits of a request, and the memory that it takes while it waits.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Demand {
    /// Its price.
    pub(crate) credits: u64,
    /// Bytes that it holds in memory.
    pub(crate) bytes: usize,
}

/// The number of waiting requests, and their bytes and credits together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Load {
    pub(super) requests: usize,
    pub(super) bytes: usize,
    pub(super) credits: u64,
}

/// The reason why a request has to wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Obstacle {
    /// The caller has as many running requests as are allowed.
    Place,
    /// Other requests of the caller wait for credits.
    Credits,
}

impl<S> Default for CallerQueue<S> {
    fn default() -> Self {
        Self { limit: 0, running: 0, waiting: VecDeque::new(), load: Load::default() }
    }
}

impl<S> CallerQueue<S> {
    /// Why a request cannot start now.
    pub(super) fn obstacle(&self, limit: u32, credits: u64) -> Option<Obstacle> {
        match self.waiting.front() {
            Some(first) if !first.has_place => Some(Obstacle::Place),
            // A query without a price takes nothing from requests that wait for credits.
            Some(_) if credits > 0 => Some(Obstacle::Credits),
            _ => (self.running >= limit).then_some(Obstacle::Place),
        }
    }

    /// Takes a place for a request, unless there is an obstacle. `limit` requests may run from now on.
    pub(super) fn start(&mut self, limit: u32, credits: u64) -> Result<(), Obstacle> {
        self.limit = limit;
        match self.obstacle(limit, credits) {
            None => {
                self.running += 1;
                Ok(())
            }
            Some(obstacle) => Err(obstacle),
        }
    }

    /// Adds a request at the end.
    pub(super) fn push(&mut self, number: u64, demand: Demand, signal: S) {
        self.load.add(demand);
        self.waiting.push_back(Waiter { number, demand, has_place: false, is_called: false, signal });
    }

    /// Adds a request that started and cannot pay, with its place: before requests without a place, which came later.
    pub(super) fn push_started(&mut self, number: u64, demand: Demand, signal: S) {
        self.load.add(demand);
        let index = self.waiting.iter().take_while(|waiter| waiter.has_place).count();
        self.waiting.insert(index, Waiter { number, demand, has_place: true, is_called: false, signal });
    }

    /// Calls the first request, if it can be served and was not called yet: its signal. Has to follow every change.
    pub(super) fn call(&mut self) -> Option<&S> {
        let first = self.waiting.front_mut()?;
        if !first.has_place && self.running < self.limit {
            self.running += 1;
            first.has_place = true;
        }
        if !first.has_place || first.is_called {
            return None;
        }
        first.is_called = true;
        Some(&first.signal)
    }

    /// Whether the request is called: it may try to pay.
    pub(super) fn is_called(&self, number: u64) -> bool {
        self.waiting.front().is_some_and(|first| first.number == number && first.is_called)
    }

    /// The called request has paid: it leaves the queue with its place.
    pub(super) fn admit(&mut self, number: u64) {
        self.remove(number);
    }

    /// The request waits no longer.
    pub(super) fn leave(&mut self, number: u64) {
        if self.remove(number).is_some_and(|waiter| waiter.has_place) {
            self.finish();
        }
    }

    /// A running request has ended.
    pub(super) fn finish(&mut self) {
        self.running = self.running.saturating_sub(1);
    }

    /// The load of the waiting requests.
    pub(super) fn load(&self) -> Load {
        self.load
    }

    /// The credits of the requests before this one.
    pub(super) fn credits_before(&self, number: u64) -> u64 {
        let before = self.waiting.iter().take_while(|waiter| waiter.number != number);
        before.fold(0, |sum, waiter| sum.saturating_add(waiter.demand.credits))
    }

    /// The signal of the first request, if it waits for credits.
    pub(super) fn payer(&self) -> Option<&S> {
        self.waiting.front().filter(|first| first.is_called).map(|first| &first.signal)
    }

    /// The signals of all waiting requests.
    pub(super) fn signals(&self) -> impl Iterator<Item = &S> {
        self.waiting.iter().map(|waiter| &waiter.signal)
    }

    /// Whether nothing runs and nothing waits.
    pub(super) fn is_idle(&self) -> bool {
        self.running == 0 && self.waiting.is_empty()
    }

    fn remove(&mut self, number: u64) -> Option<Waiter<S>> {
        let index = self.waiting.iter().position(|waiter| waiter.number == number)?;
        let waiter = self.waiting.remove(index)?;
        self.load.subtract(waiter.demand);
        Some(waiter)
    }
}

impl Load {
    /// Adds a request.
    pub(super) fn add(&mut self, demand: Demand) {
        self.requests += 1;
        self.bytes += demand.bytes;
        self.credits = self.credits.saturating_add(demand.credits);
    }

    fn subtract(&mut self, demand: Demand) {
        self.requests -= 1;
        self.bytes -= demand.bytes;
        self.credits = self.credits.saturating_sub(demand.credits);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::time::{Duration, Instant};

    use proptest::prelude::*;

    use super::*;
    use crate::throttle::bucket::{Bucket, Rate};

    /// Requests of one caller in simulated time. A waiting request does what its task would: it tries to pay when it is
    /// called, when its credits are restored, and when credits are put back.
    struct Simulation {
        limit: u32,
        rate: Rate,
        start: Instant,
        now: Instant,
        queue: CallerQueue<u64>,
        bucket: Bucket,
        next: u64,
        /// Requests that were called and have not paid yet.
        called: BTreeSet<u64>,
        /// Waiting requests, in the order of their arrival, and their prices.
        waiting: Vec<(u64, u64)>,
        running: Vec<u64>,
        spent: u64,
        refunded: u64,
        /// When the first one can pay.
        pays_at: Option<Instant>,
    }

    #[derive(Debug, Clone)]
    enum Step {
        Arrive {
            credits: u64,
            waits: bool,
        },
        /// Two start before either has paid.
        ArriveTogether([u64; 2]),
        Finish(prop::sample::Index),
        Fail(prop::sample::Index),
        Leave(prop::sample::Index),
        Pass(u64),
    }

    fn step() -> impl Strategy<Value = Step> {
        let index = any::<prop::sample::Index>;
        prop_oneof![
            4 => (0_u64..=60, any::<bool>()).prop_map(|(credits, waits)| Step::Arrive { credits, waits }),
            2 => [0_u64..=60, 0_u64..=60].prop_map(Step::ArriveTogether),
            2 => index().prop_map(Step::Finish),
            1 => index().prop_map(Step::Fail),
            1 => index().prop_map(Step::Leave),
            3 => (0_u64..3_000_000_000).prop_map(Step::Pass),
        ]
    }

    impl Simulation {
        fn new(limit: u32, rate: Rate) -> Self {
            let now = Instant::now();
            Self {
                limit,
                rate,
                start: now,
                now,
                queue: CallerQueue::default(),
                bucket: Bucket::full(now),
                next: 0,
                called: BTreeSet::new(),
                waiting: Vec::new(),
                running: Vec::new(),
                spent: 0,
                refunded: 0,
                pays_at: None,
            }
        }

        fn debit(&mut self, credits: u64) -> bool {
            match self.bucket.debit(&self.rate, credits, self.now) {
                Ok(_) => {
                    self.spent += credits;
                    self.running.push(credits);
                    true
                }
                Err(short) => {
                    self.pays_at = short.retry_after.map(|wait| self.now + wait);
                    false
                }
            }
        }

        /// A request pays, or waits if it wants to. It may have started before requests that are in the queue already.
        fn arrive(&mut self, credits: u64, waits: bool, started: Result<(), Obstacle>) {
            let (number, demand) = (self.next, Demand { credits, bytes: 10 });
            self.next += 1;
            match started {
                Ok(()) if self.debit(credits) => {}
                Ok(()) if waits && self.pays_at.is_some() => {
                    self.queue.push_started(number, demand, number);
                    let placed = self.queue.waiting.iter().take_while(|waiter| waiter.has_place).count();
                    self.waiting.insert(placed - 1, (number, credits));
                }
                Ok(()) => self.queue.finish(),
                Err(_) if waits => {
                    self.queue.push(number, demand, number);
                    self.waiting.push((number, credits));
                }
                Err(_) => {}
            }
        }

        /// Calls the first, and lets it pay, until nothing changes any more.
        fn settle(&mut self) {
            loop {
                self.called.extend(self.queue.call().copied());
                let Some((number, credits)) = self.waiting.first().copied() else { return };
                if !self.called.contains(&number) || !self.debit(credits) {
                    return;
                }
                assert!(self.queue.is_called(number), "only the first is admitted");
                self.queue.admit(number);
                self.waiting.remove(0);
                self.called.remove(&number);
            }
        }

        fn take(&mut self, step: &Step) {
            match *step {
                Step::Arrive { credits, waits } => {
                    let started = self.queue.start(self.limit, credits);
                    self.arrive(credits, waits, started);
                }
                Step::ArriveTogether(both) => {
                    for (credits, started) in both.map(|credits| (credits, self.queue.start(self.limit, credits))) {
                        self.arrive(credits, true, started);
                    }
                }
                Step::Finish(index) if !self.running.is_empty() => {
                    self.running.remove(index.index(self.running.len()));
                    self.queue.finish();
                }
                Step::Fail(index) if !self.running.is_empty() => {
                    let credits = self.running.remove(index.index(self.running.len()));
                    self.bucket.refund(credits);
                    self.refunded += credits;
                    self.queue.finish();
                }
                Step::Leave(index) if !self.waiting.is_empty() => {
                    let (number, _) = self.waiting.remove(index.index(self.waiting.len()));
                    self.called.remove(&number);
                    self.queue.leave(number);
                }
                Step::Pass(nanoseconds) => {
                    let until = self.now + Duration::from_nanos(nanoseconds);
                    while let Some(at) = self.pays_at.take().filter(|at| (self.now..=until).contains(at)) {
                        let before = self.waiting.len();
                        self.now = at;
                        self.settle();
                        let pays = self.waiting.first().is_some_and(|(first, _)| self.queue.is_called(*first));
                        assert!(self.waiting.len() < before || !pays, "woken in vain");
                    }
                    self.now = until;
                }
                Step::Finish(_) | Step::Fail(_) | Step::Leave(_) => {}
            }
            self.settle();
        }

        fn check(&mut self) {
            let placed = self.queue.waiting.iter().filter(|waiter| waiter.has_place).count();
            assert_eq!(self.queue.running as usize, self.running.len() + placed);
            assert!(self.queue.running <= self.limit);
            let numbers: Vec<_> = self.queue.waiting.iter().map(|waiter| waiter.number).collect();
            assert_eq!(numbers, self.waiting.iter().map(|(number, _)| *number).collect::<Vec<_>>(), "in their order");
            let credits = self.waiting.iter().map(|(_, credits)| credits).sum();
            let load = Load { requests: self.waiting.len(), bytes: 10 * self.waiting.len(), credits };
            assert_eq!(self.queue.load(), load);
            let seconds = (self.now - self.start).as_nanos();
            let restored = seconds * u128::from(self.rate.restore_per_second) / 1_000_000_000;
            let spent = u128::from(self.spent - self.refunded);
            assert!(spent <= u128::from(self.rate.capacity) + restored, "{spent} credits");
            // Whoever waits has a reason.
            if let Some((first, credits)) = self.waiting.first() {
                if self.queue.is_called(*first) {
                    assert!(self.bucket.clone().debit(&self.rate, *credits, self.now).is_err());
                } else {
                    assert_eq!(self.queue.running, self.limit);
                }
            }
            assert_eq!(self.queue.is_idle(), self.running.is_empty() && self.waiting.is_empty());
        }
    }

    proptest! {
        /// Requests are admitted in their order, never more than there are places and credits for, and none is forgotten.
        #[test]
        fn admits_in_order_what_places_and_credits_allow_and_forgets_nobody(
            limit in 1_u32..4,
            capacity in 60_u64..100,
            restore_per_second in 0_u64..50,
            steps in prop::collection::vec(step(), 1..150),
        ) {
            let mut simulation = Simulation::new(limit, Rate { capacity, restore_per_second });
            for step in &steps {
                simulation.take(step);
                simulation.check();
            }
        }
    }

    #[test]
    fn a_query_without_a_price_passes_those_that_wait_for_credits_and_no_others() {
        let mut queue = CallerQueue::default();
        assert_eq!(queue.start(2, 50), Ok(()));
        queue.push_started(1, Demand { credits: 50, bytes: 0 }, 1);
        assert_eq!(queue.call(), Some(&1));
        assert_eq!(queue.start(2, 1), Err(Obstacle::Credits));
        assert_eq!(queue.start(2, 0), Ok(()));
        assert_eq!(queue.start(2, 0), Err(Obstacle::Place));
        queue.push(2, Demand::default(), 2);
        queue.admit(1);
        assert_eq!(queue.call(), None);
        assert_eq!(queue.start(2, 0), Err(Obstacle::Place));
        queue.finish();
        assert_eq!(queue.call(), Some(&2));
        assert_eq!(queue.call(), None, "each is called once");
    }

    #[test]
    fn a_raised_limit_makes_room() {
        let mut queue = CallerQueue::default();
        assert_eq!(queue.start(1, 0), Ok(()));
        queue.push(1, Demand::default(), 1);
        assert_eq!(queue.call(), None);
        assert_eq!(queue.start(2, 0), Err(Obstacle::Place), "the waiting one is first");
        assert_eq!(queue.call(), Some(&1));
    }
}
