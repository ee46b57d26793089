//! Delays after wrong passwords. They grow with every wrong password.
//!
//! Wrong passwords are counted in three ways, each with delays of its own:
//! - by account and address: somebody mistypes a password, or guesses one from one place
//! - by address: guesses at many accounts from one place
//! - by account: guesses at one account from many places
//!
//! An address from which the account has signed in before is one of its known addresses. There only the first count applies. So the owner
//! is not locked out by somebody at another address, and not by somebody who guesses at other accounts.
//!
//! Kept in memory only: a restart clears it. `shared_lockout` counts in a store for several servers. Names of unknown accounts
//! are counted like others, so that a delay does not disclose whether an account exists.

use std::fmt;
use std::net::IpAddr;
use std::num::NonZeroUsize;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use lru::LruCache;
use sha2::{Digest as _, Sha256};

use crate::access::network::Network;

/// How many entries each count has at most. To evict one, an attacker has to guess as many times elsewhere, and each guess
/// costs a hash.
const CAPACITY: NonZeroUsize = NonZeroUsize::new(1 << 16).unwrap();

/// An account and an address may each have this many times as many wrong passwords as the two together: many people may
/// share an address, and an owner may try several places.
pub(super) const SHARED: u32 = 10;

/// Known addresses of an account. A login with the account's password adds an address, so nobody else can evict one.
pub(super) const MAX_KNOWN_ADDRESSES: usize = 16;

/// How long guesses at an account from new addresses are remembered. Shorter, and guessing slowly from many addresses would
/// never be slowed down.
pub(super) const MEMORY_OF_ACCOUNT: Duration = Duration::from_hours(24);

/// The first delay; every further wrong password doubles it.
pub(super) const FIRST_DELAY: Duration = Duration::from_secs(1);

/// When delays begin, and how long they get.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LockoutOptions {
    /// Wrong passwords in a row that lock an account for an address for the first time.
    pub(crate) attempts: u32,
    /// The longest delay. After as long without a wrong password the count starts again.
    pub(crate) longest: Duration,
}

/// The account or the address is locked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("too many wrong passwords; wait {} s before the next", retry_after.as_secs_f64().ceil())]
pub(crate) struct Locked {
    /// For how much longer.
    pub(crate) retry_after: Duration,
}

/// An account as seen from an address. Names are stored as hashes, because clients choose their length. All servers have the
/// same ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Visitor {
    /// The account's name.
    pub(crate) account: u64,
    /// The client's network.
    pub(crate) network: u64,
    /// Both.
    pub(crate) pair: u64,
}

/// Whether the account has signed in from the address before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    /// It has.
    Known,
    /// It has not, as far as is remembered.
    New,
}

/// Counts wrong passwords.
pub(crate) struct Lockout {
    counts: Mutex<Counts>,
    clock: Box<dyn Fn() -> Instant + Send + Sync>,
}

struct Counts {
    options: LockoutOptions,
    pairs: LruCache<u64, Failures>,
    networks: LruCache<u64, Failures>,
    accounts: LruCache<u64, Failures>,
    /// The networks that are known for an account, the last used one first.
    known: LruCache<u64, Vec<u64>>,
}

#[derive(Debug, Clone, Copy)]
struct Failures {
    count: u32,
    /// The end of the delay, or the time of the last failure if there is no delay.
    locked_until: Instant,
}

impl Lockout {
    /// Starts without wrong passwords, on the system's monotonic clock.
    pub(crate) fn new(options: LockoutOptions) -> Self {
        Self::with_clock(options, Instant::now)
    }

    /// An empty lockout with another clock.
    fn with_clock(options: LockoutOptions, clock: impl Fn() -> Instant + Send + Sync + 'static) -> Self {
        let counts = Counts {
            options,
            pairs: LruCache::new(CAPACITY),
            networks: LruCache::new(CAPACITY),
            accounts: LruCache::new(CAPACITY),
            known: LruCache::new(CAPACITY),
        };
        Self { counts: Mutex::new(counts), clock: Box::new(clock) }
    }

    /// Counts by other options from now on. Delays that have begun stay.
    pub(crate) fn set_options(&self, options: LockoutOptions) {
        self.lock().options = options;
    }

    /// The options that are in force.
    pub(super) fn options(&self) -> LockoutOptions {
        self.lock().options
    }

    /// The account as seen from the address.
    #[allow(clippy::unused_self, reason = "what counts as one visitor is a part of how they are counted")]
    pub(crate) fn visitor(&self, account: &str, address: Option<IpAddr>) -> Visitor {
        let network = address.map(Network::of);
        Visitor { account: hash(Some(account), None), network: hash(None, network), pair: hash(Some(account), network) }
    }

