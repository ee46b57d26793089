//! Metrics. Each module declares its own in a file `metrics.rs` with [`metrics!`](table::metrics), one row for each, and
//! records them where things happen. The operators' listener reads them all.
//!
//! Recording is an addition to an atomic number at an index that the labels' types know: no map is searched, nothing is
//! allocated but a histogram at its first value. All labels are closed sets, so that the number of series is bounded
//! whatever clients send.
//!
//! - `table`: declares metrics
//! - [`label`]: labels and their values
//! - [`instrument`]: counters, gauges and histograms
//! - [`family`]: an instrument for each combination of labels
//! - [`reading`]: the names of metrics and their present values
//! - [`process`]: what the system knows about the process
//! - [`exposition`]: readings as text for Prometheus, and the table of all metrics for the documentation

pub(crate) mod exposition;
pub(crate) mod family;
pub(crate) mod instrument;
pub(crate) mod label;
pub(crate) mod process;
pub(crate) mod reading;
pub(crate) mod table;
