//! Delays after wrong passwords, for all nodes that share a store. If each node counted for itself, a guesser would have more
//! tries with each node.
//!
//! Every node counts what it sees in its memory too, which is in force while the store is away.

use std::net::IpAddr;
use std::time::Duration;

use crate::access::lockout::{
    FIRST_DELAY, Locked, Lockout, LockoutOptions, MAX_KNOWN_ADDRESSES, MEMORY_OF_ACCOUNT, SHARED, Standing, Visitor,
};
use crate::shared_store::connection::{SharedStore, StoreError, StoreScript};

/// How long an address is known for an account that does not sign in there any more.
const MEMORY_OF_ADDRESS: Duration = Duration::from_hours(24 * 90);

/// Counts wrong passwords, in a store if nodes share one.
#[derive(Debug)]
pub(crate) struct SharedLockout {
    local: Lockout,
    shared: Option<SharedCounts>,
}

/// The counts in a store.
#[derive(Debug)]
struct SharedCounts {
    store: SharedStore,
    check: StoreScript,
    failed: StoreScript,
    succeeded: StoreScript,
}

impl SharedLockout {
    /// Starts without wrong passwords, except for the wrong passwords in the store.
    pub(crate) fn new(options: LockoutOptions, store: Option<SharedStore>) -> Self {
        Self { local: Lockout::new(options), shared: store.map(SharedCounts::new) }
    }

    /// Counts by other options from now on. Delays that have begun stay.
    pub(crate) fn set_options(&self, options: LockoutOptions) {
        self.local.set_options(options);
    }

    /// The account as seen from the address.
    pub(crate) fn visitor(&self, account: &str, address: Option<IpAddr>) -> Visitor {
        self.local.visitor(account, address)
    }

    /// Fails if the visitor has to wait.
    pub(crate) async fn check(&self, visitor: &Visitor) -> Result<Standing, Locked> {
        if let Some(shared) = &self.shared
            && let Ok(result) = shared.check(visitor, &self.local.options()).await
        {
            return result;
        }
        self.local.check(visitor)
    }

    /// Counts a wrong password. Returns the delay if one begins now.
    pub(crate) async fn failed(&self, visitor: &Visitor) -> Option<Duration> {
        let local = self.local.failed(visitor);
        match &self.shared {
            Some(shared) => shared.failed(visitor, &self.local.options()).await.unwrap_or(local),
            None => local,
        }
    }

    /// A password was right.
    pub(crate) async fn succeeded(&self, visitor: &Visitor) {
        self.local.succeeded(visitor);
        if let Some(shared) = &self.shared {
            // The log says already that the store is away.
            let _ = shared.succeeded(visitor).await;
        }
    }
}

impl SharedCounts {
    fn new(store: SharedStore) -> Self {
        let script = |text| StoreScript::new(text);
        Self {
            store,
            check: script(concat!(
                include_str!("lockout_scripts/counts.lua"),
                include_str!("lockout_scripts/check.lua")
            )),
            failed: script(concat!(
                include_str!("lockout_scripts/counts.lua"),
                include_str!("lockout_scripts/failed.lua")
            )),
            succeeded: script(concat!(
                include_str!("lockout_scripts/counts.lua"),
                include_str!("lockout_scripts/succeeded.lua")
            )),
        }
    }

    async fn check(&self, visitor: &Visitor, options: &LockoutOptions) -> Result<Result<Standing, Locked>, StoreError> {
        let reply = self.call(&self.check, visitor, &[visitor.network, milliseconds(options.longest)]).await?;
        let wait = reply.get(1).and_then(|wait| u64::try_from(*wait).ok()).unwrap_or_default();
        Ok(match (wait, reply.first()) {
            (0, Some(1)) => Ok(Standing::Known),
            (0, _) => Ok(Standing::New),
            (wait, _) => Err(Locked { retry_after: Duration::from_millis(wait) }),
        })
    }

    async fn failed(&self, visitor: &Visitor, options: &LockoutOptions) -> Result<Option<Duration>, StoreError> {
        let LockoutOptions { attempts, longest } = *options;
        let arguments = [
            visitor.network,
            milliseconds(longest),
            attempts.into(),
            attempts.saturating_mul(SHARED).into(),
            milliseconds(FIRST_DELAY),
            milliseconds(MEMORY_OF_ACCOUNT),
        ];
        let reply = self.call(&self.failed, visitor, &arguments).await?;
        Ok(reply.first().and_then(|delay| u64::try_from(*delay).ok()).map(Duration::from_millis))
    }

    async fn succeeded(&self, visitor: &Visitor) -> Result<(), StoreError> {
        let arguments = [visitor.network, MAX_KNOWN_ADDRESSES as u64, milliseconds(MEMORY_OF_ADDRESS)];
        self.call(&self.succeeded, visitor, &arguments).await.map(drop)
    }

    async fn call(&self, script: &StoreScript, visitor: &Visitor, arguments: &[u64]) -> Result<Vec<i64>, StoreError> {
        let key = |count: &str, hash: u64| format!("orderql:{{login}}:{count}:{hash:016x}");
        let keys = [
            key("pair", visitor.pair),
            key("network", visitor.network),
            key("account", visitor.account),
            key("known", visitor.account),
        ];
        self.store.call(script, &keys.each_ref().map(String::as_str), arguments).await
    }
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
