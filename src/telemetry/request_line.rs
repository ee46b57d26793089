//! A request's line in the log.
//!
//! A busy server's log is nearly all such lines. So, where they are JSON, they are written here at once: a derived serializer takes four
//! times as many instructions, and `tracing`'s visitors of fields take three times as many as the serializer.

use std::cell::RefCell;
use std::fmt::Display;
use std::io::{self, Write};
use std::net::{IpAddr, Ipv4Addr};
use std::sync::OnceLock;
use std::time::Duration;

use time::OffsetDateTime;
use time::format_description::BorrowedFormatItem;
use time::macros::format_description;
use tracing::{Level, enabled, info};

use crate::telemetry::access_log::ServedRequest;
use crate::telemetry::log_value::milliseconds;

/// The time of a line, as `tracing_subscriber` writes it, up to the digits of its microseconds.
const SECOND: &[BorrowedFormatItem<'_>] = format_description!("[year]-[month]-[day]T[hour]:[minute]:[second].");

/// Takes a whole line.
type Sink = Box<dyn Fn(&[u8]) + Send + Sync>;

/// The sink for lines in JSON; none while lines are text.
static JSON_LINES: OnceLock<Sink> = OnceLock::new();

thread_local! {
    static LINE: RefCell<Line> = RefCell::default();
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
            if line.write(OffsetDateTime::now_utc(), request).is_ok() {
                sink(&line.text);
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
        broken_off = request.broken_off.then_some(true),
        caller = request.caller,
        operation = request.operation,
        cost = request.cost,
        error_code = request.error_code,
        token_fault = request.token_fault,
        "request"
    );
}

/// The line as JSON, whose memory is used again for the next.
#[derive(Default)]
struct Line {
    text: Vec<u8>,
    /// The second of the last line, since the beginning of 1970.
    second: i64,
    /// The beginning of a time in that second.
    second_text: Vec<u8>,
}

impl Line {
    /// Writes the fields of [`write_fields`], in their order.
    fn write(&mut self, now: OffsetDateTime, request: &ServedRequest<'_>) -> Result<(), LineError> {
        self.text.clear();
        self.time(now)?;
        self.text.extend_from_slice(br#"","level":"INFO","message":"request""#);
        self.string(r#","request_id":"#, Some(request.request_id))?;
        self.display(r#","trace_id":"#, request.trace_id)?;
        self.string(r#","listener":"#, request.listener)?;
        match request.peer {
            Some(IpAddr::V4(peer)) => self.address(r#","peer":"#, peer)?,
            peer => self.display(r#","peer":"#, peer)?,
        }
        self.string(r#","method":"#, Some(request.method))?;
        self.string(r#","route":"#, Some(request.route))?;
        self.number(r#","status":"#, request.status.map(u64::from))?;
        self.milliseconds(r#","duration_ms":"#, Some(request.duration))?;
        self.milliseconds(r#","compile_ms":"#, request.compile)?;
        self.milliseconds(r#","wait_ms":"#, request.wait)?;
        self.milliseconds(r#","database_ms":"#, request.database)?;
        self.number(r#","bytes_in":"#, Some(request.bytes_in))?;
        self.number(r#","bytes_out":"#, Some(request.bytes_out))?;
        if request.broken_off {
            self.text.extend_from_slice(br#","broken_off":true"#);
        }
        self.string(r#","caller":"#, request.caller)?;
        self.string(r#","operation":"#, request.operation)?;
        self.number(r#","cost":"#, request.cost)?;
        self.string(r#","error_code":"#, request.error_code)?;
        self.string(r#","token_fault":"#, request.token_fault)?;
        self.text.extend_from_slice(b"}\n");
        Ok(())
    }

    /// The beginning of the line, with its time. What is the same for a second is written once.
    fn time(&mut self, now: OffsetDateTime) -> Result<(), LineError> {
        if self.second != now.unix_timestamp() || self.second_text.is_empty() {
            self.second_text.clear();
            self.second_text.extend_from_slice(br#"{"timestamp":""#);
            now.format_into(&mut self.second_text, SECOND)?;
            self.second = now.unix_timestamp();
        }
        self.text.extend_from_slice(&self.second_text);
        self.digits::<6>(now.microsecond());
        self.text.push(b'Z');
        Ok(())
    }

    fn string(&mut self, name: &'static str, value: Option<&str>) -> Result<(), LineError> {
        let Some(value) = value else { return Ok(()) };
        self.text.extend_from_slice(name.as_bytes());
        if value.bytes().all(|byte| byte >= b' ' && byte != b'"' && byte != b'\\') {
            self.text.push(b'"');
            self.text.extend_from_slice(value.as_bytes());
            self.text.push(b'"');
            return Ok(());
        }
        Ok(serde_json::to_writer(&mut self.text, value)?)
    }

    /// A value whose text needs no escapes.
    fn display(&mut self, name: &'static str, value: Option<impl Display>) -> Result<(), LineError> {
        let Some(value) = value else { return Ok(()) };
        Ok(write!(self.text, "{name}\"{value}\"")?)
    }

    /// Writes the address as it is displayed, in a third of the time.
    fn address(&mut self, name: &'static str, address: Ipv4Addr) -> Result<(), LineError> {
        let [first, others @ ..] = address.octets().map(u64::from);
        self.text.extend_from_slice(name.as_bytes());
        self.number("\"", Some(first))?;
        for octet in others {
            self.number(".", Some(octet))?;
        }
        self.text.push(b'"');
        Ok(())
    }

    fn number(&mut self, name: &'static str, value: Option<u64>) -> Result<(), LineError> {
        let Some(value) = value else { return Ok(()) };
        self.text.extend_from_slice(name.as_bytes());
        Ok(serde_json::to_writer(&mut self.text, &value)?)
    }

    /// As [`milliseconds`].
    fn milliseconds(&mut self, name: &'static str, time: Option<Duration>) -> Result<(), LineError> {
        let Some(time) = time else { return Ok(()) };
        let microseconds = (time.subsec_nanos() + 500) / 1000;
        self.number(name, Some(time.as_secs() * 1000 + u64::from(microseconds / 1000)))?;
        self.text.push(b'.');
        match microseconds % 1000 {
            fraction if fraction % 100 == 0 => self.digits::<1>(fraction / 100),
            fraction if fraction % 10 == 0 => self.digits::<2>(fraction / 10),
            fraction => self.digits::<3>(fraction),
        }
        Ok(())
    }

    /// The last digits of a number, with zeros before them.
    fn digits<const COUNT: usize>(&mut self, mut number: u32) {
        let mut digits = [b'0'; COUNT];
        for digit in digits.iter_mut().rev() {
            *digit += u8::try_from(number % 10).unwrap_or(0);
            number /= 10;
        }
        self.text.extend_from_slice(&digits);
    }
}

/// A line cannot be written. No value that it has leads to this.
#[derive(Debug, thiserror::Error)]
enum LineError {
    #[error(transparent)]
    Time(#[from] time::error::Format),
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    #[error(transparent)]
    Display(#[from] io::Error),
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use time::PrimitiveDateTime;

    use super::*;
    use crate::telemetry::captured_line::{json_of, text_of};
    use crate::telemetry::trace_context::TraceId;

    /// The time of a line.
    const TIME: &[BorrowedFormatItem<'_>] =
        format_description!("[year]-[month]-[day]T[hour]:[minute]:[second].[subsecond digits:6]Z");

    /// A line's fields in their order, without its time.
    fn fields(mut line: String) -> String {
        let time = line.find(r#""timestamp":""#).unwrap() + r#""timestamp":""#.len();
        let end = time + line[time..].find('"').unwrap();
        PrimitiveDateTime::parse(&line[time..end], TIME).unwrap();
        line.replace_range(time..end, "");
        line
    }

    /// A request with all fields.
    fn request() -> ServedRequest<'static> {
        ServedRequest {
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
            token_fault: Some("aud"),
            status: Some(200),
            bytes_in: 12,
            bytes_out: u64::MAX,
            broken_off: true,
            duration: Duration::from_nanos(1_234_567),
            compile: Some(Duration::from_micros(3)),
            wait: Some(Duration::from_micros(20)),
            database: Some(Duration::from_secs(1)),
        }
    }

    fn assert_lines_are_equal(request: &ServedRequest<'_>) {
        let by_tracing = text_of(|| write_fields(request));
        let mut line = Line::default();
        line.write(OffsetDateTime::now_utc(), request).unwrap();
        let line = String::from_utf8(line.text).unwrap().trim_end().to_owned();
        serde_json::from_str::<Value>(&line).unwrap();
        assert_eq!(fields(line), fields(by_tracing.trim_end().to_owned()));
    }

    #[test]
    fn is_the_same_as_the_line_of_its_fields() {
        let mut request = request();
        assert_lines_are_equal(&request);
        // Microseconds are rounded up to the next second.
        request.duration = Duration::from_nanos(1_999_999_600);
        assert_lines_are_equal(&request);
        (request.trace_id, request.listener, request.peer, request.caller) = (None, None, None, None);
        (request.operation, request.cost, request.error_code, request.status) = (None, None, None, None);
        (request.token_fault, request.broken_off) = (None, false);
        (request.compile, request.wait, request.database) = (None, None, None);
        assert_lines_are_equal(&request);
    }

    #[test]
    fn writes_a_request_with_the_fields_that_are_known_and_no_others() {
        let request = request();
        let all = json!({
            "level": "INFO", "message": "request", "request_id": "0f", "method": "POST", "route": "graphql",
            "status": 200, "duration_ms": 1.235, "caller": "a \"caller\"\n", "operation": "Orders", "cost": 4,
            "error_code": "THROTTLED", "token_fault": "aud", "trace_id": "00000000000000000000000000000001", "listener": "public",
            "peer": "192.0.2.1", "bytes_in": 12, "bytes_out": u64::MAX, "broken_off": true, "compile_ms": 0.003, "wait_ms": 0.02,
            "database_ms": 1000.0,
        });
        assert_eq!(json_of(|| write_fields(&request)), all);
        let request = ServedRequest {
            request_id: "0f",
            trace_id: None,
            listener: None,
            peer: None,
            method: "none",
            route: "none",
            caller: None,
            operation: None,
            cost: None,
            error_code: None,
            token_fault: None,
            status: None,
            bytes_in: 0,
            bytes_out: 0,
            broken_off: false,
            duration: Duration::from_secs(2),
            compile: None,
            wait: None,
            database: None,
        };
        let least = json!({
            "level": "INFO", "message": "request", "request_id": "0f", "method": "none", "route": "none",
            "duration_ms": 2000.0, "bytes_in": 0, "bytes_out": 0,
        });
        assert_eq!(json_of(|| write_fields(&request)), least);
    }
}
