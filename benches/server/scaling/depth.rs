//! A page anywhere among all orders: the first, behind a thousand orders, behind a hundred thousand, the last.

use std::rc::Rc;
use std::time::Duration;

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use serde::Serialize;
use serde_json::json;

use crate::comparison::median_figures;
use crate::error::Result;
use crate::goals::Goal;
use crate::keys::at_depth;
use crate::output::optional;
use crate::targets::http::HttpTarget;
use crate::targets::{Context, Figures};

/// Without a search string, as not all statuses are equally frequent at all depths.
const QUERY: &str = "query Deep($after: String) { orders(first: 50, after: $after, reverse: true) { edges { node { orderId \
                     orderName statusId orderDate grandTotal currencyUomId externalId } } } }";

/// Orders before the page; beyond the end it is the last page.
const DEPTHS: [usize; 4] = [0, 1_000, 100_000, usize::MAX];

/// How many successive pages at each depth are asked for in turn, and the orders of each.
const PAGES: usize = 16;
const PAGE: usize = 50;

const WARM_UP: Duration = Duration::from_millis(300);

/// The figures at one depth, over one connection.
#[derive(Debug, Serialize)]
pub struct AtDepth {
    /// Orders before the first of the pages.
    depth: usize,
    figures: Figures,
}

/// Measures all depths that the database has, in random turns.
pub fn measure(context: &Context<'_>, orderql: &HttpTarget<'_>) -> Result<Vec<AtDepth>> {
    let client = context.database.connect()?;
    let mut connection = orderql.connect()?;
    let last = context.keys.dated.saturating_sub(PAGES * PAGE);
    let mut depths: Vec<_> = DEPTHS.into_iter().map(|depth| depth.min(last)).collect();
    depths.dedup();
    let mut measured = Vec::new();
    for depth in depths {
        let mut requests = Vec::new();
        for before in (0..PAGES).map(|page| depth + page * PAGE) {
            let after = match before.checked_sub(1) {
                None => None,
                Some(index) => {
                    let key = context.database.block_on(at_depth(&client, index))?;
                    Some(orderql.cursor(&mut connection, &key)?)
                }
            };
            requests.push(orderql.request(QUERY, &json!({ "after": after })));
        }
        measured.push((depth, Rc::new(requests), Vec::new()));
    }
    let mut random = ChaCha8Rng::seed_from_u64(context.seed);
    for round in 1..=context.rounds {
        measured.shuffle(&mut random);
        for (depth, requests, rounds) in &mut measured {
            eprintln!("round {round} of {}: a page behind {depth} orders", context.rounds);
            rounds.push(orderql.load(requests, 1, (WARM_UP, context.time))?);
        }
    }
    measured.sort_by_key(|(depth, ..)| *depth);
    let at_depth = |(depth, _, rounds): (_, _, Vec<_>)| Some(AtDepth { depth, figures: median_figures(&rounds)? });
    Ok(measured.into_iter().filter_map(at_depth).collect())
}

/// The goal for the last page.
pub fn goal(depths: &[AtDepth]) -> Option<Goal> {
    let [first, .., last] = depths else { return None };
    let ratio = last.figures.postgresql_cpu_ms? / first.figures.postgresql_cpu_ms?;
    Some(Goal::at_most(format!("PostgreSQL CPU of a page, depth {} / first page", last.depth), ratio, 1.1))
}

/// Prints the figures.
pub fn print(depths: &[AtDepth]) {
    println!("\n{:<30}{:>9}{:>9}{:>9}{:>12}", "orders before the page", "p50 ms", "p99 ms", "PG CPU", "server CPU");
    for AtDepth { depth, figures } in depths {
        let Figures { p50_ms, p99_ms, postgresql_cpu_ms, server_cpu_ms, .. } = figures;
        let (postgresql, server) = (optional(*postgresql_cpu_ms, 3), optional(*server_cpu_ms, 3));
        println!("{depth:<30}{p50_ms:>9.3}{p99_ms:>9.3}{postgresql:>9}{server:>12}");
    }
}
