//! The documentation's tables are checked against the program's own.

use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

use orderql::config::settings::SETTINGS;
use orderql::error::code::markdown_table;

/// Files that may contain the tables.
const DOCUMENTS: [&str; 2] = ["docs/api.md", "docs/operations.md"];

/// `UPDATE_DOCS=1 cargo nextest run documented` writes the tables anew.
#[test]
fn settings_and_error_codes_are_documented() {
    check("settings", &settings());
    check("error codes", &markdown_table());
}

fn settings() -> String {
    let mut table = String::from("| flag, and key in the file | variable | default | |\n|---|---|---|---|\n");
    for setting in SETTINGS {
        let default = if setting.default.is_empty() { String::new() } else { format!("`{}`", setting.default) };
        let help = setting.help.trim();
        writeln!(table, "| `{}` | `{}` | {default} | {help} |", setting.name, setting.variable).unwrap();
    }
    table
}

/// Checks the text between `<!-- name -->` and `<!-- /name -->` in whichever document has these markers.
fn check(name: &str, expected: &str) {
    let (begin, end) = (format!("<!-- {name} -->\n"), format!("<!-- /{name} -->"));
    for document in DOCUMENTS {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(document);
        let text = fs::read_to_string(&path).unwrap_or_default();
        let Some((before, rest)) = text.split_once(&begin) else { continue };
        let (found, after) = rest.split_once(&end).unwrap();
        if env::var_os("UPDATE_DOCS").is_some() {
            fs::write(&path, format!("{before}{begin}{expected}{end}{after}")).unwrap();
        } else {
            assert!(
                found == expected,
                "{document} differs from the program; run this test with UPDATE_DOCS=1, or paste between {begin}\n{expected}"
            );
        }
        return;
    }
    panic!("no document of {DOCUMENTS:?} has the marker {begin}");
}
