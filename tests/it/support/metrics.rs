//! A strict reader of metrics in the format `OpenMetrics` 1.0. It panics where the text is not as the specification says.

use std::collections::{BTreeMap, BTreeSet};

/// What a server's metrics read at one moment.
#[derive(Debug, Clone)]
pub struct Metrics {
    /// The samples, by their names with their labels in alphabetical order: `name{label="value"}`.
    pub samples: BTreeMap<String, f64>,
    /// The kinds of the families.
    pub kinds: BTreeMap<String, String>,
    /// The names of all labels.
    pub labels: BTreeSet<String>,
}

impl Metrics {
    pub fn parse(text: &str) -> Self {
        let body = text.strip_suffix("# EOF\n").unwrap();
        let mut metrics = Self { samples: BTreeMap::new(), kinds: BTreeMap::new(), labels: BTreeSet::new() };
        let (mut family, mut has_help) = (String::new(), BTreeSet::new());
        for line in body.lines() {
            if let Some(help) = line.strip_prefix("# HELP ") {
                let (name, help) = help.split_once(' ').unwrap();
                assert!(has_help.insert(name.to_owned()), "{name} is there twice");
                assert!(is_name(name) && help.ends_with('.') && !help.contains('\\'), "{line}");
            } else if let Some(kind) = line.strip_prefix("# TYPE ") {
                let (name, kind) = kind.split_once(' ').unwrap();
                assert!(has_help.contains(name) && ["counter", "gauge", "histogram"].contains(&kind), "{line}");
                assert_eq!(metrics.kinds.insert(name.to_owned(), kind.to_owned()), None, "{name} is there twice");
                name.clone_into(&mut family);
            } else {
                metrics.add_sample(&family, line);
            }
        }
        metrics.check_histograms();
        metrics
    }

    fn add_sample(&mut self, family: &str, line: &str) {
        let (series, value) = line.rsplit_once(' ').unwrap();
        let (name, labels) = match series.split_once('{') {
            None => (series, Vec::new()),
            Some((name, labels)) => (name, parse_labels(labels.strip_suffix('}').unwrap())),
        };
        let ending = name.strip_prefix(family).unwrap_or_else(|| panic!("{line} is not of {family}"));
        let endings: &[&str] = match self.kinds[family].as_str() {
            "counter" => &["_total"],
            "gauge" => &[""],
            _ => &["_bucket", "_sum", "_count"],
        };
        assert!(endings.contains(&ending), "{line}");
        let value: f64 = value.parse().unwrap();
        assert!(value.is_finite() && value >= 0.0, "{line}");
        let names: BTreeSet<_> = labels.iter().map(|(name, _)| name.clone()).collect();
        assert_eq!(names.len(), labels.len(), "{line}");
        self.labels.extend(names);
        assert_eq!(self.samples.insert(series_name(name, labels), value), None, "{line} is there twice");
    }

    /// The ranges of a histogram include those before them, and the last one is all.
    fn check_histograms(&self) {
        for (family, _) in self.kinds.iter().filter(|(_, kind)| *kind == "histogram") {
            let counts = self.samples.iter().filter(|(name, _)| name.starts_with(&format!("{family}_count")));
            for (name, count) in counts {
                let labels = name.split_once('{').map_or("", |(_, labels)| labels.strip_suffix('}').unwrap());
                let labels = parse_labels(labels);
                let mut ranges = Vec::new();
                for (range, count) in
                    self.samples.iter().filter(|(name, _)| name.starts_with(&format!("{family}_bucket{{")))
                {
                    let mut others = parse_labels(range.split_once('{').unwrap().1.strip_suffix('}').unwrap());
                    let bound = others.iter().position(|(name, _)| name == "le").unwrap();
                    let bound: f64 = others.remove(bound).1.parse().unwrap();
                    if others == labels {
                        ranges.push((bound, *count));
                    }
                }
                ranges.sort_by(|one, other| one.0.total_cmp(&other.0));
                assert!(
                    ranges.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 <= pair[1].1),
                    "{name} {ranges:?}"
                );
                assert_eq!(ranges.last(), Some(&(f64::INFINITY, *count)), "{name}");
                assert!(self.samples.contains_key(&series_name(&format!("{family}_sum"), labels)), "{name}");
            }
        }
    }

    /// A sample that is a whole number: its name, with its labels in alphabetical order. One that is not there is 0.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "samples are not negative")]
    pub fn get(&self, series: &str) -> u64 {
        self.samples.get(series).map_or(0, |value| *value as u64)
    }

    /// Panics if a counter, or a part of a histogram, is less than before.
    pub fn assert_not_below(&self, before: &Self) {
        for (name, value) in &before.samples {
            let family = name.split('{').next().unwrap();
            let is_growing = ["_total", "_bucket", "_sum", "_count"].iter().any(|ending| {
                family
                    .strip_suffix(ending)
                    .and_then(|family| self.kinds.get(family))
                    .is_some_and(|kind| kind != "gauge")
            });
            assert!(!is_growing || self.samples[name] >= *value, "{name}: {value}, then {}", self.samples[name]);
        }
    }
}

fn parse_labels(text: &str) -> Vec<(String, String)> {
    let mut labels = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (name, after) = rest.split_once("=\"").unwrap();
        // No value of a label has a character that is escaped.
        let (value, after) = after.split_once('"').unwrap();
        assert!(is_name(name) && !value.is_empty() && !value.contains('\\'), "{text}");
        labels.push((name.to_owned(), value.to_owned()));
        rest = after.strip_prefix(',').unwrap_or(after);
        assert!(rest.is_empty() || rest.len() < after.len(), "{text}");
    }
    labels.sort();
    labels
}

fn series_name(name: &str, labels: Vec<(String, String)>) -> String {
    let labels: Vec<_> = labels.into_iter().map(|(name, value)| format!("{name}=\"{value}\"")).collect();
    if labels.is_empty() { name.to_owned() } else { format!("{name}{{{}}}", labels.join(",")) }
}

fn is_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}
