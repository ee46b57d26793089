//! The figures as a picture, in SVG.

use std::fmt::Write as _;

use crate::{Figures, STORE_CAPACITY};

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 320.0;
const LEFT: f64 = 60.0;
const BOTTOM: f64 = 40.0;
const TOP: f64 = 30.0;
const PANEL: f64 = 300.0;

/// A line of the picture: its name, its colour, and its points.
struct Line {
    name: &'static str,
    colour: &'static str,
    points: Vec<(f64, f64)>,
}

/// Two panels beside each other: the calls of the store, and what is admitted beyond one bucket.
pub fn svg(all: &[Figures]) -> String {
    let line = |name, colour, value: &dyn Fn(&Figures) -> f64| Line {
        name,
        colour,
        points: all.iter().map(|figures| (figures.nodes as f64, value(figures))).collect(),
    };
    let calls = [
        line("calls a second", "#1f6feb", &|figures| figures.calls.log10()),
        line("what one store takes", "#8b949e", &|_| STORE_CAPACITY.log10()),
    ];
    let beyond = [
        line("a bucket on each node", "#d1242f", &|figures| 100.0 * figures.beyond[0]),
        line("store away for a third of the time", "#bf8700", &|figures| 100.0 * figures.beyond[2]),
        line("1/N on each node", "#8250df", &|figures| 100.0 * figures.beyond[1]),
        line("one store", "#1a7f37", &|_| 0.0),
    ];
    let largest = beyond.iter().flat_map(|line| line.points.iter().map(|point| point.1)).fold(10.0, f64::max);
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" font-size=\"11\">\n\
         <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"#fff\"/>\n"
    );
    panel(&mut text, 0.0, "Calls of the store a second", &calls, (2.0, 6.0), &|exponent| {
        format!("{:.0}", 10_f64.powf(exponent))
    });
    panel(&mut text, 380.0, "Admitted beyond one bucket, %", &beyond, (0.0, largest), &|value| format!("{value:.0}"));
    text + "</svg>\n"
}

fn panel(text: &mut String, x: f64, title: &str, lines: &[Line], range: (f64, f64), label: &dyn Fn(f64) -> String) {
    let across = |nodes: f64| x + LEFT + nodes.log10() / 3.0 * PANEL;
    let up = |value: f64| HEIGHT - BOTTOM - (value - range.0) / (range.1 - range.0) * (HEIGHT - BOTTOM - TOP);
    // Writing to a string cannot fail.
    let _ = writeln!(text, "<text x=\"{}\" y=\"16\" font-weight=\"bold\">{title}</text>", x + LEFT);
    for step in 0..=4 {
        let value = range.0 + (range.1 - range.0) * f64::from(step) / 4.0;
        let (from, to, y) = (x + LEFT, x + LEFT + PANEL, up(value));
        let _ = writeln!(text, "<line x1=\"{from}\" x2=\"{to}\" y1=\"{y:.1}\" y2=\"{y:.1}\" stroke=\"#d0d7de\"/>");
        let _ = writeln!(
            text,
            "<text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            from - 6.0,
            y + 4.0,
            label(value)
        );
    }
    for nodes in [1.0, 10.0, 100.0, 1000.0] {
        let (x, y) = (across(nodes), HEIGHT - BOTTOM + 16.0);
        let _ = writeln!(text, "<text x=\"{x:.1}\" y=\"{y}\" text-anchor=\"middle\">{nodes}</text>");
    }
    let _ = writeln!(
        text,
        "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">nodes</text>",
        x + LEFT + PANEL / 2.0,
        HEIGHT - 8.0
    );
    for (at, Line { name, colour, points }) in lines.iter().enumerate() {
        let points: Vec<_> =
            points.iter().map(|(nodes, value)| format!("{:.1},{:.1}", across(*nodes), up(*value))).collect();
        let points = points.join(" ");
        let _ = writeln!(text, "<polyline points=\"{points}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>");
        let y = TOP + 14.0 * (at as f64 + 1.0);
        let _ = writeln!(text, "<text x=\"{}\" y=\"{y}\" fill=\"{colour}\">{name}</text>", x + LEFT + 8.0);
    }
}
