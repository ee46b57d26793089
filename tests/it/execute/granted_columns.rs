//! A view of the schema reads only what it shows: a role without rights on the hidden columns is never refused.
//!
//! `VIEW_DOCUMENTS` sets the number of documents, `VIEW_SEED` another seed.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fmt::Write as _;

use orderql::catalog::Catalog;
use orderql::catalog::binding::{Binding, EntityBinding, RootBinding};
use orderql::schema_file::{BUILT_IN, SchemaFile};
use orderql_generator::choices::{Choices, bytes_of_seed};
use orderql_generator::generate::{Settings, generate};
use orderql_generator::redaction::decorated;

use crate::execute::random_queries::row_values::RowValues;
use crate::support::database::{Database, loaded_database};
use crate::support::naive_resolver::tables::Tables;
use crate::support::query_runner::QueryRunner;

/// The choices of a document.
const BYTES: usize = 1500;

/// Documents of one view.
const DOCUMENTS_OF_VIEW: u64 = 50;

fn number(variable: &str, default: u64) -> u64 {
    let number = env::var(variable).map_or(default, |number| number.parse().unwrap());
    println!("{variable}={number}");
    number
}

/// The relations that a catalog reads, each with the columns that its types show.
fn shown(catalog: &Catalog) -> BTreeMap<String, BTreeSet<String>> {
    let mut shown: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut node_relations: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (_, _, binding) in catalog.fields() {
        let (node, relation) = match binding {
            Binding::Root(RootBinding::Lookup(lookup)) => (lookup.target, &lookup.relation),
            Binding::Root(RootBinding::Connection(connection))
            | Binding::Entity(EntityBinding::Connection(connection)) => (connection.node, &connection.relation),
            _ => continue,
        };
        let name = catalog.get(node.ty()).name().to_owned();
        node_relations.entry(name).or_default().insert(relation.clone());
    }
    for (object, entity) in catalog.entities() {
        let columns = catalog.fields_of(object).filter_map(|(_, binding)| Some(binding.column()?.name.clone()));
        let columns: BTreeSet<_> = columns.collect();
        let others = node_relations.get(&object.name).into_iter().flatten();
        for relation in others.chain([&entity.relation]) {
            shown.entry(relation.clone()).or_default().extend(columns.iter().cloned());
        }
    }
    shown
}

/// Lets a role read all columns but those that the whole schema shows and the view does not.
async fn grant(database: &Database, role: &str, whole: &Catalog, view: &Catalog) -> usize {
    let client = database.connect().await;
    let (whole, view) = (shown(whole), shown(view));
    let mut sql = format!(
        "DO $$ BEGIN CREATE ROLE {role} LOGIN; EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$;
         GRANT USAGE ON SCHEMA public, orderql TO {role};
         GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA orderql TO {role};
         GRANT SELECT ON ALL TABLES IN SCHEMA public, orderql TO {role};"
    );
    let mut hidden_columns = 0;
    for (relation, columns) in &whole {
        let name = if relation.contains('.') { relation.clone() } else { format!("public.{relation}") };
        let left = view.get(relation);
        let _ = write!(sql, "REVOKE SELECT ON {name} FROM {role};");
        let all = "SELECT attname::text FROM pg_attribute WHERE attrelid = $1::text::regclass AND attnum > 0 AND NOT attisdropped";
        let all = client.query(all, &[&name]).await.unwrap();
        let all: BTreeSet<String> = all.iter().map(|row| row.get(0)).collect();
        let hidden: BTreeSet<_> =
            columns.iter().filter(|column| left.is_none_or(|left| !left.contains(*column))).cloned().collect();
        hidden_columns += hidden.len();
        let seen: Vec<_> = all.difference(&hidden).map(|column| format!("\"{column}\"")).collect();
        if left.is_some() && !seen.is_empty() {
            let _ = write!(sql, "GRANT SELECT ({}) ON {name} TO {role};", seen.join(", "));
        }
    }
    client.batch_execute(&sql).await.unwrap_or_else(|error| panic!("{error:?}\n{sql}"));
    hidden_columns
}

#[tokio::test(flavor = "multi_thread")]
async fn a_view_reads_no_column_that_it_hides() {
    let (documents, seed) = (number("VIEW_DOCUMENTS", 200), number("VIEW_SEED", 1));
    let database = loaded_database().await;
    let tables = Tables::read(&database.connect().await, &Catalog::built_in().unwrap()).await;
    let (values, settings) = (RowValues(&tables), Settings { introspection: false, ..Settings::default() });
    let (mut run, mut hidden) = (0, 0);
    for view_number in 0..documents.div_ceil(DOCUMENTS_OF_VIEW) {
        let bytes = bytes_of_seed(seed << 32 | view_number | 1 << 62, 4096);
        let mut choices = Choices::new(&bytes);
        // The schema's own grants, and others.
        let text = if view_number == 0 { BUILT_IN.to_owned() } else { decorated(BUILT_IN, &mut choices) };
        let file = SchemaFile::parse(&text).unwrap();
        let held: Vec<_> = file.grants().iter().filter(|_| choices.chance(40)).cloned().collect();
        let (whole, view) =
            (file.catalog().unwrap(), file.view(file.held(|name| held.iter().any(|held| held == name))));
        let view = view.unwrap();
        if view.fields().all(|(object, ..)| object.name != "Query") {
            continue;
        }
        let role = format!("view_{view_number}_{}", database.name());
        hidden += grant(&database, &role, &whole, &view).await;
        let mut config = database.config();
        config.user(&role);
        let source = file.view(file.held(|name| held.iter().any(|held| held == name))).unwrap();
        let runner = QueryRunner::with_catalog(&config, 2, view);
        for number in 0..DOCUMENTS_OF_VIEW.min(documents) {
            let length = 20 + usize::try_from(number).unwrap() * 37 % BYTES;
            let bytes = bytes_of_seed(seed << 32 | view_number << 16 | number, length);
            let request = generate(&source, &values, settings, &mut Choices::new(&bytes)).request();
            let Ok(compiled) = runner.try_compile(&request) else { continue };
            let result = runner.execute(compiled).await;
            result.unwrap_or_else(|error| panic!("{held:?}: {error:?}\n{}\n{:?}", request.query, request.variables));
            run += 1;
        }
    }
    println!("{run} documents, {hidden} hidden columns");
    assert!(run * 2 > documents && hidden > 0, "{run} of {documents}, {hidden} hidden columns");
}
