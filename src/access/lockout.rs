//! Delays after wrong passwords, per account and per address. They grow with every wrong password.
//!
//! Kept in memory only: a restart clears them, and each of several servers counts for itself. Names of unknown accounts
//! are counted like others, so that a delay does not disclose whether an account exists.

use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::net::{IpAddr, Ipv6Addr};
use std::num::NonZeroUsize;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use lru::LruCache;

/// How many accounts, and how many addresses, are stored at most. To evict one, an attacker has to guess at as many
/// others, each of which costs a hash.
const CAPACITY: NonZeroUsize = NonZeroUsize::new(1 << 16).unwrap();

/// An address may have this many times as many wrong passwords as an account, because many people may share it.
const USERS_PER_ADDRESS: u32 = 10;

/// The first delay; every further wrong password doubles it.
const FIRST_DELAY: Duration = Duration::from_secs(1);

/// When delays begin, and how long they get.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LockoutOptions {
    /// Wrong passwords in a row that lock an account for the first time.
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

/// Counts wrong passwords by account and by address.
pub(crate) struct Lockout {
    options: LockoutOptions,
    accounts: Mutex<LruCache<u64, Failures>>,
    addresses: Mutex<LruCache<u64, Failures>>,
    /// Names are stored as hashes, because clients choose their length.
    hasher: RandomState,
    clock: Box<dyn Fn() -> Instant + Send + Sync>,
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

    /// The same with another clock.
    pub(crate) fn with_clock(options: LockoutOptions, clock: impl Fn() -> Instant + Send + Sync + 'static) -> Self {
        Self {
            options,
            accounts: Mutex::new(LruCache::new(CAPACITY)),
            addresses: Mutex::new(LruCache::new(CAPACITY)),
            hasher: RandomState::new(),
            clock: Box::new(clock),
        }
    }

    /// Fails if the account or the address is locked.
    pub(crate) fn check(&self, account: &str, address: Option<IpAddr>) -> Result<(), Locked> {
        let now = (self.clock)();
        let left =
            |failures: Option<&Failures>| failures.map(|failures| failures.locked_until.saturating_duration_since(now));
        let account = left(lock(&self.accounts).get(&self.hasher.hash_one(account)));
        let address = address.and_then(|address| left(lock(&self.addresses).get(&self.hash_of_network(address))));
        match account.max(address) {
            Some(retry_after) if !retry_after.is_zero() => Err(Locked { retry_after }),
            _ => Ok(()),
        }
    }

    /// Counts a wrong password. Returns the delay if one begins now.
    pub(crate) fn failed(&self, account: &str, address: Option<IpAddr>) -> Option<Duration> {
        let now = (self.clock)();
        let LockoutOptions { attempts, longest } = self.options;
        let count = |map: &Mutex<LruCache<u64, Failures>>, key, free: u32| {
            let mut map = lock(map);
            let failures = map.get_or_insert_mut(key, || Failures { count: 0, locked_until: now });
            if now.saturating_duration_since(failures.locked_until) >= longest {
                failures.count = 0;
            }
            failures.count = failures.count.saturating_add(1);
            let delay = failures.count.checked_sub(free).map(|beyond| delay(beyond, longest));
            failures.locked_until = now + delay.unwrap_or_default();
            delay
        };
        let account = count(&self.accounts, self.hasher.hash_one(account), attempts);
        let free = attempts.saturating_mul(USERS_PER_ADDRESS);
        let address = address.and_then(|address| count(&self.addresses, self.hash_of_network(address), free));
        account.max(address)
    }

    /// A password was right. Clears the count of the account. The address loses one failure only: otherwise a client with
    /// one account could guess at all others for ever.
    pub(crate) fn succeeded(&self, account: &str, address: Option<IpAddr>) {
        lock(&self.accounts).pop(&self.hasher.hash_one(account));
        if let Some(address) = address
            && let Some(failures) = lock(&self.addresses).get_mut(&self.hash_of_network(address))
        {
            failures.count = failures.count.saturating_sub(1);
        }
    }

    fn hash_of_network(&self, address: IpAddr) -> u64 {
        self.hasher.hash_one(network(address))
    }
}

/// The address that counts for an address: an IPv6 client has a whole network of 64 bits.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() >> 64 << 64)),
        address @ IpAddr::V4(_) => address,
    }
}

