//! Compiles queries: small ones at once, and large ones off the threads that serve.

use std::mem;
use std::sync::Arc;

use crate::access::grants::Principal;
use crate::api::errors::api_error::ApiError;
use crate::api::errors::query_error::QueryError;
use crate::api::service::Service;
use crate::compile::compiled::Compiled;
use crate::compile::compiler::Compiler;
use crate::compile::explanation::Explanation;
use crate::compile::export::Export;
use crate::error::graphql_error::GraphqlErrors;
use crate::limits::Limits;
use crate::query::Request;

/// A stage of the compiler.
type Compile<T> = fn(&Compiler, &Request, &Limits) -> Result<T, GraphqlErrors>;

/// Compiles a query.
pub(crate) async fn compile(
    service: &Service,
    caller: &Principal,
    request: &mut Request,
) -> Result<Compiled, ApiError> {
    run(service, caller, request, Compiler::compile).await
}

/// Explains a query.
pub(crate) async fn explain(
    service: &Service,
    caller: &Principal,
    request: &mut Request,
) -> Result<Explanation, ApiError> {
    run(service, caller, request, Compiler::explain).await
}

/// Reads an export.
pub(crate) async fn export(service: &Service, caller: &Principal, request: &mut Request) -> Result<Export, ApiError> {
    run(service, caller, request, |compiler, request, _| Export::new(compiler.catalog(), request)).await
}

async fn run<T: Send + 'static>(
    service: &Service,
    caller: &Principal,
    request: &mut Request,
    compile: Compile<T>,
) -> Result<T, ApiError> {
    let limits = caller.limits.query;
    let result = if service.compiler.is_quick(request) {
        compile(&service.compiler, request, &limits)
    } else {
        let (compiler, moved) = (Arc::clone(&service.compiler), mem::take(request));
        let work = move || (compile(&compiler, &moved, &limits), moved);
        let (result, moved) = service.cpu_tasks.run(caller.limits.deadline, work).await?;
        *request = moved;
        result
    };
    Ok(result.map_err(QueryError::Compile)?)
}
