//! A page wherever it lies in the walk: the first, behind a thousand orders, behind a hundred thousand, the last.

use std::rc::Rc;

use serde::Serialize;
use serde_json::json;

use super::{Bench, Bound, known};
use crate::contestant::{Figures, Window};
use crate::contestants::served::{Served, load};
use crate::measure::Fault;
use crate::measure::random::Random;
use crate::rounds::median;

/// A page without a search string: how many orders have some status is not the same everywhere in the walk.
const QUERY: &str = "query Deep($after: String) { orders(first: 50, after: $after, reverse: true) { edges { node { orderId \
                     orderName statusId orderDate grandTotal currencyUomId externalId } } } }";

/// How many orders lie before the page. What lies behind the end is the last page.
const DEPTHS: [usize; 4] = [0, 1_000, 100_000, usize::MAX];

/// So many pages around each depth are asked for in turn.
const PAGES: usize = 16;

/// Orders of a page.
const STRIDE: usize = 50;

/// Before a measurement counts.
const WARM_UP: std::time::Duration = std::time::Duration::from_millis(300);

/// Figures of pages at one depth.
#[derive(Debug, Serialize)]
pub struct AtDepth {
    /// Orders before the first of the pages.
    depth: usize,
    /// Asked over one connection.
    figures: Figures,
}

/// Measures pages at all depths that the database has, in turns.
pub fn measure(bench: &Bench<'_>, ours: &Served) -> Result<Vec<AtDepth>, Fault> {
    let orders = bench.keys.walk.len();
    let last = orders.saturating_sub(PAGES * STRIDE);
    let mut depths: Vec<_> = DEPTHS.into_iter().map(|depth| depth.min(last)).collect();
    depths.dedup();
    let mut line = ours.line()?;
    let mut requests = Vec::new();
    for depth in &depths {
        let mut pages = Vec::new();
        for page in 0..PAGES {
            // Before the very first there is no cursor.
            let after = match depth + page * STRIDE {
                0 => None,
                place => Some(ours.cursor(&mut line, bench.keys.at_depth(place - 1))?),
            };
            pages.push(ours.request(QUERY, &json!({ "after": after })));
        }
        requests.push(Rc::new(pages));
    }
    let mut random = Random::new(bench.seed);
    let mut figures = vec![Vec::new(); depths.len()];
    let window = Window { warm_up: WARM_UP, time: bench.time };
    for round in 1..=bench.rounds {
        let mut turns: Vec<_> = (0..depths.len()).collect();
        random.shuffle(&mut turns);
        for place in turns {
            eprintln!("round {round} of {}: a page behind {} orders", bench.rounds, depths[place]);
            let requests = Rc::clone(&requests[place]);
            figures[place].push(load(ours.server(), requests, window, Some(bench.store.postmaster), 1)?);
        }
    }
    let of_depth = depths.iter().zip(&figures);
    Ok(of_depth.filter_map(|(depth, rounds)| Some(AtDepth { depth: *depth, figures: median(rounds)? })).collect())
}

/// What is wanted of the last page.
pub fn bound(depths: &[AtDepth]) -> Option<Bound> {
    let [first, .., last] = depths else { return None };
    let ratio = last.figures.postgresql_cpu_ms? / first.figures.postgresql_cpu_ms?;
    Some(Bound::at_most(format!("PostgreSQL CPU of a page at depth {}, first page", last.depth), ratio, 1.1))
}

/// Prints the figures.
pub fn print(depths: &[AtDepth]) {
    println!("\n{:<30}{:>9}{:>9}{:>9}{:>9}", "a page behind so many orders", "p50 ms", "p99 ms", "PG CPU", "our CPU");
    for AtDepth { depth, figures } in depths {
        println!(
            "{depth:<30}{:>9.3}{:>9.3}{:>9}{:>9}",
            figures.p50_ms,
            figures.p99_ms,
            known(figures.postgresql_cpu_ms, 3),
            known(figures.server_cpu_ms, 3)
        );
    }
}
