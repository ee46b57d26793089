//! Readings as text: for Prometheus, in the format `OpenMetrics` 1.0, and for the documentation.

use std::fmt::{self, Write as _};

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, MetricEncoder, NoLabelSet, text};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::exemplar::Exemplar;
use prometheus_client::registry::Registry;

use crate::telemetry::metrics::reading::{Description, Metric, MetricKind, Series, SeriesValue};

/// The format of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ExpositionFormat {
    OpenMetrics,
    /// Prometheus' own, version 0.0.4.
    Prometheus,
}

impl ExpositionFormat {
    /// Its media type.
    pub(crate) const fn content_type(self) -> &'static str {
        match self {
            Self::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
            Self::Prometheus => "text/plain; version=0.0.4; charset=utf-8",
        }
    }
}

/// The values of the metrics now, as text.
pub(crate) fn expose<'a>(
    metrics: impl Iterator<Item = &'a (dyn Metric + 'a)>,
    format: ExpositionFormat,
) -> Result<String, fmt::Error> {
    let readings = metrics.map(|metric| (metric.description(), metric.series())).collect();
    let mut registry = Registry::default();
    registry.register_collector(Box::new(Readings(readings)));
    let mut out = String::new();
    text::encode(&mut out, &registry)?;
    Ok(match format {
        ExpositionFormat::OpenMetrics => out,
        ExpositionFormat::Prometheus => of_prometheus(&out),
    })
}

/// The text in Prometheus' format: counters are described under the names that their samples have, and no line says that the text ends.
fn of_prometheus(open_metrics: &str) -> String {
    let mut out = String::with_capacity(open_metrics.len());
    let mut lines = open_metrics.lines().filter(|line| *line != "# EOF").peekable();
    while let Some(line) = lines.next() {
        let is_counter = |name: &str, line: &str| line.strip_prefix("# TYPE ") == Some(&*format!("{name} counter"));
        let described = line.strip_prefix("# HELP ").or_else(|| line.strip_prefix("# TYPE "));
        match described.and_then(|rest| rest.split_once(' ')) {
            // The help comes before the type.
            Some((name, rest)) if is_counter(name, line) || lines.peek().is_some_and(|next| is_counter(name, next)) => {
                let keyword = &line[..line.len() - name.len() - rest.len() - 1];
                out.extend([keyword, name, "_total ", rest]);
            }
            _ => out.push_str(line),
        }
        out.push('\n');
    }
    out
}

/// The values of all metrics at one moment.
#[derive(Debug)]
struct Readings(Vec<(Description, Vec<Series>)>);

impl Collector for Readings {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        for (Description { name, help, kind, labels }, series) in &self.0 {
            if series.is_empty() {
                continue;
            }
            // The format adds the ending to the samples of a counter.
            let name = name.strip_suffix("_total").unwrap_or(name);
            let mut encoder = encoder.encode_descriptor(name, help.trim(), None, kind.metric_type())?;
            for Series { labels: texts, value } in series {
                let labels = labels.iter().zip(texts).filter(|(_, text)| !text.is_empty());
                let labels: Vec<(&str, &str)> = labels.map(|(name, text)| (*name, &**text)).collect();
                if labels.is_empty() {
                    write(*kind, value, &mut encoder)?;
                } else {
                    write(*kind, value, &mut encoder.encode_family(&labels)?)?;
                }
            }
        }
        Ok(())
    }
}

fn write(kind: MetricKind, value: &SeriesValue, encoder: &mut MetricEncoder<'_>) -> fmt::Result {
    const NONE: Option<&Exemplar<NoLabelSet, f64>> = None;
    match (kind, value) {
        (MetricKind::Counter, SeriesValue::Whole(number)) => encoder.encode_counter(number, NONE),
        (MetricKind::Counter, SeriesValue::Real(number)) => encoder.encode_counter(number, NONE),
        (_, SeriesValue::Whole(number)) => encoder.encode_gauge(number),
        (_, SeriesValue::Real(number)) => encoder.encode_gauge(number),
        (_, SeriesValue::Histogram { sum, buckets }) => {
            let count = buckets.iter().map(|(_, count)| count).sum();
            encoder.encode_histogram::<NoLabelSet>(*sum, count, buckets, None)
        }
    }
}

impl MetricKind {
    const fn metric_type(self) -> MetricType {
        match self {
            Self::Counter => MetricType::Counter,
            Self::Gauge => MetricType::Gauge,
            Self::Histogram => MetricType::Histogram,
        }
    }
}

/// The metrics as a Markdown table.
pub(crate) fn markdown_table<'a>(metrics: impl Iterator<Item = &'a (dyn Metric + 'a)>) -> String {
    let mut table = String::from("| metric | kind | labels | |\n|---|---|---|---|\n");
    for Description { name, help, kind, labels } in metrics.map(<dyn Metric>::description) {
        let labels: Vec<_> = labels.iter().map(|label| format!("`{label}`")).collect();
        let kind = kind.metric_type();
        // Writing to a string cannot fail.
        let _ = writeln!(table, "| `{name}` | {} | {} | {} |", kind.as_str(), labels.join(", "), help.trim());
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::telemetry::metrics::instrument::{Counter, Credits, Gauge, Histogram};
    use crate::telemetry::metrics::label::label;
    use crate::telemetry::metrics::table::metrics;

    label! {
        Colour = "colour" { Red = "red", No = "", }
    }

    label! {
        Size = "size" { Small = "small", Large = "large", }
    }

    metrics! {
        /// Things.
        THINGS: Counter, by (Colour, Size) = "test_things_total";
        /// Guests.
        GUESTS: Gauge, by () = "test_guests";
        /// Costs.
        COSTS: Histogram<Credits>, by (Size,) = "test_costs";
    }

    #[test]
    fn writes_openmetrics() {
        THINGS.of((Colour::Red, Size::Large)).add(2);
        THINGS.of((Colour::No, Size::Small)).increment();
        COSTS.of((Size::Large,)).record(7);
        COSTS.of((Size::Large,)).record(70_000);
        let _guest = GUESTS.of(()).count();
        insta::assert_snapshot!(expose(RECORDED.iter().copied(), ExpositionFormat::OpenMetrics).unwrap());
        insta::assert_snapshot!("prometheus", expose(RECORDED.iter().copied(), ExpositionFormat::Prometheus).unwrap());
        insta::assert_snapshot!(markdown_table(RECORDED.iter().copied()));
    }
}
