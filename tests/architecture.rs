//! The house's plan, held against the house: which room uses which, where outside crates come in, what a file looks like.
//! When the plan is wrong, change it and the house together.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "architecture/words.rs"]
mod words;

use std::fs;
use std::path::{Path, PathBuf};

use words::{below, heads, names, tokens, without_tests};

/// The rooms in reading order, as in `lib.rs`, each with the rooms that it may use.
const ROOMS: &[(&str, &[&str])] = &[
    ("value", &[]),
    ("nearest", &[]),
    ("limits", &[]),
    ("byte_lru", &[]),
    ("error", &[]),
    ("search", &["error"]),
    ("cursor", &["value"]),
    ("catalog", &["value", "search", "cursor"]),
    ("query", &["value", "nearest", "limits", "error", "search", "cursor", "catalog"]),
    ("cost", &["limits", "error", "catalog", "query"]),
    ("plan", &["value", "search", "cursor", "catalog", "query"]),
    ("compile", &["limits", "byte_lru", "error", "catalog", "query", "cost", "plan"]),
    ("telemetry", &[]),
    ("database", &["value", "telemetry"]),
    ("load", &["database"]),
    ("sample", &[]),
    ("execute", &["value", "cursor", "query", "plan", "database"]),
    ("preflight", &["value", "catalog", "plan", "database", "execute"]),
    ("throttle", &[]),
    ("access", &["nearest", "limits", "telemetry", "database", "throttle"]),
    ("orders", &["database"]),
    (
        "http",
        &[
            "limits",
            "byte_lru",
            "error",
            "query",
            "cost",
            "compile",
            "database",
            "execute",
            "throttle",
            "access",
            "orders",
            "telemetry",
        ],
    ),
    ("config", &["nearest", "limits", "database", "throttle", "access", "telemetry", "http"]),
    ("cli", ALL),
    ("main", &["cli"]),
];
const ALL: &[&str] = &["*"];

/// The rooms that do no I/O, start nothing and know no time: those up to this one.
const LAST_PURE: &str = "compile";
const IMPURE_STD: &[&str] = &["env", "fs", "io", "net", "os", "process", "thread", "time"];
const IMPURE_WORDS: &[&str] = &["async", "await", "tokio", "futures_util"];

/// The outside crates that come in by one door, and the rooms behind it.
const DOORS: &[(&str, &[&str])] = &[
    ("graphql_parser", &["catalog", "query"]),
    ("lru", &["byte_lru", "access"]),
    // Those that run statements, and those that know where the database is.
    ("tokio_postgres", &["database", "load", "sample", "execute", "preflight", "access", "orders", "config", "cli"]),
    ("deadpool_postgres", &["database"]),
    ("refinery", &["database"]),
    ("quick_xml", &["load"]),
    ("argon2", &["access"]),
    ("multer", &["orders"]),
    ("jwt_simple", &["access"]),
    ("hyper", &["http"]),
    ("hyper_util", &["http"]),
    ("http_body_util", &["http"]),
    ("flate2", &["http"]),
    ("brotli", &["http"]),
    ("zstd", &["http"]),
    ("sha2", &["http"]),
    ("percent_encoding", &["http"]),
    ("tracing", &["telemetry"]),
    ("tracing_subscriber", &["telemetry"]),
    ("clap", &["config", "cli"]),
    ("indicatif", &["cli"]),
    ("rand_chacha", &["sample"]),
];

const MOST_LINES: usize = 600;

#[test]
fn every_file_keeps_to_the_plan() {
    let files = sources("src");
    let faults: Vec<_> = files.iter().flat_map(|(path, text)| violations(path, text)).collect();
    assert!(faults.is_empty(), "{faults:#?}");
    let rooms: Vec<_> = ROOMS.iter().map(|(room, _)| *room).collect();
    let strays: Vec<_> = files.iter().map(|(path, _)| module(path)).filter(|path| !path.is_empty()).collect();
    let strays: Vec<_> = strays.iter().filter(|path| !rooms.contains(&path[0].as_str())).collect();
    assert!(strays.is_empty(), "no room of the plan: {strays:?}");
}

