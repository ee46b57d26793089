//! Opens the log: standard error, as text or as JSON lines. By default it is text on a terminal, and JSON elsewhere.

use std::io::{self, IsTerminal};
use std::panic::{self, PanicHookInfo};

use tracing_subscriber::filter::{LevelFilter, ParseError};
use tracing_subscriber::util::{SubscriberInitExt, TryInitError};
use tracing_subscriber::{EnvFilter, fmt, reload};

use crate::telemetry::access_log::AccessLog;
use crate::telemetry::emit;
use crate::telemetry::event::Event;
use crate::telemetry::log_queue::{LogGuard, LogQueue};
use crate::telemetry::request_line;

/// How a line of the log is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    /// Text on a terminal, JSON elsewhere.
    Auto,
    Text,
    Json,
}

/// The options of the log.
#[derive(Debug, Clone)]
pub(crate) struct LogOptions {
    /// The format of a line.
    pub format: Format,
    /// A level or directives, such as `info` or `warn,orderql=debug`.
    pub filter: String,
    /// Which requests are logged.
    pub access: AccessLog,
}

/// The log of the process. It is closed when this is dropped.
#[must_use]
pub(crate) struct Log {
    set_filter: Box<dyn Fn(EnvFilter) -> Result<(), reload::Error> + Send + Sync>,
    _guard: LogGuard,
}

/// Why the log cannot be opened.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LogError {
    /// The filter is malformed.
    #[error("the log filter cannot be read")]
    Filter(#[from] ParseError),
    /// The thread that writes the log cannot be started.
    #[error("the thread that writes the log cannot be started")]
    Thread(#[from] io::Error),
    /// The filter cannot be changed.
    #[error("the log's filter cannot be changed")]
    Reload(#[from] reload::Error),
    /// The process has opened its log before.
    #[error("the log is open already")]
    Open(#[from] TryInitError),
}

/// Whether the text is a filter: a level, or directives separated by commas. A single word must be a level: any other would be
/// the name of a module, and turn off the rest of the log.
pub(crate) fn is_filter(text: &str) -> bool {
    let is_directive = |part: &str| part.contains(['=', '[']) || part.parse::<LevelFilter>().is_ok();
    text.split(',').all(|part| is_directive(part.trim())) && EnvFilter::try_new(text).is_ok()
}

impl Log {
    /// Logs by another filter, and other requests, from now on.
    pub(crate) fn change(&self, options: &LogOptions) -> Result<(), LogError> {
        (self.set_filter)(EnvFilter::try_new(&options.filter)?)?;
        options.access.open();
        Ok(())
    }
}

/// Opens the log for the whole process, until it is dropped. Fails if the filter is malformed, or if the log is open already.
pub(crate) fn open(options: &LogOptions) -> Result<Log, LogError> {
    let filter = EnvFilter::try_new(&options.filter)?;
    options.access.open();
    let terminal = io::stderr().is_terminal();
    let (queue, guard) = LogQueue::start(io::stderr())?;
    let lines = fmt().with_env_filter(filter).with_writer(queue.clone()).log_internal_errors(false).with_target(false);
    let is_json = match options.format {
        Format::Auto => !terminal,
        Format::Text => false,
        Format::Json => true,
    };
    let set_filter: Box<dyn Fn(EnvFilter) -> Result<(), reload::Error> + Send + Sync> = if is_json {
        let lines = lines.json().flatten_event(true).with_filter_reloading();
        let handle = lines.reload_handle();
        lines.finish().try_init()?;
        request_line::write_json_to(Box::new(move |line| queue.push(line)));
        Box::new(move |filter| handle.reload(filter))
    } else {
        let lines = lines.with_ansi(terminal).with_filter_reloading();
        let handle = lines.reload_handle();
        lines.finish().try_init()?;
        Box::new(move |filter| handle.reload(filter))
    };
    // The standard library's hook would write to standard error itself, and wait for it.
    panic::set_hook(Box::new(log_panic));
    Ok(Log { set_filter, _guard: guard })
}

fn log_panic(panic: &PanicHookInfo<'_>) {
    let panicked = panic.payload_as_str().unwrap_or("without a message");
    emit(&Event::Panicked { location: panic.location(), panic: panicked });
}
