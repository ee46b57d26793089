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
use crate::database::parameter::{RawValue, SqlParam};
use crate::database::snapshot::Snapshot;
use crate::execute::dispatch::{Form, forms};
use crate::execute::encode::ColumnFormat;
use crate::execute::error::ExecuteError;
use crate::execute::step_log::StepLog;
use crate::plan::request_plan::{Parameter, Plan};
use crate::plan::step::{Parents, Step};
use crate::query::bind::ids::StepId;

/// The rows of a step.
#[derive(Debug, Clone)]
pub(crate) struct StepRows {
    /// The rows of the pages, in the response's order, group after group.
    pub(crate) rows: Vec<Row>,
    /// The rows of each parent, in the parents' order.
    pub(crate) groups: Vec<Group>,
    /// The format of each column.
    pub(crate) formats: Vec<ColumnFormat>,
    /// The last row that a search examined, if it examined as many as it may before it found its page and the row after it. It
    /// may not match.
    pub(crate) last_examined: Option<Row>,
}

impl StepRows {
    /// A column of a row, and its format; `None` is a null.
    pub(crate) fn value(&self, row: usize, column: usize) -> Option<(ColumnFormat, &[u8])> {
        let bytes = raw(self.rows.get(row)?, column).ok()??;
        Some((*self.formats.get(column)?, bytes.0))
    }
}

/// The rows of one parent.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Group {
    /// The index of its first row.
    pub(crate) start: usize,
    /// The index after its last row.
    pub(crate) end: usize,
    /// Whether the database has a row beyond the far end of the page; it may not match if a search ended with its window.
    pub(crate) overflow: bool,
    /// Whether there are rows at or before the `after:` cursor.
    pub(crate) before_page: bool,
    /// Whether there are rows at or after the `before:` cursor.
    pub(crate) after_page: bool,
}

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
        1 => fetch.step(0).await?,
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
        let mut grouper =
            RowGrouper::new(step, self.plan.size(id), self.parents(step)?.map_or(1, |(rows, _)| rows.len()));
        let mut received = 0;
        while let Some(row) = stream.try_next().await.map_err(DatabaseError::from)? {
            received += 1;
            grouper.add(row)?;
        }
        // The stream ends with the response, whether or not the response has a result.
        let announced = stream.rows_affected();
        if announced != Some(received) {
            return Err(DatabaseError::Incomplete { announced, received }.into());
        }
        let format = |ty: &Type| ColumnFormat::of(ty).ok_or_else(|| ExecuteError::UnwritableType(ty.name().to_owned()));
        let formats = statement.columns().iter().map(|column| format(column.type_())).collect::<Result<_, _>>()?;
        // Each step runs once, so its cell is empty.
        let rows = self.fetched[id].get_or_init(|| grouper.finish(formats));
        Ok(rows.rows.len())
    }

    /// The rows of a step's parents, and the columns that have their keys.
    fn parents<'s>(&'s self, step: &'s Step) -> Result<Option<ParentRows<'s>>, ExecuteError> {
        match &step.parents {
            Parents::Known => Ok(None),
            Parents::Rows { step, columns } => {
                Ok(Some((&self.fetched[*step].get().ok_or(ExecuteError::Misshapen)?.rows, columns.as_slice())))
            }
        }
    }
}

/// Rows, and the indexes of their columns that have the keys.
type ParentRows<'a> = (&'a Vec<Row>, &'a [usize]);

fn sql_param<'a>(parameter: Parameter<'a>, parents: Option<ParentRows<'a>>) -> Result<SqlParam<'a>, ExecuteError> {
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

/// The bytes of a column; `None` is a null.
pub(crate) fn raw(row: &Row, column: usize) -> Result<Option<RawValue<'_>>, ExecuteError> {
    row.try_get(column).map_err(|_| ExecuteError::Misshapen)
}

