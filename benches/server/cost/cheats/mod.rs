//! The worst query of a set that tries to cheat, as a multiple of a plain page.
//!
//! - [`values`]: values and positions of the database
//! - [`terms`]: search strings
//! - [`candidates`]: queries, and a choice of them
//! - [`probe`]: the time that a query takes
//! - [`multiples`]: multiples of plain pages, as tables and JSON

mod values;
mod terms;
mod candidates;
mod probe;
pub mod multiples;

use indicatif::ProgressBar;
use orderql::catalog::Catalog;
use orderql::compile::explanation::explain;
use orderql::limits::Limits;
use orderql::query::Request;
use serde_json::json;

use crate::client::{Connection, graphql_request};
use crate::database::{Database, LIMITED_USER};
use crate::error::{BenchError, Result};
use crate::orderql::{PATH, sign_in, start};
use crate::statistics::median;
use candidates::{Root, choose, roots};
use multiples::{Attempt, CheatReport, GOAL, Plain};
use probe::{DEADLINE, Outcome, Probe, Timing};

/// Plain pages are measured again after so many queries, so that a busy machine affects both.
const PLAIN_EVERY: usize = 50;

/// Queries above half the goal that take less than so many milliseconds are measured once more. A busy machine makes a query
/// slower, never faster, so the lower figure counts.
const SHORT: f64 = 30.0;

/// Measures `count` of the queries, or all if it is 0.
pub fn run(database: &Database, server_flags: &[String], count: usize, seed: u64) -> Result<CheatReport> {
    let catalog = Catalog::built_in()?;
    let client = database.block_on(database.connect_to(database.name()))?;
    // Millions of distinct values are counted.
    database.block_on(client.batch_execute("SET work_mem = '512MB'"))?;
    let roots = database.block_on(roots(&client, &catalog))?;
    let (cheats, all) = choose(&roots, count, seed);

    let mut flags = server_flags.to_vec();
    flags.extend(["--pool-size=1".to_owned(), format!("--deadline={}s", DEADLINE.as_secs())]);
    let server = start(database, &flags)?;
    let bearer = sign_in(&server, LIMITED_USER)?;
    let connection = Connection::open("orderql", server.address)?;
    let mut probe = Probe { connection, postmaster: database.postmaster };
    let request = |query: &str| graphql_request(PATH, Some(&bearer), query, &json!({}));

    let plain: Vec<_> = roots.iter().map(|root| request(&root.plain())).collect();
    let mut plain_times = vec![Vec::new(); roots.len()];
    let mut attempts = Vec::new();
    eprintln!("measuring {} of {all} queries that try to cheat", cheats.len());
    let progress = ProgressBar::new(cheats.len() as u64);
    for (index, cheat) in cheats.into_iter().enumerate() {
        if index % PLAIN_EVERY == 0 {
            measure_plain(&mut probe, &roots, &plain, &mut plain_times)?;
        }
        progress.inc(1);
        let root = &roots[cheat.root];
        let query = root.query(&cheat);
        let asked = Request { query: query.clone(), ..Request::default() };
        let (credits, outcome) = match explain(&catalog, &asked, &Limits::default()) {
            // Queries above the limits cannot cheat.
            Ok(explained) if explained.errors.is_some() => continue,
            Ok(explained) => (Some(explained.estimate.cost()), probe.measure(&request(&query))?),
            Err(_) => (None, probe.measure(&request(&query))?),
        };
        attempts.push(Attempt {
            root: cheat.root,
            keys: cheat.keys.clone(),
            kind: cheat.search.kind.clone(),
            search: cheat.search.text.to_string(),
            sort_key: root.sort_key(cheat.page).to_owned(),
            page: cheat.page.describe(),
            query,
            credits,
            outcome,
        });
    }
    progress.finish_and_clear();
    measure_plain(&mut probe, &roots, &plain, &mut plain_times)?;

    let plain = roots.iter().zip(&plain_times).map(|(root, times)| Plain {
        root: root.field.name.clone(),
        latency: median(times.iter().map(|time: &Timing| time.latency)),
        postgresql: median(times.iter().map(|time| time.postgresql)),
    });
    let plain: Vec<_> = plain.collect();
    for attempt in &mut attempts {
        let Outcome::Measured(first) = &mut attempt.outcome else { continue };
        if first.latency > plain[attempt.root].latency * GOAL / 2.0
            && first.latency < SHORT
            && let Outcome::Measured(again) = probe.measure(&request(&attempt.query))?
        {
            first.latency = first.latency.min(again.latency);
            first.postgresql = first.postgresql.min(again.postgresql);
        }
    }
    Ok(CheatReport::new(all, &attempts, &plain))
}

fn measure_plain(probe: &mut Probe, roots: &[Root<'_>], requests: &[Vec<u8>], times: &mut [Vec<Timing>]) -> Result<()> {
    for ((root, request), times) in roots.iter().zip(requests).zip(times) {
        match probe.measure(request)? {
            Outcome::Measured(timing) => times.push(timing),
            outcome @ (Outcome::Deadline | Outcome::Rejected(_)) => {
                return Err(BenchError::Data(format!("a plain page of {}: {outcome:?}", root.field.name)));
            }
        }
    }
    Ok(())
}
