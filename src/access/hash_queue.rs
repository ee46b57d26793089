//! The queue of those who wait for a thread that hashes passwords.
//!
//! A hash takes a core, so a few run at the same time, and the others wait. Whoever floods the queue must not keep the
//! others out: an account and an address have a bounded number of places in it, and accounts at an address that they have
//! signed in from before come first.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time;

use crate::access::lockout::{Standing, Visitor};

/// How long a visitor waits at most. A hash takes some 20 ms, so a queue this long means that the service is flooded.
const LONGEST_WAIT: Duration = Duration::from_secs(3);

/// Places of an account, waiting or being hashed: of all new addresses together, and of each known one.
const PLACES_OF_ACCOUNT: u32 = 16;

/// Places of an address, for the accounts that it is new to.
const PLACES_OF_ADDRESS: u32 = 32;

/// Hands out the threads.
#[derive(Debug, Clone)]
pub(super) struct HashQueue {
    state: Arc<Mutex<State>>,
}

struct State {
    idle_threads: usize,
    /// Those who wait, the first to come first. The known ones are served before the others.
    known: VecDeque<oneshot::Sender<Turn>>,
    new: VecDeque<oneshot::Sender<Turn>>,
    /// How many places each account and address has.
    places: HashMap<u64, u32>,
}

/// Why there is no turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NoTurn {
    /// The account or the address has all its places already.
    Full,
    /// The turn did not come in time.
    TooLate,
}

/// The right to use a thread. Given to the next one when it is dropped.
pub(super) struct Turn {
    /// `None` if the right was passed on.
    queue: Option<HashQueue>,
}

/// The places that a visitor has. Given back when they are dropped.
#[derive(Debug)]
pub(super) struct Places {
    queue: HashQueue,
    keys: Vec<u64>,
}

impl HashQueue {
    /// A queue for this many threads.
    pub(super) fn new(threads: usize) -> Self {
        let state = State {
            idle_threads: threads.max(1),
            known: VecDeque::new(),
            new: VecDeque::new(),
            places: HashMap::new(),
        };
        Self { state: Arc::new(Mutex::new(state)) }
    }

    /// Takes places for a visitor, unless the account or the address has all its places.
    pub(super) fn enter(&self, visitor: &Visitor, standing: Standing) -> Result<Places, NoTurn> {
        let places = match standing {
            Standing::Known => vec![(visitor.pair, PLACES_OF_ACCOUNT)],
            Standing::New => vec![(visitor.account, PLACES_OF_ACCOUNT), (visitor.network, PLACES_OF_ADDRESS)],
        };
        let mut state = self.lock();
        if places.iter().any(|(key, limit)| state.places.get(key).is_some_and(|taken| taken >= limit)) {
            return Err(NoTurn::Full);
        }
        let keys: Vec<u64> = places.into_iter().map(|(key, _)| key).collect();
        for key in &keys {
            *state.places.entry(*key).or_default() += 1;
        }
        drop(state);
        Ok(Places { queue: self.clone(), keys })
    }

    /// Waits for a thread.
    pub(super) async fn turn(&self, standing: Standing) -> Result<Turn, NoTurn> {
        let waiting = {
            let mut state = self.lock();
            if state.idle_threads > 0 {
                state.idle_threads -= 1;
                return Ok(Turn { queue: Some(self.clone()) });
            }
            let (sender, receiver) = oneshot::channel();
            let queue = match standing {
                Standing::Known => &mut state.known,
                Standing::New => &mut state.new,
            };
            // Those who came first give up first.
            while queue.front().is_some_and(oneshot::Sender::is_closed) {
                queue.pop_front();
            }
            queue.push_back(sender);
            receiver
        };
        match time::timeout(LONGEST_WAIT, waiting).await {
            Ok(Ok(turn)) => Ok(turn),
            Ok(Err(_)) | Err(_) => Err(NoTurn::TooLate),
        }
    }

    /// The next one who waits. If there is none, the thread is idle.
    fn next(&self) -> Option<oneshot::Sender<Turn>> {
        let mut state = self.lock();
        let next = state.known.pop_front().or_else(|| state.new.pop_front());
        if next.is_none() {
            state.idle_threads += 1;
        }
        next
    }

