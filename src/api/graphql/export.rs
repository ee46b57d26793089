//! Exports of whole collections, as lines of JSON: page after page from one snapshot of the database, each paid for when its
//! turn comes.
//!
//! The next page is fetched when the client has taken the last one. So an export goes as fast as its client reads and its
//! caller's credits allow, holds one page in memory, and ends with its client. The first page is there before the response
//! begins: an export that cannot begin gets an error like any other query.

use std::mem;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use futures_util::stream;
use hyper::body::{Bytes, Incoming};
use hyper::header::{self, HeaderValue};
use serde_json::Value;
use tokio::time;

use crate::access::grants::{Artifact, Principal};
use crate::api::access_log::timeline::{Stage, Timeline};
use crate::api::error_response;
use crate::api::errors::api_error::ApiError;
use crate::api::errors::query_error::QueryError;
use crate::api::errors::service_error::ServiceError;
use crate::api::extensions::scope_extension;
use crate::api::graphql::admission::{self, take_permit};
use crate::api::graphql::compilation;
use crate::api::graphql::cost_report;
use crate::api::graphql::current_account::current_account;
use crate::api::graphql::execution::{second_route, settle};
use crate::api::graphql::export_lines::{End, Rest, write_end, write_errors, write_resume};
use crate::api::graphql::export_log::ExportLog;
use crate::api::graphql::idle_place::IdlePlace;
use crate::api::graphql::persisted_queries::store;
use crate::api::graphql::query_source::resolve;
use crate::api::graphql::request_envelope;
use crate::api::negotiate::Media;
use crate::api::prefer;
use crate::api::read_position;
use crate::api::request_context::RequestContext;
use crate::api::service::Service;
use crate::api::views::View;
use crate::compile::compiled::Compiled;
use crate::compile::export::Export;
use crate::database::error::DatabaseError;
use crate::database::wal_position::WalPosition;
use crate::error::code::ErrorCode;
use crate::execute::error::ExecuteError;
use crate::execute::execute_within;
use crate::execute::response_writer::{PageEnd, ResponseWriter};
use crate::http::connection::FurtherMemory;
use crate::http::request::head;
use crate::http::response::{BoxError, HttpResponse, ResponseBody};
use crate::replicas::read_server::ReadServer;
use crate::replicas::read_servers::{ExportPlace, ReadRoute};
use crate::throttle::caller_queue::Demand;
use crate::throttle::query_throttle::MaxWait;
use crate::throttle::queues::{Permit, Places};
use crate::throttle::rate_limiter::Debit;

/// The media type.
const LINES: &str = "application/x-ndjson";

/// Nodes, and the time, after which a line has a cursor, at the next end of a page. By its credits, an export of the default
/// limits takes a minute for a thousand nodes.
const RESUME_AFTER: u64 = 1000;
const RESUME_EVERY: Duration = Duration::from_secs(1);

/// How long an export pauses between two pages while queries run, in times of its last page, and at most.
const PAUSE: u32 = 3;
const LONGEST_PAUSE: Duration = Duration::from_millis(100);

/// A caller has one export at a time.
const PLACES: Places = Places { running: 1, waiting: 0 };

/// Responds with the lines of a collection, or with an error, whose status says what happened.
pub(crate) async fn respond(context: &mut RequestContext, body: &mut Incoming) -> HttpResponse {
    serve(context, body).await.unwrap_or_else(|error| {
        context.entry.fail(&error);
        error_response::graphql(&error, Media::GraphqlResponse)
    })
}

