//! How our figures grow: with the depth and size of a page, with connections, with more load than can be taken.
//!
//! - [`depth`]: a page wherever it lies
//! - [`sizes`]: statements, rows and latency against page sizes
//! - [`memory`]: of an idle server, of many connections, of many busy ones
//! - [`overload`]: four times what can be taken
//! - [`refusals`]: what it costs to say no

mod depth;
mod sizes;
mod memory;
mod overload;
mod refusals;

use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use serde::Serialize;

use crate::contestants::served::Served;
use crate::keys::Keys;
use crate::measure::Fault;
use crate::measure::store::Store;

/// What is measured with.
pub struct Bench<'a> {
    /// The database.
    pub store: &'a Rc<Store>,
    /// What is asked for.
    pub keys: &'a Rc<Keys>,
    /// Where logs and keys are kept.
    pub folder: &'a Path,
    /// Flags for servers.
    pub flags: &'a [String],
    /// Where the peers' programs are, if they are.
    pub programs: Option<&'a Path>,
    /// Rounds of what is compared with itself.
    pub rounds: usize,
    /// How long each measurement takes.
    pub time: Duration,
    /// What turns are made from.
    pub seed: u64,
}

/// All of it.
#[derive(Debug, Serialize)]
pub struct Scaling {
    depth: Vec<depth::AtDepth>,
    sizes: Vec<sizes::OfSize>,
    memory: Vec<memory::InState>,
    overload: overload::Overload,
    refusal: Option<refusals::GraphqlError>,
    bounds: Vec<Bound>,
}

/// A figure, and what is wanted of it.
#[derive(Debug, Serialize)]
pub struct Bound {
    what: String,
    value: f64,
    /// The lowest value that is wanted, or else the highest.
    at_least: Option<f64>,
    at_most: Option<f64>,
    is_met: bool,
}

impl Bound {
    fn at_most(what: impl Into<String>, value: f64, bound: f64) -> Self {
        Self { what: what.into(), value, at_least: None, at_most: Some(bound), is_met: value <= bound }
    }

    fn at_least(what: impl Into<String>, value: f64, bound: f64) -> Self {
        Self { what: what.into(), value, at_least: Some(bound), at_most: None, is_met: value >= bound }
    }
}

/// Measures all of it on the server that is given, and on others where a fresh one is needed.
pub fn measure(bench: &Bench<'_>, ours: &mut Served) -> Result<Scaling, Fault> {
    let depth = depth::measure(bench, ours)?;
    let sizes = sizes::measure(bench, ours)?;
    let memory = memory::measure(bench, ours)?;
    let overload = overload::measure(bench, ours)?;
    let refusal = refusals::measure(bench, ours)?;
    let mut bounds = Vec::new();
    bounds.extend(depth::bound(&depth));
    bounds.extend(memory::bounds(&memory));
    bounds.extend(overload.bounds());
    bounds.extend(refusal.as_ref().and_then(refusals::GraphqlError::bound));
    Ok(Scaling { depth, sizes, memory, overload, refusal, bounds })
}

impl Scaling {
    /// Prints it as tables.
    pub fn print(&self) {
        depth::print(&self.depth);
        sizes::print(&self.sizes);
        memory::print(&self.memory);
        self.overload.print();
        if let Some(refusal) = &self.refusal {
            refusal.print();
        }
        println!("\n{:<60}{:>9}{:>9}", "scaling", "value", "target");
        for Bound { what, value, at_least, at_most, is_met } in &self.bounds {
            let target = match (at_least, at_most) {
                (Some(bound), _) => format!("≥ {bound}"),
                (None, Some(bound)) => format!("≤ {bound}"),
                (None, None) => String::new(),
            };
            let met = if *is_met { "met" } else { "NOT MET" };
            println!("{what:<60}{value:>9.2}{target:>9} {met}");
        }
    }
}

/// A figure that may be unknown, with so many digits.
fn known(figure: Option<f64>, digits: usize) -> String {
    figure.map_or("–".to_owned(), |figure| format!("{figure:.digits$}"))
}
