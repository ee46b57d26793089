//! The rows of a plan's steps, read from one snapshot: the statements that wait for nothing are sent together, each other one as
//! soon as the rows of its parents are there, and the transaction's end right after the last.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::OnceLock;

use futures_util::future::maybe_done;
use futures_util::{TryStreamExt, poll};
use tokio_postgres::types::Type;
use tokio_postgres::{Row, Statement};

use crate::database::error::DatabaseError;
use crate::database::parameter::SqlParam;
use crate::database::snapshot::Snapshot;
use crate::execute::dispatch::{Form, forms};
use crate::execute::encode::ColumnFormat;
use crate::execute::error::ExecuteError;
use crate::execute::step_log::StepLog;
use crate::execute::step_rows::{RowGrouper, StepRows, raw};
use crate::plan::request_plan::{Parameter, Plan};
use crate::plan::step::{Parents, Step};
use crate::query::bind::ids::StepId;

/// A running statement. It returns the step whose rows it fetched, if it is a step's.
type Running<'a> = Pin<Box<dyn Future<Output = Result<Option<StepId>, ExecuteError>> + Send + 'a>>;

/// The transaction that the statements of a plan are run in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Transaction {
    /// One of their own, if there are several.
    Own,
    /// One that was begun before.
    Open,
}

/// Fetches the rows of every step.
pub(super) async fn fetch(
    snapshot: &Snapshot,
    plan: &Plan,
    transaction: Transaction,
    log: &StepLog,
) -> Result<Vec<StepRows>, ExecuteError> {
    let forms = forms(plan, snapshot.round_trip());
    let texts = forms.iter().enumerate().map(|(step, form)| form.sql(plan, step));
    let prepared = snapshot.prepare(texts).await?;
    let fetch =
        Fetch { snapshot, plan, log, forms, prepared, fetched: plan.steps().iter().map(|_| OnceLock::new()).collect() };
    match fetch.prepared.len() {
        0 => {}
        // One statement sees one snapshot without a transaction.
        1 if snapshot.reads_only_by_default() => fetch.step(0).await?,
        _ => fetch.run(transaction).await?,
    }
    fetch.fetched.into_iter().map(|rows| rows.into_inner().ok_or(ExecuteError::Misshapen)).collect()
}

/// What the statements of a plan are run with.
struct Fetch<'a> {
    snapshot: &'a Snapshot,
    plan: &'a Plan,
    log: &'a StepLog,
    /// The form of each step's statement.
    forms: Vec<Form<'a>>,
    /// The prepared statements, by step.
    prepared: Vec<Statement>,
    /// The rows that have arrived, by step.
    fetched: Vec<OnceLock<StepRows>>,
}