async fn serve(context: &mut RequestContext, body: &mut Incoming) -> Result<HttpResponse, ApiError> {
    let caller = context.authorize(Artifact::Graphql)?;
    let view = context.service.views.of(&context.service.cpu_tasks, &caller).await?;
    let after = read_position::after(&context.head.headers, &context.service.servers).await?;
    let envelope = request_envelope::read(context, &caller, body).await?;
    let mut query = resolve(&context.service, &caller, &view, envelope)?;
    if let Some(report) = cost_report::requested(&context.head.headers)? {
        return cost_report::respond(context, &caller, &view, report, &mut query, Media::GraphqlResponse).await;
    }
    let RequestContext { service, head, in_flight, entry, .. } = context;
    let is_quick = view.compiler.is_quick(&query.request);
    let export = compilation::export(service, &caller, &view, &mut query.request).await?;
    store(&service.persisted_queries, &caller.user_id, &mut query);
    entry.set_operation(export.operation_name());
    let permit = service.exports.start(&caller.user_id, PLACES, 0).map_err(|_| QueryError::ExportRunning)?;

    let options = &service.options;
    let wait = prefer::wait(&head.headers);
    let cost = Arc::new(AtomicU64::new(0));
    let log = ExportLog::new(service, &caller, &query.request, entry);
    let mut running = RunningExport {
        service: Arc::clone(service),
        caller,
        view,
        export: Arc::new(export),
        is_quick,
        bytes: admission::demand(0, &query.request, in_flight).bytes,
        after,
        route: None,
        server: None,
        place: None,
        idle_left: service.http.options.write_timeout,
        memory: in_flight.further(),
        scope: None,
        cursor: None,
        nodes: 0,
        resumable_at: 0,
        resumable_since: Instant::now(),
        cost: Arc::clone(&cost),
        until: time::Instant::now() + options.export_time,
        request_id: Arc::clone(&entry.id),
        log,
        page_time: Duration::ZERO,
        queries: 0,
        _permit: permit,
    };
    drop(query);
    in_flight.shrink(head::memory(head));
    let max_wait = MaxWait::for_all(wait.unwrap_or(options.max_wait).min(options.max_wait));
    let first = running.page(max_wait).await;
    entry.cost_so_far = Some(cost);
    let first = first.and_then(|page| page.ok_or_else(|| ServiceError::Unavailable(DatabaseError::Busy.into()).into()));
    let first = match (first, wait) {
        (Ok(first), _) => first,
        (Err(error), None) => return Err(error),
        (Err(error), Some(_)) => return prefer::report_wait(Err(error)),
    };
    let response = lines(State::Ready(first.lines.into(), first.is_last, Box::new(running)));
    if wait.is_some() { prefer::report_wait(Ok(response)) } else { Ok(response) }
}

/// The response of an export whose first page is there.
fn lines(state: State) -> HttpResponse {
    let lines: Pin<Box<dyn stream::Stream<Item = _> + Send>> = Box::pin(stream::unfold(state, next));
    let mut response = HttpResponse::new(ResponseBody::Stream(lines));
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(LINES));
    response
}

/// What comes next.
enum State {
    /// The first page's lines, and whether the collection ends with them.
    Ready(Bytes, bool, Box<RunningExport>),
    /// The next page.
    Running(Box<RunningExport>),
    /// Nothing, once the client has taken the last lines, which have memory until then.
    Over { _memory: FurtherMemory },
}

/// A non-null field of a node has no value, and nothing around the node can be null.
#[derive(Debug, thiserror::Error)]
#[error("a page of the export is null")]
struct PageIsNull;

/// The lines of a page.
struct Page {
    lines: Vec<u8>,
    is_last: bool,
}

/// An export between two pages.
struct RunningExport {
    service: Arc<Service>,
    caller: Arc<Principal>,
    /// What the caller saw of the schema when it began.
    view: Arc<View>,
    export: Arc<Export>,
    /// Whether a page can be compiled on a thread that serves.
    is_quick: bool,
    /// Bytes that it takes while it waits for credits.
    bytes: usize,
    /// What the export is to see at least.
    after: Option<WalPosition>,
    /// Where the first page is read, until it is there.
    route: Option<ReadRoute>,
    /// The server that it reads from, once the first page is there.
    server: Option<Arc<ReadServer>>,
    /// Its place, between two pages, and a transaction there, from the first page on.
    place: Option<IdlePlace>,
    /// How long it may keep a place that others wait for and that it does not use.
    idle_left: Duration,
    /// The memory of a page: its rows, their JSON, and the lines that hyper takes.
    memory: FurtherMemory,
    /// What limits the nodes to a part, if something does.
    scope: Option<Value>,
    /// The end of the last page.
    cursor: Option<String>,
    /// The number of nodes so far, and at the last line with a cursor.
    nodes: u64,
    resumable_at: u64,
    resumable_since: Instant,
    /// What was debited, also for the log.
    cost: Arc<AtomicU64>,
    until: time::Instant,
    request_id: Arc<str>,
    log: ExportLog,
    /// How long the last page took.
    page_time: Duration,
    /// How many queries had been run on the server by the last pause.
    queries: u64,
    _permit: Permit,
}