fn delay(beyond: u32, longest: Duration) -> Duration {
    FIRST_DELAY.saturating_mul(1_u32.checked_shl(beyond).unwrap_or(u32::MAX)).min(longest)
}

/// Locks the map. A poisoned lock is used as well, because a panic elsewhere cannot leave a count half written.
fn lock(map: &Mutex<LruCache<u64, Failures>>) -> std::sync::MutexGuard<'_, LruCache<u64, Failures>> {
    map.lock().unwrap_or_else(PoisonError::into_inner)
}

impl fmt::Debug for Lockout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lockout").field("options", &self.options).finish_non_exhaustive()
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

    fn address(last: u8) -> IpAddr {
        IpAddr::from([192, 0, 2, last])
    }

    #[test]
    fn delays_double_up_to_the_longest_and_end_on_time() {
        let (seconds, lockout) = lockout();
        let delays = [None, None, Some(1), Some(2), Some(4), Some(8), Some(16), Some(32), Some(60), Some(60)];
        for (number, expected) in delays.into_iter().enumerate() {
            let expected = expected.map(Duration::from_secs);
            // From another address each time, so that the delay is the account's.
            let from = Some(address(u8::try_from(number).unwrap()));
            assert_eq!(lockout.check("demo", from), Ok(()));
            assert_eq!(lockout.failed("demo", from), expected);
            if let Some(delay) = expected {
                assert_eq!(lockout.check("demo", Some(address(200))), Err(Locked { retry_after: delay }));
                seconds.fetch_add(delay.as_secs() - 1, Ordering::SeqCst);
                assert_eq!(lockout.check("demo", None), Err(Locked { retry_after: Duration::from_secs(1) }));
                seconds.fetch_add(1, Ordering::SeqCst);
            }
            assert_eq!(lockout.check("other", from), Ok(()));
        }
        seconds.fetch_add(59, Ordering::SeqCst);
        assert_eq!(lockout.failed("demo", None), Some(Duration::from_mins(1)), "the count is not cleared early");
        seconds.fetch_add(120, Ordering::SeqCst);
        assert_eq!(lockout.failed("demo", None), None, "the count is cleared after the longest delay");
    }

    #[test]
    fn a_right_password_clears_the_count_of_the_account() {
        let (_, lockout) = lockout();
        for _ in 0..100 {
            assert_eq!(lockout.failed("demo", None), None);
            assert_eq!(lockout.failed("demo", None), None);
            lockout.succeeded("demo", None);
        }
    }

    #[test]
    fn an_address_that_tries_many_accounts_is_locked_though_it_has_a_password() {
        let (_, lockout) = lockout();
        for account in 0..58 {
            assert_eq!(
                lockout.failed(&format!("account {account}"), Some(address(1))).is_some(),
                account >= 29,
                "{account}"
            );
            if account < 29 {
                lockout.check("mine", Some(address(1))).unwrap();
            }
        }
        assert!(lockout.check("mine", Some(address(1))).is_err());
        assert!(lockout.check("mine", Some(address(2))).is_ok());
        assert!(lockout.check("account 1", Some(address(2))).is_ok());
    }

    #[test]
    fn an_ipv6_network_counts_as_one_address() {
        let (_, lockout) = lockout();
        for host in 0..30_u16 {
            lockout.failed(&host.to_string(), Some(Ipv6Addr::new(0x2001, 0xdb8, 0, 1, host, 0, 0, host).into()));
        }
        assert!(lockout.check("demo", Some(Ipv6Addr::new(0x2001, 0xdb8, 0, 1, 99, 0, 0, 0).into())).is_err());
        assert!(lockout.check("demo", Some(Ipv6Addr::new(0x2001, 0xdb8, 0, 2, 99, 0, 0, 0).into())).is_ok());
        assert_eq!(network("::ffff:192.0.2.1".parse().unwrap()), IpAddr::from([192, 0, 2, 1]));
    }

    #[test]
    fn a_million_names_take_bounded_memory() {
        let (_, lockout) = lockout();
        for name in 0..1_000_000_u32 {
            lockout.failed(&name.to_string(), Some(IpAddr::from(name.to_be_bytes())));
        }
        assert_eq!((lock(&lockout.accounts).len(), lock(&lockout.addresses).len()), (1 << 16, 1 << 16));
    }
}
