//! Executes a plan while its response is written, so that neither its rows nor its text are in memory as a whole.
//!
//! Every step has a portal: a statement that returns some rows at a time. The writer asks for the next rows of a step when it has
//! written the last ones. Then the statements of the steps below begin anew, for the new rows as parents. So each step has a
//! number of rows in memory, or one page if that is larger and cannot be written row by row.

use std::ops::{Range, RangeInclusive};
use std::pin::Pin;
use std::sync::Arc;

use futures_util::future::try_join_all;
use thiserror::Error;
use tokio::sync::mpsc;
use tokio_postgres::{Portal, Statement};

use crate::database::error::DatabaseError;
use crate::database::parameter::SqlParam;
use crate::database::portals::Portals;
use crate::database::snapshot::Snapshot;
use crate::execute::error::ExecuteError;
use crate::execute::fetch::{formats, sql_param};
use crate::execute::response_writer::{Pause, ResponseWriter, WriteError};
use crate::execute::step_log::StepLog;
use crate::execute::step_rows::{RowGrouper, StepRows, row_memory};
use crate::plan::request_plan::Plan;
use crate::plan::step::Parents;
use crate::query::bind::ids::StepId;

/// Bytes of memory that the rows of all steps may take, about.
const ROWS_MEMORY: usize = 512 << 10;

/// Bytes of a value, about.
const VALUE: usize = 16;

/// How many rows a step has in memory. Fewer would take PostgreSQL much longer; more would not be faster.
const ROWS: RangeInclusive<usize> = 64..=1000;

/// A response that is written while its rows are fetched. If it is dropped before its end, its statements are cancelled.
pub struct ResponseStream {
    producer: Pin<Box<dyn Future<Output = Result<LastPart, StreamError>> + Send>>,
    parts: mpsc::Receiver<Vec<u8>>,
}

/// How a response is streamed.
#[derive(Debug, Clone, Copy)]
pub struct StreamOptions {
    /// Bytes of the first part, at least.
    pub first_part: usize,
    /// Bytes of the following parts, at least.
    pub part: usize,
    /// How many rows a step has in memory; `None` for as many as take little memory.
    pub rows: Option<u16>,
}

/// A part of `data`.
pub enum Part {
    /// More parts follow.
    More(Vec<u8>),
    /// The last one.
    Last(LastPart),
}

/// The last part of `data`.
pub struct LastPart {
    /// The text.
    pub text: Vec<u8>,
    /// What was written: the number of rows, and the errors of fields.
    pub written: ResponseWriter,
}

/// Why a response cannot be continued.
#[derive(Debug, Error)]
pub enum StreamError {
    /// Rows are missing.
    #[error(transparent)]
    Execute(#[from] ExecuteError),
    /// A null cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
}

impl From<DatabaseError> for StreamError {
    fn from(error: DatabaseError) -> Self {
        Self::Execute(error.into())
    }
}

impl ResponseStream {
    /// The response to a plan, whose first part begins with these bytes.
    pub fn new(snapshot: Snapshot, plan: Arc<Plan>, log: Arc<StepLog>, start: Vec<u8>, options: StreamOptions) -> Self {
        let (sender, parts) = mpsc::channel(1);
        Self { producer: Box::pin(produce(snapshot, plan, log, start, options, sender)), parts }
    }

    /// The next part. Nothing is fetched or written between two calls. Do not call it again after the last part, or an error.
    pub async fn next(&mut self) -> Result<Part, StreamError> {
        tokio::select! {
            biased;
            Some(part) = self.parts.recv() => Ok(Part::More(part)),
            last = &mut self.producer => last.map(Part::Last),
        }
    }
}

async fn produce(
    mut snapshot: Snapshot,
    plan: Arc<Plan>,
    log: Arc<StepLog>,
    start: Vec<u8>,
    options: StreamOptions,
    parts: mpsc::Sender<Vec<u8>>,
) -> Result<LastPart, StreamError> {
    match write(&mut snapshot, &plan, &log, start, options, &parts).await {
        Ok(last) => {
            snapshot.release();
            Ok(last)
        }
        Err(error) => {
            if matches!(&error, StreamError::Execute(error) if !error.spares_connection()) {
                snapshot.discard();
            }
            Err(error)
        }
    }
}

async fn write(
    snapshot: &mut Snapshot,
    plan: &Arc<Plan>,
    log: &StepLog,
    start: Vec<u8>,
    options: StreamOptions,
    parts: &mpsc::Sender<Vec<u8>>,
) -> Result<LastPart, StreamError> {
    let statements = snapshot.prepare(plan.steps().iter().map(|step| step.sql.as_str())).await?;
    let in_order = plan.response_template().written_in_order(plan.steps().len());
    let steps =
        plan.steps().iter().zip(&statements).zip(in_order).map(|((step, statement), in_order)| {
            Ok(StepRows::streamed(formats(statement)?, step.backward || !in_order))
        });
    let mut writer = ResponseWriter::new(Arc::clone(plan), steps.collect::<Result<_, ExecuteError>>()?);
    let mut fetch = Fetch {
        portals: snapshot.portals().await?,
        plan,
        log,
        rows: options.rows.unwrap_or_else(|| rows_in_memory(&statements)),
        statements,
        running: plan.steps().iter().map(|_| None).collect(),
        parents: vec![0; plan.steps().len()],
    };
    fetch.begin(writer.steps_mut()).await?;
    let (mut text, mut at_least) = (start, options.first_part);
    loop {
        match writer.write_available(&mut text, at_least)? {
            Pause::Rows(step) => {
                writer.drop_written(step);
                fetch.proceed(step, writer.steps_mut()).await?;
            }
            Pause::Part => {
                at_least = options.part;
                let next = Vec::with_capacity(options.part + options.part / 4);
                // The receiver is there as long as this is polled.
                let _ = parts.send(std::mem::replace(&mut text, next)).await;
                // The part is taken before the next one is begun.
                let _ = parts.reserve().await;
            }
            Pause::End => break,
        }
    }
    fetch.portals.end().await?;
    for (step, rows) in writer.row_counts().into_iter().enumerate() {
        log.end(step, rows);
    }
    Ok(LastPart { text, written: writer })
}

/// So many rows of each of these statements take about [`ROWS_MEMORY`].
fn rows_in_memory(statements: &[Statement]) -> u16 {
    let row = |statement: &Statement| row_memory(statement.columns().len()) + statement.columns().len() * VALUE;
    let rows = ROWS_MEMORY / statements.iter().map(row).sum::<usize>().max(1);
    u16::try_from(rows.clamp(*ROWS.start(), *ROWS.end())).unwrap_or(u16::MAX)
}

/// The statements of a plan.
struct Fetch<'a> {
    portals: Portals<'a>,
    plan: &'a Plan,
    log: &'a StepLog,
    /// How many rows a statement returns at a time.
    rows: u16,
    /// The prepared statements, by step.
    statements: Vec<Statement>,
    /// The running statements, by step; `None` where no more rows come.
    running: Vec<Option<Running<'a>>>,
    /// The number of parents, by step, whose rows were asked for.
    parents: Vec<usize>,
}

