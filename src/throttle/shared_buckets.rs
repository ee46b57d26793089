//! Buckets in a store that several nodes share. While the store is there, all nodes together admit, in any time, no more than one
//! bucket and the credits that are restored in that time.
//!
//! A debit is one call. The store's answer is kept. Queries elsewhere only make a bucket emptier. So a refused query is refused
//! without a call until the bucket could cover it, and a caller who goes on sending costs the store nothing.
//!
//! While the store is away, [`WhenAway`] decides. A call whose outcome is not known counts as a debit: it is neither repeated nor
//! refunded.

use std::time::Duration;

use crate::shared_store::connection::{SharedStore, StoreError, StoreScript};
use crate::throttle::bucket::{Claim, InsufficientCredits, Rate, ThrottleStatus};
use crate::throttle::memory_store::MemoryStore;
use crate::throttle::metrics::FALLBACKS;

/// The credits that a bucket can hold: the store's scripts count in millionths, and are exact up to 2^53.
pub(crate) const LARGEST_CAPACITY: u64 = 9_000_000_000;

/// Millionths of a credit in a credit.
const MILLION: u64 = 1_000_000;

/// When a query that this node's share never covers may be sent again: the store may be back.
const AWAY_RETRY: Duration = Duration::from_secs(1);

/// The rule while the store is away.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum WhenAway {
    /// Each node has its part of every bucket, by how many nodes there were.
    #[default]
    Share,
    /// All queries are admitted.
    Open,
    /// No query is admitted.
    Closed,
}

/// A bucket after a debit.
#[derive(Debug)]
pub(super) struct SharedDebit {
    pub(super) bucket: ThrottleStatus,
    pub(super) debited: Debited,
    /// How far the caller has written, if that was remembered.
    pub(super) written: Option<u64>,
}

/// The place where credits were debited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Debited {
    /// In the bucket.
    Bucket,
    /// From this node's share. `nodes` is the number of shares.
    Share { nodes: u64 },
    /// Nowhere.
    Nothing,
}

/// A caller, and the rate of its bucket, which is one that the store can hold.
#[derive(Debug, Clone, Copy)]
struct Owner<'a> {
    caller: &'a str,
    rate: Rate,
}

/// Why a bucket was not debited.
#[derive(Debug)]
pub(super) enum SharedDebitError {
    Insufficient(InsufficientCredits),
    Away(StoreError),
}

/// The buckets of all callers.
#[derive(Debug)]
pub(super) struct SharedBuckets {
    store: SharedStore,
    when_away: WhenAway,
    debit: StoreScript,
    refund: StoreScript,
    remember: StoreScript,
    /// The buckets as the store returned them last.
    seen: MemoryStore,
    /// The credits that were taken while the store was away: with N nodes N times a query's credits, from buckets of the whole size. They
    /// are kept when the store is back, so that a store that comes and goes does not multiply them.
    shares: MemoryStore,
}

impl<'a> Owner<'a> {
    fn new(caller: &'a str, rate: &Rate) -> Self {
        Self { caller, rate: Rate { capacity: rate.capacity.min(LARGEST_CAPACITY), ..*rate } }
    }
}

impl SharedBuckets {
    /// The buckets in this store.
    pub(super) fn new(store: SharedStore, when_away: WhenAway) -> Self {
        Self {
            store,
            when_away,
            debit: StoreScript::new(concat!(include_str!("bucket.lua"), include_str!("debit.lua"))),
            refund: StoreScript::new(concat!(include_str!("bucket.lua"), include_str!("refund.lua"))),
            remember: StoreScript::new(concat!(include_str!("bucket.lua"), include_str!("position.lua"))),
            seen: MemoryStore::new(),
            shares: MemoryStore::new(),
        }
    }

    /// Takes `credits` out of the caller's bucket, or takes nothing if it has fewer.
    pub(super) async fn debit(&self, caller: &str, rate: &Rate, credits: u64) -> Result<SharedDebit, SharedDebitError> {
        let owner = Owner::new(caller, rate);
        if self.store.is_up() {
            self.seen.forecast(caller, &owner.rate, Claim::first(credits))?;
        }
        match self.ask(owner, credits, true).await {
            Ok((result, written)) => Ok(SharedDebit { bucket: result?, debited: Debited::Bucket, written }),
            Err(error) => {
                let (bucket, debited) = self.debit_while_away(owner, credits, error)?;
                Ok(SharedDebit { bucket, debited, written: None })
            }
        }
    }

    /// Remembers for all nodes how far the caller has written. Debits return it. If the store is away, it is not remembered.
    pub(super) async fn remember_write(&self, caller: &str, position: u64, time: Duration) {
        let time = u32::try_from(time.as_millis()).unwrap_or(u32::MAX).into();
        // The update is done, whatever becomes of this.
        let _ = self.store.call(&self.remember, &[&position_key(caller)], &[position, time]).await;
    }

    /// Whether the caller's bucket covers a query, as the store knows it.
    pub(super) async fn forecast(
        &self,
        caller: &str,
        rate: &Rate,
        credits: u64,
    ) -> Result<ThrottleStatus, SharedDebitError> {
        let owner = Owner::new(caller, rate);
        match self.ask(owner, credits, false).await {
            Ok((result, _)) => Ok(result?),
            Err(error) => self.forecast_while_away(owner, Claim::first(credits), error),
        }
    }

    /// Whether the bucket covers a query, as far as this node knows it. A
    /// rejection is certain; a query that is covered may be rejected all the same.
    pub(super) fn known(&self, caller: &str, rate: &Rate, claim: Claim) -> Result<ThrottleStatus, SharedDebitError> {
        let owner = Owner::new(caller, rate);
        if self.store.is_up() {
            return Ok(self.seen.forecast(caller, &owner.rate, claim)?);
        }
        self.forecast_while_away(owner, claim, StoreError::Away)
    }

