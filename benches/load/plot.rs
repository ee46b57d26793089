//! The figures as a picture: for each workload a bar a contestant, answers a second on the left, CPU time a request on the
//! right.

use std::fmt::Write;

use crate::contestant::{Figures, Name};
use crate::measure::svg::{END, blank, text};
use crate::report::{Measured, Report};
use crate::workload::Workload;

const WIDTH: f64 = 1190.0;
const LEFT: f64 = 340.0;
const MIDDLE: f64 = 760.0;
const LONGEST: f64 = 280.0;
const ROW: f64 = 22.0;
const TITLE: f64 = 46.0;

/// The colours of an answer's time in the server and in PostgreSQL, and of everybody's and our bars.
const SERVER: &str = "#e07b39";
const POSTGRESQL: &str = "#4a7fb5";
const THEIRS: &str = "#9aa5b1";
const OURS: &str = "#2f855a";

/// The picture as SVG.
pub fn picture(report: &Report) -> String {
    let rows: usize = report.workloads.values().map(std::collections::BTreeMap::len).sum();
    let height = rows as f64 * ROW + report.workloads.len() as f64 * TITLE + 60.0;
    let mut svg = blank(WIDTH, height);
    let mut top = 30.0;
    text(&mut svg, LEFT, top, "answers a second", "#333");
    text(&mut svg, MIDDLE, top, "CPU ms a request: PostgreSQL", POSTGRESQL);
    text(&mut svg, MIDDLE + 210.0, top, "and server", SERVER);
    for (workload, contestants) in &report.workloads {
        top += TITLE - ROW;
        let _ = writeln!(svg, "<text x=\"12\" y=\"{top}\" font-weight=\"bold\">{}</text>", title(*workload));
        top += ROW / 2.0;
        let most = |figure: fn(&Figures) -> f64| {
            contestants.values().map(|measured| figure(&measured.median)).fold(f64::MIN_POSITIVE, f64::max)
        };
        // The floor is not in the race: it would make all other bars short.
        let fastest = contestants.iter().filter(|(name, _)| **name != Name::Floor);
        let fastest = fastest.map(|(_, measured)| measured.median.per_second).fold(f64::MIN_POSITIVE, f64::max);
        let dearest = most(|figures| cpu(figures).0 + cpu(figures).1);
        for (name, Measured { median, .. }) in contestants {
            text(&mut svg, 24.0, top + 14.0, name.legend(), "#333");
            let length = LONGEST * (median.per_second / fastest).min(1.0);
            bar(&mut svg, LEFT, top, length, if *name == Name::Orderql { OURS } else { THEIRS });
            text(&mut svg, LEFT + length + 6.0, top + 14.0, &format!("{:.0}", median.per_second), "#333");
            let (postgresql, server) = cpu(median);
            let (of_postgresql, of_server) = (LONGEST * postgresql / dearest, LONGEST * server / dearest);
            bar(&mut svg, MIDDLE, top, of_postgresql, POSTGRESQL);
            bar(&mut svg, MIDDLE + of_postgresql, top, of_server, SERVER);
            text(&mut svg, MIDDLE + of_postgresql + of_server + 6.0, top + 14.0, &label(median), "#333");
            top += ROW;
        }
    }
    svg + END
}

fn title(workload: Workload) -> &'static str {
    match workload {
        Workload::Detail => "detail: an order with its ship groups and items",
        Workload::Page => "page: 50 orders from anywhere",
        Workload::Nested => "nested: 20 orders with 10 items each from anywhere",
        Workload::Point => "point: 5 scalars of one order",
    }
}

/// `PostgreSQL`'s and the server's; nothing is 0 here.
fn cpu(figures: &Figures) -> (f64, f64) {
    (figures.postgresql_cpu_ms.unwrap_or_default(), figures.server_cpu_ms.unwrap_or_default())
}

/// Both, as far as there are such.
fn label(figures: &Figures) -> String {
    let known = [figures.postgresql_cpu_ms, figures.server_cpu_ms].into_iter().flatten();
    known.map(|time| format!("{time:.3}")).collect::<Vec<_>>().join(" + ")
}

fn bar(svg: &mut String, x: f64, y: f64, length: f64, colour: &str) {
    let height = ROW - 5.0;
    let _ =
        writeln!(svg, "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{length:.1}\" height=\"{height}\" fill=\"{colour}\"/>");
}
