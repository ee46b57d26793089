//! A page anywhere among all orders: the first, behind a thousand orders, behind a hundred thousand, the last.

use std::rc::Rc;
use std::time::Duration;

use serde_json::json;

use crate::error::Result;
use crate::keys::at_depth;
use crate::report::Report;
use crate::rounds;
use crate::targets::Context;
use crate::targets::figures::{Figures, Window};
use crate::targets::http::HttpTarget;

/// Without a search string, as not all statuses are equally frequent at all depths.
const QUERY: &str = "query Deep($after: String) { orders(first: 50, after: $after, reverse: true) { edges { node { orderId \
                     orderName statusId orderDate grandTotal currencyUomId externalId } } } }";

/// Orders before the page; beyond the end it is the last page.
const DEPTHS: [usize; 4] = [0, 1_000, 100_000, usize::MAX];

/// How many successive pages at each depth are asked for in turn, and the orders of each.
const PAGES: usize = 16;
const PAGE: usize = 50;

const WARM_UP: Duration = Duration::from_millis(300);

/// Measures all depths that the database has, over one connection.
pub fn measure(context: &Context<'_>, orderql: &HttpTarget<'_>, report: &mut Report) -> Result<()> {
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
    let window = Window::closed(WARM_UP, context.time);
    rounds::run(context.rounds, context.seed, &mut measured, |round, (depth, requests, figures)| {
        eprintln!("round {round} of {}: a page behind {depth} orders", context.rounds);
        figures.push(orderql.load(requests, 1, window)?);
        Ok(())
    })?;
    let medians: Vec<_> = measured.iter().map(|(depth, _, rounds)| (*depth, Figures::median(rounds))).collect();
    if let [(_, first), .., (depth, last)] = medians.as_slice()
        && let (Some(first), Some(last)) = (first.postgresql_cpu_ms, last.postgresql_cpu_ms)
    {
        report.at_most(&format!("PostgreSQL CPU of a page, depth {depth} / first page"), last / first, 1.1);
    }
    let row = |(depth, figures): &(usize, Figures)| figures.row(vec![("orders_before", json!(depth))]);
    report.table("depth", medians.iter().map(row).collect());
    Ok(())
}
