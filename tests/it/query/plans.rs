//! Queries, and beside each what it costs and how it is answered, or why it is refused.
//!
//! `tests/plans/NAME.graphql` is a query; `NAME.variables.json` beside it holds its variables, and a comment
//! `# limits: bulk` in its first lines asks for a raised profile. `NAME.snap` is what `orderql explain` tells about it, and
//! the facts of its refusals. To change what is expected: `INSTA_UPDATE=always`, and read the difference.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use orderql::catalog::Catalog;
use orderql::cli::explain::explained::Explained;
use orderql::cli::explain::text;
use orderql::compile::compile;
use orderql::compile::explanation::explain;
use orderql::limits::Limits;
use orderql::query::Request;

/// What an integration user with a raised profile is held to.
const BULK: Limits = Limits { max_cost: 100_000_000, max_depth: 10, ..Limits::DEFAULT };

#[test]
fn every_query_is_planned_or_refused_as_it_was_reviewed() {
    let catalog = Catalog::built_in().unwrap();
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
            insta::assert_snapshot!(name, told(&catalog, path));
        }
    });

    for entry in fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        let query = path.to_str().unwrap().replace(".variables.json", ".graphql").replace(".snap", ".graphql");
        assert!(Path::new(&query).is_file(), "{} belongs to no query", path.display());
    }
}

fn told(catalog: &Catalog, path: &Path) -> String {
    let query = fs::read_to_string(path).unwrap();
    let variables = match fs::read_to_string(path.with_extension("variables.json")) {
        Ok(json) => serde_json::from_str(&json).unwrap(),
        Err(_) => serde_json::Map::new(),
    };
    let limits = if query.contains("# limits: bulk") { BULK } else { Limits::default() };
    let request = Request { query, operation_name: None, variables };
    let result = explain(catalog, &request, &limits);
    let explained = Explained { query: &request.query, limits, result };

    // The server and `orderql explain` say the same.
    let compiled = compile(catalog, &request, &limits);
    assert_eq!(compiled.as_ref().err(), explained.errors(), "{}", path.display());
    if let (Ok(compiled), Ok(explanation)) = (&compiled, &explained.result) {
        assert_eq!(format!("{:?}", compiled.plan), format!("{:?}", explanation.plan), "{}", path.display());
    }

    let mut told = text::render(&explained, &text::PLAIN);
    for error in explained.errors().into_iter().flatten() {
        let facts = serde_json::Value::Object(error.extensions.clone());
        writeln!(told, "{} {facts}", error.code).unwrap();
    }
    told
}
