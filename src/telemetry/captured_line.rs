//! A line of the log, captured for a test.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use serde_json::Value;

/// A log in memory.
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

/// The line that a function logs.
pub(super) fn text_of(log: impl FnOnce()) -> String {
    let buffer = Buffer::default();
    let writer = buffer.clone();
    let subscriber = tracing_subscriber::fmt().json().flatten_event(true).with_target(false);
    let subscriber = subscriber.with_max_level(tracing::Level::TRACE).with_writer(move || writer.clone()).finish();
    tracing::subscriber::with_default(subscriber, log);
    String::from_utf8(buffer.0.lock().unwrap().clone()).unwrap()
}

/// The same as JSON, without its time.
pub(super) fn json_of(log: impl FnOnce()) -> Value {
    let mut line: Value = serde_json::from_str(&text_of(log)).unwrap();
    line.as_object_mut().unwrap().remove("timestamp");
    line
}
