//! A limit (a2): the statements of our own plan, with everything between BEGIN and COMMIT in one pipeline over the socket.
//!
//! No statement waits for the one above it: the keys of its parents were read beforehand, so that it is known what
//! PostgreSQL itself takes for them. The statements come out of the compiler, and are true when the planner changes.
//! pgbench has no variables for lists of keys, and takes its answers as text; what asks here is the same driver that asks
//! the servers, which sends and receives the bytes that ours would.

use std::collections::BTreeMap;
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use bytes::BytesMut;
use orderql::catalog::Catalog;
use orderql::compile::Compiler;
use orderql::database::parameter::{Raw, Sent};
use orderql::database::pool::SETTINGS;
use orderql::limits::Limits;
use orderql::plan::Plan;
use orderql::plan::step::{Parameter, Parents, Step};
use orderql::query::Request;
use postgres_protocol::message::frontend;
use serde_json::Value;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Row, Statement};

use crate::contestant::{Contestant, Figures, Name, Window};
use crate::contestants::pgbench::CLIENTS;
use crate::keys::{Key, Keys};
use crate::measure::Fault;
use crate::measure::driver::{Door, Load, Requests, run};
use crate::measure::process::Watch;
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
        config.options(SETTINGS);
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
        let Value::Object(variables) = workload.variables(&keys[place], cursor) else { return Err(misshapen()) };
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
        let texts: Vec<_> = first.steps.iter().map(|step| step.sql.as_str()).collect();
        let statements = texts.iter().map(|text| self.runtime.block_on(self.client.prepare(text)));
        let statements = statements.collect::<Result<Vec<_>, _>>()?;
        let keys = if workload.is_of_one_order() { self.keys.orders.len() } else { self.cursors.len() };
        let mut pipelines = Vec::new();
        for place in 0..keys.min(PREPARED) {
            let plan = self.plan(workload, place)?;
            if plan.steps.iter().map(|step| &step.sql).ne(&texts) {
                return Err(Fault::Data(format!("{workload} is not always answered by the same statements")));
            }
            pipelines.push(self.runtime.block_on(pipeline(&self.client, &statements, &plan))?);
        }
        let door = Door::Postgres(self.store.socket(), Rc::new(self.greetings(&texts)?));
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

    /// What every connection sends first: who it is, and the statements to prepare.
    fn greetings(&self, texts: &[&str]) -> Result<Vec<Vec<u8>>, Fault> {
        let mut startup = BytesMut::new();
        let (user, name) = (self.store.config.get_user(), self.store.config.get_dbname());
        let parameters =
            [("user", user.unwrap_or_default()), ("database", name.unwrap_or_default()), ("options", SETTINGS)];
        frontend::startup_message(parameters, &mut startup).map_err(unwritable())?;
        let mut preparing = BytesMut::new();
        let named = texts.iter().enumerate().map(|(place, text)| (statement_name(place), *text));
        let transaction = [(BEGIN, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"), (COMMIT, "COMMIT")];
        let transaction = transaction.map(|(name, text)| (name.to_owned(), text));
        for (name, text) in named.chain(transaction) {
            frontend::parse(&name, text, [], &mut preparing).map_err(unwritable())?;
        }
        frontend::sync(&mut preparing);
        Ok(vec![startup.to_vec(), preparing.to_vec()])
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

const BEGIN: &str = "begin";
const COMMIT: &str = "commit";

fn statement_name(place: usize) -> String {
    format!("s{place}")
}

/// The messages that run a plan: its statements with all their keys, in a transaction where there are several.
async fn pipeline(client: &Client, statements: &[Statement], plan: &Plan) -> Result<Vec<u8>, Fault> {
    let is_transaction = plan.steps.len() > 1;
    let mut out = BytesMut::new();
    if is_transaction {
        execute(BEGIN, &[], &[], &mut out)?;
    }
    let mut fetched: Vec<Vec<Row>> = Vec::new();
    for (place, (step, statement)) in plan.steps.iter().zip(statements).enumerate() {
        let values = step.parameters.iter().map(|parameter| sent(parameter, step, &fetched));
        let values = values.collect::<Result<Vec<_>, _>>()?;
        execute(&statement_name(place), &values, statement.params(), &mut out)?;
        let is_parent =
            plan.steps.iter().any(|child| matches!(&child.parents, Parents::Rows { step, .. } if *step == place));
        let rows = if is_parent {
            let values: Vec<_> = values.iter().map(|value| value as &(dyn ToSql + Sync)).collect();
            page(step, client.query(statement, &values).await?)?
        } else {
            Vec::new()
        };
        fetched.push(rows);
    }
    if is_transaction {
        execute(COMMIT, &[], &[], &mut out)?;
    }
    frontend::sync(&mut out);
    Ok(out.to_vec())
}

/// The messages that run one statement; its answer is wanted in binary.
fn execute(name: &str, values: &[Sent<'_>], types: &[Type], out: &mut BytesMut) -> Result<(), Fault> {
    let serialize = |(value, ty): (&Sent<'_>, &Type), out: &mut BytesMut| {
        value.to_sql_checked(ty, out).map(|is_null| match is_null {
            tokio_postgres::types::IsNull::Yes => postgres_protocol::IsNull::Yes,
            tokio_postgres::types::IsNull::No => postgres_protocol::IsNull::No,
        })
    };
    frontend::bind("", name, [1], values.iter().zip(types), serialize, [1], out).map_err(|error| match error {
        frontend::BindError::Conversion(error) => Fault::Data(error.to_string()),
        frontend::BindError::Serialization(error) => unwritable()(error),
    })?;
    frontend::execute("", 0, out).map_err(unwritable())
}

fn sent<'a>(parameter: &'a Parameter, step: &Step, fetched: &'a [Vec<Row>]) -> Result<Sent<'a>, Fault> {
    Ok(match parameter {
        Parameter::Value(value) => Sent::Value(value.as_ref()),
        Parameter::Values(values) => Sent::values(values),
        Parameter::Limit(rows) => Sent::Limit(*rows),
        Parameter::ParentKeys(place) => {
            let Parents::Rows { step, columns } = &step.parents else { return Err(misshapen()) };
            let column = *columns.get(*place).ok_or_else(misshapen)?;
            let raw = |row: &'a Row| row.try_get::<_, Option<Raw<'a>>>(column);
            Sent::Raw(fetched[*step].iter().map(raw).collect::<Result<_, _>>()?)
        }
    })
}

/// The rows of a step that are on the page: those that are fetched to see whether there are more have no children.
fn page(step: &Step, rows: Vec<Row>) -> Result<Vec<Row>, Fault> {
    let mut of_parent: BTreeMap<i64, u32> = BTreeMap::new();
    let mut kept = Vec::with_capacity(rows.len());
    for row in rows {
        let ordinal = step.layout.ordinal.map_or(Ok(0), |column| row.try_get(column))?;
        let is_row = step.layout.present.map_or(Ok(Some(true)), |column| row.try_get(column))?;
        let count = of_parent.entry(ordinal).or_default();
        if is_row == Some(true) && *count < step.size {
            *count += 1;
            kept.push(row);
        }
    }
    Ok(kept)
}

fn unwritable() -> impl FnOnce(io::Error) -> Fault {
    Fault::system("a message to PostgreSQL cannot be written")
}

fn misshapen() -> Fault {
    Fault::Data("the plan has another shape than is known here".to_owned())
}
