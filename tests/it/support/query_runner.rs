//! Asking a database without a server between: compile, execute, write.

use std::sync::Arc;
use std::time::Duration;

use orderql::catalog::Catalog;
use orderql::compile::compiled::Compiled;
use orderql::compile::compiler::Compiler;
use orderql::cost::price::Cost;
use orderql::database::options::PoolOptions;
use orderql::database::pool::Pool;
use orderql::execute::execute;
use orderql::execute::response_writer::Progress;
use orderql::limits::Limits;
use orderql::query::{Request, Variables};
use serde_json::Value;

use crate::support::database::Database;

/// Limits that no test reaches.
pub const UNLIMITED: Limits = Limits { max_cost: u64::MAX, max_page_size: 10_000, max_depth: 50 };

/// A pool over a database and a compiler before it.
pub struct Asker {
    compiler: Compiler,
    pool: Pool,
}

/// What a query came to.
pub struct Answered {
    /// The `data` value as it was written.
    pub text: String,
    /// What was compiled.
    pub compiled: Compiled,
    /// How many rows each step came to.
    pub rows: Vec<u64>,
    /// Nulls where the schema promises values.
    pub nullability_violations: u64,
}

impl Answered {
    /// The `data` value.
    pub fn data(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {}", self.text))
    }

    /// The cost of the rows that came back.
    pub fn actual(&self) -> Cost {
        self.compiled.estimate.actual(&self.rows)
    }
}

impl Asker {
    /// Asks that database.
    pub fn of(database: &Database) -> Self {
        Self::with(database.config())
    }

    /// Asks a database that is reached so.
    pub fn with(config: tokio_postgres::Config) -> Self {
        let pool = Pool::new(&PoolOptions { config, size: 2, wait: Duration::from_mins(1) }).unwrap();
        Self { compiler: Compiler::new(Arc::new(Catalog::built_in().unwrap()), 1 << 20), pool }
    }

    /// The catalog.
    pub fn catalog(&self) -> &Catalog {
        self.compiler.catalog()
    }

    /// Compiles; panics where the query is refused.
    pub fn compile(&self, query: &str, variables: Variables) -> Compiled {
        let request = Request { query: query.to_owned(), operation_name: None, variables };
        self.compiler.compile(&request, &UNLIMITED).unwrap_or_else(|refusals| panic!("{refusals}\n{query}"))
    }

    /// Asks; panics where there is no answer.
    pub async fn ask(&self, query: &str, variables: Variables) -> Answered {
        let compiled = self.compile(query, variables);
        let snapshot = self.pool.snapshot().await.unwrap();
        let mut answer = execute(snapshot, &compiled.plan).await.unwrap_or_else(|error| panic!("{error:?}\n{query}"));
        let mut bytes = Vec::new();
        assert_eq!(answer.write(&mut bytes, usize::MAX).unwrap(), Progress::Done);
        let text = String::from_utf8(bytes).unwrap();
        Answered {
            text,
            compiled,
            rows: answer.row_counts().to_vec(),
            nullability_violations: answer.field_error_count(),
        }
    }

    /// Asks a query without variables for its `data`.
    pub async fn data(&self, query: &str) -> Value {
        self.ask(query, Variables::new()).await.data()
    }
}
