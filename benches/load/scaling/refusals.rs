//! What it costs to say no: CPU time of a query that costs too much, beside a bare server that answers the same bytes.

use std::rc::Rc;
use std::time::Duration;

use serde::Serialize;

use super::{Bench, Bound};
use crate::contestants::peers::floor;
use crate::contestants::served::{CONNECTIONS, Served};
use crate::measure::Fault;
use crate::measure::driver::{Door, Load, Requests, run};
use crate::measure::exchange::{Line, request};
use crate::measure::process::Watch;
use crate::measure::random::Random;
use crate::measure::service::{PATH, sign_in};
use crate::measure::spawned::Spawned;
use crate::measure::statistics::middle;
use crate::measure::store::LIMITED_USER;
use crate::workload::Workload;

/// Before a measurement counts.
const WARM_UP: Duration = Duration::from_millis(500);

/// Server CPU of a refusal, in milliseconds.
#[derive(Debug, Serialize)]
pub struct GraphqlError {
    per_second: f64,
    server_cpu_ms: Option<f64>,
    floor_cpu_ms: Option<f64>,
}

/// Measures both in turns; nothing where the bare server is not built.
pub fn measure(bench: &Bench<'_>, ours: &Served) -> Result<Option<GraphqlError>, Fault> {
    let Some(programs) = bench.programs else { return Ok(None) };
    let bearer = sign_in(ours.server(), LIMITED_USER)?;
    // The worked case of the cost model, which is 1366.
    let dear = Workload::Detail.query().replace("first: 10", "first: 20").replace("first: 5", "first: 10");
    let keys = bench.keys.orders.iter();
    let asked = keys.map(|key| request(PATH, Some(&bearer), &dear, &Workload::Detail.variables(key, "")));
    let asked: Vec<_> = asked.collect();
    let mut line = Line::to(ours.label(), ours.server().address)?;
    let body = line.body(&asked[0])?;
    if memchr::memmem::find(&body, b"COST_EXCEEDED").is_none() {
        let what = String::from_utf8_lossy(&body).into_owned();
        return Err(Fault::Answer { from: ours.label().to_owned(), what });
    }
    let bare = floor(programs, "refusal", &body, bench.folder)?;
    let asked: Requests = Rc::new(asked);
    let mut random = Random::new(bench.seed);
    let (mut of_ours, mut of_bare, mut per_second) = (Vec::new(), Vec::new(), Vec::new());
    for round in 1..=bench.rounds {
        eprintln!("round {round} of {}: refusals", bench.rounds);
        let mut turns = [true, false];
        random.shuffle(&mut turns);
        for is_ours in turns {
            let server = if is_ours { ours.server() } else { &bare };
            let (cpu, answers) = spent(server, &asked, bench.time)?;
            if is_ours {
                of_ours.extend(cpu);
                per_second.push(answers);
            } else {
                of_bare.extend(cpu);
            }
        }
    }
    let median = |figures: Vec<f64>| (!figures.is_empty()).then(|| middle(figures));
    Ok(Some(GraphqlError {
        per_second: middle(per_second),
        server_cpu_ms: median(of_ours),
        floor_cpu_ms: median(of_bare),
    }))
}

/// CPU milliseconds an answer, and answers a second. All answers tell of errors.
fn spent(server: &Spawned, requests: &Requests, time: Duration) -> Result<(Option<f64>, f64), Fault> {
    let load = Load {
        door: &Door::Http(server.address),
        requests: Rc::clone(requests),
        connections: CONNECTIONS,
        warm_up: WARM_UP,
        time,
        bears_bad: true,
    };
    let mut watch = Watch::of(Some(server.id()));
    let outcome = run(&load, || watch.look())?;
    let answers = outcome.bad_latencies.count();
    Ok((watch.milliseconds_each(answers), answers as f64 / outcome.time.as_secs_f64()))
}

impl GraphqlError {
    /// What is wanted of it.
    pub fn bound(&self) -> Option<Bound> {
        let ratio = self.server_cpu_ms? / self.floor_cpu_ms?;
        Some(Bound::at_most("server CPU of a COST_EXCEEDED refusal, bare server", ratio, 1.5))
    }

    /// Prints the figures.
    pub fn print(&self) {
        let known = |figure| super::known(figure, 4);
        println!(
            "\nrefusals (COST_EXCEEDED): {:.0}/s, {} ms of our CPU; the bare server spends {} ms on the same bytes",
            self.per_second,
            known(self.server_cpu_ms),
            known(self.floor_cpu_ms)
        );
    }
}