/// The next lines, and what comes after them.
async fn next(state: State) -> Option<(Result<Bytes, BoxError>, State)> {
    let mut running = match state {
        State::Ready(lines, true, running) => return Some((Ok(lines), running.end().await)),
        State::Ready(lines, false, running) => return Some((Ok(lines), State::Running(running))),
        State::Running(running) => running,
        State::Over { .. } => return None,
    };
    let left = running.until.saturating_duration_since(time::Instant::now());
    if left.is_zero() {
        return Some((Ok(running.end_early(None)), running.end().await));
    }
    running.let_queries_pass().await;
    let (lines, is_over) = match running.page(MaxWait::for_all(left)).await {
        Ok(Some(Page { lines, is_last })) => (lines.into(), is_last),
        Ok(None) => (running.end_early(None), true),
        Err(error) => (running.end_early(Some(&error)), true),
    };
    Some((Ok(lines), if is_over { running.end().await } else { State::Running(running) }))
}

impl RunningExport {
    /// Pauses if queries were run since the last pause: people wait for those, and nobody for a single page.
    async fn let_queries_pass(&mut self) {
        let Some(server) = &self.server else { return };
        let queries = server.queries_begun();
        if mem::replace(&mut self.queries, queries) != queries {
            time::sleep(LONGEST_PAUSE.min(PAUSE * self.page_time)).await;
        }
    }

    /// Pays for the next page and fetches it, and records what it took. There is none if the export gave its place up.
    async fn page(&mut self, max_wait: MaxWait) -> Result<Option<Page>, ApiError> {
        let started = Instant::now();
        let cost_before = self.cost.load(Ordering::Relaxed);
        let mut timeline = Timeline::default();
        let page = self.fetch_page(max_wait, &mut timeline).await;
        let cost = self.cost.load(Ordering::Relaxed) - cost_before;
        self.log.add(started, (cost > 0).then_some(cost), timeline);
        page
    }

    async fn fetch_page(&mut self, max_wait: MaxWait, timeline: &mut Timeline) -> Result<Option<Page>, ApiError> {
        self.caller = current_account(&self.service, &self.caller, self.view.grants, &self.view.rows)?;
        if self.service.admission.is_closed() {
            return Err(ServiceError::Stopping.into());
        }
        let started = Instant::now();
        let compiled = self.compile().await?;
        timeline.compile = Some(Stage::since(started));
        timeline.plan = Some(Arc::clone(&compiled.plan));
        self.scope = scope_extension::of(&compiled.plan);
        let started = Instant::now();
        let mut place = match self.place.take() {
            Some(place) => place,
            None => self.first_place(max_wait.place, timeline).await?,
        };
        let max_wait = max_wait.within(max_wait.place.saturating_sub(started.elapsed()));
        let cost = compiled.estimate.cost();
        let demand = Demand { credits: cost, bytes: self.bytes };
        let service = Arc::clone(&self.service);
        let started = Instant::now();
        let admitted = tokio::select! {
            biased;
            admitted = take_permit(&service, &self.caller, demand, max_wait) => admitted,
            () = place.given_up() => return Ok(None),
        };
        timeline.admission = Some(Stage::since(started));
        let (_permit, debit) = admitted?;
        self.after = self.after.max(debit.written.map(WalPosition::from));
        let (place, idle) = place.resume().await;
        self.idle_left = self.idle_left.saturating_sub(idle);
        let page = match (current_account(&service, &self.caller, self.view.grants, &self.view.rows), place) {
            (Ok(_), Some(place)) => return self.fetch_paid(place, &compiled, debit, timeline).await.map(Some),
            (Ok(_), None) => Ok(None),
            (Err(error), _) => Err(error.into()),
        };
        service.admission.refund(&self.caller.user_id, debit).await;
        page
    }

