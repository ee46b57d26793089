//! A request's line in the log, gathered while it is served and written when its answer is handed over.

use std::sync::Arc;
use std::time::Instant;

use hyper::Method;

use crate::error::code::ErrorCode;
use crate::telemetry::emit;
use crate::telemetry::event::{self, Event};

/// Characters of an operation's name that are logged; a client may choose a long one.
const LONGEST_NAME: usize = 100;

/// What is known of a request so far. Written to the log when it is dropped, be that at the end of the answer or because
/// the client went away.
#[derive(Debug)]
pub struct AccessLogEntry {
    /// The id that the client is shown.
    pub id: Arc<str>,
    /// The endpoint's name.
    pub route: &'static str,
    /// The authenticated user.
    pub caller: Option<Arc<str>>,
    /// Credits that were debited.
    pub cost: Option<u64>,
    /// The first error's code.
    pub code: Option<ErrorCode>,
    /// The answer's status.
    pub status: Option<u16>,
    method: &'static str,
    operation: Option<String>,
    began: Instant,
}

impl AccessLogEntry {
    /// A request has come.
    pub fn new(id: Arc<str>, method: &Method) -> Self {
        Self::with_method(id, known(method))
    }

    /// Something has come that cannot be read as a request.
    pub fn of_unread(id: Arc<str>) -> Self {
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
            began: Instant::now(),
        }
    }

    /// Notes the operation's name.
    pub fn set_operation(&mut self, name: &str) {
        self.operation = Some(name.chars().take(LONGEST_NAME).collect());
    }
}

impl Drop for AccessLogEntry {
    fn drop(&mut self) {
        emit(&Event::Request(event::Request {
            request_id: &self.id,
            method: self.method,
            route: self.route,
            caller: self.caller.as_deref(),
            operation: self.operation.as_deref(),
            cost: self.cost,
            error_code: self.code.map(ErrorCode::as_str),
            status: self.status,
            duration: self.began.elapsed(),
        }));
    }
}

/// The method's name, if it is a common one: a client could write anything there.
fn known(method: &Method) -> &'static str {
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
