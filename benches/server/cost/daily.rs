//! The searches of daily work: how many pages a client reads for each page of rows, how many rows these examine, and whether all rows
//! are counted.

use orderql::catalog::Catalog;
use orderql::catalog::binding::Binding;
use orderql::catalog::connection::Connection;
use orderql::catalog::schema::Field;
use orderql::compile::explanation::explain;
use orderql::execute::sql_literal::arguments;
use orderql::limits::Limits;
use orderql::query::Request;
use serde::Serialize;
use serde_json::{Value, json};
use tokio_postgres::{Client, SimpleQueryMessage};

use crate::client::{Connection as HttpConnection, graphql_request};
use crate::database::{Database, UNLIMITED_USER};
use crate::error::{BenchError, Result};
use crate::orderql::{PATH, sign_in, start};
use crate::report::{self, Row};

/// The searches, one a line.
const SEARCHES: &str = include_str!("../../daily-searches.txt");

/// The goal for the pages that are read for each page of rows.
const GOAL: f64 = 1.2;

/// Rows of a page, and the most pages of rows and pages that are read of one search.
const PAGE: usize = 50;
const FULL_PAGES: usize = 6;
const PAGES: usize = 40;

/// The object ids of all tables and indexes.
const RELATIONS: &str = "SELECT array_agg(oid)::text FROM pg_class
    WHERE relkind IN ('r', 'i') AND relnamespace IN ('public'::regnamespace, 'orderql'::regnamespace)";

/// Everything that is written as JSON.
#[derive(Debug, Serialize)]
pub struct DailyReport {
    pub goal: f64,
    pub is_met: bool,
    pub searches: Vec<DailySearch>,
}

/// A search in an order, and what reading it took.
#[derive(Debug, Serialize)]
pub struct DailySearch {
    pub root: String,
    pub search: String,
    pub sort_key: String,
    pub reverse: bool,
    /// The rows that were found.
    pub rows: usize,
    /// The pages that were read.
    pub pages: usize,
    /// Pages read for each page of rows.
    pub ratio: f64,
    /// The most index entries and rows that one page examined.
    pub examined: u64,
    /// Whether a page said that there are more rows, and only empty pages followed.
    pub promised_nothing: bool,
    /// The number of all rows, up to 1,000; `None` if the server did not count as far.
    pub count: Option<u64>,
}

/// Reads every search in the order of every sort key, in both directions.
pub fn run(database: &Database, server_flags: &[String]) -> Result<DailyReport> {
    let catalog = Catalog::built_in()?;
    let server = start(database, server_flags)?;
    let client = database.connect()?;
    let relations = database.block_on(number(&client, RELATIONS))?;
    let mut reader = Reader {
        connection: HttpConnection::open("orderql", server.address)?,
        bearer: sign_in(&server, UNLIMITED_USER)?,
        catalog: &catalog,
        database,
        client,
        relations,
    };
    let mut searches = Vec::new();
    for line in SEARCHES.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let (root, search) = line.split_once(": ").ok_or_else(|| BenchError::Data(format!("{line}: no root")))?;
        let (field, connection) = collection(&catalog, root)?;
        for sort_key in &connection.sort_keys {
            for reverse in [false, true] {
                searches.push(reader.read(field, search, &sort_key.name, reverse)?);
            }
        }
    }
    let is_met =
        searches.iter().all(|search| search.ratio <= GOAL && !search.promised_nothing && search.count.is_some());
    Ok(DailyReport { goal: GOAL, is_met, searches })
}

/// A collection root by its name.
fn collection<'a>(catalog: &'a Catalog, name: &str) -> Result<(&'a Field, &'a Connection)> {
    let mut fields = catalog.object(catalog.query()).into_iter().flat_map(|query| catalog.fields_of(query));
    let found = fields.find_map(|(field, binding)| Some((field, binding.connection()?)).filter(|_| field.name == name));
    found.ok_or_else(|| BenchError::Data(format!("{name} is no collection")))
}

/// Reads searches page by page.
struct Reader<'a> {
    connection: HttpConnection,
    bearer: String,
    catalog: &'a Catalog,
    database: &'a Database,
    /// For the rows that a page examines.
    client: Client,
    relations: String,
}

