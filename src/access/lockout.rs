//! Delays for those who guess passwords: they grow with every wrong one, per account and per address.
//!
//! Held in memory alone: a restart forgets it, and several servers each count for themselves. Names that no account has
//! are counted like others, so that a delay does not tell whether an account exists.

use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::net::{IpAddr, Ipv6Addr};
use std::num::NonZeroUsize;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use lru::LruCache;

/// Accounts, and addresses, that are remembered. Whoever wants one forgotten has to guess at so many others first, each of
/// which costs a hash.
const REMEMBERED: NonZeroUsize = NonZeroUsize::new(1 << 16).unwrap();

/// Wrong passwords that an address has for one that an account has: many people may share an address.
const PEOPLE_AT_AN_ADDRESS: u32 = 10;

/// The first delay; every further wrong password doubles it.
const FIRST_DELAY: Duration = Duration::from_secs(1);

/// How guessing is slowed down.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Wrong passwords in a row with which an account is locked for the first time.
    pub attempts: u32,
    /// The longest delay. Who stays away for as long after the last one starts anew.
    pub longest: Duration,
}

/// The account or the address has to wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("too many wrong passwords; wait {} s before the next", retry_after.as_secs_f64().ceil())]
pub struct Locked {
    /// For how long.
    pub retry_after: Duration,
}

/// Wrong passwords, by account and by address.
pub struct Lockout {
    options: Options,
    accounts: Mutex<LruCache<u64, Failures>>,
    addresses: Mutex<LruCache<u64, Failures>>,
    /// Names are kept as hashes: strangers choose their length.
    hasher: RandomState,
    clock: Box<dyn Fn() -> Instant + Send + Sync>,
}

#[derive(Debug, Clone, Copy)]
struct Failures {
    count: u32,
    /// The end of the delay; the moment of the last failure where there is none.
    until: Instant,
}

impl Lockout {
    /// Nobody has failed yet; on the system's monotonic clock.
    pub fn new(options: Options) -> Self {
        Self::with_clock(options, Instant::now)
    }

    /// The same on another clock.
    pub fn with_clock(options: Options, clock: impl Fn() -> Instant + Send + Sync + 'static) -> Self {
        Self {
            options,
            accounts: Mutex::new(LruCache::new(REMEMBERED)),
            addresses: Mutex::new(LruCache::new(REMEMBERED)),
            hasher: RandomState::new(),
            clock: Box::new(clock),
        }
    }

    /// Whether the account may be tried from the address now.
    pub fn check(&self, account: &str, address: Option<IpAddr>) -> Result<(), Locked> {
        let now = (self.clock)();
        let left = |failures: Option<&Failures>| failures.map(|failures| failures.until.saturating_duration_since(now));
        let account = left(open(&self.accounts).get(&self.hasher.hash_one(account)));
        let address = address.and_then(|address| left(open(&self.addresses).get(&self.of_address(address))));
        match account.max(address) {
            Some(retry_after) if !retry_after.is_zero() => Err(Locked { retry_after }),
            _ => Ok(()),
        }
    }

    /// Counts a wrong password; the delay, if one begins now.
    pub fn failed(&self, account: &str, address: Option<IpAddr>) -> Option<Duration> {
        let now = (self.clock)();
        let Options { attempts, longest } = self.options;
        let count = |map: &Mutex<LruCache<u64, Failures>>, key, free: u32| {
            let mut map = open(map);
            let failures = map.get_or_insert_mut(key, || Failures { count: 0, until: now });
            if now.saturating_duration_since(failures.until) >= longest {
                failures.count = 0;
            }
            failures.count = failures.count.saturating_add(1);
            let delay = failures.count.checked_sub(free).map(|beyond| delay(beyond, longest));
            failures.until = now + delay.unwrap_or_default();
            delay
        };
        let account = count(&self.accounts, self.hasher.hash_one(account), attempts);
        let free = attempts.saturating_mul(PEOPLE_AT_AN_ADDRESS);
        let address = address.and_then(|address| count(&self.addresses, self.of_address(address), free));
        account.max(address)
    }

