//! The state of every export between its pages: its account, its credits, its memory and its lines.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use futures_util::Stream;
use hyper::body::Bytes;
use hyper::header::{self, HeaderName, HeaderValue};
use serde_json::Value;
use tokio::time;

use crate::access::grants::Principal;
use crate::api::access_log::timeline::{Stage, Timeline};
use crate::api::errors::api_error::ApiError;
use crate::api::errors::query_error::QueryError;
use crate::api::errors::service_error::ServiceError;
use crate::api::extensions::scope_extension;
use crate::api::graphql::gates::admission::PaidTime;
use crate::api::graphql::gates::current_account::current_account;
use crate::api::graphql::long_lived::export_lines::{End, Rest, write_end, write_errors, write_short_lists};
use crate::api::graphql::long_lived::export_log::ExportLog;
use crate::api::graphql::request::query_request::Requester;
use crate::api::service::Service;
use crate::api::views::View;
use crate::compile::compiled::Compiled;
use crate::compile::export::Export;
use crate::execute::response_writer::{PageEnd, ResponseWriter};
use crate::http::connection::FurtherMemory;
use crate::http::response::{BoxError, HttpResponse, ResponseBody};
use crate::query::bind::caller::Caller;
use crate::throttle::caller_queue::Demand;
use crate::throttle::query_throttle::MaxWait;
use crate::throttle::queues::Permit;
use crate::throttle::rate_limiter::Debit;

/// The media type.
const LINES: &str = "application/x-ndjson";

/// Asks nginx to pass on what it has.
const UNBUFFERED: HeaderName = HeaderName::from_static("x-accel-buffering");

/// A non-null field of a node has no value, and nothing around the node can be null.
#[derive(Debug, thiserror::Error)]
#[error("a page of the export is null")]
struct PageIsNull;

/// The number of nodes of a page: the collection is the first step.
pub(crate) fn nodes(rows: &ResponseWriter) -> u64 {
    rows.row_counts().first().copied().unwrap_or_default()
}

/// An export between two pages.
pub(crate) struct ExportRun {
    pub(crate) service: Arc<Service>,
    pub(crate) caller: Arc<Principal>,
    /// The caller's view of the schema when it began.
    pub(crate) view: Arc<View>,
    pub(crate) export: Arc<Export>,
    /// Whether a page can be compiled on a thread that serves.
    pub(crate) is_quick: bool,
    /// Bytes that it takes while it waits for credits.
    pub(crate) bytes: usize,
    /// The memory of a page: its rows, their JSON, and the lines that hyper takes.
    pub(crate) memory: FurtherMemory,
    /// The end of the last page.
    pub(crate) cursor: Option<String>,
    /// The values that limit the nodes to a part, if there are some.
    pub(crate) scope: Option<Value>,
    /// The number of nodes so far.
    pub(crate) nodes: u64,
    /// How many of them have lists that ended early.
    pub(crate) short_nodes: u64,
    /// The credits that its pages are charged so far, also for the log.
    pub(crate) cost: Arc<AtomicU64>,
    pub(crate) until: time::Instant,
    pub(crate) request_id: Arc<str>,
    pub(crate) log: ExportLog,
}

/// The response of an export whose first page is there.
pub(crate) fn response(lines: impl Stream<Item = Result<Bytes, BoxError>> + Send + 'static) -> HttpResponse {
    let mut response = HttpResponse::new(ResponseBody::Stream(Box::pin(lines)));
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(LINES));
    // nginx would gather lines, and send the lines of a feed minutes later.
    response.headers_mut().insert(UNBUFFERED, HeaderValue::from_static("no"));
    response
}

impl ExportRun {
    /// Takes the caller's account as it is now. Fails if it may not go on, and if the server stops.
    pub(crate) fn check(&mut self) -> Result<(), ApiError> {
        self.caller = current_account(&self.service, &self.caller, self.view.grants, &self.view.rows)?;
        if self.service.admission.is_closed() { Err(ServiceError::Stopping.into()) } else { Ok(()) }
    }

