//! When it pays to read the keys of parents again: queries with more and more parents, on a server that always waits for the
//! parents' rows, on one that never does, and on one with the default, without a network between them and PostgreSQL. The
//! default's rule follows from these figures, and from the round trip that a server observes.

use std::rc::Rc;
use std::time::Duration;

use serde_json::json;

use crate::driver::Requests;
use crate::error::Result;
use crate::keys::Key;
use crate::report::{Report, Row};
use crate::rounds;
use crate::statistics::median;
use crate::targets::figures::{Figures, Window};
use crate::targets::http::HttpTarget;
use crate::targets::{CONNECTIONS, Context};
use crate::workload::Workload;

const WARM_UP: Duration = Duration::from_millis(500);

/// The settings that are compared.
const SETTINGS: [&str; 3] = ["never", "always", "auto"];

/// Numbers of parents.
const PARENTS: [u32; 5] = [1, 5, 20, 50, 100];

/// What is selected of them.
const CHILDREN: [(&str, &str); 3] = [
    ("one connection", "orderItems(first: 1) { edges { node { quantity } } }"),
    (
        "two connections",
        "orderItems(first: 1) { edges { node { quantity } } } shipGroups(first: 1) { edges { node { maySplit } } }",
    ),
    ("two levels", "shipGroups(first: 1) { edges { node { orderItems(first: 1) { edges { node { quantity } } } } } }"),
];

/// A query with each setting.
struct Comparison {
    name: String,
    clients: usize,
    requests: [Requests; SETTINGS.len()],
    rounds: Vec<[Figures; SETTINGS.len()]>,
}

/// Measures servers of its own.
pub fn run(context: &Context<'_>, report: &mut Report) -> Result<()> {
    let server = |setting: &str| {
        let flags = ["--one-round-trip", setting].into_iter().map(str::to_owned);
        let flags: Vec<_> = flags.chain(context.server_flags.iter().cloned()).collect();
        HttpTarget::orderql_at(context, &context.database.url(), &flags)
    };
    let [never, always, auto] = SETTINGS.map(server);
    let servers = [never?, always?, auto?];
    let mut comparisons = Vec::new();
    for (name, text, variables) in queries(context) {
        // One, for what a client waits, and as many as the workloads have, for what a request takes.
        for clients in [1, CONNECTIONS] {
            let requests = servers.each_ref().map(|server| {
                Rc::new(variables.iter().map(|variables| server.request(&text, variables)).collect::<Vec<_>>())
            });
            comparisons.push(Comparison { name: name.clone(), clients, requests, rounds: Vec::new() });
        }
    }
    let window = Window { warm_up: WARM_UP, time: context.time };
    rounds::run(context.rounds, context.seed, &mut comparisons, |round, comparison| {
        eprintln!("round {round} of {}: {}, {} clients", context.rounds, comparison.name, comparison.clients);
        // One right after the other, because what else the machine does changes.
        let load = |setting: usize| servers[setting].load(&comparison.requests[setting], comparison.clients, window);
        let figures = if round % 2 == 0 {
            [load(0)?, load(1)?, load(2)?]
        } else {
            let (auto, always) = (load(2)?, load(1)?);
            [load(0)?, always, auto]
        };
        comparison.rounds.push(figures);
        Ok(())
    })?;
    report.table("one round trip, compared with one a level", comparisons.iter().map(row).collect());
    Ok(())
}

/// *detail*, and queries with more and more parents.
fn queries(context: &Context<'_>) -> Vec<(String, String, Vec<serde_json::Value>)> {
    let keys = context.keys.of(Workload::Detail).iter();
    let detail = keys.map(|key: &Key| Workload::Detail.variables(key, "")).collect();
    let mut queries = vec![("detail".to_owned(), Workload::Detail.query().to_owned(), detail)];
    for (name, children) in CHILDREN {
        for parents in PARENTS {
            let text = format!(
                "{{ orders(first: {parents}, reverse: true) {{ edges {{ node {{ orderId {children} }} }} }} }}"
            );
            queries.push((format!("{name} of {parents} orders"), text, vec![json!({})]));
        }
    }
    queries
}

/// The medians of the times, and of their ratios in each round.
fn row(comparison: &Comparison) -> Row {
    let of = |setting: usize, figure: fn(&Figures) -> f64| {
        json!(median(comparison.rounds.iter().map(|figures| figure(&figures[setting]))))
    };
    let ratio = |setting: usize, figure: fn(&Figures) -> f64| {
        json!(median(comparison.rounds.iter().map(|figures| figure(&figures[setting]) / figure(&figures[0]))))
    };
    vec![
        ("query", json!(comparison.name)),
        ("clients", json!(comparison.clients)),
        ("p50_ms_never", of(0, p50)),
        ("p50_ms_always", of(1, p50)),
        ("p50_always", ratio(1, p50)),
        ("p50_auto", ratio(2, p50)),
        ("cpu_ms_never", of(0, cpu)),
        ("cpu_ms_always", of(1, cpu)),
        ("cpu_always", ratio(1, cpu)),
        ("cpu_auto", ratio(2, cpu)),
    ]
}

fn p50(figures: &Figures) -> f64 {
    figures.p50_ms
}

/// That of the server and of PostgreSQL.
fn cpu(figures: &Figures) -> f64 {
    figures.postgresql_cpu_ms.unwrap_or(f64::NAN) + figures.server_cpu_ms.unwrap_or(f64::NAN)
}