    /// A right password: the account starts anew. The address is only forgiven one failure, or whoever has one account
    /// could guess at all others for ever.
    pub fn succeeded(&self, account: &str, address: Option<IpAddr>) {
        open(&self.accounts).pop(&self.hasher.hash_one(account));
        if let Some(address) = address
            && let Some(failures) = open(&self.addresses).get_mut(&self.of_address(address))
        {
            failures.count = failures.count.saturating_sub(1);
        }
    }

    fn of_address(&self, address: IpAddr) -> u64 {
        self.hasher.hash_one(network(address))
    }
}

/// Whom an address belongs to: one customer of the Internet has a whole IPv6 network of 64 bits.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() >> 64 << 64)),
        address @ IpAddr::V4(_) => address,
    }
}

fn delay(beyond: u32, longest: Duration) -> Duration {
    FIRST_DELAY.saturating_mul(1_u32.checked_shl(beyond).unwrap_or(u32::MAX)).min(longest)
}

/// A panic elsewhere cannot leave a count half written, so a poisoned lock is as good as any.
fn open(map: &Mutex<LruCache<u64, Failures>>) -> std::sync::MutexGuard<'_, LruCache<u64, Failures>> {
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

    const OPTIONS: Options = Options { attempts: 3, longest: Duration::from_mins(1) };

    /// On a clock that stands still until seconds are added.
    fn lockout() -> (Arc<AtomicU64>, Lockout) {
        let (start, seconds) = (Instant::now(), Arc::new(AtomicU64::new(0)));
        let moved = Arc::clone(&seconds);
        (seconds, Lockout::with_clock(OPTIONS, move || start + Duration::from_secs(moved.load(Ordering::SeqCst))))
    }

    fn address(last: u8) -> IpAddr {
        IpAddr::from([192, 0, 2, last])
    }

    #[test]
    fn delays_double_up_to_the_longest_and_end_when_they_say() {
        let (seconds, lockout) = lockout();
        let delays = [None, None, Some(1), Some(2), Some(4), Some(8), Some(16), Some(32), Some(60), Some(60)];
        for (number, expected) in delays.into_iter().enumerate() {
            let expected = expected.map(Duration::from_secs);
            // Every time from elsewhere: the delay is the account's.
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
        assert_eq!(lockout.failed("demo", None), Some(Duration::from_mins(1)), "it is not forgotten too early");
        seconds.fetch_add(120, Ordering::SeqCst);
        assert_eq!(lockout.failed("demo", None), None, "after a quiet time it starts anew");
    }

    #[test]
    fn a_right_password_lets_the_account_start_anew() {
        let (_, lockout) = lockout();
        for _ in 0..100 {
            assert_eq!(lockout.failed("demo", None), None);
            assert_eq!(lockout.failed("demo", None), None);
            lockout.succeeded("demo", None);
        }
    }

    #[test]
    fn an_address_that_tries_many_accounts_is_delayed_though_it_knows_one() {
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
    fn a_network_counts_as_one_address() {
        let (_, lockout) = lockout();
        for host in 0..30_u16 {
            lockout.failed(&host.to_string(), Some(Ipv6Addr::new(0x2001, 0xdb8, 0, 1, host, 0, 0, host).into()));
        }
        assert!(lockout.check("demo", Some(Ipv6Addr::new(0x2001, 0xdb8, 0, 1, 99, 0, 0, 0).into())).is_err());
        assert!(lockout.check("demo", Some(Ipv6Addr::new(0x2001, 0xdb8, 0, 2, 99, 0, 0, 0).into())).is_ok());
        assert_eq!(network("::ffff:192.0.2.1".parse().unwrap()), IpAddr::from([192, 0, 2, 1]));
    }

    #[test]
    fn a_million_names_take_no_more_memory_than_the_last_of_them() {
        let (_, lockout) = lockout();
        for name in 0..1_000_000_u32 {
            lockout.failed(&name.to_string(), Some(IpAddr::from(name.to_be_bytes())));
        }
        assert_eq!((open(&lockout.accounts).len(), open(&lockout.addresses).len()), (1 << 16, 1 << 16));
    }
}
