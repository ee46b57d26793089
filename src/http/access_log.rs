//! A request's entry in the access log, filled in while the request is served.

use std::sync::Arc;
use std::time::Instant;

use hyper::Method;

use crate::error::code::ErrorCode;
use crate::telemetry::emit;
use crate::telemetry::event::{Event, ServedRequest};

/// Characters of an operation's name that are logged. Clients choose the name, and it may be long.
const MAX_NAME: usize = 100;

/// What is known of a request so far. Written to the log when it is dropped: after the response's last byte, or when the
/// client disconnects.
#[derive(Debug)]
pub(crate) struct AccessLogEntry {
    /// The request's id, which the client gets too.
    pub id: Arc<str>,
    /// The endpoint's name.
    pub route: &'static str,
    /// The authenticated user.
    pub caller: Option<Arc<str>>,
    /// Credits that were debited.
    pub cost: Option<u64>,
    /// The first error's code.
    pub code: Option<ErrorCode>,
    /// The response's status.
    pub status: Option<u16>,
    method: &'static str,
    operation: Option<String>,
    started: Instant,
}

impl AccessLogEntry {
    /// The entry of a request that has arrived.
    pub(crate) fn new(id: Arc<str>, method: &Method) -> Self {
        Self::with_method(id, method_name(method))
    }

    /// The entry of a request whose head cannot be parsed.
    pub(crate) fn unreadable(id: Arc<str>) -> Self {
        Self::with_method(id, "none")
    }

    fn with_method(id: Arc<str>, method: &'static str) -> Self {
        Self {
            id,
            route: "none",
            caller: None,
            cost: None,
            code: None,
            status: None,
            method,
            operation: None,
            started: Instant::now(),
        }
    }

    /// Adds the operation's name, if it has one.
    pub(crate) fn set_operation(&mut self, name: Option<&str>) {
        self.operation = name.map(|name| name.chars().take(MAX_NAME).collect());
    }
}

impl Drop for AccessLogEntry {
    fn drop(&mut self) {
        emit(&Event::Request(ServedRequest {
            request_id: &self.id,
            method: self.method,
            route: self.route,
            caller: self.caller.as_deref(),
            operation: self.operation.as_deref(),
            cost: self.cost,
            error_code: self.code.map(ErrorCode::as_str),
            status: self.status,
            duration: self.started.elapsed(),
        }));
    }
}

/// The method's name if it is a common one. Clients can invent others.
fn method_name(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::DELETE => "DELETE",
        Method::OPTIONS => "OPTIONS",
        Method::PATCH => "PATCH",
        _ => "other",
    }
}
