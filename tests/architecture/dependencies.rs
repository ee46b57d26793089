//! Dependencies between the modules of `src`, and on external crates.

use std::fs;
use std::path::Path;

use crate::paths::{first_names, names_in, package_paths};
use crate::sources::{self, module, package, sources};
use crate::tokens::{tokens, without_tests};

/// The modules in reading order, as in `lib.rs`, each with the modules that it may use.
const MODULES: &[(&str, &[&str])] = &[
    ("value", &[]),
    ("words", &[]),
    ("nearest", &["words"]),
    ("limits", &[]),
    ("byte_lru", &[]),
    ("error", &[]),
    ("search", &["error"]),
    ("seal", &[]),
    ("cursor", &["value", "seal"]),
    ("sync_token", &["value", "seal", "cursor"]),
    ("catalog", &["value", "words", "limits", "search", "seal", "cursor"]),
    ("schema_file", &["value", "nearest", "search", "cursor", "catalog"]),
    // Its tests read the built-in schema.
    ("outline", &["words", "nearest"]),
    ("query", &["value", "nearest", "limits", "error", "search", "cursor", "sync_token", "catalog"]),
    ("correction", &["nearest", "query"]),
    ("vocabulary", &["value", "nearest", "error", "search", "catalog", "query"]),
    ("cost", &["limits", "error", "catalog", "query"]),
    // Its tests read a schema file.
    ("plan", &["value", "error", "search", "cursor", "catalog", "schema_file", "query", "cost"]),
    ("compile", &["limits", "byte_lru", "error", "catalog", "query", "vocabulary", "cost", "plan"]),
    ("documents", &["error", "query"]),
    (
        "schema_diff",
        &[
            "value",
            "limits",
            "error",
            "search",
            "catalog",
            "schema_file",
            "query",
            "correction",
            "cost",
            "plan",
            "compile",
            "documents",
        ],
    ),
    ("tls", &[]),
    ("telemetry", &["tls"]),
    ("database", &["value", "byte_lru", "sync_token", "telemetry", "tls"]),
    ("relations", &["value", "catalog", "plan", "database"]),
    ("private_cluster", &["database", "telemetry"]),
    ("load", &["database", "relations"]),
    ("sample", &["database"]),
    ("execute", &["value", "cursor", "sync_token", "catalog", "query", "plan", "database"]),
    ("preflight", &["value", "catalog", "schema_file", "plan", "database", "relations", "execute"]),
    ("schema_draft", &["value", "catalog", "schema_file", "plan", "relations"]),
    ("change_feed", &["catalog", "telemetry", "database"]),
    ("migration", &["catalog", "schema_file", "database", "preflight", "change_feed"]),
    // The part of `vocabulary` that does I/O.
    ("vocabulary::reader", &["catalog", "plan", "telemetry", "database"]),
    ("shared_store", &["telemetry"]),
    ("throttle", &["telemetry", "shared_store"]),
    ("replicas", &["catalog", "telemetry", "database", "preflight", "throttle"]),
    ("access", &["nearest", "limits", "seal", "telemetry", "database", "migration", "shared_store", "throttle"]),
    ("orders", &["error", "database"]),
    ("http", &["telemetry", "tls", "access"]),
    (
        "api",
        &[
            "limits",
            "byte_lru",
            "error",
            "sync_token",
            "catalog",
            "schema_file",
            "outline",
            "query",
            "vocabulary",
            "cost",
            "plan",
            "compile",
            "documents",
            "database",
            "change_feed",
            "execute",
            "shared_store",
            "throttle",
            "replicas",
            "access",
            "orders",
            "telemetry",
            "http",
        ],
    ),
    (
        "config",
        &[
            "nearest",
            "limits",
            "catalog",
            "database",
            "preflight",
            "shared_store",
            "throttle",
            "replicas",
            "access",
            "orders",
            "telemetry",
            "http",
            "api",
        ],
    ),
    ("cli", ALL),
    ("fuzzing", ALL),
    ("main", &["cli"]),
];
const ALL: &[&str] = &["*"];

/// The last module of the pure half: the modules up to this one do no I/O, start no task and read no clock.
const LAST_PURE: &str = "schema_diff";
const IMPURE_STD: &[&str] = &["env", "fs", "io", "net", "os", "process", "thread", "time"];
const IMPURE_NAMES: &[&str] = &["async", "await", "tokio", "futures_util"];

/// External crates that only some modules may use.
const EXTERNAL_CRATES: &[(&str, &[&str])] = &[
    ("graphql_parser", &["schema_file", "outline", "query", "fuzzing"]),
    ("lru", &["byte_lru", "access"]),
    ("aes_siv", &["seal"]),
    // Modules that execute statements, and modules that configure the connection.
    (
        "tokio_postgres",
        &[
            "database",
            "relations",
            "private_cluster",
            "load",
            "sample",
            "execute",
            "preflight",
            "change_feed",
            "migration",
            "vocabulary::reader",
            "schema_draft",
            "replicas",
            "access",
            "orders",
            "config",
            "cli",
        ],
    ),
    ("deadpool_postgres", &["database"]),
    ("redis", &["shared_store"]),
    ("quick_xml", &["load"]),
    ("argon2", &["access"]),
    ("multer", &["orders"]),
    ("jwt_simple", &["access"]),
    ("rustix", &["telemetry", "access", "cli"]),
    ("rmcp", &["cli"]),
    ("hyper", &["http", "api", "cli", "fuzzing"]),
    ("hyper_util", &["telemetry", "http", "cli"]),
    ("http_body_util", &["http", "cli"]),
    ("flate2", &["http"]),
    ("brotli", &["http", "api"]),
    ("zstd", &["http"]),
    ("sha2", &["access", "orders", "api"]),
    ("percent_encoding", &["database", "api"]),
    ("rustls", &["tls", "telemetry", "database", "http", "cli"]),
    ("x509_cert", &["tls"]),
    ("indexmap", &["cli"]),
    ("tokio_rustls", &["http", "cli"]),
    ("listenfd", &["http"]),
    ("arc_swap", &["telemetry", "database", "http"]),
    ("sd_notify", &["cli"]),
    ("tokio_postgres_rustls", &["database"]),
    ("prometheus_client", &["telemetry"]),
    ("opentelemetry", &["telemetry", "api"]),
    ("opentelemetry_sdk", &["telemetry", "api"]),
    ("opentelemetry_http", &["telemetry"]),
    ("opentelemetry_otlp", &["telemetry"]),
    ("hyper_rustls", &["telemetry"]),
    ("tracing", &["telemetry"]),
    ("tracing_subscriber", &["telemetry"]),
    ("clap", &["config", "cli"]),
    ("clap_complete", &["cli"]),
    ("clap_mangen", &["cli"]),
    ("indicatif", &["cli"]),
    ("rand_chacha", &["sample"]),
];

