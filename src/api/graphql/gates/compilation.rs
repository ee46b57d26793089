//! Compiles queries: small ones at once, and large ones off the threads that serve, in turns by caller.
//!
//! A text that does not compile costs nothing, and compiling comes before everything that a caller has to wait or pay for. So large texts
//! that do not compile claim their caller's pace of free requests, and the caller's next texts are refused while it is too far ahead.

use std::mem;
use std::sync::Arc;

use tokio::time::{self, Instant};

use crate::access::grants::Principal;
use crate::api::access_log::timeline::Stage;
use crate::api::cpu_tasks::CpuTurn;
use crate::api::errors::api_error::ApiError;
use crate::api::errors::query_error::QueryError;
use crate::api::graphql::gates::free_requests::FailurePace;
use crate::api::graphql::request::persisted_queries::store;
use crate::api::graphql::request::query_request::QueryRequest;
use crate::api::request_context::RequestContext;
use crate::api::service::Service;
use crate::api::views::View;
use crate::compile::compiled::Compiled;
use crate::compile::compiler::Compiler;
use crate::compile::explanation::Explanation;
use crate::compile::export::Export;
use crate::error::graphql_error::GraphqlErrors;
use crate::query::Request;
use crate::query::bind::caller::Caller;

/// A stage of the compiler.
type Compile<T> = fn(&Compiler, &Request, Caller<'_>) -> Result<T, GraphqlErrors>;

/// Compiles the requests of a caller.
#[derive(Clone, Copy)]
pub(crate) struct Compilation<'a> {
    pub(crate) service: &'a Service,
    pub(crate) caller: &'a Principal,
    pub(crate) view: &'a View,
}

impl Compilation<'_> {
    /// Compiles a query.
    pub(crate) async fn compile(self, request: &mut Request) -> Result<Compiled, ApiError> {
        self.run(request, |compiler, request, caller| compiler.compile(request, caller)).await
    }

    /// Explains a query.
    pub(crate) async fn explain(self, request: &mut Request) -> Result<Explanation, ApiError> {
        self.run(request, |compiler, request, caller| compiler.explain(request, caller)).await
    }

    /// Reads an export.
    pub(crate) async fn export(self, request: &mut Request) -> Result<Export, ApiError> {
        self.run(request, |compiler, request, _| Export::new(compiler.catalog(), request)).await
    }

    async fn run<T: Send + 'static>(self, request: &mut Request, compile: Compile<T>) -> Result<T, ApiError> {
        let Self { service, caller, view } = self;
        let limits = caller.limits.query;
        let result = if view.compiler.is_quick(request) {
            compile(&view.compiler, request, Caller { limits: &limits, rows: &view.rows })
        } else {
            let until = Instant::now() + caller.limits.deadline;
            let turn = Box::pin(service.cpu_tasks.turn(&caller.user_id, until)).await?;
            let pace = FailurePace { pace: Arc::clone(&service.free_query_pace), caller: Arc::clone(&caller.user_id) };
            let (compiler, rows) = (Arc::clone(&view.compiler), view.rows.clone());
            let work = move |request: &Request| compile(&compiler, request, Caller { limits: &limits, rows: &rows });
            // Boxed, so that the futures of small texts stay small.
            Box::pin(compile_apart(turn, pace, request, work)).await?
        };
        Ok(result.map_err(QueryError::Compile)?)
    }
}

/// Compiles the request's query, and stores its text if the client sent its hash.
pub(crate) async fn compile(
    QueryRequest { context, caller, view, query }: &mut QueryRequest<'_>,
) -> Result<Compiled, ApiError> {
    let RequestContext { service, entry, .. } = &mut **context;
    let started = std::time::Instant::now();
    let compiled = Compilation { service, caller, view }.compile(&mut query.request).await;
    entry.timeline.compile = Some(Stage::since(started));
    let compiled = compiled?;
    entry.timeline.plan = Some(Arc::clone(&compiled.plan));
    store(&service.persisted_queries, &caller.user_id, query);
    entry.set_operation(compiled.operation_name.as_deref());
    Ok(compiled)
}

