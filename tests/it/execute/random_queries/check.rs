//! One query: its response, its cost, and the work of its statement.

use std::cell::Cell;

use orderql::catalog::Catalog;
use orderql::catalog::search_window::SearchWindow;
use orderql::plan::access_path::Strategy;
use orderql::plan::parameters::ParameterValue;
use orderql::plan::request_plan::Plan;
use orderql::query::Request;
use tokio_postgres::Client;

use crate::support::built_in;
use crate::support::database::Database;
use crate::support::naive_resolver::NaiveResolver;
use crate::support::naive_resolver::json::Json;
use crate::support::naive_resolver::tables::Tables;
use crate::support::query_plan::{connect_like_server, measure};
use crate::support::query_runner::QueryRunner;

/// Rows that are read however small the page is: those after the ends of ranges, which say that there are more.
const SPARE_ROWS: u64 = 16;

/// The most relations that a row of a page is joined to for each join in the SQL: some are views.
const RELATIONS_OF_JOIN: u64 = 6;

/// The open items of a ship group of the demo data, at most about. The fulfilment queue is read from these, and a group is at its next item.
const ITEMS_OF_GROUP: u64 = 8;

/// Checks queries.
pub struct Checker<'a> {
    runner: QueryRunner,
    tables: &'a Tables,
    /// A connection like those of the server, for plans.
    client: Client,
    /// The object ids of all tables and indexes.
    relations: String,
    rows: Cell<u64>,
    statements: Cell<u64>,
    not_parsed: Cell<u64>,
}

impl<'a> Checker<'a> {
    pub async fn new(database: &Database, tables: &'a Tables) -> Self {
        Self::with_catalog(database, tables, built_in::catalog()).await
    }

    /// Checks queries against another schema.
    pub async fn with_catalog(database: &Database, tables: &'a Tables, catalog: Catalog) -> Self {
        let relations = "SELECT array_agg(oid)::text FROM pg_class
            WHERE relkind IN ('r', 'i', 'm') AND NOT relnamespace = ANY (ARRAY['pg_catalog', 'information_schema', 'pg_toast']::regnamespace[])";
        let relations = database.connect().await.query_one(relations, &[]).await.unwrap().get(0);
        // Wide enough for every search to end: a count that the window cuts off would be null.
        let window = SearchWindow::new(SearchWindow::MAX).unwrap();
        let catalog = catalog.with_search_window(window);
        Self {
            runner: QueryRunner::with_catalog(&database.config(), 2, catalog),
            tables,
            client: connect_like_server(database).await,
            relations,
            rows: Cell::new(0),
            statements: Cell::new(0),
            not_parsed: Cell::new(0),
        }
    }

    /// Fails if the response of a valid query is not that of the naive resolver, or took too much.
    pub async fn check(&self, request: &Request) -> Result<(), String> {
        let of_request = |error: String| format!("{error}\n{}\n{:?}", request.query, request.variables);
        // What is made smaller may be invalid.
        let Ok(compiled) = self.runner.try_compile(request) else { return Ok(()) };
        let result = self.runner.execute(compiled).await.map_err(|error| of_request(format!("{error:?}")))?;
        let mut paths = result.compiled.plan.steps().iter().map(|step| &step.access_path);
        // A list with too many rows is null, with an error.
        let is_bounded = paths.any(|path| matches!(path.strategy, Strategy::Parent(_)));
        let has_violations = result.nullability_violations > 0 && !is_bounded;
        if result.actual_cost() > result.compiled.estimate.cost() || has_violations {
            let cost = (result.actual_cost(), result.compiled.estimate.cost());
            return Err(of_request(format!("cost {cost:?}, {} violations", result.nullability_violations)));
        }
        self.rows.update(|rows| rows + result.rows.iter().sum::<u64>());
        self.statements.update(|statements| statements + result.rows.len() as u64);
        let resolver = NaiveResolver { catalog: self.runner.catalog(), tables: self.tables };
        match resolver.resolve(request) {
            None => self.not_parsed.update(|count| count + 1),
            Some(expected) => {
                let response: Json =
                    serde_json::from_str(&result.text).map_err(|error| of_request(error.to_string()))?;
                if let Some(difference) = response.difference(&expected) {
                    return Err(of_request(difference));
                }
            }
        }
        self.check_work(&result.compiled.plan).await.map_err(of_request)
    }

    /// Fails if the statement reads more rows than the access paths of its steps allow.
    async fn check_work(&self, plan: &Plan) -> Result<(), String> {
        if !plan.needs_database() {
            return Ok(());
        }
        let values = plan.parameters().map(|parameter| match parameter {
            ParameterValue::Values(values) => values.len(),
            ParameterValue::Value(_) | ParameterValue::Limit(_) => 1,
        });
        let values = values.max().unwrap_or(1);
        let joins = plan.sql().matches("JOIN").count() as u64;
        let (mut rows, mut bound): (Vec<u64>, u64) = (Vec::new(), SPARE_ROWS);
        for (index, step) in plan.steps().iter().enumerate() {
            let (path, size) = (&step.access_path, plan.rows(index));
            let parents = step.parent.map_or(1, |parent| rows[parent]);
            rows.push(parents * u64::from(size));
            let filters = 1 + path.filters().len() as u64;
            let probe_rows = path.window().map_or(0, |window| u64::from(window.probe_rows));
            let probes = u64::from(path.probes) * (probe_rows + values as u64);
            let page = u64::from(path.parts.max(1)) * (1 + RELATIONS_OF_JOIN * joins) * (u64::from(size) + 2);
            let page = page * if step.relation == "orderql.fulfillment_queue" { ITEMS_OF_GROUP } else { 1 };
            bound += parents * ((path.bound(size, values) + probes) * filters * 3 + page + SPARE_ROWS);
        }
        let measured = measure(&self.client, plan, &self.relations).await;
        if measured.rows > bound {
            return Err(format!("{} rows were read, more than {bound}: {}", measured.rows, plan.sql()));
        }
        Ok(())
    }

    /// The JSON of a valid query without variables, from PostgreSQL and from the tables.
    pub async fn both(&self, query: &str) -> [Json; 2] {
        let request = Request { query: query.to_owned(), ..Request::default() };
        let result = self.runner.run(query, request.variables.clone()).await;
        let resolver = NaiveResolver { catalog: self.runner.catalog(), tables: self.tables };
        [serde_json::from_str(&result.text).unwrap(), resolver.resolve(&request).unwrap()]
    }

    /// Panics if the queries had few rows, or the other parser rejected many.
    pub fn assert_enough(&self, queries: u64) {
        let [rows, statements, not_parsed] = [&self.rows, &self.statements, &self.not_parsed].map(Cell::get);
        println!("{rows} rows of {statements} statements, {not_parsed} queries that the other parser rejects");
        assert!(rows > queries && statements > queries / 2 && not_parsed * 10 < queries);
    }
}
