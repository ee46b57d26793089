//! Pictures, written by hand, as they are a few shapes and texts.

use std::fmt::Write;

/// A picture of that size, white, with nothing on it yet. It is to be ended with [`END`].
pub fn blank(width: f64, height: f64) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" \
         font-size=\"13\"><rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n"
    )
}

/// What ends a picture.
pub const END: &str = "</svg>\n";

/// Adds a text that begins there.
pub fn text(svg: &mut String, x: f64, y: f64, text: &str, colour: &str) {
    anchored(svg, x, y, text, colour, "start");
}

/// Adds a text whose `start`, `middle` or `end` is there.
pub fn anchored(svg: &mut String, x: f64, y: f64, text: &str, colour: &str, anchor: &str) {
    let text = escaped(text);
    let _ = writeln!(svg, "<text x=\"{x:.1}\" y=\"{y:.1}\" fill=\"{colour}\" text-anchor=\"{anchor}\">{text}</text>");
}

/// A text as SVG holds it.
pub fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}
