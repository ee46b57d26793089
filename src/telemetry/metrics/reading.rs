//! The names of metrics, and their present values.

use std::borrow::Cow;

/// The name of a metric and its help.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Description {
    /// The name, with its unit; a counter's ends in `_total`.
    pub(crate) name: &'static str,
    /// What it counts or measures, one sentence.
    pub(crate) help: &'static str,
    pub(crate) kind: MetricKind,
    /// The names of its labels.
    pub(crate) labels: &'static [&'static str],
}

/// The kind of a metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MetricKind {
    /// Only grows while the process runs.
    Counter,
    /// Goes up and down.
    Gauge,
    /// Counts values by ranges.
    Histogram,
}

/// A metric that can be read.
pub(crate) trait Metric: Sync {
    /// Its name, help, kind and labels.
    fn description(&self) -> Description;

    /// Its values now: a series for each combination of labels that has a value.
    fn series(&self) -> Vec<Series>;
}

/// The value of a metric for one combination of labels.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Series {
    /// The labels' texts, in the order of the description.
    pub(crate) labels: Vec<Cow<'static, str>>,
    pub(crate) value: SeriesValue,
}

/// The value of a series.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum SeriesValue {
    /// A whole number.
    Whole(u64),
    /// Any other number.
    Real(f64),
    /// The values of a histogram.
    Histogram {
        /// Their sum.
        sum: f64,
        /// The number of values up to each upper bound, without the values up to the bounds before it.
        buckets: Vec<(f64, u64)>,
    },
}

impl Series {
    /// A value for these labels.
    pub(crate) fn new<L: Into<Cow<'static, str>>>(labels: impl IntoIterator<Item = L>, value: SeriesValue) -> Self {
        Self { labels: labels.into_iter().map(Into::into).collect(), value }
    }

    /// The only series of a metric without labels.
    pub(crate) fn only(value: SeriesValue) -> Vec<Self> {
        vec![Self { labels: Vec::new(), value }]
    }

    /// A whole number.
    pub(crate) fn whole(labels: Vec<&'static str>, number: usize) -> Self {
        Self::new(labels, SeriesValue::Whole(number as u64))
    }
}