    /// Puts credits back where they were debited. If the store is away, they are lost.
    pub(super) async fn refund(&self, caller: &str, credits: u64, debited: Debited) {
        match debited {
            Debited::Bucket => {
                let refunded = self.store.call(&self.refund, &[&key(caller)], &[millionths(credits)]).await;
                if refunded.is_ok() {
                    self.seen.refund(caller, credits);
                }
            }
            Debited::Share { nodes } => self.shares.refund(caller, credits.saturating_mul(nodes)),
            Debited::Nothing => {}
        }
    }

    /// Buckets that this node has seen and that were not full lately.
    pub(super) fn bucket_count(&self) -> usize {
        self.seen.bucket_count()
    }

    async fn ask(
        &self,
        Owner { caller, ref rate }: Owner<'_>,
        credits: u64,
        takes: bool,
    ) -> Result<(Result<ThrottleStatus, InsufficientCredits>, Option<u64>), StoreError> {
        let arguments = [
            millionths(rate.capacity),
            // Credits in a second are millionths in a microsecond.
            rate.restore_per_second,
            millionths(credits),
            takes.into(),
        ];
        let reply = self.store.call(&self.debit, &[&key(caller), &position_key(caller)], &arguments).await?;
        let number = |at: usize| reply.get(at).and_then(|number| u64::try_from(*number).ok()).unwrap_or_default();
        let (is_covered, lacking, wait) = (number(0) == 1, number(1), number(2));
        self.seen.set_missing(caller, rate, u128::from(lacking) * 1000);
        let status = ThrottleStatus {
            maximum_available: rate.capacity,
            currently_available: millionths(rate.capacity).saturating_sub(lacking) / MILLION,
            restore_rate: rate.restore_per_second,
        };
        let written = Some(number(3)).filter(|position| *position > 0);
        if is_covered {
            return Ok((Ok(status), written));
        }
        let retry_after =
            (credits <= rate.capacity && rate.restore_per_second > 0).then(|| Duration::from_micros(wait));
        Ok((Err(InsufficientCredits { credits, behind: 0, retry_after, status }), written))
    }

    fn debit_while_away(
        &self,
        Owner { caller, ref rate }: Owner<'_>,
        credits: u64,
        error: StoreError,
    ) -> Result<(ThrottleStatus, Debited), SharedDebitError> {
        FALLBACKS.of(()).increment();
        let nodes = self.store.nodes();
        match self.when_away {
            WhenAway::Share => {
                // Begun at what was known last.
                self.shares.raise_missing(caller, rate, self.seen.missing(caller, rate));
                let result = self.shares.debit(caller, rate, credits.saturating_mul(nodes));
                Ok((share(result, rate, Claim::first(credits), nodes)?, Debited::Share { nodes }))
            }
            WhenAway::Open => Ok((full(rate), Debited::Nothing)),
            WhenAway::Closed => Err(SharedDebitError::Away(error)),
        }
    }

    fn forecast_while_away(
        &self,
        Owner { caller, ref rate }: Owner<'_>,
        claim: Claim,
        error: StoreError,
    ) -> Result<ThrottleStatus, SharedDebitError> {
        match self.when_away {
            WhenAway::Share => {
                let nodes = self.store.nodes();
                self.shares.raise_missing(caller, rate, self.seen.missing(caller, rate));
                let parts = |credits: u64| credits.saturating_mul(nodes);
                let result = self.shares.forecast(
                    caller,
                    rate,
                    Claim { behind: parts(claim.behind), credits: parts(claim.credits) },
                );
                Ok(share(result, rate, claim, nodes)?)
            }
            WhenAway::Open => Ok(full(rate)),
            WhenAway::Closed => Err(SharedDebitError::Away(error)),
        }
    }
}

impl From<InsufficientCredits> for SharedDebitError {
    fn from(short: InsufficientCredits) -> Self {
        Self::Insufficient(short)
    }
}

/// The result for a node's share of a bucket, from that for N times the credits of the whole bucket.
fn share(
    result: Result<ThrottleStatus, InsufficientCredits>,
    rate: &Rate,
    Claim { behind, credits }: Claim,
    nodes: u64,
) -> Result<ThrottleStatus, InsufficientCredits> {
    let part =
        |status: ThrottleStatus| ThrottleStatus { currently_available: status.currently_available / nodes, ..status };
    result.map(part).map_err(|short| {
        let may_be_covered = credits <= rate.capacity && rate.restore_per_second > 0;
        let retry_after = short.retry_after.or(may_be_covered.then_some(AWAY_RETRY));
        InsufficientCredits { credits, behind, retry_after, status: part(short.status) }
    })
}

fn full(rate: &Rate) -> ThrottleStatus {
    ThrottleStatus {
        maximum_available: rate.capacity,
        currently_available: rate.capacity,
        restore_rate: rate.restore_per_second,
    }
}

/// The key of a caller's bucket. In a cluster of stores, all that belongs to a caller is in one place.
fn key(caller: &str) -> String {
    format!("orderql:{{{caller}}}:bucket")
}

/// The key under which the position of the caller's last write is kept.
fn position_key(caller: &str) -> String {
    format!("orderql:{{{caller}}}:written")
}

/// Millionths, of no more credits than a bucket can hold and one: that many are never covered.
fn millionths(credits: u64) -> u64 {
    credits.min(LARGEST_CAPACITY + 1) * MILLION
}