    /// Fails if the visitor has to wait.
    pub(crate) fn check(&self, visitor: &Visitor) -> Result<Standing, Locked> {
        let now = (self.clock)();
        let left = |failures: Option<&Failures>| {
            failures.map(|failures| failures.locked_until.saturating_duration_since(now)).unwrap_or_default()
        };
        let mut counts = self.lock();
        let standing = counts.standing(visitor);
        let mut retry_after = left(counts.pairs.get(&visitor.pair));
        if standing == Standing::New {
            retry_after = retry_after.max(left(counts.networks.get(&visitor.network)));
            retry_after = retry_after.max(left(counts.accounts.get(&visitor.account)));
        }
        if retry_after.is_zero() { Ok(standing) } else { Err(Locked { retry_after }) }
    }

    /// Counts a wrong password. Returns the delay if one begins now.
    pub(crate) fn failed(&self, visitor: &Visitor) -> Option<Duration> {
        let now = (self.clock)();
        let mut counts = self.lock();
        let LockoutOptions { attempts, longest } = counts.options;
        let count = |failures: &mut LruCache<u64, Failures>, key: u64, free: u32, memory: Duration| {
            let failures = failures.get_or_insert_mut(key, || Failures { count: 0, locked_until: now });
            if now.saturating_duration_since(failures.locked_until) >= memory {
                failures.count = 0;
            }
            failures.count = failures.count.saturating_add(1);
            let delay = failures.count.checked_sub(free).map(|beyond| delay(beyond, longest));
            failures.locked_until = now + delay.unwrap_or_default();
            delay
        };
        let mut delay = count(&mut counts.pairs, visitor.pair, attempts, longest);
        if counts.standing(visitor) == Standing::New {
            let shared = attempts.saturating_mul(SHARED);
            delay = delay.max(count(&mut counts.networks, visitor.network, shared, longest));
            delay = delay.max(count(&mut counts.accounts, visitor.account, shared, longest.max(MEMORY_OF_ACCOUNT)));
        }
        delay
    }

    /// A password was right: the address is known for the account from now on, and the wrong passwords of the two together
    /// are forgotten. The address loses one failure only, because a client with one account could otherwise guess at all
    /// others for ever. The account loses none, because its owner's logins would otherwise let others go on guessing.
    pub(crate) fn succeeded(&self, visitor: &Visitor) {
        let mut counts = self.lock();
        counts.pairs.pop(&visitor.pair);
        if counts.standing(visitor) == Standing::New
            && let Some(failures) = counts.networks.get_mut(&visitor.network)
        {
            failures.count = failures.count.saturating_sub(1);
        }
        let known = counts.known.get_or_insert_mut(visitor.account, Vec::new);
        known.retain(|network| *network != visitor.network);
        known.insert(0, visitor.network);
        known.truncate(MAX_KNOWN_ADDRESSES);
    }

