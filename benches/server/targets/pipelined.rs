//! The limit (a2): the statement of orderql's own plan, sent over the socket with nothing else.
//!
//! The statement comes from the compiler, so that it stays the server's own. pgbench cannot do this, as it has no arrays and receives
//! text; the driver here sends and receives the bytes that the server would.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use orderql::catalog::Catalog;
use orderql::compile::compiler::Compiler;
use orderql::limits::Limits;
use orderql::plan::request_plan::Plan;
use orderql::query::Request;
use serde_json::Value;
use tokio_postgres::Client;

use super::figures::{Figures, Window, measure};
use super::http::HttpTarget;
use super::messages::{execution, session};
use super::{Context, Name, TRIED_CONNECTIONS, Target};
use crate::client::Endpoint;
use crate::driver::Requests;
use crate::error::{BenchError, Result};
use crate::workload::Workload;

/// How many keys of a workload are prepared.
const PREPARED: usize = 4_000;

/// How long each number of connections is tried.
const TRIAL: Window = Window::closed(Duration::from_millis(200), Duration::from_millis(1500));

/// Limits that no query exceeds.
const UNLIMITED: Limits = Limits { max_page_size: 10_000, max_depth: 50, ..Limits::UNLIMITED };

/// The statements of all workloads.
pub struct Pipelined<'a> {
    context: &'a Context<'a>,
    /// orderql's cursors at the keys' positions.
    cursors: Vec<String>,
    client: Client,
    compiler: Compiler,
    prepared: BTreeMap<Workload, Prepared>,
}

struct Prepared {
    endpoint: Endpoint,
    executions: Requests,
    /// The number of connections with the highest throughput.
    connections: usize,
}

impl<'a> Pipelined<'a> {
    /// Connects, and gets the cursors from orderql.
    pub fn new(context: &'a Context<'a>, orderql: &HttpTarget<'_>) -> Result<Self> {
        let mut connection = orderql.connect()?;
        let cursors = context.keys.of(Workload::Page).iter().map(|key| orderql.cursor(&mut connection, key));
        Ok(Self {
            context,
            cursors: cursors.collect::<Result<_>>()?,
            client: context.database.connect()?,
            compiler: Compiler::new(Arc::new(Catalog::built_in()?), 1 << 20),
            prepared: BTreeMap::new(),
        })
    }

    fn plan(&self, workload: Workload, index: usize) -> Result<Arc<Plan>> {
        let cursor = self.cursors.get(index).map(String::as_str).unwrap_or_default();
        let Value::Object(variables) = workload.variables(&self.context.keys.of(workload)[index], cursor) else {
            return Err(BenchError::Plan);
        };
        let query = workload.query().to_owned();
        let request = Request { query: query.clone(), variables, ..Request::default() };
        let compiled = self.compiler.compile(&request, &UNLIMITED);
        compiled.map(|compiled| compiled.plan).map_err(|errors| BenchError::Query { errors, query })
    }

    fn prepared(&mut self, workload: Workload) -> Result<&Prepared> {
        if !self.prepared.contains_key(&workload) {
            let prepared = self.build(workload)?;
            self.prepared.insert(workload, prepared);
        }
        Ok(&self.prepared[&workload])
    }

    fn build(&self, workload: Workload) -> Result<Prepared> {
        let database = self.context.database;
        let first = self.plan(workload, 0)?;
        let statement = database.block_on(self.client.prepare(first.sql()))?;
        let mut executions = Vec::new();
        for index in 0..self.context.keys.of(workload).len().min(PREPARED) {
            let plan = self.plan(workload, index)?;
            if plan.sql() != first.sql() {
                return Err(BenchError::Data(format!("{workload} does not always have the same statement")));
            }
            executions.push(execution(&statement, &plan)?);
        }
        let endpoint = Endpoint::Postgres(database.socket(), Rc::new(session(&database.config, first.sql())?));
        let mut prepared = Prepared { endpoint, executions: Rc::new(executions), connections: 0 };
        let mut highest = 0.0;
        for connections in TRIED_CONNECTIONS {
            let per_second = prepared.measure(connections, TRIAL, None)?.per_second;
            if per_second > highest {
                (prepared.connections, highest) = (connections, per_second);
            }
        }
        Ok(prepared)
    }
}

impl Prepared {
    fn measure(&self, connections: usize, window: Window, postmaster: Option<u32>) -> Result<Figures> {
        measure(self.endpoint.clone(), &self.executions, connections, window, None, postmaster)
    }
}

impl Target for Pipelined<'_> {
    fn name(&self) -> Name {
        Name::A2
    }

    fn prepare(&mut self, workload: Workload) -> Result<()> {
        self.prepared(workload).map(drop)
    }

    fn measure(&mut self, workload: Workload, _: usize, window: Window) -> Result<Figures> {
        let postmaster = Some(self.context.database.postmaster);
        let prepared = self.prepared(workload)?;
        prepared.measure(prepared.connections, window, postmaster)
    }
}