    pub(crate) fn requester(&self) -> Requester<'_> {
        Requester { service: &self.service, caller: &self.caller, request_id: &self.request_id }
    }

    /// The next page.
    pub(crate) async fn compile(&mut self, timeline: &mut Timeline) -> Result<Compiled, ApiError> {
        let started = Instant::now();
        let (compiler, export) = (Arc::clone(&self.view.compiler), Arc::clone(&self.export));
        let (limits, rows, cursor) = (self.caller.limits, self.view.rows.clone(), self.cursor.clone());
        let compile = move || {
            let caller = Caller { limits: &limits.query, rows: &rows };
            export.page(compiler.catalog(), caller, cursor.as_deref())
        };
        let result = if self.is_quick {
            compile()
        } else {
            self.service.cpu_tasks.run(&self.caller.user_id, limits.deadline, compile).await?
        };
        let compiled = result.map_err(QueryError::Compile)?;
        timeline.compile = Some(Stage::since(started));
        timeline.plan = Some(Arc::clone(&compiled.plan));
        self.scope = scope_extension::of(&compiled.plan);
        Ok(compiled)
    }

    /// Admits a page for as long as its permit is kept, and debits it.
    pub(crate) async fn admit(
        &self,
        page: &Compiled,
        max_wait: MaxWait,
        timeline: &mut Timeline,
    ) -> Result<(Permit, PaidTime), ApiError> {
        let demand = Demand { credits: page.estimate.cost(), bytes: self.bytes };
        let (permit, debit) = self.requester().admit(demand, max_wait, timeline).await?;
        Ok((permit, PaidTime { debit, until: time::Instant::now() + self.caller.limits.deadline }))
    }

    /// Writes the nodes of a page and the reports about them, and counts their memory.
    pub(crate) fn write(&mut self, rows: &mut ResponseWriter, debit: Debit) -> Result<Vec<u8>, ApiError> {
        let mut lines = Vec::with_capacity(4096);
        let written = rows.write(&mut lines, usize::MAX);
        written.map_err(|error| ServiceError::internal(&self.request_id, error))?;
        write_errors(rows.field_errors(), self.nodes, &mut lines);
        let short_nodes = write_short_lists(rows.short_lists(), self.nodes, &mut lines);
        // The rows, their JSON, and the lines that hyper takes.
        let (bytes, limit) = (3 * lines.len(), self.memory.largest());
        match self.memory.resize(bytes) {
            Ok(()) => {
                self.nodes += nodes(rows);
                self.short_nodes += short_nodes;
                Ok(lines)
            }
            Err(_) if bytes > limit => {
                let (bytes, limit, Debit { cost, bucket, .. }) = (bytes as u64, limit as u64, debit);
                Err(QueryError::RowsTooLarge {
                    rows: rows.row_counts().into_iter().max().unwrap_or_default(),
                    bytes,
                    limit,
                    cost,
                    bucket,
                }
                .into())
            }
            Err(error) => Err(ServiceError::from(error).into()),
        }
    }

    /// The end of a page whose nodes are written.
    pub(crate) fn page_end(&self, rows: &ResponseWriter) -> Result<PageEnd, ServiceError> {
        rows.page_end().cloned().ok_or_else(|| ServiceError::internal(&self.request_id, PageIsNull))
    }

    /// The last line of an export that ends before its collection does.
    pub(crate) fn end_early(&self, error: Option<&ApiError>) -> Bytes {
        let rest = Rest { cursor: self.cursor.as_deref(), error };
        let mut line = Vec::new();
        write_end(&self.end(Some(rest)), &mut line);
        line.into()
    }

    /// The last line, with the numbers so far.
    pub(crate) fn end<'r>(&'r self, rest: Option<Rest<'r>>) -> End<'r> {
        let cost = self.cost.load(Ordering::Relaxed);
        End { nodes: self.nodes, short_nodes: self.short_nodes, cost, scope: self.scope.as_ref(), rest }
    }

    /// Records a page that began then, and adds its cost.
    pub(crate) fn record(&mut self, started: Instant, timeline: Timeline) {
        self.cost.fetch_add(timeline.cost.unwrap_or_default(), Ordering::Relaxed);
        self.log.add(started, timeline);
    }
}
