//! The documentation's tables are checked against the program's own.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::{env, fs};

use orderql::api::operators::state_metrics;
use orderql::config::settings::SETTINGS;
use orderql::error::code;
use orderql::telemetry::event;

use crate::support::command::{orderql_on, run};
use crate::support::database::empty_database;
use crate::support::http::JSON;
use crate::support::server::Server;

/// The tables that the program has itself, each with the one page that has it.
const TABLES: [(&str, &str); 4] = [
    ("settings", "docs/reference.md"),
    ("error codes", "docs/api.md"),
    ("metrics", "docs/reference.md"),
    ("events", "docs/reference.md"),
];

/// `UPDATE_DOCS=1 cargo nextest run documented` writes the tables anew.
#[test]
fn settings_error_codes_metrics_and_events_are_documented() {
    let tables = [settings(), code::markdown_table(), state_metrics::markdown_table(), event::markdown_table()];
    for ((name, page), table) in TABLES.iter().zip(&tables) {
        check(name, page, table);
    }
}

/// The configuration file of packages has every setting, with its default.
#[test]
fn every_setting_is_in_the_configuration_file_of_packages() {
    let mut expected = String::from(
        "# Settings of orderql; `orderql config` prints those in force. Remove the # before a line to change it.\n",
    );
    for setting in SETTINGS {
        let reload = if setting.live { " A reload puts it in force." } else { "" };
        // The unit's user has a folder for its keys, which the program by itself has not.
        let line = match setting.name {
            "key-folder" => "key-folder = '/var/lib/orderql/keys'".to_owned(),
            name => format!("# {name} = '{}'", setting.default),
        };
        write!(expected, "\n# {}{reload}\n{line}\n", setting.help.trim()).unwrap();
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/operations/orderql.toml");
    if env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, &expected).unwrap();
    }
    assert!(fs::read_to_string(&path).unwrap_or_default() == expected, "run this test with UPDATE_DOCS=1");
}

/// Dashboard and alert rules use only metrics that there are.
#[test]
fn dashboard_and_alert_rules_use_existing_metrics() {
    let table = state_metrics::markdown_table();
    for file in ["dashboard.json", "alerts.yaml"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/operations").join(file);
        let text = fs::read_to_string(&path).unwrap();
        let words: BTreeSet<_> = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').collect();
        let is_metric = |word: &&&str| {
            ["orderql_", "http_server_", "db_client_", "process_"].iter().any(|beginning| word.starts_with(beginning))
        };
        let metrics: Vec<_> = words.iter().filter(is_metric).collect();
        assert!(metrics.len() > 10, "{file}");
        for metric in metrics {
            let series = ["", "_bucket", "_sum", "_count"].map(|ending| metric.strip_suffix(ending));
            let is_known = |name: &str| table.contains(&format!("`{name}`"));
            assert!(series.into_iter().flatten().any(is_known), "{file}: {metric}");
        }
        for label in labels(&text) {
            let is_given = ["le", "instance", "job", "severity"].contains(&label);
            assert!(is_given || table.contains(&format!("`{label}`")), "{file}: {label}");
        }
        if file == "dashboard.json" {
            assert!(serde_json::from_str::<serde_json::Value>(&text).unwrap()["panels"].is_array());
        } else {
            match Command::new("promtool").args(["check", "rules"]).arg(&path).output() {
                Ok(output) => assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr)),
                Err(_) => println!("promtool is not installed"),
            }
        }
    }
}

/// As many crates as the README says are built with the library alone.
#[test]
fn the_library_alone_has_as_many_crates_as_the_readme_says() {
    let flags = ["--offline", "--no-default-features", "--edges", "normal", "--prefix", "none", "--format", "{p}"];
    let mut tree = Command::new(env!("CARGO"));
    let output = tree.arg("tree").args(flags).args(["--target", "x86_64-unknown-linux-gnu"]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let listed = String::from_utf8(output.stdout).unwrap();
    let crates: BTreeSet<_> = listed.lines().map(|line| line.trim_end_matches(" (*)")).collect();
    // Without this one.
    let expected = format!("{} crates, no server", crates.len() - 1);
    assert!(readme().contains(&expected), "{expected}");
}

fn readme() -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).unwrap()
}

/// The first request of the README, to a database that was filled as there, has the response that stands there.
#[tokio::test(flavor = "multi_thread")]
async fn the_first_request_of_the_readme_has_the_response_that_it_shows() {
    let (database, readme) = (empty_database().await, readme());
    for (command, input) in
        [("migrate", ""), ("sample --orders 100", ""), ("user add ann --group API", "secret-of-ann\n")]
    {
        assert!(
            readme.contains(&format!("\norderql {command} ")) || readme.contains(&format!("\norderql {command}\n")),
            "{command}"
        );
        let result = run(orderql_on(&database).args(command.split(' ')), input);
        assert!(result.succeeded, "{command}: {}", result.stderr);
    }
    let server = Server::start(&database, &[]);
    let token =
        server.sign_in("/auth/token", "ann", "secret-of-ann").json()["access_token"].as_str().unwrap().to_owned();
    let (_, after) = readme.split_once("--json '").unwrap();
    let (body, after) = after.split_once("'\n").unwrap();
    let (_, after) = after.split_once("```json\n").unwrap();
    let response = server.post(&token, JSON, body).body;
    let shown: String = after.split_once("\n```").unwrap().0.lines().map(str::trim_start).collect();
    assert_eq!(shown, response);
}

/// The labels that queries group and filter by.
fn labels(queries: &str) -> BTreeSet<&str> {
    let lists = |begin: &'static str, end: char| {
        queries.split(begin).skip(1).filter_map(move |rest| rest.split_once(end)).map(|(list, _)| list)
    };
    let grouped = lists("by (", ')').flat_map(|list| list.split(','));
    let conditions = lists("{", '}').flat_map(|list| list.split(',')).filter(|condition| !condition.contains(':'));
    let filtered = conditions.filter_map(|condition| Some(condition.split_once('=')?.0.trim_end_matches('!')));
    grouped.chain(filtered).map(str::trim).filter(|label| !label.is_empty()).collect()
}

fn settings() -> String {
    let mut table =
        String::from("| flag, and key in the file | variable | default | reload | |\n|---|---|---|---|---|\n");
    for setting in SETTINGS {
        let default = if setting.default.is_empty() { String::new() } else { format!("`{}`", setting.default) };
        let (live, help) = (if setting.live { "✓" } else { "" }, setting.help.trim());
        writeln!(table, "| `{}` | `{}` | {default} | {live} | {help} |", setting.name, setting.variable).unwrap();
    }
    table
}

/// Checks the text between `<!-- name -->` and `<!-- /name -->` in a page.
fn check(name: &str, page: &str, expected: &str) {
    let (begin, end) = (format!("<!-- {name} -->\n"), format!("<!-- /{name} -->"));
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(page);
    let text = fs::read_to_string(&path).unwrap();
    let (before, rest) = text.split_once(&begin).unwrap_or_else(|| panic!("{page} has no {begin}"));
    let (found, after) = rest.split_once(&end).unwrap();
    if env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, format!("{before}{begin}{expected}{end}{after}")).unwrap();
    } else {
        assert!(
            found == expected,
            "{page} differs from the program; run this test with UPDATE_DOCS=1, or paste between {begin}\n{expected}"
        );
    }
}
