//! Exports of whole collections, as lines of JSON: page after page from one snapshot of the database, each paid for when its
//! turn comes.
//!
//! The next page is fetched when the client has taken the last one. So an export goes as fast as its client reads and its
//! caller's credits allow, holds one page in memory, and ends with its client. The first page is there before the response
//! begins: an export that cannot begin gets an error like any other query.

use std::mem;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use futures_util::stream;
use hyper::body::{Bytes, Incoming};
use tokio::time;

use crate::access::grants::Artifact;
use crate::api::access_log::timeline::{Stage, Timeline};
use crate::api::error_response;
use crate::api::errors::api_error::ApiError;
use crate::api::errors::query_error::QueryError;
use crate::api::errors::service_error::ServiceError;
use crate::api::graphql::gates::admission::{self, Charge, PaidTime};
use crate::api::graphql::gates::compilation::Compilation;
use crate::api::graphql::gates::current_account::current_account;
use crate::api::graphql::long_lived::export_lines::{write_end, write_resume};
use crate::api::graphql::long_lived::export_log::ExportLog;
use crate::api::graphql::long_lived::export_run::{self, ExportRun};
use crate::api::graphql::long_lived::feed_export;
use crate::api::graphql::long_lived::idle_place::IdlePlace;
use crate::api::graphql::reports::cost_report;
use crate::api::graphql::request::persisted_queries::store;
use crate::api::graphql::request::query_request::{QueryRequest, Requester};
use crate::api::graphql::request::query_source::resolve;
use crate::api::graphql::request::request_envelope;
use crate::api::graphql::response::execution::{finish, second_route};
use crate::api::graphql::response::row_memory;
use crate::api::negotiate::Media;
use crate::api::prefer;
use crate::api::read_position;
use crate::api::request_context::RequestContext;
use crate::compile::compiled::Compiled;
use crate::database::error::DatabaseError;
use crate::database::wal_position::WalPosition;
use crate::execute::error::ExecuteError;
use crate::execute::execute_within;
use crate::execute::response_writer::{PageEnd, ResponseWriter};
use crate::execute::row_limits::RowLimits;
use crate::http::connection::FurtherMemory;
use crate::http::request::head;
use crate::http::response::{BoxError, HttpResponse};
use crate::replicas::read_server::ReadServer;
use crate::replicas::read_servers::{ExportPlace, ReadRoute};
use crate::throttle::query_throttle::MaxWait;
use crate::throttle::queues::{Permit, QueryPlaces};

/// Nodes, and the time, after which a line has a cursor, at the next end of a page. By its credits, an export of the default
/// limits takes a minute for a thousand nodes.
const RESUME_AFTER: u64 = 1000;
const RESUME_EVERY: Duration = Duration::from_secs(1);

/// How long an export pauses between two pages while queries run, in times of its last page, and at most.
const PAUSE: u32 = 3;
const LONGEST_PAUSE: Duration = Duration::from_millis(100);

/// The most snapshots that are taken of tables that are written anew meanwhile.
const MAX_SNAPSHOTS: usize = 5;

/// A caller has one export at a time.
const PLACES: QueryPlaces = QueryPlaces { running: 1, waiting: 0 };

