//! The queue for the threads that hash passwords.
//!
//! A hash takes a core, so a few run at the same time, and the others wait. A flood of logins must not keep the others out: an account and
//! an address have a bounded number of places in the queue, and accounts at an address that they have signed in from before come first.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time;

use crate::access::lockout::{Standing, Visitor};
use crate::throttle::fair_semaphore::{FairPermit, FairSemaphore, Priority};

/// How long a visitor waits at most. A hash takes some 20 ms, so a queue this long means that the service is flooded.
const LONGEST_WAIT: Duration = Duration::from_secs(3);

/// Places of an account, waiting or being hashed: of all new addresses together, and of each known one.
const PLACES_OF_ACCOUNT: u32 = 16;

/// Places of an address, for the accounts that it is new to.
const PLACES_OF_ADDRESS: u32 = 32;

/// Hands out the threads.
#[derive(Debug, Clone)]
pub(super) struct HashQueue {
    threads: FairSemaphore,
    /// All visitors wait in one queue for each standing.
    everybody: Arc<str>,
    /// How many places each account and address has.
    places: Arc<Mutex<HashMap<u64, u32>>>,
}

/// Why there is no turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NoTurn {
    /// The account or the address has all its places already.
    Full,
    /// The turn did not come in time.
    TooLate,
}

/// The places that a visitor has. Given back when they are dropped.
#[derive(Debug)]
pub(super) struct HashPlaces {
    queue: HashQueue,
    keys: Vec<u64>,
}

impl HashQueue {
    /// A queue for this many threads.
    pub(super) fn new(threads: usize) -> Self {
        let threads = FairSemaphore::new(threads.max(1));
        Self { threads, everybody: "".into(), places: Arc::default() }
    }

    /// Takes places for a visitor, unless the account or the address has all its places.
    pub(super) fn enter(&self, visitor: &Visitor, standing: Standing) -> Result<HashPlaces, NoTurn> {
        let places = match standing {
            Standing::Known => vec![(visitor.pair, PLACES_OF_ACCOUNT)],
            Standing::New => vec![(visitor.account, PLACES_OF_ACCOUNT), (visitor.network, PLACES_OF_ADDRESS)],
        };
        let mut taken = self.places();
        if places.iter().any(|(key, limit)| taken.get(key).is_some_and(|taken| taken >= limit)) {
            return Err(NoTurn::Full);
        }
        let keys: Vec<u64> = places.into_iter().map(|(key, _)| key).collect();
        for key in &keys {
            *taken.entry(*key).or_default() += 1;
        }
        drop(taken);
        Ok(HashPlaces { queue: self.clone(), keys })
    }

    /// Waits for a thread. Known visitors are served before the others.
    pub(super) async fn turn(&self, standing: Standing) -> Result<FairPermit, NoTurn> {
        let priority = match standing {
            Standing::Known => Priority::High,
            Standing::New => Priority::Normal,
        };
        let turn = self.threads.acquire_with(priority, &self.everybody);
        time::timeout(LONGEST_WAIT, turn).await.map_err(|_| NoTurn::TooLate)
    }

    fn places(&self) -> MutexGuard<'_, HashMap<u64, u32>> {
        // A panic elsewhere cannot leave a number half written, so a poisoned lock can be used.
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for HashPlaces {
    fn drop(&mut self) {
        let mut places = self.queue.places();
        for key in &self.keys {
            if let Some(taken) = places.get_mut(key) {
                *taken -= 1;
                if *taken == 0 {
                    places.remove(key);
                }
            }
        }
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
        // Logins of one account from many addresses.
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
        assert!(queue.places().is_empty());
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
        assert!(!queue.threads.has_free());
        drop(turn);
        assert!(queue.threads.has_free());
    }
}
