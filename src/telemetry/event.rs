//! The events. What is not here is not told: no token, password, variable or query text has a field to be in.

use std::error::Error;
use std::fmt;
use std::net::SocketAddr;
use std::time::Duration;

/// Something that an operator may want to know.
#[derive(Debug)]
pub enum Event<'a> {
    /// The service accepts connections.
    Listening {
        /// Where.
        address: SocketAddr,
    },
    /// The service was told to stop; it accepts no more connections.
    Stopping {
        /// Connections that are still open.
        open: usize,
        /// How long they may take to finish.
        grace: Duration,
    },
    /// The grace time is over and connections were cut off.
    CutOff {
        /// How many.
        open: usize,
    },
    /// The system did not hand out a connection, usually for want of file descriptors.
    AcceptFailed {
        /// The system's reason.
        error: &'a dyn Error,
    },
    /// A request was answered, or its client went away before it was.
    Request(Request<'a>),
    /// The database holds nulls where the schema promises values; the objects around them were answered as null.
    NullabilityViolations {
        /// The request that met them.
        request_id: &'a str,
        /// How many it met.
        count: u64,
    },
    /// A fault of this service; the client was shown only the request's id.
    Fault {
        /// The id that the client was shown.
        request_id: &'a str,
        /// What happened, with its causes.
        error: &'a dyn Error,
    },
}

/// A request's line in the log.
#[derive(Debug)]
pub struct Request<'a> {
    /// As in the answer's `X-Request-Id`.
    pub request_id: &'a str,
    /// The method, `other` for one that no endpoint has, or `none` where the head could not be read.
    pub method: &'a str,
    /// The endpoint's name; never the path, which a client chooses.
    pub route: &'a str,
    /// The authenticated user.
    pub caller: Option<&'a str>,
    /// The GraphQL operation's name.
    pub operation: Option<&'a str>,
    /// Credits that were debited.
    pub cost: Option<u64>,
    /// The first error's code.
    pub code: Option<&'a str>,
    /// The HTTP status; none where the client went away first.
    pub status: Option<u16>,
    /// From the request's head to the last byte of the answer that was handed to the connection.
    pub took: Duration,
}

/// Writes an event to the log.
pub fn emit(event: &Event<'_>) {
    match event {
        Event::Listening { address } => tracing::info!(%address, "listening"),
        Event::Stopping { open, grace } => tracing::info!(open, ?grace, "stopping"),
        Event::CutOff { open } => tracing::warn!(open, "connections were cut off at the end of the grace time"),
        Event::AcceptFailed { error } => tracing::error!(error = %Causes(*error), "cannot accept a connection"),
        Event::Request(request) => tracing::info!(
            id = request.request_id,
            method = request.method,
            route = request.route,
            caller = request.caller,
            operation = request.operation,
            cost = request.cost,
            code = request.code,
            status = request.status,
            ms = milliseconds(request.took),
            "request"
        ),
        Event::NullabilityViolations { request_id, count } => {
            tracing::warn!(id = request_id, count, "the database holds values that are not as the schema promises");
        }
        Event::Fault { request_id, error } => tracing::error!(id = request_id, error = %Causes(*error), "fault"),
    }
}

/// Milliseconds to three places: enough for a cache hit, short enough to read.
fn milliseconds(took: Duration) -> f64 {
    (took.as_secs_f64() * 1e6).round() / 1e3
}

/// An error with all its causes in one line.
#[derive(Debug, Clone, Copy)]
pub struct Causes<'a>(pub &'a dyn Error);

impl fmt::Display for Causes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)?;
        let mut cause = self.0.source();
        while let Some(error) = cause {
            write!(f, ": {error}")?;
            cause = error.source();
        }
        Ok(())
    }
}
