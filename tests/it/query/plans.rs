//! Snapshots of costs, plans and errors.
//!
//! `tests/plans/NAME.graphql` is a query. Its variables are in `NAME.variables.json`, and the comment `# limits: bulk` gives it
//! higher limits, `# scope: store=A,B facility=` those values in scopes. `NAME.snap` has the output of `orderql explain` and the extensions of the errors. Run the test with
//! `INSTA_UPDATE=always` to update the snapshots.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use orderql::catalog::Catalog;
use orderql::catalog::scope::RowScope;
use orderql::cli::explain::explained::Explained;
use orderql::cli::explain::text;
use orderql::compile::compiler::Compiler;
use orderql::compile::explanation::explain;
use orderql::limits::Limits;
use orderql::query::Request;
use orderql::query::bind::caller::Caller;
use orderql::schema_file::{BUILT_IN, SchemaFile};
use orderql::seal::Secret;

use crate::support::built_in::collection_roots;

/// The limits of an integration user.
const BULK: Limits = Limits { max_cost: 100_000_000, bucket_size: 100_000_000, max_depth: 10, ..Limits::DEFAULT };

#[test]
fn every_query_has_the_reviewed_plan_or_errors() {
    let catalog = Arc::new(Catalog::built_in().unwrap());
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/plans");
    let mut queries: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    queries.retain(|path| path.extension().is_some_and(|extension| extension == "graphql"));
    queries.sort();
    assert!(queries.len() >= 60, "{} queries", queries.len());

    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(&folder);
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| {
        for path in &queries {
            let name = path.file_stem().unwrap().to_str().unwrap();
            insta::assert_snapshot!(name, report(&catalog, path));
        }
    });

    for entry in fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        let query = path.to_str().unwrap().replace(".variables.json", ".graphql").replace(".snap", ".graphql");
        assert!(Path::new(&query).is_file(), "{} has no query", path.display());
    }
}

/// The plan and cost of a query, or its errors.
fn report(catalog: &Arc<Catalog>, path: &Path) -> String {
    let query = fs::read_to_string(path).unwrap();
    let variables = match fs::read_to_string(path.with_extension("variables.json")) {
        Ok(json) => serde_json::from_str(&json).unwrap(),
        Err(_) => serde_json::Map::new(),
    };
    let limits = if query.contains("# limits: bulk") { BULK } else { Limits::default() };
    let request = Request { query, operation_name: None, variables };
    let rows = scope(&request.query);
    let limited = || SchemaFile::parse(BUILT_IN).unwrap().limit(Catalog::built_in().unwrap(), rows.limiting());
    let catalog = &if rows.limiting().is_empty() { Arc::clone(catalog) } else { limited().into() };
    let caller = Caller { limits: &limits, rows: &rows };
    let result = explain(catalog, &request, caller);
    let explained = Explained { query: &request.query, limits, result, analysis: None };

    // The server has the same plan or errors.
    let compiled = Compiler::new(Arc::clone(catalog), 1 << 20).compile(&request, caller);
    assert_eq!(compiled.as_ref().err(), explained.errors(), "{}", path.display());
    if let (Ok(compiled), Ok(explanation)) = (&compiled, &explained.result) {
        assert_eq!(*compiled.plan, explanation.plan, "{}", path.display());
    }

    let mut report = text::render(&explained, &text::PLAIN);
    for error in explained.errors().into_iter().flatten() {
        let extensions = serde_json::Value::Object(error.extensions.clone());
        writeln!(report, "{} {extensions}", error.code).unwrap();
    }
    without_search_keys(catalog, report)
}

/// The rows that the query's caller sees.
fn scope(query: &str) -> RowScope {
    let Some((_, scope)) = query.split_once("# scope: ") else { return RowScope::default() };
    let given: Vec<_> = scope.lines().next().unwrap().split(' ').filter_map(|given| given.split_once('=')).collect();
    let values = |name: &str| {
        let (_, values) = given.iter().find(|(given, _)| *given == name)?;
        Some(values.split(',').filter(|value| !value.is_empty()).collect())
    };
    RowScope::new(["facility", "store"].map(|name| (name, values(name))).into_iter(), Secret::default())
}

/// Replaces lists of all search keys of a collection root, so that a new key changes no snapshot.
fn without_search_keys(catalog: &Catalog, mut report: String) -> String {
    for (root, connection) in collection_roots(catalog) {
        let keys: Vec<_> = connection.search_keys.iter().map(|key| key.name.as_str()).collect();
        let placeholder = format!("‹search keys of {root}›");
        report = report.replace(&format!("(its keys: {})", keys.join(", ")), &format!("(its keys: {placeholder})"));
        report = report.replace(&serde_json::json!(keys).to_string(), &serde_json::json!(placeholder).to_string());
    }
    report
}