#[test]
fn every_file_uses_only_what_its_module_may_use() {
    let violations: Vec<_> = sources("src").iter().flat_map(|(path, text)| violations(path, text)).collect();
    assert!(violations.is_empty(), "{violations:#?}");
}

#[test]
fn the_modules_are_in_reading_order_and_use_only_modules_above_them() {
    let listed = MODULES.iter().map(|(name, _)| *name).filter(|name| *name != "main" && !name.contains("::"));
    assert_eq!(sources::modules(), listed.collect::<Vec<_>>());
    for (index, (name, used)) in MODULES.iter().enumerate() {
        let is_above = |used: &&str| *used == "*" || MODULES[..index].iter().any(|(above, _)| above == used);
        assert!(used.iter().all(is_above), "{name} may use only modules above it");
    }
    let manifest = fs::read_to_string(package().join("Cargo.toml")).unwrap();
    for (name, _) in EXTERNAL_CRATES {
        let is_listed = |name: &str| manifest.contains(&format!("\n{name} = "));
        assert!(is_listed(name) || is_listed(&name.replace('_', "-")), "{name} is not a dependency");
    }
}

/// The violations in a file. Its path begins with `src`.
fn violations(path: &Path, text: &str) -> Vec<String> {
    let module = module(path);
    let Some(top) = module.first() else { return Vec::new() };
    // The longest beginning that is listed.
    let position = |path: String| MODULES.iter().position(|(name, _)| *name == path);
    let index = (1..=module.len()).rev().find_map(|length| position(module[..length].join("::")));
    let Some(index) = index else { return vec![format!("{}: {top} is not a listed module", path.display())] };
    let part = MODULES[index].0;
    let may_use = |used: &str| used == top || MODULES[index].1.iter().any(|name| *name == "*" || *name == used);
    let is_pure = index <= MODULES.iter().position(|(name, _)| *name == LAST_PURE).unwrap();

    let tokens = without_tests(&tokens(text));
    let mut violations = Vec::new();
    for path_used in package_paths(&tokens, &module, &["crate", "orderql"]) {
        if let Some(used) = path_used.first().filter(|used| !may_use(used)) {
            violations.push(format!("{}: {top} may not use {used}", path.display()));
        }
    }
    let first_names = first_names(&tokens);
    for (name, users) in EXTERNAL_CRATES {
        if !users.contains(&part) && first_names.iter().any(|first| first == name) {
            violations.push(format!("{}: {top} may not use the crate {name}", path.display()));
        }
    }
    if is_pure {
        let std = names_in(&tokens, "std").into_iter().filter(|name| IMPURE_STD.contains(&name.as_str()));
        let names = tokens.iter().filter(|token| IMPURE_NAMES.contains(&token.as_str())).cloned();
        violations
            .extend(std.chain(names).map(|name| format!("{}: {top} is pure and may not use {name}", path.display())));
    }
    violations.dedup();
    violations
}

#[test]
fn finds_violations() {
    for (path, text, expected) in [
        ("src/cost/admit.rs", "use crate::plan::request_plan::Plan;", "cost may not use plan"),
        ("src/cost/mod.rs", "use crate::{\n    query::bind::{self, page},\n    http,\n};", "cost may not use http"),
        ("src/value.rs", "fn f() { crate::cli::run() }", "value may not use cli"),
        ("src/value.rs", "use super::limits::Limits;", "value may not use limits"),
        ("src/cost/admit.rs", "fn f(_: super::super::plan::Plan) {}", "cost may not use plan"),
        ("src/main.rs", "fn main() { orderql::http::serve() }", "main may not use http"),
        ("src/plan/planner.rs", "use graphql_parser::Pos;", "plan may not use the crate graphql_parser"),
        ("src/execute/mod.rs", "use hyper;", "execute may not use the crate hyper"),
        ("src/plan/planner.rs", "use std::{fmt, time::{self, Instant}};", "plan is pure and may not use time"),
        ("src/compile.rs", "fn f() { std::env::var(\"A\"); }", "compile is pure and may not use env"),
        ("src/query/mod.rs", "async fn f() {}", "query is pure and may not use async"),
        ("src/utils/mod.rs", "", "utils is not a listed module"),
        ("src/vocabulary/mod.rs", "use crate::database::migrate;", "vocabulary may not use database"),
        // Text that resembles a comment or a string.
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
fn accepts_everything_else() {
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
        (
            "src/vocabulary/reader.rs",
            "use crate::database::migrate; use crate::vocabulary::Vocabulary; async fn f() {}",
        ),
    ] {
        assert_eq!(violations(Path::new(path), text), [""; 0], "{text}");
    }
}