/// Compiles a large text on a thread of its own. The request is the same afterwards, whatever happens.
async fn compile_apart<T: Send + 'static>(
    turn: CpuTurn,
    pace: FailurePace,
    request: &mut Request,
    compile: impl FnOnce(&Request) -> Result<T, GraphqlErrors> + Send + 'static,
) -> Result<Result<T, GraphqlErrors>, ApiError> {
    // In the caller's turn, when it is known what became of its texts before.
    pace.check().map_err(|retry_after| QueryError::TooManyInvalidQueries { retry_after })?;
    let shared = Arc::new(mem::take(request));
    let moved = Arc::clone(&shared);
    let work = move || {
        let started = Instant::now();
        let result = compile(&moved);
        // Here, so that a client that gives its request up pays as well.
        let delay = result.is_err().then(|| pace.charge(started.elapsed()));
        (result, delay.unwrap_or_default())
    };
    let done = turn.run(work).await;
    // It is copied if the request was given up before it was compiled.
    *request = Arc::unwrap_or_clone(shared);
    let (result, delay) = done?;
    if !delay.is_zero() {
        time::sleep(delay).await;
    }
    Ok(result)
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use super::*;
    use crate::api::cpu_tasks::CpuTasks;
    use crate::error::code::ErrorCode;
    use crate::query::parse::Source;
    use crate::throttle::pace::Pace;

    fn request() -> Request {
        Request { query: "{ orders }".into(), operation_name: Some("All".into()), ..Request::default() }
    }

    fn later() -> Instant {
        Instant::now() + Duration::from_hours(1)
    }

    /// Compiles in the way that is given.
    async fn compile(
        pace: &Arc<Pace>,
        until: Instant,
        request: &mut Request,
        compile: impl FnOnce(&Request) -> Result<(), GraphqlErrors> + Send + 'static,
    ) -> Result<Result<(), GraphqlErrors>, ApiError> {
        let (tasks, caller) = (CpuTasks::default(), "demo".into());
        let turn = tasks.turn(&caller, until).await.unwrap();
        compile_apart(turn, FailurePace { pace: Arc::clone(pace), caller }, request, compile).await
    }

    #[tokio::test]
    async fn a_request_is_the_same_after_it_was_compiled_or_took_too_long() {
        let (pace, mut moved) = (Arc::default(), request());
        assert!(compile(&pace, later(), &mut moved, |_| Ok(())).await.unwrap().is_ok());
        assert_eq!(moved, request());
        let (send, receive) = mpsc::channel::<()>();
        let work = move |_: &Request| {
            receive.recv().unwrap();
            Ok(())
        };
        let error = compile(&pace, Instant::now(), &mut moved, work).await.unwrap_err();
        assert_eq!(error.code, ErrorCode::ServiceUnavailable);
        assert_eq!(moved, request());
        send.send(()).unwrap();
    }

    #[tokio::test]
    async fn texts_that_do_not_compile_claim_their_callers_pace_until_further_ones_are_refused() {
        let (pace, before, caller) = (Arc::<Pace>::default(), std::time::Instant::now(), Arc::from("demo"));
        let due_in = || pace.charge(&caller, before, Duration::ZERO);
        assert!(compile(&pace, later(), &mut request(), |_| Ok(())).await.unwrap().is_ok());
        assert_eq!(due_in(), Duration::ZERO);
        let invalid = |_: &Request| Err(Source::read("?").unwrap_err());
        assert!(compile(&pace, later(), &mut request(), invalid).await.unwrap().is_err());
        assert!(due_in() > Duration::ZERO);
        pace.charge(&caller, before, Duration::from_hours(1));
        let refused = compile(&pace, later(), &mut request(), |_| unreachable!()).await.unwrap_err();
        assert_eq!(refused.code, ErrorCode::Throttled);
    }
}