#[test]
fn every_file_says_what_it_is_about_and_is_not_too_long() {
    let mut faults = Vec::new();
    for (path, text) in sources("src").into_iter().chain(sources("tests")) {
        if !text.starts_with("//!") {
            faults.push(format!("{}: begins without `//!`", path.display()));
        }
        if text.lines().count() > MOST_LINES {
            faults.push(format!("{}: more than {MOST_LINES} lines", path.display()));
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn the_plan_is_in_reading_order_and_leads_upwards_only() {
    let lib = fs::read_to_string(folder("src").join("lib.rs")).unwrap();
    let rooms = lib.lines().filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';'));
    let planned = ROOMS.iter().map(|(room, _)| *room).filter(|room| *room != "main");
    assert_eq!(rooms.collect::<Vec<_>>(), planned.collect::<Vec<_>>());
    for (place, (room, used)) in ROOMS.iter().enumerate() {
        let is_above = |used: &&str| *used == "*" || ROOMS[..place].iter().any(|(above, _)| above == used);
        assert!(used.iter().all(is_above), "{room} may use only rooms above it");
    }
    let manifest = fs::read_to_string(folder("Cargo.toml")).unwrap();
    for (outside, _) in DOORS {
        let named = |name: &str| manifest.contains(&format!("\n{name} = "));
        assert!(named(outside) || named(&outside.replace('_', "-")), "{outside} is no dependency");
    }
}

/// What of a file is against the plan. Its path begins with `src`.
fn violations(path: &Path, text: &str) -> Vec<String> {
    let module = module(path);
    let Some(room) = module.first() else { return Vec::new() };
    let place = ROOMS.iter().position(|(name, _)| name == room);
    let Some(place) = place else { return vec![format!("{}: {room} is no room of the plan", path.display())] };
    let may_use = |used: &str| used == room || ROOMS[place].1.iter().any(|may| *may == "*" || *may == used);
    let is_pure = ROOMS[..=place].iter().all(|(room, _)| *room != LAST_PURE) || room == LAST_PURE;

    let tokens = without_tests(&tokens(text));
    let mut faults = Vec::new();
    for used in rooms_used(&tokens, &module) {
        if !may_use(&used) {
            faults.push(format!("{}: {room} may not use {used}", path.display()));
        }
    }
    for (outside, rooms) in DOORS {
        if !rooms.contains(&room.as_str()) && names(&tokens, outside) {
            faults.push(format!("{}: {room} is no door for {outside}", path.display()));
        }
    }
    if is_pure {
        let std = below(&tokens, "std").into_iter().filter(|name| IMPURE_STD.contains(&name.as_str()));
        let words = tokens.iter().filter(|token| IMPURE_WORDS.contains(&token.as_str())).cloned();
        faults.extend(std.chain(words).map(|name| format!("{}: {room} is pure, so no {name}", path.display())));
    }
    faults
}

/// The rooms that a file names: behind `crate::`, or behind enough `super::`.
fn rooms_used(tokens: &[String], module: &[String]) -> Vec<String> {
    let mut used = below(tokens, "crate");
    used.extend(below(tokens, "orderql"));
    let climb = vec!["super".to_owned(); module.len()].join("::");
    let climb = self::tokens(&climb);
    let starts = (0..tokens.len()).filter(|start| tokens[*start..].starts_with(&climb));
    used.extend(starts.flat_map(|start| heads(tokens, start + climb.len())));
    used
}

/// A file's module path: `["query", "bind"]` for `src/query/bind/mod.rs`; nothing for `src/lib.rs`.
fn module(path: &Path) -> Vec<String> {
    let path = path.with_extension("");
    let names = path.iter().skip(1).map(|name| name.to_string_lossy().into_owned());
    names.filter(|name| name != "mod" && name != "lib").collect()
}

/// The Rust files below a folder of the package, by path from there.
fn sources(below: &str) -> Vec<(PathBuf, String)> {
    let mut folders = vec![PathBuf::from(below)];
    let mut files = Vec::new();
    while let Some(path) = folders.pop() {
        for entry in fs::read_dir(folder("").join(&path)).unwrap() {
            let path = path.join(entry.unwrap().file_name());
            let absolute = folder("").join(&path);
            if absolute.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                files.push((path, fs::read_to_string(absolute).unwrap()));
            }
        }
    }
    assert!(!files.is_empty());
    files
}

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

