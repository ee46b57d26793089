//! Runs queries on a database without a server: compile, execute, write.

use std::sync::Arc;
use std::time::Duration;

use orderql::catalog::Catalog;
use orderql::catalog::scope::RowScope;
use orderql::compile::compiled::Compiled;
use orderql::compile::compiler::Compiler;
use orderql::cost::price::Cost;
use orderql::database::pool::options::PoolOptions;
use orderql::database::pool::reader_pool::ReaderPool;
use orderql::error::graphql_error::GraphqlErrors;
use orderql::execute::error::ExecuteError;
use orderql::execute::execute;
use orderql::execute::response_stream::{LastPart, Part, ResponseStream, StreamError, StreamedResponse};
use orderql::execute::response_writer::{Progress, ResponseWriter};
use orderql::execute::row_limits::{Memory, RowLimits};
use orderql::execute::statement_log::StatementLog;
use orderql::limits::Limits;
use orderql::plan::request_plan::Plan;
use orderql::query::bind::caller::Caller;
use orderql::query::{Request, Variables};
use serde_json::Value;

use crate::support::built_in;
use crate::support::cursor::with_opened_cursors;
use crate::support::database::Database;

/// Limits that no test reaches.
pub const UNLIMITED: Limits = Limits { max_page_size: 10_000, max_depth: 50, ..Limits::UNLIMITED };

/// A compiler and a connection pool.
pub struct QueryRunner {
    compiler: Compiler,
    pool: ReaderPool,
    rows: RowScope,
}

/// The result of a query.
pub struct QueryResult {
    /// The `data` value, as JSON text.
    pub text: String,
    pub compiled: Compiled,
    /// The number of rows of each step.
    pub rows: Vec<u64>,
    /// The searches that ended with their windows.
    pub short_searches: Vec<EndedSearch>,
    pub nullability_violations: u64,
}

/// A search that ended with a window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndedSearch {
    /// The response key of its root.
    pub key: String,
    pub rows_examined: i64,
    pub is_page_cut: bool,
    /// Whether these flags are not exact.
    pub has_next_page: bool,
    pub has_previous_page: bool,
}

impl QueryResult {
    /// The `data` value.
    pub fn data(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {}", self.text))
    }

    /// The cost of the returned rows.
    pub fn actual_cost(&self) -> Cost {
        self.compiled.estimate.actual(&self.rows)
    }
}

impl QueryRunner {
    pub fn new(database: &Database) -> Self {
        Self::with_config(&database.config())
    }

    /// Connects with that configuration.
    pub fn with_config(config: &tokio_postgres::Config) -> Self {
        Self::with_catalog(config, 2, built_in::catalog())
    }

    /// Connects with that configuration and so many connections, and compiles queries with that catalog.
    pub fn with_catalog(config: &tokio_postgres::Config, connections: usize, catalog: Catalog) -> Self {
        let options =
            PoolOptions { database: config.clone().into(), size: connections, shared: 0, wait: Duration::from_mins(1) };
        Self {
            compiler: Compiler::new(Arc::new(catalog), 1 << 20),
            pool: ReaderPool::new(&options).unwrap(),
            rows: RowScope::default(),
        }
    }

    /// The same for a caller who sees these rows.
    pub fn among(self, rows: RowScope) -> Self {
        Self { rows, ..self }
    }

    pub fn catalog(&self) -> &Catalog {
        self.compiler.catalog()
    }

    /// Compiles a query. Panics if the query is rejected.
    pub fn compile(&self, query: &str, variables: Variables) -> Compiled {
        let request = Request { query: query.to_owned(), operation_name: None, variables };
        self.try_compile(&request).unwrap_or_else(|errors| panic!("{errors}\n{query}"))
    }

    /// Compiles a request.
    pub fn try_compile(&self, request: &Request) -> Result<Compiled, GraphqlErrors> {
        self.compiler.compile(request, Caller { limits: &UNLIMITED, rows: &self.rows })
    }

    /// Runs a query. Panics if it is rejected or fails.
    pub async fn run(&self, query: &str, variables: Variables) -> QueryResult {
        self.execute(self.compile(query, variables)).await.unwrap_or_else(|error| panic!("{error:?}\n{query}"))
    }

