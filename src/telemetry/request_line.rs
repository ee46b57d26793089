//! A request's line in the log.
//!
//! A busy server's log is nearly all such lines. So, where they are JSON, they are written by `serde_json` at once, without
//! `tracing`'s visitors of fields, which take about three times as long.

use std::cell::RefCell;
use std::fmt::Display;
use std::net::IpAddr;
use std::sync::OnceLock;
use std::time::Duration;

use serde::{Serialize, Serializer};
use time::OffsetDateTime;
use time::format_description::BorrowedFormatItem;
use time::macros::format_description;
use tracing::{Level, enabled, info};

use crate::telemetry::event::ServedRequest;
use crate::telemetry::trace_context::TraceId;

/// The time of a line, as `tracing_subscriber` writes it.
const TIME: &[BorrowedFormatItem<'_>] =
    format_description!("[year]-[month]-[day]T[hour]:[minute]:[second].[subsecond digits:6]Z");

/// Takes a whole line.
type Sink = Box<dyn Fn(&[u8]) + Send + Sync>;

/// Where lines go that are JSON; none while they are text.
static JSON_LINES: OnceLock<Sink> = OnceLock::new();

thread_local! {
    static LINE: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Writes the lines of requests as JSON from now on.
pub(super) fn write_json_to(sink: Sink) {
    // The log is opened once in a process.
    let _ = JSON_LINES.set(sink);
}

/// Writes the line of a request.
pub(super) fn write(request: &ServedRequest<'_>) {
    let Some(sink) = JSON_LINES.get() else { return write_fields(request) };
    if enabled!(Level::INFO) {
        LINE.with_borrow_mut(|line| {
            line.clear();
            if serde_json::to_writer(&mut *line, &RequestLine::new(request)).is_ok() {
                line.push(b'\n');
                sink(line);
            }
        });
    }
}

/// Hands the fields of a request to the log as it is.
fn write_fields(request: &ServedRequest<'_>) {
    info!(
        request_id = request.request_id,
        trace_id = request.trace_id.map(display),
        listener = request.listener,
        peer = request.peer.map(display),
        method = request.method,
        route = request.route,
        status = request.status,
        duration_ms = milliseconds(request.duration),
        compile_ms = request.compile.map(milliseconds),
        wait_ms = request.wait.map(milliseconds),
        database_ms = request.database.map(milliseconds),
        bytes_in = request.bytes_in,
        bytes_out = request.bytes_out,
        caller = request.caller,
        operation = request.operation,
        cost = request.cost,
        error_code = request.error_code,
        "request"
    );
}

/// The line as JSON: the fields of [`write_fields`], in their order.
#[derive(Serialize)]
struct RequestLine<'a> {
    #[serde(serialize_with = "time")]
    timestamp: OffsetDateTime,
    level: &'static str,
    message: &'static str,
    request_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "text")]
    trace_id: Option<TraceId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    listener: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "text")]
    peer: Option<IpAddr>,
    method: &'static str,
    route: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
    duration_ms: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    compile_ms: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    wait_ms: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    database_ms: Option<f64>,
    bytes_in: u64,
    bytes_out: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    caller: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    operation: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cost: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error_code: Option<&'static str>,
}

impl<'a> RequestLine<'a> {
    fn new(request: &ServedRequest<'a>) -> Self {
        Self {
            timestamp: OffsetDateTime::now_utc(),
            level: "INFO",
            message: "request",
            request_id: request.request_id,
            trace_id: request.trace_id,
            listener: request.listener,
            peer: request.peer,
            method: request.method,
            route: request.route,
            status: request.status,
            duration_ms: milliseconds(request.duration),
            compile_ms: request.compile.map(milliseconds),
            wait_ms: request.wait.map(milliseconds),
            database_ms: request.database.map(milliseconds),
            bytes_in: request.bytes_in,
            bytes_out: request.bytes_out,
            caller: request.caller,
            operation: request.operation,
            cost: request.cost,
            error_code: request.error_code,
        }
    }
}

fn time<S: Serializer>(time: &OffsetDateTime, serializer: S) -> Result<S::Ok, S::Error> {
    let mut text = [0; 27];
    let mut rest = text.as_mut_slice();
    time.format_into(&mut rest, TIME).map_err(serde::ser::Error::custom)?;
    serializer.serialize_str(str::from_utf8(&text).map_err(serde::ser::Error::custom)?)
}

#[allow(clippy::ref_option, reason = "serde calls it so")]
fn text<S: Serializer>(value: &Option<impl Display>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(value.as_ref().map_or(&"" as &dyn Display, |value| value))
}

/// Milliseconds to three decimals: precise enough for a cache hit, short enough to read.
pub(super) fn milliseconds(duration: Duration) -> f64 {
    (duration.as_secs_f64() * 1e6).round() / 1e3
}

#[cfg(test)]
mod tests {
    use std::io::{self, Write};
    use std::sync::{Arc, Mutex};

    use serde_json::Value;
    use time::PrimitiveDateTime;

    use super::*;

    #[derive(Clone, Default)]
    struct Buffer(Arc<Mutex<Vec<u8>>>);

    impl Write for Buffer {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// A line's fields in their order, without its time.
    fn fields(mut line: String) -> String {
        let time = line.find(r#""timestamp":""#).unwrap() + r#""timestamp":""#.len();
        let end = time + line[time..].find('"').unwrap();
        PrimitiveDateTime::parse(&line[time..end], TIME).unwrap();
        line.replace_range(time..end, "");
        line
    }

    fn assert_lines_are_equal(request: &ServedRequest<'_>) {
        let buffer = Buffer::default();
        let writer = buffer.clone();
        let log = tracing_subscriber::fmt().json().flatten_event(true).with_target(false);
        let log = log.with_writer(move || writer.clone()).finish();
        tracing::subscriber::with_default(log, || write_fields(request));
        let by_tracing = String::from_utf8(buffer.0.lock().unwrap().clone()).unwrap();
        let line = serde_json::to_string(&RequestLine::new(request)).unwrap();
        serde_json::from_str::<Value>(&line).unwrap();
        assert_eq!(fields(line), fields(by_tracing.trim_end().to_owned()));
    }

    #[test]
    fn is_the_same_as_the_line_of_its_fields() {
        let mut request = ServedRequest {
            request_id: "0f",
            trace_id: Some(TraceId(1)),
            listener: Some("public"),
            peer: Some(IpAddr::from([192, 0, 2, 1])),
            method: "POST",
            route: "graphql",
            caller: Some("a \"caller\"\n"),
            operation: Some("Orders"),
            cost: Some(4),
            error_code: Some("THROTTLED"),
            status: Some(200),
            bytes_in: 12,
            bytes_out: u64::MAX,
            duration: Duration::from_nanos(1_234_567),
            compile: Some(Duration::from_micros(3)),
            wait: Some(Duration::from_micros(20)),
            database: Some(Duration::from_secs(1)),
        };
        assert_lines_are_equal(&request);
        (request.trace_id, request.listener, request.peer, request.caller) = (None, None, None, None);
        (request.operation, request.cost, request.error_code, request.status) = (None, None, None, None);
        (request.compile, request.wait, request.database) = (None, None, None);
        assert_lines_are_equal(&request);
    }
}
