//! README says what the program does: its tables are held against the program's own.

use std::fmt::Write as _;
use std::{env, fs};

use orderql::config::SETTINGS;
use orderql::error::ErrorCode;

const README: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/README.md");
const MARKS: (&str, &str) = ("<!-- settings -->\n", "<!-- /settings -->");

/// `UPDATE_README=1 cargo nextest run settings` writes the table anew.
#[test]
fn every_setting_is_told() {
    let readme = fs::read_to_string(README).unwrap();
    let (before, rest) = readme.split_once(MARKS.0).unwrap();
    let (told, after) = rest.split_once(MARKS.1).unwrap();
    let mut table = String::from("| flag, and key in the file | variable | default | |\n|---|---|---|---|\n");
    for setting in SETTINGS {
        let default = if setting.default.is_empty() { String::new() } else { format!("`{}`", setting.default) };
        let help = setting.help.trim();
        writeln!(table, "| `{}` | `{}` | {default} | {help} |", setting.name, setting.variable).unwrap();
    }
    if env::var_os("UPDATE_README").is_some() {
        fs::write(README, format!("{before}{}{table}{}{after}", MARKS.0, MARKS.1)).unwrap();
    } else {
        assert_eq!(told, table, "README's table is old; run this test with UPDATE_README=1");
    }
}

#[test]
fn every_code_is_told() {
    let readme = fs::read_to_string(README).unwrap();
    for code in ErrorCode::ALL {
        assert!(readme.contains(&format!("| `{code}` |")), "{code}");
    }
}