    /// Runs a compiled query, and once more as a stream: the result must be the same.
    pub async fn execute(&self, compiled: Compiled) -> Result<QueryResult, ExecuteError> {
        let plan = &compiled.plan;
        let written = Written::read(&self.pool, plan).await?;
        if plan.needs_database() {
            match Written::stream(&self.pool, plan).await {
                // Part of the object that has to become null is sent.
                Err(StreamError::Write(_)) => assert_ne!(written.nullability_violations, 0),
                Err(StreamError::Execute(error)) => return Err(error),
                Ok(streamed) => {
                    let [streamed, expected] = [&streamed, &written].map(Written::with_opened_cursors);
                    if written.nullability_violations == 0 {
                        assert_eq!(streamed, expected, "streamed");
                    }
                    assert_eq!(streamed.text, expected.text, "streamed");
                }
            }
        }
        let Written { text, rows, short_searches, nullability_violations } = written;
        Ok(QueryResult { text, compiled, rows, short_searches, nullability_violations })
    }

    /// Runs a query without streaming it. Returns the number of rows of each step.
    pub async fn row_counts(&self, plan: &Arc<Plan>) -> Result<Vec<u64>, ExecuteError> {
        Ok(Written::read(&self.pool, plan).await?.rows)
    }

    /// Runs a query without streaming it. Returns its `data`.
    pub async fn read(&self, plan: &Arc<Plan>) -> Value {
        serde_json::from_str(&Written::read(&self.pool, plan).await.unwrap().text).unwrap()
    }

    /// Runs a query without variables and returns its `data`.
    pub async fn data(&self, query: &str) -> Value {
        self.run(query, Variables::new()).await.data()
    }
}

/// What a response is made of.
#[derive(Debug, Clone, PartialEq)]
struct Written {
    text: String,
    rows: Vec<u64>,
    short_searches: Vec<EndedSearch>,
    nullability_violations: u64,
}

impl Written {
    async fn read(pool: &ReaderPool, plan: &Arc<Plan>) -> Result<Self, ExecuteError> {
        let connection = pool.connection().await.unwrap();
        let mut limits = RowLimits { bytes: u64::MAX, memory: &mut |_| Memory::Held };
        let mut writer = execute(connection.into(), plan, &StatementLog::default(), &mut limits).await?;
        let mut bytes = Vec::new();
        assert_eq!(writer.write(&mut bytes, usize::MAX).unwrap(), Progress::Done);
        Ok(Self::new(bytes, &writer))
    }

    /// With few rows in memory at a time, and small parts.
    async fn stream(pool: &ReaderPool, plan: &Arc<Plan>) -> Result<Self, StreamError> {
        let mut stream = ResponseStream::new(StreamedResponse {
            connection: pool.connection().await.unwrap(),
            plan: Arc::clone(plan),
            log: Arc::default(),
            start: Vec::new(),
            first_part: 100,
            part: 1,
            rows: Some(7),
            memory: Box::new(|_| Memory::Held),
        });
        let mut bytes = Vec::new();
        loop {
            match stream.next().await? {
                Part::More(part) => bytes.extend(part),
                Part::Last(LastPart { text, written }) => {
                    bytes.extend(text);
                    return Ok(Self::new(bytes, &written));
                }
            }
        }
    }

    fn with_opened_cursors(&self) -> Self {
        Self { text: with_opened_cursors(&self.text), ..self.clone() }
    }

    fn new(text: Vec<u8>, writer: &ResponseWriter) -> Self {
        let short_searches = writer.short_searches().map(|search| EndedSearch {
            key: search.key.to_owned(),
            rows_examined: search.rows_examined,
            is_page_cut: search.is_page_cut,
            has_next_page: search.has_next_page,
            has_previous_page: search.has_previous_page,
        });
        Self {
            short_searches: short_searches.collect(),
            text: String::from_utf8(text).unwrap(),
            rows: writer.row_counts(),
            nullability_violations: writer.field_error_count(),
        }
    }
}
