//! Services whose buckets are in different places.

use std::collections::HashMap;

/// In millionths of a credit.
const CAPACITY: i64 = 1000 * MILLION;

/// Millionths of a credit in a microsecond, which are credits in a second.
const RATE: i64 = 50;

const MILLION: i64 = 1_000_000;

/// A query.
#[derive(Debug)]
pub struct Arrival {
    pub caller: u32,
    pub node: u32,
    /// In credits.
    pub price: i64,
    /// In microseconds.
    pub now: i64,
}

/// What became of a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    Admitted,
    Refused,
    /// Without asking the store.
    RefusedLocally,
}

/// Where the buckets are.
#[derive(Debug, Clone, Copy)]
pub enum Strategy {
    /// In one store, which is away from one time to another; then as shares.
    Shared { away: Option<(i64, i64)> },
    /// On each node a whole one.
    OnEachNode,
    /// On each node an equal part.
    Share,
}

/// A bucket: what is lacking, as of a time.
#[derive(Debug, Clone, Copy, Default)]
struct Bucket {
    lacking: i64,
    at: i64,
}

impl Bucket {
    fn lacking(&self, now: i64) -> i64 {
        (self.lacking - (now - self.at) * RATE).max(0)
    }

    /// Takes so many credits, unless they are not there.
    fn debit(&mut self, credits: i64, now: i64) -> bool {
        let lacking = self.lacking(now) + credits * MILLION;
        let is_covered = lacking <= CAPACITY;
        if is_covered {
            *self = Self { lacking, at: now };
        }
        is_covered
    }
}

/// A service of some nodes.
pub struct Service {
    strategy: Strategy,
    nodes: i64,
    /// The buckets in the store, by caller.
    shared: HashMap<u32, Bucket>,
    /// Those on nodes, by node and caller: own ones, shares, or what the store returned last.
    local: HashMap<(u32, u32), Bucket>,
    /// Shares of an outage, which take N times a query's credits.
    shares: HashMap<(u32, u32), Bucket>,
    /// What callers were admitted in all, in credits.
    admitted: HashMap<u32, i64>,
    calls: u64,
}

impl Service {
    pub fn new(strategy: Strategy, nodes: u64) -> Self {
        let (shared, local, shares, admitted) = Default::default();
        Self { strategy, nodes: nodes.try_into().unwrap_or(i64::MAX), shared, local, shares, admitted, calls: 0 }
    }

    /// Sends a query.
    pub fn send(&mut self, arrival: &Arrival) -> Outcome {
        let outcome = self.decide(arrival);
        if outcome == Outcome::Admitted {
            *self.admitted.entry(arrival.caller).or_default() += arrival.price;
        }
        outcome
    }

    fn decide(&mut self, &Arrival { caller, node, price, now }: &Arrival) -> Outcome {
        let of = |is_covered| if is_covered { Outcome::Admitted } else { Outcome::Refused };
        match self.strategy {
            Strategy::OnEachNode => of(self.local.entry((node, caller)).or_default().debit(price, now)),
            Strategy::Share => of(self.local.entry((node, caller)).or_default().debit(price * self.nodes, now)),
            Strategy::Shared { away: Some((from, to)) } if (from..to).contains(&now) => {
                let known = self.local.get(&(node, caller)).copied().unwrap_or_default();
                let share = self.shares.entry((node, caller)).or_default();
                if known.lacking(now) > share.lacking(now) {
                    *share = known;
                }
                of(share.debit(price * self.nodes, now))
            }
            Strategy::Shared { .. } => {
                let known = self.local.get(&(node, caller));
                if known.is_some_and(|known| known.lacking(now) + price * MILLION > CAPACITY) {
                    return Outcome::RefusedLocally;
                }
                self.calls += 1;
                let bucket = self.shared.entry(caller).or_default();
                let is_covered = bucket.debit(price, now);
                // What is nearly full refuses nothing, so it need not be kept here.
                if bucket.lacking(now) > CAPACITY / 2 {
                    self.local.insert((node, caller), Bucket { lacking: bucket.lacking(now), at: now });
                }
                of(is_covered)
            }
        }
    }

    /// Calls of the store.
    pub fn calls(&self) -> u64 {
        self.calls
    }

    /// Credits beyond what one bucket of each caller covers in this time.
    pub fn beyond(&self, time: i64) -> i64 {
        let covered = (CAPACITY + RATE * time) / MILLION;
        self.admitted.values().map(|admitted| (admitted - covered).max(0)).sum()
    }

    /// Whether no caller was admitted more than one bucket covers.
    pub fn admitted_within_bounds(&self, time: i64) -> bool {
        self.beyond(time) == 0
    }
}