    /// Fetches a page that is paid for, and writes its lines.
    async fn fetch_paid(
        &mut self,
        place: ExportPlace,
        compiled: &Compiled,
        debit: Debit,
        timeline: &mut Timeline,
    ) -> Result<Page, ApiError> {
        let (service, caller) = (Arc::clone(&self.service), Arc::clone(&self.caller));
        let request_id = Arc::clone(&self.request_id);
        let until = time::Instant::now() + caller.limits.deadline;
        let log = Arc::clone(&timeline.statement);
        let fetching = self.fetch(place, compiled, timeline);
        let started = Instant::now();
        let rows = settle(&service, &caller, debit, until, &request_id, Some(&log), pin!(fetching)).await;
        self.page_time = started.elapsed();
        // The only error that is charged.
        if rows.as_ref().map_or_else(|error| error.code == ErrorCode::DeadlineExceeded, |_| true) {
            self.cost.fetch_add(debit.cost, Ordering::Relaxed);
        }
        let mut rows = rows?;
        let started = Instant::now();
        let mut lines = Vec::with_capacity(4096);
        let written = rows.write(&mut lines, usize::MAX);
        written.map_err(|error| ServiceError::internal(&request_id, error))?;
        if let Err(error) = self.hold(lines.len()) {
            self.cost.fetch_sub(debit.cost, Ordering::Relaxed);
            service.admission.refund(&caller.user_id, debit).await;
            return Err(error);
        }
        let is_last = self.end_page(&rows, &mut lines)?;
        timeline.write = Some(Stage::since(started));
        Ok(Page { lines, is_last })
    }

    /// Counts the memory of a page with so many bytes of lines, in place of that of the last page.
    fn hold(&mut self, bytes: usize) -> Result<(), ApiError> {
        let (bytes, limit) = (3 * bytes, self.memory.largest());
        let held = self.memory.resize(bytes);
        held.map_err(|error| {
            if bytes > limit {
                QueryError::PageTooLarge { bytes, limit }.into()
            } else {
                ServiceError::from(error).into()
            }
        })
    }

    /// Waits for a place among the exports of the server that is to be read.
    async fn first_place(&mut self, wait: Duration, timeline: &mut Timeline) -> Result<IdlePlace, ApiError> {
        let started = Instant::now();
        let taken = tokio::select! {
            biased;
            taken = self.take_place(wait) => taken,
            () = self.service.admission.closed() => return Err(ServiceError::Stopping.into()),
        };
        timeline.connection = Some(Stage::since(started));
        let (place, route) = taken.map_err(|error| {
            if error.is_temporary() {
                ServiceError::Unavailable(error.into())
            } else {
                ServiceError::internal(&self.request_id, error)
            }
        })?;
        self.route = Some(route);
        Ok(IdlePlace::new(place, self.idle_left))
    }

    async fn take_place(&self, wait: Duration) -> Result<(ExportPlace, ReadRoute), DatabaseError> {
        let (servers, caller) = (&self.service.servers, &self.caller.user_id);
        let route = servers.route(caller, self.after).await;
        let error = match servers.export_place(&route, caller, wait).await {
            Ok(place) => return Ok((place, route)),
            Err(error) => error,
        };
        let route = servers.after_error(&route, &error).ok_or(error)?;
        Ok((servers.export_place(&route, caller, wait).await?, route))
    }

    async fn compile(&self) -> Result<Compiled, ApiError> {
        let (compiler, export) = (Arc::clone(&self.view.compiler), Arc::clone(&self.export));
        let (limits, rows, cursor) = (self.caller.limits, self.view.rows.clone(), self.cursor.clone());
        let compile = move || export.page(compiler.catalog(), &limits.query, &rows, cursor.as_deref());
        let result = if self.is_quick {
            compile()
        } else {
            self.service.cpu_tasks.run(&self.caller.user_id, limits.deadline, compile).await?
        };
        Ok(result.map_err(QueryError::Compile)?)
    }

