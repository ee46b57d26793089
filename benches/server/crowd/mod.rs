//! What callers notice of each other.
//!
//! - [`overload`]: four times the load that the server can take
//! - [`export`]: an export, and the other callers beside it
//! - [`unequal`]: ten callers, one of whom sends a hundred times as much as each of the others

mod export;
mod overload;
mod unequal;

use crate::driver::{Latencies, Recorded};
use crate::error::Result;
use crate::report::Report;
use crate::targets::Context;
use crate::targets::http::HttpTarget;

/// Measures orderql.
pub fn run(context: &Context<'_>, orderql: &mut HttpTarget<'_>, report: &mut Report) -> Result<()> {
    overload::measure(context, orderql, report)?;
    unequal::measure(context, orderql, report)?;
    export::measure(context, orderql, report)
}

/// The 99th percentile of all callers' latencies together.
fn p99_ms(recorded: &[Recorded]) -> Result<f64> {
    let mut all = Latencies::new()?;
    for one in recorded {
        all.add(&one.latencies)?;
    }
    Ok(all.percentile_ms(99.0))
}