/// Groups the rows of a statement by their parents. Rows arrive in the parents' order.
struct RowGrouper<'a> {
    step: &'a Step,
    size: u32,
    rows: Vec<Row>,
    groups: Vec<Group>,
    parents: usize,
    search: SearchEnd,
}

impl<'a> RowGrouper<'a> {
    fn new(step: &'a Step, size: u32, parents: usize) -> Self {
        Self {
            step,
            size,
            rows: Vec::new(),
            groups: Vec::with_capacity(parents),
            parents,
            search: SearchEnd::default(),
        }
    }

    fn add(&mut self, row: Row) -> Result<(), ExecuteError> {
        let layout = self.step.layout;
        let parent = match layout.ordinal {
            None => 0,
            Some(column) => ordinal(&row, column)?.checked_sub(1).ok_or(ExecuteError::Misshapen)?,
        };
        if parent >= self.parents || parent + 1 < self.groups.len() {
            return Err(ExecuteError::Misshapen);
        }
        while self.groups.len() <= parent {
            self.open();
        }
        let Some(group) = self.groups.last_mut() else { return Err(ExecuteError::Misshapen) };
        if let Some(column) = layout.before_page {
            group.before_page = truth(&row, column)?;
        }
        if let Some(column) = layout.after_page {
            group.after_page = truth(&row, column)?;
        }
        let is_row = layout.present.map_or(Ok(true), |column| truth(&row, column))?;
        if !is_row || !self.search.examine(self.step, &row)? {
            return Ok(());
        }
        if u32::try_from(group.end - group.start).is_ok_and(|rows| rows < self.size) {
            self.rows.push(row);
            group.end += 1;
        } else {
            group.overflow = true;
        }
        Ok(())
    }

    /// Ends the last group and begins the next.
    fn open(&mut self) {
        self.close();
        let start = self.rows.len();
        self.groups.push(Group { start, end: start, ..Group::default() });
    }

    fn close(&mut self) {
        if self.step.backward
            && let Some(group) = self.groups.last()
        {
            self.rows[group.start..group.end].reverse();
        }
    }

    fn finish(mut self, formats: Vec<ColumnFormat>) -> StepRows {
        while self.groups.len() < self.parents {
            self.open();
        }
        self.close();
        let last_examined = self.groups.last_mut().and_then(|group| self.search.end(group));
        StepRows { rows: self.rows, groups: self.groups, formats, last_examined }
    }
}

/// Where a search ends if its page is not full before.
#[derive(Debug, Default)]
struct SearchEnd {
    /// The last row of the window.
    last: Option<Row>,
    /// Whether there is a row after it.
    has_more: bool,
}

impl SearchEnd {
    /// Whether the row belongs to the page, and not only to the window.
    fn examine(&mut self, step: &Step, row: &Row) -> Result<bool, ExecuteError> {
        let Some(search) = &step.search else { return Ok(true) };
        let number: Option<i64> = row.try_get(search.number).map_err(|_| ExecuteError::Misshapen)?;
        let number = number.unwrap_or(0);
        if number == search.window {
            self.last = Some(row.clone());
        }
        self.has_more |= number > search.window;
        Ok(number <= search.window && truth(row, search.matches)?)
    }

    /// The last row of the window, if the page ends with it and rows follow.
    fn end(&mut self, group: &mut Group) -> Option<Row> {
        if group.overflow || !self.has_more {
            return None;
        }
        group.overflow = true;
        self.last.take()
    }
}

fn ordinal(row: &Row, column: usize) -> Result<usize, ExecuteError> {
    let ordinal: i64 = row.try_get(column).map_err(|_| ExecuteError::Misshapen)?;
    usize::try_from(ordinal).map_err(|_| ExecuteError::Misshapen)
}

/// A boolean; null is false.
fn truth(row: &Row, column: usize) -> Result<bool, ExecuteError> {
    let truth: Option<bool> = row.try_get(column).map_err(|_| ExecuteError::Misshapen)?;
    Ok(truth == Some(true))
}
