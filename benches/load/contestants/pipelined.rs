//! A limit (a2): the statements of our own plan, with everything between BEGIN and COMMIT in one pipeline over the socket.
//!
//! No statement waits for the one above it: the keys of its parents were read beforehand, so that it is known what
//! PostgreSQL itself takes for them. The statements come out of the compiler, and are true when the planner changes.
//! pgbench has no variables for lists of keys, and takes its answers as text; what asks here is the same driver that asks
//! the servers, which sends and receives the bytes that ours would.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use orderql::catalog::Catalog;
use orderql::compile::compiler::Compiler;
use orderql::database::session::reader_settings;
use orderql::limits::Limits;
use orderql::plan::request_plan::Plan;
use orderql::query::Request;
use serde_json::Value;
use tokio_postgres::Client;

use crate::contestant::{Contestant, Figures, Name, Window};
use crate::contestants::messages;
use crate::contestants::pgbench::CLIENTS;
use crate::keys::{Key, Keys};
use crate::measure::Fault;
use crate::measure::driver::{Door, Load, Requests, run};
use crate::measure::process::Watch;
use crate::measure::steps::misshapen;
use crate::measure::store::Store;
use crate::workload::Workload;

/// How many keys of a workload are prepared.
const PREPARED: usize = 4_000;

/// How long each number of connections is tried for.
const TRIAL: Duration = Duration::from_millis(1500);

/// What asks for nothing that would be refused.
const UNLIMITED: Limits = Limits { max_cost: u64::MAX, max_page_size: 10_000, max_depth: 50 };

/// The pipelines, and where they go.
pub struct Pipelined {
    store: Rc<Store>,
    keys: Rc<Keys>,
    /// The cursors of the keys' places.
    cursors: Rc<Vec<String>>,
    runtime: tokio::runtime::Handle,
    client: Client,
    compiler: Compiler,
    prepared: BTreeMap<Workload, Prepared>,
}

/// A workload's pipelines.
struct Prepared {
    door: Door,
    pipelines: Requests,
    /// The number of connections with which most is done.
    connections: usize,
}

impl Pipelined {
    /// Has nothing prepared yet.
    pub fn new(
        store: &Rc<Store>,
        keys: &Rc<Keys>,
        cursors: Rc<Vec<String>>,
        runtime: &tokio::runtime::Handle,
    ) -> Result<Self, Fault> {
        let mut config = store.config.clone();
        config.options(reader_settings(""));
        let client = runtime.block_on(orderql::database::connect::connect(&config))?;
        let catalog = Catalog::built_in().map_err(|error| Fault::Data(error.to_string()))?;
        Ok(Self {
            store: Rc::clone(store),
            keys: Rc::clone(keys),
            cursors,
            runtime: runtime.clone(),
            client,
            compiler: Compiler::new(Arc::new(catalog), 1 << 20),
            prepared: BTreeMap::new(),
        })
    }

    fn plan(&self, workload: Workload, place: usize) -> Result<Arc<Plan>, Fault> {
        let keys = if workload.is_of_one_order() { &self.keys.orders } else { &self.keys.places };
        let cursor = self.cursors.get(place).map(String::as_str).unwrap_or_default();
        let Value::Object(variables) = workload.variables(&keys[place], cursor) else {
            return Err(misshapen());
        };
        let request = Request { query: workload.query().to_owned(), variables, ..Request::default() };
        let compiled = self.compiler.compile(&request, &UNLIMITED);
        compiled.map(|compiled| compiled.plan).map_err(|refusals| Fault::Data(refusals.to_string()))
    }

    fn made(&mut self, workload: Workload) -> Result<&mut Prepared, Fault> {
        if !self.prepared.contains_key(&workload) {
            let prepared = self.make(workload)?;
            self.prepared.insert(workload, prepared);
        }
        self.prepared.get_mut(&workload).ok_or_else(misshapen)
    }

    fn make(&self, workload: Workload) -> Result<Prepared, Fault> {
        let first = self.plan(workload, 0)?;
        let texts: Vec<_> = first.steps().iter().map(|step| step.sql.as_str()).collect();
        let statements = texts.iter().map(|text| self.runtime.block_on(self.client.prepare(text)));
        let statements = statements.collect::<Result<Vec<_>, _>>()?;
        let keys = if workload.is_of_one_order() { self.keys.orders.len() } else { self.cursors.len() };
        let mut pipelines = Vec::new();
        for place in 0..keys.min(PREPARED) {
            let plan = self.plan(workload, place)?;
            if plan.steps().iter().map(|step| &step.sql).ne(&texts) {
                return Err(Fault::Data(format!("{workload} is not always answered by the same statements")));
            }
            pipelines.push(self.runtime.block_on(messages::pipeline(&self.client, &statements, &plan))?);
        }
        let door = Door::Postgres(self.store.socket(), Rc::new(messages::greetings(&self.store.config, &texts)?));
        let mut prepared = Prepared { door, pipelines: Rc::new(pipelines), connections: 0 };
        let mut most = 0.0;
        for connections in CLIENTS {
            let load = prepared.load(connections, Duration::from_millis(200), TRIAL);
            let per_second = run(&load, || {})?.per_second();
            if per_second > most {
                (prepared.connections, most) = (connections, per_second);
            }
        }
        Ok(prepared)
    }
}

impl Prepared {
    fn load(&self, connections: usize, warm_up: Duration, time: Duration) -> Load<'_> {
        let requests = Rc::clone(&self.pipelines);
        Load { door: &self.door, requests, connections, warm_up, time, bears_bad: false }
    }
}

impl Contestant for Pipelined {
    fn name(&self) -> Name {
        Name::A2
    }

    fn answer(&mut self, _: Workload, _: &Key) -> Result<Option<Value>, Fault> {
        Ok(None)
    }

    fn prepare(&mut self, workload: Workload) -> Result<(), Fault> {
        self.made(workload).map(drop)
    }

    fn measure(&mut self, workload: Workload, window: Window) -> Result<Figures, Fault> {
        let postmaster = self.store.postmaster;
        let prepared = self.made(workload)?;
        let mut of_postgresql = Watch::of(Some(postmaster));
        let load = prepared.load(prepared.connections, window.warm_up, window.time);
        let outcome = run(&load, || of_postgresql.look())?;
        let answers = outcome.latencies.count();
        Ok(Figures {
            per_second: outcome.per_second(),
            p50_ms: outcome.latencies.percentile(50.0).as_secs_f64() * 1000.0,
            p99_ms: outcome.latencies.percentile(99.0).as_secs_f64() * 1000.0,
            server_cpu_ms: None,
            postgresql_cpu_ms: of_postgresql.milliseconds_each(answers),
            resident_mib: None,
            answer_bytes: (answers > 0).then(|| outcome.bytes as f64 / answers as f64),
            clients: prepared.connections,
        })
    }
}