    /// Locks the state. A panic elsewhere cannot leave a number half written, so a poisoned lock can be used.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let Some(queue) = self.queue.take() else { return };
        while let Some(next) = queue.next() {
            match next.send(Turn { queue: Some(queue.clone()) }) {
                Ok(()) => return,
                // It no longer waits. The next one gets the turn, not by dropping this one: a queue may be long.
                Err(mut turn) => turn.queue = None,
            }
        }
    }
}

impl Drop for Places {
    fn drop(&mut self) {
        let mut state = self.queue.lock();
        for key in &self.keys {
            if let Some(taken) = state.places.get_mut(key) {
                *taken -= 1;
                if *taken == 0 {
                    state.places.remove(key);
                }
            }
        }
    }
}

impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("State").field("idle_threads", &self.idle_threads).finish_non_exhaustive()
    }
}

impl fmt::Debug for Turn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Turn")
    }
}

#[cfg(test)]
mod tests {
    use std::future::Future;
    use std::pin::{Pin, pin};
    use std::task::{Context, Poll, Waker};

    use super::*;

    const fn visitor(account: u64, network: u64) -> Visitor {
        Visitor { account, network, pair: account * 1000 + network }
    }

    fn poll<T>(future: Pin<&mut impl Future<Output = T>>) -> Option<T> {
        match future.poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(result) => Some(result),
            Poll::Pending => None,
        }
    }

    #[test]
    fn an_account_and_an_address_have_a_bounded_number_of_places() {
        let queue = HashQueue::new(1);
        let enter = |account, network, standing| queue.enter(&visitor(account, network), standing);
        // One account from many addresses.
        let of_account: Vec<_> = (0..16).map(|network| enter(1, 100 + network, Standing::New).unwrap()).collect();
        assert_eq!(enter(1, 200, Standing::New).unwrap_err(), NoTurn::Full);
        assert!(enter(2, 200, Standing::New).is_ok());
        // The owner's address is not affected, and is bounded as well.
        let known: Vec<_> = (0..16).map(|_| enter(1, 300, Standing::Known).unwrap()).collect();
        assert_eq!(enter(1, 300, Standing::Known).unwrap_err(), NoTurn::Full);
        assert!(enter(1, 301, Standing::Known).is_ok());
        // Many accounts from one address.
        let of_address: Vec<_> = (10..42).map(|account| enter(account, 400, Standing::New).unwrap()).collect();
        assert_eq!(enter(42, 400, Standing::New).unwrap_err(), NoTurn::Full);
        assert!(enter(42, 401, Standing::New).is_ok() && enter(42, 400, Standing::Known).is_ok());
        drop((of_account, known, of_address));
        assert!(queue.lock().places.is_empty());
    }

    #[tokio::test]
    async fn known_visitors_come_first_and_those_who_left_are_skipped() {
        let queue = HashQueue::new(1);
        let turn = queue.turn(Standing::New).await.unwrap();
        let mut first = pin!(queue.turn(Standing::New));
        let mut second = pin!(queue.turn(Standing::New));
        let mut known = pin!(queue.turn(Standing::Known));
        let mut gone: Vec<_> = (0..100_000).map(|_| Box::pin(queue.turn(Standing::Known))).collect();
        assert!(poll(first.as_mut()).is_none() && poll(second.as_mut()).is_none() && poll(known.as_mut()).is_none());
        assert!(gone.iter_mut().all(|gone| poll(gone.as_mut()).is_none()));
        drop(gone);
        drop(turn);
        assert!(poll(first.as_mut()).is_none());
        drop(poll(known.as_mut()).unwrap().unwrap());
        assert!(poll(second.as_mut()).is_none());
        drop(poll(first.as_mut()).unwrap().unwrap());
        let turn = poll(second.as_mut()).unwrap().unwrap();
        assert_eq!(queue.lock().idle_threads, 0);
        drop(turn);
        assert_eq!(queue.lock().idle_threads, 1);
    }
}
