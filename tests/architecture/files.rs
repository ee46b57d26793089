//! The form of a file: a heading, and a limited length.

use crate::sources::sources;

/// The maximum number of lines of a file.
const MAX_LINES: usize = 600;

#[test]
fn every_file_has_a_heading_and_is_not_too_long() {
    let mut violations = Vec::new();
    for (path, text) in ["src", "tests", "benches"].into_iter().flat_map(sources) {
        if !text.starts_with("//!") {
            violations.push(format!("{}: does not begin with `//!`", path.display()));
        }
        if text.lines().count() > MAX_LINES {
            violations.push(format!("{}: more than {MAX_LINES} lines", path.display()));
        }
    }
    assert!(violations.is_empty(), "{violations:#?}");
}