/// A running statement.
struct Running<'a> {
    portal: Portal,
    grouper: RowGrouper<'a>,
}

impl Fetch<'_> {
    /// Begins the statements of the steps without parents, and of those below them.
    async fn begin(&mut self, rows: &mut [StepRows]) -> Result<(), ExecuteError> {
        self.begin_level(self.below(None), rows).await
    }

    /// Fetches the next rows of a step, and those of the steps below it.
    async fn proceed(&mut self, step: StepId, rows: &mut [StepRows]) -> Result<(), ExecuteError> {
        if self.running[step].is_none() {
            return Err(ExecuteError::Misshapen);
        }
        self.fetch(&[step], rows).await?;
        self.begin_level(self.below(Some(step)), rows).await
    }

    /// The steps below a step, or those without parents.
    fn below(&self, parent: Option<StepId>) -> Vec<StepId> {
        let steps = self.plan.steps().iter().enumerate();
        steps.filter(|(_, step)| step.parent() == parent).map(|(step, _)| step).collect()
    }

    /// Begins the statements of these steps for the parents that have arrived since they were last begun, and of those below
    /// them, level by level.
    async fn begin_level(&mut self, mut level: Vec<StepId>, rows: &mut [StepRows]) -> Result<(), ExecuteError> {
        while !level.is_empty() {
            let bound = try_join_all(level.into_iter().map(|step| self.bind(step, rows))).await?;
            let mut begun = Vec::new();
            for (id, parents, portal) in bound.into_iter().flatten() {
                let (step, size) = (&self.plan.steps()[id], self.plan.size(id));
                rows[id].restart(parents.start);
                let grouper = RowGrouper::new(step, size, parents.clone());
                self.running[id] = Some(Running { portal, grouper });
                self.parents[id] = parents.end;
                begun.push(id);
            }
            self.fetch(&begun, rows).await?;
            level = begun.into_iter().flat_map(|step| self.below(Some(step))).collect();
        }
        Ok(())
    }

    /// Begins a step's statement for the parents that have arrived since it was last begun, if there are any.
    async fn bind(
        &self,
        id: StepId,
        rows: &[StepRows],
    ) -> Result<Option<(StepId, Range<usize>, Portal)>, ExecuteError> {
        let (parents, keys) = match &self.plan.steps()[id].parents {
            Parents::Known => (0..1, None),
            Parents::Rows { step, columns } => {
                let rows = &rows[*step];
                let parents = self.parents[id].max(rows.numbers().start)..rows.end_of_ready();
                if parents.is_empty() {
                    return Ok(None);
                }
                let keys = rows.slice(parents.clone());
                (parents, Some((keys, columns.as_slice())))
            }
        };
        self.log.begin(id);
        let parameters = self.plan.parameters(id).map(|parameter| sql_param(parameter, keys));
        let parameters = parameters.collect::<Result<Vec<SqlParam<'_>>, _>>()?;
        let portal = self.portals.bind(&self.statements[id], parameters).await?;
        Ok(Some((id, parents, portal)))
    }

    /// Fetches the next rows of running statements.
    async fn fetch(&mut self, steps: &[StepId], rows: &mut [StepRows]) -> Result<(), ExecuteError> {
        let next = steps.iter().filter_map(|step| {
            let portal = &self.running[*step].as_ref()?.portal;
            Some(async { Ok::<_, ExecuteError>((*step, self.portals.next(portal, self.rows).await?)) })
        });
        for (step, next) in try_join_all(next).await? {
            let Some(running) = &mut self.running[step] else { continue };
            for row in next.rows {
                running.grouper.add(&mut rows[step], row)?;
            }
            if next.is_last {
                running.grouper.finish(&mut rows[step]);
                self.running[step] = None;
            }
        }
        Ok(())
    }
}
