//! Four times the load that can be taken, coming whether or not it is answered: how much is still answered, how soon, and
//! what the rest is told. Once from a caller who may have any number of queries running, once from one who is held to
//! the defaults.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use serde::Serialize;

use super::{Bench, Bound};
use crate::contestant::Window;
use crate::contestants::served::{CONNECTIONS, Served, load};
use crate::measure::Fault;
use crate::measure::exchange::request;
use crate::measure::open::{Offer, run};
use crate::measure::service::{PATH, sign_in};
use crate::measure::store::{LIMITED_USER, UNLIMITED_USER};
use crate::workload::Workload;

/// What is asked.
const WORKLOAD: Workload = Workload::Detail;

/// How many times the peak is offered.
const TIMES: f64 = 4.0;

/// Connections that it comes on at most.
const MANY: usize = 2_000;

/// How long it comes, at least: longer than a request waits for anything by default.
const LONG: Duration = Duration::from_secs(8);

/// Before the peak counts.
const WARM_UP: Duration = Duration::from_secs(1);

/// What came of it.
#[derive(Debug, Serialize)]
pub struct Overload {
    callers: Vec<Caller>,
}

/// What one caller got, in the middle one of the rounds.
#[derive(Debug, Serialize)]
struct Caller {
    who: &'static str,
    /// Good answers a second just before, where every connection waits for its answer.
    peak_per_second: f64,
    offered_per_second: f64,
    /// Good answers a second.
    good_per_second: f64,
    /// How long one in a hundred of them took at least.
    good_p99_ms: f64,
    /// What the others were told, each so many times a second.
    told_per_second: BTreeMap<String, f64>,
    /// How long one in a hundred of those took at least.
    told_p99_ms: f64,
    /// Requests a second that found all connections waiting.
    unsent_per_second: f64,
}

/// Measures the peak, then the overload of each caller, round by round: the machine may be faster in one than in another.
pub fn measure(bench: &Bench<'_>, ours: &mut Served) -> Result<Overload, Fault> {
    let mut callers = [("without limits", UNLIMITED_USER), ("with the default limits", LIMITED_USER)]
        .map(|(who, user)| (who, user, Vec::new()));
    let window = Window { warm_up: WARM_UP, time: bench.time };
    for round in 1..=bench.rounds {
        eprintln!("round {round} of {}: the peak, and {TIMES} times as much", bench.rounds);
        let requests = ours.requests(WORKLOAD)?;
        let peak = load(ours.server(), requests, window, None, CONNECTIONS)?.per_second;
        for (who, user, rounds) in &mut callers {
            rounds.push(overload(bench, ours, who, user, peak)?);
        }
    }
    Ok(Overload { callers: callers.into_iter().filter_map(|(_, _, rounds)| Caller::middle(rounds)).collect() })
}

fn overload(
    bench: &Bench<'_>,
    ours: &Served,
    who: &'static str,
    user: &str,
    peak_per_second: f64,
) -> Result<Caller, Fault> {
    let bearer = sign_in(ours.server(), user)?;
    let keys = bench.keys.orders.iter();
    let asked = keys.map(|key| request(PATH, Some(&bearer), WORKLOAD.query(), &WORKLOAD.variables(key, ""))).collect();
    let time = bench.time.max(LONG);
    let outcome = run(&Offer {
        address: ours.server().address,
        requests: Rc::new(asked),
        per_second: TIMES * peak_per_second,
        connections: MANY,
        time,
    })?;
    let each = |count: u64| count as f64 / time.as_secs_f64();
    Ok(Caller {
        who,
        peak_per_second,
        offered_per_second: each(outcome.offered),
        good_per_second: each(outcome.latencies.count()),
        good_p99_ms: outcome.latencies.percentile(99.0).as_secs_f64() * 1000.0,
        told_per_second: outcome.bad.iter().map(|(what, count)| (what.clone(), each(*count))).collect(),
        told_p99_ms: outcome.bad_latencies.percentile(99.0).as_secs_f64() * 1000.0,
        unsent_per_second: each(outcome.unsent),
    })
}

impl Caller {
    /// Good answers, as a part of the peak.
    fn goodput(&self) -> f64 {
        self.good_per_second / self.peak_per_second
    }

    /// The round of middle goodput.
    fn middle(mut rounds: Vec<Self>) -> Option<Self> {
        rounds.sort_by(|one, other| one.goodput().total_cmp(&other.goodput()));
        let middle = rounds.len() / 2;
        rounds.into_iter().nth(middle)
    }
}

impl Overload {
    /// What is wanted of it.
    pub fn bounds(&self) -> Vec<Bound> {
        let bound = |caller: &Caller| {
            let what = format!("goodput at {TIMES} × the load, caller {}, peak", caller.who);
            Bound::at_least(what, caller.goodput(), 0.85)
        };
        self.callers.iter().map(bound).collect()
    }

    /// Prints the figures.
    pub fn print(&self) {
        println!("\noverload (detail)");
        for caller in &self.callers {
            println!(
                "caller {}: the peak is {:.0}/s; {:.0}/s offered, {:.0}/s answered (p99 {:.1} ms), {:.0}/s found no free \
                 connection",
                caller.who,
                caller.peak_per_second,
                caller.offered_per_second,
                caller.good_per_second,
                caller.good_p99_ms,
                caller.unsent_per_second
            );
            for (what, count) in &caller.told_per_second {
                println!("  told {what}: {count:.0}/s (p99 {:.1} ms)", caller.told_p99_ms);
            }
        }
    }
}
