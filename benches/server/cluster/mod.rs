//! Services of several machines.
//!
//! - [`nodes`]: servers of orderql and [`standby`] servers of PostgreSQL
//! - [`store`]: the store that servers share

mod nodes;
mod standby;
mod store;

use crate::error::Result;
use crate::report::Report;
use crate::targets::Context;
use crate::workload::Workload;

/// Measures both.
pub fn run(context: &Context<'_>, workloads: &[Workload], report: &mut Report) -> Result<()> {
    nodes::run(context, workloads, report)?;
    store::run(context, workloads, report)
}