/// Responds with the lines of a collection, or with an error and its status.
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
        let mut request = QueryRequest { context, caller, view, query };
        return cost_report::respond(&mut request, report, Media::GraphqlResponse).await;
    }
    let RequestContext { service, head, in_flight, entry, .. } = context;
    let is_quick = view.compiler.is_quick(&query.request);
    let export = Compilation { service, caller: &caller, view: &view }.export(&mut query.request).await?;
    store(&service.persisted_queries, &caller.user_id, &mut query);
    entry.set_operation(export.operation_name());
    let options = &service.options;
    let wait = prefer::wait(&head.headers);
    let log = ExportLog::new(service, &caller, &query.request, entry);
    let run = ExportRun {
        service: Arc::clone(service),
        caller,
        view,
        export: Arc::new(export),
        is_quick,
        bytes: admission::demand(0, &query.request, in_flight).bytes,
        memory: in_flight.further(),
        scope: None,
        cursor: None,
        nodes: 0,
        short_nodes: 0,
        cost: Arc::default(),
        until: time::Instant::now() + options.export_time,
        request_id: Arc::clone(&entry.id),
        log,
    };
    drop(query);
    in_flight.shrink(head::memory(head));
    let cost = Arc::clone(&run.cost);
    let max_wait = MaxWait::for_all(wait.unwrap_or(options.max_wait).min(options.max_wait));
    let response = if run.export.reads_changes() {
        feed_export::begin(run, max_wait).await
    } else {
        begin(run, after, max_wait).await
    };
    if response.is_ok() || cost.load(Ordering::Relaxed) > 0 {
        entry.cost_so_far = Some(cost);
    }
    if wait.is_some() { prefer::report_wait(response) } else { response }
}

/// The response of an export of a snapshot, once its first page is there.
async fn begin(run: ExportRun, after: Option<WalPosition>, max_wait: MaxWait) -> Result<HttpResponse, ApiError> {
    let permit = run.service.exports.start(&run.caller.user_id, PLACES, 0).map_err(|_| QueryError::ExportRunning)?;
    let mut running = RunningExport {
        after,
        route: None,
        server: None,
        place: None,
        idle_left: run.service.http.options.write_timeout,
        resumable_at: 0,
        resumable_since: Instant::now(),
        page_time: Duration::ZERO,
        queries: 0,
        run,
        _permit: permit,
    };
    let first = running.page(max_wait).await?;
    let first = first.ok_or_else(|| ServiceError::Unavailable(DatabaseError::Busy.into()))?;
    let first = State::Ready(first.lines.into(), first.is_last, Box::new(running));
    Ok(export_run::response(stream::unfold(first, next)))
}

/// The state between two chunks of the response.
enum State {
    /// The first page's lines, and whether the collection ends with them.
    Ready(Bytes, bool, Box<RunningExport>),
    /// The next page.
    Running(Box<RunningExport>),
    /// Nothing, once the client has taken the last lines, which have memory until then.
    Over { _memory: FurtherMemory },
}

/// The lines of a page.
struct Page {
    lines: Vec<u8>,
    is_last: bool,
}

/// An export of a snapshot between two pages.
struct RunningExport {
    run: ExportRun,
    /// The position that the export has to see at least.
    after: Option<WalPosition>,
    /// The server that the first page is read from, until it is there.
    route: Option<ReadRoute>,
    /// The server that it reads from, once the first page is there.
    server: Option<Arc<ReadServer>>,
    /// Its place, between two pages, and a transaction there, from the first page on.
    place: Option<IdlePlace>,
    /// How long it may keep a place that others wait for and that it does not use.
    idle_left: Duration,
    /// The number of nodes at the last line with a cursor, and when that was.
    resumable_at: u64,
    resumable_since: Instant,
    /// How long the last page took.
    page_time: Duration,
    /// How many queries had been run on the server by the last pause.
    queries: u64,
    _permit: Permit,
}

/// The next lines, and the state after them.
async fn next(state: State) -> Option<(Result<Bytes, BoxError>, State)> {
    let mut running = match state {
        State::Ready(lines, true, running) => return Some((Ok(lines), running.end().await)),
        State::Ready(lines, false, running) => return Some((Ok(lines), State::Running(running))),
        State::Running(running) => running,
        State::Over { .. } => return None,
    };
    let left = running.run.until.saturating_duration_since(time::Instant::now());
    if left.is_zero() {
        return Some((Ok(running.run.end_early(None)), running.end().await));
    }
    running.let_queries_pass().await;
    let (lines, is_over) = match running.page(MaxWait::for_all(left)).await {
        Ok(Some(Page { lines, is_last })) => (lines.into(), is_last),
        Ok(None) => (running.run.end_early(None), true),
        Err(error) => (running.run.end_early(Some(&error)), true),
    };
    Some((Ok(lines), if is_over { running.end().await } else { State::Running(running) }))
}

