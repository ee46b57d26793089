//! The queries as a scatter plot in SVG: the estimated cost on the x axis, the CPU time on the y axis, both logarithmic. The
//! outliers have the numbers that they have in the table.

use super::report::{Point, Prediction};

const WIDTH: f64 = 980.0;
const HEIGHT: f64 = 680.0;

/// The ends of the axes.
const LEFT: f64 = 80.0;
const RIGHT: f64 = 950.0;
const TOP: f64 = 90.0;
const BOTTOM: f64 = 620.0;

const GRID: &str = "#e3e7eb";
const UNINDEXED: &str = "#dd6b20";
const OTHER: &str = "#2b6cb0";
const OUTLIER: &str = "#c53030";

/// The plot as SVG.
pub fn draw(prediction: &Prediction) -> String {
    let points = &prediction.queries;
    let x_axis = Axis::new(points.iter().map(cost), LEFT, RIGHT);
    let y_axis = Axis::new(points.iter().map(time), BOTTOM, TOP);
    let position = |point: &Point| (x_axis.at(cost(point)), y_axis.at(time(point)));
    let text = |x: f64, y: f64, anchor: &str, text: &str| {
        format!("<text x=\"{x:.1}\" y=\"{y:.1}\" fill=\"#333\" text-anchor=\"{anchor}\">{text}</text>\n")
    };
    let dot = |(x, y): (f64, f64), colour: &str| {
        format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.5\" fill=\"{colour}\" fill-opacity=\"0.6\"/>\n")
    };
    let title = format!(
        "Estimated cost and CPU time of {} queries: rank correlation {:.3}",
        points.len(),
        prediction.correlations.first().map_or(0.0, |first| first.spearman)
    );
    let mut svg = vec![
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" "
        ),
        "font-size=\"13\">\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n".to_owned(),
        text(LEFT, 32.0, "start", &title),
        dot((LEFT + 5.0, 56.0), UNINDEXED)
            + &text(LEFT + 16.0, 60.0, "start", "a search term without a selective index"),
        dot((LEFT + 305.0, 56.0), OTHER) + &text(LEFT + 316.0, 60.0, "start", "other queries"),
        text(f64::midpoint(LEFT, RIGHT), BOTTOM + 42.0, "middle", "estimated cost in credits"),
        text(12.0, TOP - 10.0, "start", "CPU ms a query, server and PostgreSQL"),
    ];
    for (value, label) in x_axis.marks() {
        let x = x_axis.at(value);
        svg.push(format!("<path d=\"M{x:.1} {TOP}V{BOTTOM}\" stroke=\"{GRID}\"/>\n"));
        svg.push(text(x, BOTTOM + 18.0, "middle", &label));
    }
    for (value, label) in y_axis.marks() {
        let y = y_axis.at(value);
        svg.push(format!("<path d=\"M{LEFT} {y:.1}H{RIGHT}\" stroke=\"{GRID}\"/>\n"));
        svg.push(text(LEFT - 8.0, y + 4.0, "end", &label));
    }
    svg.extend(points.iter().map(|point| dot(position(point), if point.is_unindexed { UNINDEXED } else { OTHER })));
    for (index, outlier) in prediction.outliers.iter().enumerate() {
        let (x, y) = position(&points[outlier.query]);
        svg.push(format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"7\" fill=\"none\" stroke=\"{OUTLIER}\"/>\n"));
        svg.push(text(x + 9.0, y + 4.0, "start", &(index + 1).to_string()));
    }
    svg.concat() + "</svg>\n"
}

fn cost(point: &Point) -> f64 {
    point.estimated as f64
}

fn time(point: &Point) -> f64 {
    point.cpu.total_ms()
}

/// A logarithmic axis.
struct Axis {
    /// The logarithms of the values at its ends.
    low: f64,
    high: f64,
    /// The coordinates of its ends.
    from: f64,
    to: f64,
}

impl Axis {
    /// An axis that shows all values, with a margin.
    fn new(values: impl Iterator<Item = f64>, from: f64, to: f64) -> Self {
        let logarithms: Vec<_> = values.map(|value| value.max(f64::MIN_POSITIVE).log10()).collect();
        let low = logarithms.iter().copied().fold(f64::MAX, f64::min);
        let high = logarithms.iter().copied().fold(f64::MIN, f64::max);
        Self { low: low - 0.05, high: high + 0.05, from, to }
    }

    fn at(&self, value: f64) -> f64 {
        let share = (value.max(f64::MIN_POSITIVE).log10() - self.low) / (self.high - self.low);
        self.from + share * (self.to - self.from)
    }

    /// 1, 2 and 5 times every power of ten between its ends.
    fn marks(&self) -> Vec<(f64, String)> {
        let powers = (self.low.floor() as i32)..=(self.high.ceil() as i32);
        let values = powers.flat_map(|power| [1.0, 2.0, 5.0].map(|digit| (digit * 10f64.powi(power), power)));
        let within = values.filter(|(value, _)| (self.low..=self.high).contains(&value.log10()));
        within.map(|(value, power)| (value, format!("{value:.*}", power.min(0).unsigned_abs() as usize))).collect()
    }
}