impl Reader<'_> {
    fn read(&mut self, field: &Field, search: &str, sort_key: &str, reverse: bool) -> Result<DailySearch> {
        let id = self.id_field(field);
        let (mut rows, mut pages, mut examined, mut empty) = (0, 0, 0, 0);
        let mut after = None::<String>;
        let has_next = loop {
            let cursor = after.as_ref().map_or_else(String::new, |after| format!(", after: {}", json!(after)));
            let query = format!(
                "{{ {}(first: {PAGE}, sortKey: {sort_key}, reverse: {reverse}, query: {}{cursor}) \
                 {{ edges {{ node {{ {id} }} }} pageInfo {{ hasNextPage endCursor }} }} }}",
                field.name,
                json!(search)
            );
            let request = graphql_request(PATH, Some(&self.bearer), &query, &json!({}));
            let data = self.connection.data(&request)?;
            let page = &data[&field.name];
            let found = page["edges"].as_array().map_or(0, Vec::len);
            examined = examined.max(self.examined(&query)?);
            (rows, pages) = (rows + found, pages + 1);
            empty = if found == 0 { empty + 1 } else { 0 };
            let has_next = page["pageInfo"]["hasNextPage"] == Value::Bool(true);
            after = page["pageInfo"]["endCursor"].as_str().map(str::to_owned);
            if !has_next || rows >= PAGE * FULL_PAGES || pages == PAGES {
                break has_next;
            }
        };
        let query = format!(
            "{{ {}(first: 1, sortKey: {sort_key}, reverse: {reverse}, query: {}, countUpTo: 1000) {{ count }} }}",
            field.name,
            json!(search)
        );
        let data = self.connection.data(&graphql_request(PATH, Some(&self.bearer), &query, &json!({})))?;
        Ok(DailySearch {
            count: data[&field.name]["count"].as_u64(),
            root: field.name.clone(),
            search: search.to_owned(),
            sort_key: sort_key.to_owned(),
            reverse,
            rows,
            pages,
            ratio: pages as f64 / rows.div_ceil(PAGE).max(1) as f64,
            examined,
            // The last page may be empty and say that there is nothing more; with an exact flag there is none such.
            promised_nothing: empty > 0 && pages > 1 && (!has_next || pages == PAGES),
        })
    }

    /// A field of the nodes.
    fn id_field(&self, field: &Field) -> String {
        let is_column = |(_, binding): &(&Field, Binding<'_>)| binding.column().is_some();
        let node = collection(self.catalog, &field.name).ok().map(|(_, connection)| connection.node.ty());
        let node = node.and_then(|node| self.catalog.object(node));
        let mut fields = node.into_iter().flat_map(|node| self.catalog.fields_of(node));
        fields.find(is_column).map_or_else(|| "__typename".to_owned(), |(field, _)| field.name.clone())
    }

    /// The index entries and rows that a page examines.
    fn examined(&self, query: &str) -> Result<u64> {
        let request = Request { query: query.to_owned(), ..Request::default() };
        let explained = explain(self.catalog, &request, &Limits::UNLIMITED)
            .map_err(|errors| BenchError::Query { errors, query: query.to_owned() })?;
        let sql = explained.plan.sql();
        let execute = format!("EXECUTE page{}", arguments(&explained.plan));
        let relations = &self.relations;
        let count = format!(
            "SELECT sum(pg_stat_get_xact_tuples_returned(id)) FROM unnest('{relations}'::oid[]) AS relation (id)"
        );
        // The first EXPLAIN plans the statement, for which PostgreSQL may read the ends of indexes.
        let batch = format!(
            "DEALLOCATE ALL; PREPARE page AS {sql}; EXPLAIN {execute}; BEGIN; {count}; \
             EXPLAIN (ANALYZE, TIMING OFF) {execute}; {count}; COMMIT"
        );
        let counts = self.database.block_on(values(&self.client, &batch))?;
        let counts: Vec<u64> = counts.iter().filter_map(|value| value.parse().ok()).collect();
        match counts.as_slice() {
            [before, after] => Ok(after - before),
            other => Err(BenchError::Data(format!("{other:?} are no two counts"))),
        }
    }
}

async fn values(client: &Client, sql: &str) -> Result<Vec<String>> {
    let messages = client.simple_query(sql).await?;
    let value = |message: &SimpleQueryMessage| match message {
        SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
        _ => None,
    };
    Ok(messages.iter().filter_map(value).collect())
}

/// The first value of the first row.
async fn number(client: &Client, sql: &str) -> Result<String> {
    values(client, sql).await?.pop().ok_or_else(|| BenchError::Data("no row".to_owned()))
}

impl DailyReport {
    /// Prints the searches as a table, the worst first, and whether all meet the goal.
    pub fn print(&self) {
        let mut searches: Vec<_> = self.searches.iter().collect();
        searches.sort_by(|one, other| other.ratio.total_cmp(&one.ratio));
        let rows: Vec<Row> = searches.iter().map(|search| search.row()).collect();
        report::print("searches of daily work", &rows);
        let short = self.searches.iter().filter(|search| search.ratio > GOAL).count();
        let empty = self.searches.iter().filter(|search| search.promised_nothing).count();
        let uncounted = self.searches.iter().filter(|search| search.count.is_none()).count();
        let met = if self.is_met { "met" } else { "NOT MET" };
        println!(
            "{} searches, {short} read more than {GOAL} pages for a page of rows, {empty} promised rows and had none, \
             {uncounted} were not counted: {met}",
            self.searches.len()
        );
    }
}

impl DailySearch {
    fn row(&self) -> Row {
        let order = format!("{}{}", self.sort_key, if self.reverse { " reverse" } else { "" });
        vec![
            ("root", json!(self.root)),
            ("search", json!(self.search)),
            ("order", json!(order)),
            ("rows", json!(self.rows)),
            ("pages", json!(self.pages)),
            ("ratio", json!((self.ratio * 10.0).round() / 10.0)),
            ("rows examined", json!(self.examined)),
            ("empty", json!(self.promised_nothing)),
            ("count", json!(self.count)),
        ]
    }
}