    /// Fetches the rows of a page: those of the first page once more if the server fails that they are read from.
    async fn fetch(
        &mut self,
        place: ExportPlace,
        compiled: &Compiled,
        timeline: &mut Timeline,
    ) -> Result<ResponseWriter, ExecuteError> {
        let Some(route) = self.route.take() else { return self.fetch_from(place, compiled, timeline).await };
        let result = self.fetch_first(place, compiled, timeline).await;
        match second_route(&self.service, &route, &result) {
            Some(route) => {
                let deadline = self.caller.limits.deadline;
                let place = self.service.servers.export_place(&route, &self.caller.user_id, deadline).await?;
                self.fetch_first(place, compiled, timeline).await
            }
            None => result,
        }
    }

    async fn fetch_first(
        &mut self,
        place: ExportPlace,
        compiled: &Compiled,
        timeline: &mut Timeline,
    ) -> Result<ResponseWriter, ExecuteError> {
        place.connection.begin().await?;
        self.fetch_from(place, compiled, timeline).await
    }

    async fn fetch_from(
        &mut self,
        place: ExportPlace,
        compiled: &Compiled,
        timeline: &mut Timeline,
    ) -> Result<ResponseWriter, ExecuteError> {
        // A page that fails, or is given up, leaves the connection in an unknown state: it is dropped.
        let rows = tokio::select! {
            biased;
            rows = execute_within(&place.connection, &compiled.plan, &timeline.statement) => rows?,
            error = place.server.lost() => return Err(error.into()),
        };
        self.service.servers.record_read(&self.caller.user_id, &place.server);
        self.server = Some(Arc::clone(&place.server));
        self.place = Some(IdlePlace::new(place, self.idle_left));
        Ok(rows)
    }

    /// Writes what follows the nodes of a page. Returns whether the collection ends with it.
    fn end_page(&mut self, rows: &ResponseWriter, out: &mut Vec<u8>) -> Result<bool, ServiceError> {
        let Some(PageEnd { has_next_page, end_cursor }) = rows.page_end() else {
            return Err(ServiceError::internal(&self.request_id, PageIsNull));
        };
        write_errors(rows.field_errors(), self.nodes, out);
        // The collection is the first step.
        let nodes = rows.row_counts().first().copied().unwrap_or_default();
        self.nodes += nodes;
        self.cursor = has_next_page.then(|| end_cursor.clone());
        match &self.cursor {
            // A page without nodes has a line, too, so that the client sees that the export goes on.
            Some(cursor)
                if nodes == 0
                    || self.nodes - self.resumable_at >= RESUME_AFTER
                    || self.resumable_since.elapsed() >= RESUME_EVERY =>
            {
                self.resumable_at = self.nodes;
                self.resumable_since = Instant::now();
                write_resume(cursor, self.nodes, out);
                Ok(false)
            }
            Some(_) => Ok(false),
            None => {
                let (cost, scope) = (self.cost.load(Ordering::Relaxed), self.scope.as_ref());
                write_end(&End { nodes: self.nodes, cost, scope, rest: None }, out);
                Ok(true)
            }
        }
    }

    /// The last line of an export that ends before its collection does.
    fn end_early(&self, error: Option<&ApiError>) -> Bytes {
        let rest = Rest { cursor: self.cursor.as_deref(), error };
        let mut line = Vec::new();
        let cost = self.cost.load(Ordering::Relaxed);
        write_end(&End { nodes: self.nodes, cost, scope: self.scope.as_ref(), rest: Some(rest) }, &mut line);
        line.into()
    }

    /// Ends the transaction, and returns the connection.
    async fn end(self: Box<Self>) -> State {
        let Self { place, memory, .. } = *self;
        if let Some(place) = place
            && let (Some(ExportPlace { connection, .. }), _) = place.resume().await
            && connection.commit().await.is_ok()
        {
            connection.release();
        }
        State::Over { _memory: memory }
    }
}