impl RunningExport {
    /// Pauses if queries were run since the last pause: somebody waits for a query, and for a single page of an export nobody does.
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
        let mut timeline = Timeline::default();
        let mut page = self.fetch_page(max_wait, &mut timeline).await;
        self.run.record(started, timeline);
        if let Ok(Some(Page { lines, is_last: true })) = &mut page {
            write_end(&self.run.end(None), lines);
        }
        page
    }

    async fn fetch_page(&mut self, max_wait: MaxWait, timeline: &mut Timeline) -> Result<Option<Page>, ApiError> {
        self.run.check()?;
        let compiled = self.run.compile(timeline).await?;
        let started = Instant::now();
        let mut place = match self.place.take() {
            Some(place) => place,
            None => self.first_place(max_wait.place, timeline).await?,
        };
        let max_wait = max_wait.within(max_wait.place.saturating_sub(started.elapsed()));
        let admitted = tokio::select! {
            biased;
            admitted = self.run.admit(&compiled, max_wait, timeline) => admitted,
            () = place.given_up() => return Ok(None),
        };
        let (_permit, paid) = admitted?;
        let page = self.fetch_paid(place, &compiled, paid, timeline).await;
        timeline.cost = self.run.requester().settle(paid.debit, Charge::of_page(&page)).await;
        page
    }

    /// Fetches a page that is paid for, and writes its lines.
    async fn fetch_paid(
        &mut self,
        place: IdlePlace,
        compiled: &Compiled,
        paid: PaidTime,
        timeline: &mut Timeline,
    ) -> Result<Option<Page>, ApiError> {
        self.after = self.after.max(paid.debit.written.map(WalPosition::from));
        let (place, idle) = place.resume().await;
        self.idle_left = self.idle_left.saturating_sub(idle);
        let (service, caller) = (Arc::clone(&self.run.service), Arc::clone(&self.run.caller));
        current_account(&service, &caller, self.run.view.grants, &self.run.view.rows)?;
        let Some(place) = place else { return Ok(None) };
        let request_id = Arc::clone(&self.run.request_id);
        let requester = Requester { service: &service, caller: &caller, request_id: &request_id };
        let log = Arc::clone(&timeline.statement);
        let fetching = self.fetch(place, compiled, timeline);
        let started = Instant::now();
        let rows = finish(requester, paid, Some(&log), pin!(fetching)).await;
        self.page_time = started.elapsed();
        let mut rows = rows?;
        let started = Instant::now();
        let mut lines = self.run.write(&mut rows, paid.debit)?;
        let is_last = self.end_page(&rows, &mut lines)?;
        timeline.write = Some(Stage::since(started));
        Ok(Some(Page { lines, is_last }))
    }

    /// Waits for a place among the exports of the server that is to be read.
    async fn first_place(&mut self, wait: Duration, timeline: &mut Timeline) -> Result<IdlePlace, ApiError> {
        timeline.wait_for_connection();
        let taken = tokio::select! {
            biased;
            taken = self.take_place(wait) => taken,
            () = self.run.service.admission.closed() => return Err(ServiceError::Stopping.into()),
        };
        timeline.end_of_wait();
        let (place, route) = taken.map_err(|error| {
            if error.is_temporary() {
                ServiceError::Unavailable(error.into())
            } else {
                ServiceError::internal(&self.run.request_id, error)
            }
        })?;
        self.route = Some(route);
        Ok(IdlePlace::new(place, self.idle_left))
    }

    async fn take_place(&self, wait: Duration) -> Result<(ExportPlace, ReadRoute), DatabaseError> {
        let (servers, caller) = (&self.run.service.servers, &self.run.caller.user_id);
        let route = servers.route(caller, self.after).await;
        let error = match servers.export_place(&route, caller, wait).await {
            Ok(place) => return Ok((place, route)),
            Err(error) => error,
        };
        let route = servers.after_error(&route, &error).ok_or(error)?;
        Ok((servers.export_place(&route, caller, wait).await?, route))
    }

    /// Fetches the rows of a page. If the server fails, the rows of the first page are fetched once more.
    async fn fetch(
        &mut self,
        place: ExportPlace,
        compiled: &Compiled,
        timeline: &mut Timeline,
    ) -> Result<Box<ResponseWriter>, ExecuteError> {
        let Some(route) = self.route.take() else { return self.fetch_from(place, compiled, timeline).await };
        let result = self.fetch_first(place, compiled, timeline).await;
        match second_route(&self.run.service, &route, &compiled.plan, &result) {
            Some(route) => {
                let deadline = self.run.caller.limits.deadline;
                let place = self.run.service.servers.export_place(&route, &self.run.caller.user_id, deadline).await?;
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
    ) -> Result<Box<ResponseWriter>, ExecuteError> {
        for _ in 0..MAX_SNAPSHOTS {
            place.connection.begin().await?;
            let rows = self.read(&place, compiled, timeline).await?;
            if !place.connection.has_missed_rows().await? {
                return Ok(self.keep(place, rows));
            }
            place.connection.commit().await?;
        }
        Err(DatabaseError::Rewritten.into())
    }

    async fn fetch_from(
        &mut self,
        place: ExportPlace,
        compiled: &Compiled,
        timeline: &mut Timeline,
    ) -> Result<Box<ResponseWriter>, ExecuteError> {
        // A page that fails, or is given up, leaves the connection in an unknown state: it is dropped.
        let rows = self.read(&place, compiled, timeline).await?;
        Ok(self.keep(place, rows))
    }

    /// Keeps a connection whose page was read for the next page.
    fn keep(&mut self, place: ExportPlace, rows: Box<ResponseWriter>) -> Box<ResponseWriter> {
        self.run.service.servers.record_read(&self.run.caller.user_id, &place.server);
        self.server = Some(Arc::clone(&place.server));
        self.place = Some(IdlePlace::new(place, self.idle_left));
        rows
    }

    async fn read(
        &mut self,
        place: &ExportPlace,
        compiled: &Compiled,
        timeline: &mut Timeline,
    ) -> Result<Box<ResponseWriter>, ExecuteError> {
        let memory = &mut self.run.memory;
        let mut limits = RowLimits { bytes: u64::MAX, memory: &mut |bytes| row_memory::hold(memory, bytes) };
        tokio::select! {
            biased;
            rows = execute_within(&place.connection, &compiled.plan, &timeline.statement, &mut limits) => rows,
            error = place.server.lost() => Err(error.into()),
        }
    }

    /// Writes the line after the nodes of a page, if there is one. Returns whether the collection ends with the page.
    fn end_page(&mut self, rows: &ResponseWriter, out: &mut Vec<u8>) -> Result<bool, ServiceError> {
        let PageEnd { has_next_page, end_cursor } = self.run.page_end(rows)?;
        let run = &mut self.run;
        run.cursor = has_next_page.then_some(end_cursor);
        // A page without nodes has a line, too, so that the client sees that the export goes on.
        if let Some(cursor) = &run.cursor
            && (export_run::nodes(rows) == 0
                || run.nodes - self.resumable_at >= RESUME_AFTER
                || self.resumable_since.elapsed() >= RESUME_EVERY)
        {
            self.resumable_at = run.nodes;
            self.resumable_since = Instant::now();
            write_resume(cursor, run.nodes, out);
        }
        Ok(!has_next_page)
    }

    /// Ends the transaction, and returns the connection.
    async fn end(self: Box<Self>) -> State {
        let Self { place, run: ExportRun { memory, .. }, .. } = *self;
        if let Some(place) = place
            && let (Some(ExportPlace { connection, .. }), _) = place.resume().await
            && connection.commit().await.is_ok()
        {
            connection.release();
        }
        State::Over { _memory: memory }
    }
}
