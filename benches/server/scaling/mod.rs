//! How orderql's own figures grow.
//!
//! - [`depth`]: a page anywhere among all orders
//! - [`page_size`]: statements, rows and latency of pages of different sizes
//! - [`memory`]: the memory of an idle server, of many connections, and of many busy ones
//! - [`overload`]: four times the load that the server can take
//! - [`rejections`]: the cost of rejecting a query

mod depth;
mod page_size;
mod memory;
mod overload;
mod rejections;

use std::rc::Rc;

use crate::client::graphql_request;
use crate::driver::Requests;
use crate::error::Result;
use crate::orderql::{PATH, sign_in};
use crate::process::ServerProcess;
use crate::report::Report;
use crate::targets::Context;
use crate::targets::http::HttpTarget;
use crate::workload::Workload;

/// Measures orderql, and further servers where a fresh one is needed.
pub fn run(context: &Context<'_>, orderql: &mut HttpTarget<'_>, report: &mut Report) -> Result<()> {
    depth::measure(context, orderql, report)?;
    page_size::measure(context, orderql, report)?;
    memory::measure(context, report)?;
    overload::measure(context, orderql, report)?;
    rejections::measure(context, orderql, report)
}

/// The requests of a query of single orders, sent by a user.
fn order_requests(context: &Context<'_>, server: &ServerProcess, user: &str, query: &str) -> Result<Requests> {
    let bearer = sign_in(server, user)?;
    let keys = context.keys.of(Workload::Detail).iter();
    let variables = keys.map(|key| Workload::Detail.variables(key, ""));
    Ok(Rc::new(variables.map(|variables| graphql_request(PATH, Some(&bearer), query, &variables)).collect()))
}