    /// Locks the counts. A poisoned lock is used as well, because a panic elsewhere cannot leave a count half written.
    fn lock(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Counts {
    fn standing(&mut self, visitor: &Visitor) -> Standing {
        match self.known.get(&visitor.account) {
            Some(networks) if networks.contains(&visitor.network) => Standing::Known,
            _ => Standing::New,
        }
    }
}

/// A hash with random keys, so that no client can choose names with equal hashes.
fn hash(account: Option<&str>, network: Option<Network>) -> u64 {
    let account = account.map(|account| (account.len(), account));
    let digest = Sha256::digest(format!("{account:?} {network:?}"));
    digest.iter().take(8).fold(0, |hash, byte| hash << 8 | u64::from(*byte))
}

fn delay(beyond: u32, longest: Duration) -> Duration {
    FIRST_DELAY.saturating_mul(1_u32.checked_shl(beyond).unwrap_or(u32::MAX)).min(longest)
}

impl fmt::Debug for Lockout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lockout").field("options", &self.lock().options).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    const OPTIONS: LockoutOptions = LockoutOptions { attempts: 3, longest: Duration::from_mins(1) };

    /// With a clock that stops until seconds are added.
    fn lockout() -> (Arc<AtomicU64>, Lockout) {
        let (start, seconds) = (Instant::now(), Arc::new(AtomicU64::new(0)));
        let moved = Arc::clone(&seconds);
        (seconds, Lockout::with_clock(OPTIONS, move || start + Duration::from_secs(moved.load(Ordering::SeqCst))))
    }

    impl Lockout {
        /// An account from an address whose last number is given.
        fn from(&self, account: &str, last: u8) -> Visitor {
            self.visitor(account, Some(IpAddr::from([192, 0, 2, last])))
        }

        fn is_locked(&self, account: &str, last: u8) -> bool {
            self.check(&self.from(account, last)).is_err()
        }
    }

    #[test]
    fn delays_double_up_to_the_longest_and_end_on_time() {
        let (seconds, lockout) = lockout();
        let demo = lockout.from("demo", 1);
        let delays = [None, None, Some(1), Some(2), Some(4), Some(8), Some(16), Some(32), Some(60), Some(60)];
        for expected in delays {
            let expected = expected.map(Duration::from_secs);
            assert_eq!(lockout.check(&demo), Ok(Standing::New));
            assert_eq!(lockout.failed(&demo), expected);
            if let Some(delay) = expected {
                assert_eq!(lockout.check(&demo), Err(Locked { retry_after: delay }));
                seconds.fetch_add(delay.as_secs() - 1, Ordering::SeqCst);
                assert_eq!(lockout.check(&demo), Err(Locked { retry_after: Duration::from_secs(1) }));
                seconds.fetch_add(1, Ordering::SeqCst);
            }
            assert!(!lockout.is_locked("other", 1) && !lockout.is_locked("demo", 2));
        }
        seconds.fetch_add(59, Ordering::SeqCst);
        assert_eq!(lockout.failed(&demo), Some(Duration::from_mins(1)), "the count is not cleared early");
        seconds.fetch_add(120, Ordering::SeqCst);
        assert_eq!(lockout.failed(&demo), None, "the count is cleared after the longest delay");
    }

    #[test]
    fn a_right_password_clears_the_count_of_the_account_at_the_address() {
        let (_, lockout) = lockout();
        let demo = lockout.from("demo", 1);
        for _ in 0..100 {
            assert_eq!(lockout.failed(&demo), None);
            assert_eq!(lockout.failed(&demo), None);
            lockout.succeeded(&demo);
            assert_eq!(lockout.check(&demo), Ok(Standing::Known));
        }
    }

    #[test]
    fn an_address_that_tries_many_accounts_is_locked_except_for_accounts_that_are_known_there() {
        let (_, lockout) = lockout();
        lockout.succeeded(&lockout.from("mine", 1));
        for account in 0..58 {
            let locks = lockout.failed(&lockout.from(&format!("account {account}"), 1)).is_some();
            assert_eq!(locks, account >= 29, "{account}");
        }
        assert!(lockout.is_locked("new", 1));
        assert!(!lockout.is_locked("mine", 1));
        assert!(!lockout.is_locked("new", 2) && !lockout.is_locked("account 1", 2));
    }

    #[test]
    fn an_account_that_is_guessed_at_from_many_addresses_is_slowed_down_for_new_ones() {
        let (seconds, lockout) = lockout();
        lockout.succeeded(&lockout.from("demo", 200));
        let mut guesses = 0;
        for second in 0..24 * 60 * 60 {
            seconds.store(second, Ordering::SeqCst);
            // The most guesses that the lockout allows, each from an address that has not guessed before.
            let address =
                IpAddr::from([198, 51, u8::try_from(guesses >> 8).unwrap(), u8::try_from(guesses & 255).unwrap()]);
            let visitor = lockout.visitor("demo", Some(address));
            while lockout.check(&visitor).is_ok() {
                lockout.failed(&visitor);
                guesses += 1;
            }
            if second % 100 == 0 {
                lockout.succeeded(&lockout.from("demo", 200));
            }
            assert!(!lockout.is_locked("demo", 200) && !lockout.is_locked("other", 1));
        }
        // Once a minute, and the thirty with which it began.
        assert!((1440..1500).contains(&guesses), "{guesses} guesses in a day");
    }

    #[test]
    fn an_account_has_a_bounded_number_of_known_addresses_that_only_it_can_replace() {
        let (_, lockout) = lockout();
        lockout.succeeded(&lockout.from("demo", 0));
        for last in 0..200 {
            lockout.succeeded(&lockout.from("other", last));
        }
        let is_known = |account, last| lockout.check(&lockout.from(account, last)) == Ok(Standing::Known);
        assert!(is_known("demo", 0));
        assert_eq!((0..200).filter(|last| is_known("other", *last)).count(), MAX_KNOWN_ADDRESSES);
        assert!(is_known("other", 199) && !is_known("other", 0));
    }

    #[test]
    fn many_names_take_bounded_memory() {
        let (_, lockout) = lockout();
        for name in 0..300_000_u32 {
            lockout.failed(&lockout.visitor(&name.to_string(), Some(IpAddr::from(name.to_be_bytes()))));
        }
        let counts = lockout.lock();
        assert_eq!([counts.pairs.len(), counts.networks.len(), counts.accounts.len()], [1 << 16; 3]);
    }
}
