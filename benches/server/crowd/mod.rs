//! What callers notice of each other.
//!
//! - [`overload`]: four times the load that the server can take
//! - [`export`]: an export, and the other callers beside it
//! - [`unequal`]: ten callers, one of whom sends a hundred times as much as each of the others

mod export;
mod overload;
mod unequal;

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
