//! How orderql's own figures grow.
//!
//! - [`depth`]: a page anywhere among all orders
//! - [`page_size`]: rows and latency of pages of different sizes
//! - [`memory`]: the memory of an idle server, of many connections, and of many busy ones
//! - [`rejections`]: the cost of rejecting a query

mod depth;
mod page_size;
mod memory;
mod rejections;

use crate::error::Result;
use crate::report::Report;
use crate::targets::Context;
use crate::targets::http::HttpTarget;

/// Measures orderql, and further servers where a fresh one is needed.
pub fn run(context: &Context<'_>, orderql: &mut HttpTarget<'_>, report: &mut Report) -> Result<()> {
    depth::measure(context, orderql, report)?;
    page_size::measure(context, orderql, report)?;
    memory::measure(context, report)?;
    rejections::measure(context, orderql, report)
}