impl Fetch<'_> {
    /// Runs the statements in a transaction.
    async fn run(&self, transaction: Transaction) -> Result<(), ExecuteError> {
        let steps = self.plan.steps().len();
        let mut ready: Vec<Running<'_>> = Vec::with_capacity(steps + 2);
        let is_own = transaction == Transaction::Own;
        if is_own {
            ready.push(Box::pin(async { Ok(self.snapshot.begin().await.map(|()| None)?) }));
        }
        ready.extend(self.ready_after(None));
        let mut unsent = steps + usize::from(is_own);
        // The server responds to the statements of a connection in the order in which they were sent.
        let mut sent = VecDeque::with_capacity(steps + 2);
        loop {
            unsent -= ready.len();
            if is_own && unsent == 0 && !ready.is_empty() {
                ready.push(Box::pin(async { Ok(self.snapshot.commit().await.map(|()| None)?) }));
            }
            for statement in ready.drain(..) {
                let mut statement = maybe_done(statement);
                // The first poll sends the statement.
                let _ = poll!(&mut statement);
                sent.push_back(statement);
            }
            let Some(mut first) = sent.pop_front() else { return Ok(()) };
            (&mut first).await;
            if let Some(fetched) = Pin::new(&mut first).take_output().transpose()?.flatten() {
                ready.extend(self.ready_after(Some(fetched)));
            }
        }
    }

    /// The steps that wait for the rows of this one, or for nothing.
    fn ready_after(&self, parent: Option<StepId>) -> impl Iterator<Item = Running<'_>> {
        let forms = self.forms.iter().enumerate();
        let ready = forms.filter(move |(step, form)| form.waits_for(self.plan, *step) == parent);
        ready.map(move |(step, _)| -> Running<'_> {
            Box::pin(async move { self.step(step).await.map(|()| Some(step)) })
        })
    }

    /// Fetches the rows of a step, and records it.
    async fn step(&self, id: StepId) -> Result<(), ExecuteError> {
        self.log.recorded(id, self.rows(id)).await
    }

    /// Fetches the rows of a step. Returns how many there are.
    async fn rows(&self, id: StepId) -> Result<usize, ExecuteError> {
        let (step, statement) = (&self.plan.steps()[id], &self.prepared[id]);
        let parameters: Vec<SqlParam<'_>> = match self.forms[id] {
            Form::WithKeys => {
                let parents = self.parents(step)?;
                let parameters = self.plan.parameters(id).map(|parameter| sql_param(parameter, parents));
                parameters.collect::<Result<_, _>>()?
            }
            Form::SelfContained(statement) => {
                let parameters = self.plan.parameters_of(statement).map(|parameter| sql_param(parameter, None));
                parameters.collect::<Result<_, _>>()?
            }
        };
        let mut stream = std::pin::pin!(self.snapshot.query(statement, parameters).await?);
        // The parents' rows were sent before this response, whether or not the statement waited for them.
        let parents = self.parents(step)?.map_or(1, |(rows, _)| rows.len());
        let mut rows = StepRows::new(formats(statement)?);
        let mut grouper = RowGrouper::new(step, self.plan.size(id), 0..parents);
        let mut received = 0;
        while let Some(row) = stream.try_next().await.map_err(DatabaseError::from)? {
            received += 1;
            grouper.add(&mut rows, row)?;
        }
        // The stream ends with the response, whether or not the response has a result.
        let announced = stream.rows_affected();
        if announced != Some(received) {
            return Err(DatabaseError::Incomplete { announced, received }.into());
        }
        grouper.finish(&mut rows);
        // Each step runs once, so its cell is empty.
        Ok(self.fetched[id].get_or_init(|| rows).end())
    }

    /// The rows of a step's parents, and the columns that have their keys.
    fn parents<'s>(&'s self, step: &'s Step) -> Result<Option<ParentRows<'s>>, ExecuteError> {
        match &step.parents {
            Parents::Known => Ok(None),
            Parents::Rows { step, columns } => {
                let rows = self.fetched[*step].get().ok_or(ExecuteError::Misshapen)?;
                Ok(Some((rows.slice(rows.numbers()), columns.as_slice())))
            }
        }
    }
}

/// Rows, and the indexes of their columns that have the keys.
pub(super) type ParentRows<'a> = (&'a [Row], &'a [usize]);

/// A parameter of a statement. The keys of parents are those of these rows.
pub(super) fn sql_param<'a>(
    parameter: Parameter<'a>,
    parents: Option<ParentRows<'a>>,
) -> Result<SqlParam<'a>, ExecuteError> {
    Ok(match parameter {
        Parameter::Value(value) => SqlParam::Value(value),
        Parameter::Values(values) => SqlParam::values(values),
        Parameter::Limit(rows) => SqlParam::Limit(rows),
        Parameter::ParentKeys(index) => {
            let (rows, columns) = parents.ok_or(ExecuteError::Misshapen)?;
            let column = *columns.get(index).ok_or(ExecuteError::Misshapen)?;
            SqlParam::RawValues(rows.iter().map(|row| raw(row, column)).collect::<Result<_, _>>()?)
        }
    })
}

/// The formats of a statement's columns.
pub(super) fn formats(statement: &Statement) -> Result<Vec<ColumnFormat>, ExecuteError> {
    let format = |ty: &Type| ColumnFormat::of(ty).ok_or_else(|| ExecuteError::UnwritableType(ty.name().to_owned()));
    statement.columns().iter().map(|column| format(column.type_())).collect()
}