#[test]
fn whatever_is_against_the_plan_is_found() {
    for (path, text, expected) in [
        ("src/cost/admit.rs", "use crate::plan::request_plan::Plan;", "cost may not use plan"),
        ("src/cost/mod.rs", "use crate::{\n    query::bind::{self, page},\n    http,\n};", "cost may not use http"),
        ("src/value.rs", "fn f() { crate::cli::run() }", "value may not use cli"),
        ("src/value.rs", "use super::limits::Limits;", "value may not use limits"),
        ("src/cost/admit.rs", "fn f(_: super::super::plan::Plan) {}", "cost may not use plan"),
        ("src/main.rs", "fn main() { orderql::http::serve() }", "main may not use http"),
        ("src/plan/build.rs", "use graphql_parser::Pos;", "plan is no door for graphql_parser"),
        ("src/execute/mod.rs", "use hyper;", "execute is no door for hyper"),
        ("src/plan/build.rs", "use std::{fmt, time::{self, Instant}};", "plan is pure, so no time"),
        ("src/compile.rs", "fn f() { std::env::var(\"A\"); }", "compile is pure, so no env"),
        ("src/query/mod.rs", "async fn f() {}", "query is pure, so no async"),
        ("src/utils/mod.rs", "", "utils is no room of the plan"),
        // What looks like a comment or a string, and is none.
        ("src/cost/mod.rs", "const A: char = '\"'; use crate::plan; // \"", "cost may not use plan"),
        ("src/cost/mod.rs", "const A: &str = \"/*\"; use crate::plan; // */", "cost may not use plan"),
        ("src/cost/mod.rs", "const A: &str = r#\"\"/*\"#; use crate::plan;", "cost may not use plan"),
        ("src/cost/mod.rs", "fn f<'a>(_: &'a str) { crate::plan::plan('\\'') }", "cost may not use plan"),
        ("src/cost/mod.rs", "#[cfg(test)] mod a { fn b() {} } use crate::plan;", "cost may not use plan"),
    ] {
        assert_eq!(violations(Path::new(path), text), [format!("{path}: {expected}")], "{text}");
    }
}

#[test]
fn nothing_else_is() {
    for (path, text) in [
        ("src/cost/admit.rs", "use crate::{cost::Cost, query::bind::plan};\nuse super::estimate;"),
        (
            "src/cost/admit.rs",
            "//! [`x`](crate::plan)\n/* crate::plan /* */ crate::plan */ const A: &str = \"crate::plan \\\" \";",
        ),
        ("src/cost/admit.rs", "const A: &str = r##\"crate::plan \"# crate::http\"##; pub(crate) fn time() {}"),
        (
            "src/cost/admit.rs",
            "#[cfg(test)]\nmod tests { use crate::plan::plan; mod a {} fn f() { std::fs::read(\"\"); } }",
        ),
        ("src/cost/admit.rs", "#[cfg(test)] use crate::plan;\nfn f(hyper: u8) { crate::query::clap::f(hyper) }"),
        ("src/cli/serve.rs", "use crate::{http, plan}; use std::time::Instant; async fn f() {}"),
        ("src/lib.rs", "pub mod anything;"),
    ] {
        assert_eq!(violations(Path::new(path), text), [""; 0], "{text}");
    }
}
