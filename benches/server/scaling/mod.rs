//! How orderql's own figures grow.
//!
//! - [`depth`]: a page anywhere among all orders
//! - [`page_size`]: statements, rows and latency of pages of different sizes
//! - [`memory`]: the memory of an idle server, of many connections, and of many busy ones
//! - [`overload`]: four times the load that the server can take
//! - [`rejections`]: the cost of rejecting a query
//! - [`logins`]: queries during a flood of wrong logins

mod depth;
mod page_size;
mod memory;
mod overload;
mod rejections;
mod logins;

use std::rc::Rc;

use serde::Serialize;

use crate::client::graphql_request;
use crate::driver::Requests;
use crate::error::Result;
use crate::goals::{self, Goal};
use crate::orderql::{PATH, sign_in};
use crate::process::ServerProcess;
use crate::targets::Context;
use crate::targets::http::HttpTarget;
use crate::workload::Workload;

/// All figures.
#[derive(Debug, Serialize)]
pub struct Scaling {
    depth: Vec<depth::AtDepth>,
    sizes: Vec<page_size::OfSize>,
    memory: Vec<memory::InState>,
    overload: Vec<overload::Overload>,
    rejections: Option<rejections::Rejections>,
    logins: logins::Logins,
    goals: Vec<Goal>,
}

/// Measures orderql, and further servers where a fresh one is needed.
pub fn measure(context: &Context<'_>, orderql: &mut HttpTarget<'_>) -> Result<Scaling> {
    let depth = depth::measure(context, orderql)?;
    let sizes = page_size::measure(context, orderql)?;
    let memory = memory::measure(context)?;
    let overload = overload::measure(context, orderql)?;
    let rejections = rejections::measure(context, orderql)?;
    let logins = logins::measure(context)?;
    let mut goals = Vec::new();
    goals.extend(depth::goal(&depth));
    goals.extend(memory::goals(&memory));
    goals.extend(overload.iter().map(overload::Overload::goal));
    goals.extend(rejections.as_ref().and_then(rejections::Rejections::goal));
    goals.push(logins.goal());
    Ok(Scaling { depth, sizes, memory, overload, rejections, logins, goals })
}

/// Prints all tables.
pub fn print(scaling: &Scaling) {
    depth::print(&scaling.depth);
    page_size::print(&scaling.sizes);
    memory::print(&scaling.memory);
    overload::print(&scaling.overload);
    if let Some(rejections) = &scaling.rejections {
        rejections.print();
    }
    scaling.logins.print();
    goals::print("scaling", &scaling.goals);
}

/// The requests of a query of single orders, sent by a user.
fn order_requests(context: &Context<'_>, server: &ServerProcess, user: &str, query: &str) -> Result<Requests> {
    let bearer = sign_in(server, user)?;
    let keys = context.keys.of(Workload::Detail).iter();
    let variables = keys.map(|key| Workload::Detail.variables(key, ""));
    Ok(Rc::new(variables.map(|variables| graphql_request(PATH, Some(&bearer), query, &variables)).collect()))
}
