//! The queries as dots: to the right the estimated cost, upwards the CPU time, both on logarithmic scales. The outliers have
//! the numbers that they have in the table.

use std::fmt::Write;

use crate::measure::svg::{END, anchored, blank, text};
use crate::report::{Point, Report};

const WIDTH: f64 = 980.0;
const HEIGHT: f64 = 680.0;

/// Where the scales end.
const LEFT: f64 = 80.0;
const RIGHT: f64 = 950.0;
const TOP: f64 = 90.0;
const BOTTOM: f64 = 620.0;

const INK: &str = "#333";
const GRID: &str = "#e3e7eb";
const WORST: &str = "#c53030";

/// What dots are told apart by.
struct Kind {
    legend: &'static str,
    colour: &'static str,
    is_of: fn(&Point) -> bool,
}

const KINDS: [Kind; 2] = [
    Kind { legend: "a search term without a selective index", colour: "#dd6b20", is_of: |point| point.is_unindexed },
    Kind { legend: "any other query", colour: "#2b6cb0", is_of: |_| true },
];

/// The picture as SVG.
pub fn picture(report: &Report) -> String {
    let points = &report.queries;
    let across = Scale::of(points.iter().map(cost), LEFT, RIGHT);
    let upwards = Scale::of(points.iter().map(time), BOTTOM, TOP);
    let mut svg = blank(WIDTH, HEIGHT);
    let correlation = report.correlations.first().map_or(0.0, |first| first.spearman);
    let title = format!(
        "Does the cost tell the truth? Estimate and CPU time of {} queries: rank correlation {correlation:.3}",
        points.len()
    );
    let _ = writeln!(svg, "<g font-size=\"16\" font-weight=\"bold\">");
    text(&mut svg, LEFT, 32.0, &title, INK);
    svg.push_str("</g>\n");
    for (number, kind) in KINDS.iter().enumerate() {
        let x = LEFT + 300.0 * number as f64;
        let _ = writeln!(svg, "<circle cx=\"{:.1}\" cy=\"56\" r=\"5\" fill=\"{}\"/>", x + 5.0, kind.colour);
        text(&mut svg, x + 16.0, 60.0, kind.legend, INK);
    }
    for (value, label) in across.marks() {
        let x = across.at(value);
        let _ = writeln!(svg, "<path d=\"M{x:.1} {TOP}V{BOTTOM}\" stroke=\"{GRID}\"/>");
        anchored(&mut svg, x, BOTTOM + 18.0, &label, INK, "middle");
    }
    for (value, label) in upwards.marks() {
        let y = upwards.at(value);
        let _ = writeln!(svg, "<path d=\"M{LEFT} {y:.1}H{RIGHT}\" stroke=\"{GRID}\"/>");
        anchored(&mut svg, LEFT - 8.0, y + 4.0, &label, INK, "end");
    }
    anchored(&mut svg, f64::midpoint(LEFT, RIGHT), BOTTOM + 42.0, "estimated cost, in credits", INK, "middle");
    text(&mut svg, 12.0, TOP - 10.0, "CPU ms a query, server and PostgreSQL", INK);
    for point in points {
        let colour = KINDS.iter().find(|kind| (kind.is_of)(point)).map_or(INK, |kind| kind.colour);
        let (x, y) = (across.at(cost(point)), upwards.at(time(point)));
        let _ =
            writeln!(svg, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.5\" fill=\"{colour}\" fill-opacity=\"0.55\"/>");
    }
    for (number, outlier) in report.outliers.iter().enumerate() {
        let point = &points[outlier.place];
        let (x, y) = (across.at(cost(point)), upwards.at(time(point)));
        let _ = writeln!(svg, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"7\" fill=\"none\" stroke=\"{WORST}\"/>");
        text(&mut svg, x + 9.0, y + 4.0, &(number + 1).to_string(), WORST);
    }
    svg + END
}

fn cost(point: &Point) -> f64 {
    point.estimated as f64
}

fn time(point: &Point) -> f64 {
    point.cpu.total()
}

/// A logarithmic scale.
struct Scale {
    /// The logarithms of its ends.
    low: f64,
    high: f64,
    /// Where they are.
    from: f64,
    to: f64,
}

impl Scale {
    /// A scale that holds these values, with a little room about them.
    fn of(values: impl Iterator<Item = f64>, from: f64, to: f64) -> Self {
        let (low, high) = values
            .map(|value| value.max(f64::MIN_POSITIVE).log10())
            .fold((f64::MAX, f64::MIN), |(low, high), value| (low.min(value), high.max(value)));
        Self { low: low - 0.05, high: high + 0.05, from, to }
    }

    fn at(&self, value: f64) -> f64 {
        let share = (value.max(f64::MIN_POSITIVE).log10() - self.low) / (self.high - self.low);
        self.from + share * (self.to - self.from)
    }

    /// 1, 2 and 5 of every power of ten, as far as it goes.
    fn marks(&self) -> Vec<(f64, String)> {
        let powers = (self.low.floor() as i32)..=(self.high.ceil() as i32);
        let values = powers.flat_map(|power| [1.0, 2.0, 5.0].map(|digit| (digit * 10f64.powi(power), power)));
        let within = values.filter(|(value, _)| (self.low..=self.high).contains(&value.log10()));
        within.map(|(value, power)| (value, format!("{value:.*}", power.min(0).unsigned_abs() as usize))).collect()
    }
}
