//! What `docs/develop/architecture.md` says about the files: they exist, and so do the modules, in that order.

use std::fs;
use std::path::Path;

use crate::sources::{self, package};

/// The names in code style in a text: `a` in "the `a`".
fn names(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

fn guide() -> String {
    fs::read_to_string(package().join("docs/develop/architecture.md")).unwrap()
}

#[test]
fn every_path_in_the_guide_exists() {
    let text = guide();
    let roots = ["src/", "tests/", "docs/", "grammar/", "benches/", "fuzz/"];
    let paths = names(&text).filter(|name| roots.iter().any(|root| name.starts_with(root)));
    let wrong: Vec<_> = paths.filter(|path| !package().join(path).exists()).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    // Files of a module are named from `src`.
    let is_file = |name: &&str| {
        Path::new(name).extension() == Some("rs".as_ref()) && name.contains('/') && !name.starts_with("src/")
    };
    let wrong: Vec<_> =
        names(&text).filter(is_file).filter(|path| !package().join("src").join(path).exists()).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn the_table_of_modules_is_that_of_the_library_in_its_order() {
    let text = guide();
    let rows =
        text.lines().skip_while(|line| *line != "| module | responsibility |").take_while(|line| line.starts_with('|'));
    let modules = rows.flat_map(|row| names(row.split('|').nth(1).unwrap()).collect::<Vec<_>>());
    let modules: Vec<_> = modules.filter(|name| !name.contains("::")).collect();
    assert_eq!(modules, sources::modules());
}

#[test]
fn the_rows_that_say_where_to_add_something_name_files_that_mention_it() {
    let text = guide();
    for (row, file, mentioned) in [
        ("an error code", "src/error/code.rs", "error_codes!"),
        ("a caller limit", "src/limits.rs", "max_cost"),
        ("a setting", "src/config/settings.rs", "ORDERQL_LISTEN"),
        ("a kind of root field", "src/catalog/binding.rs", "enum Binding"),
        ("an event to log", "src/telemetry/event.rs", "enum Event"),
        (
            "a column or table of the service's accounts",
            "src/migration/declared/service_tables.txt",
            "orderql.user_account",
        ),
        ("a table, view, function or trigger of orders", "src/migration/declared/tables.txt", "order_header"),
        ("a metric", "src/api/operators/state_metrics.rs", "metric"),
    ] {
        let line = text.lines().find(|line| line.starts_with(&format!("| {row} |")));
        assert!(line.is_some_and(|line| line.contains(file)), "{row}: {file}");
        assert!(fs::read_to_string(package().join(file)).unwrap().contains(mentioned), "{file}: {mentioned}");
    }
}
