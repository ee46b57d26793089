//! The lines of the log on their way to their sink. A thread of its own writes them, so that nothing that logs waits for the
//! sink, or fails with it.
//!
//! If the sink is slower than the log, or does not work, lines are dropped and counted. Their number is logged as soon as
//! the sink takes lines again.

use std::cell::Cell;
use std::io::{self, ErrorKind, Write};
use std::mem;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use tracing_subscriber::fmt::MakeWriter;

use crate::telemetry::emit;
use crate::telemetry::event::Event;

/// Bytes of lines that wait for the sink. As many more are being written.
const MAX_BYTES: usize = 1 << 20;

/// How long lines gather before they are written together. Waking the thread and writing for each line would take more of the
/// processor than making the line.
const GATHERING_TIME: Duration = Duration::from_millis(50);

/// Bytes that are written without gathering more.
const GATHERED_BYTES: usize = MAX_BYTES / 4;

/// The pause before a sink that takes nothing right now is tried again.
const RETRY_PAUSE: Duration = Duration::from_millis(10);

/// How long the lines that still wait may take at the end.
const MAX_FLUSH: Duration = Duration::from_secs(2);

thread_local! {
    /// Whether this is the thread that writes.
    static WRITES: Cell<bool> = const { Cell::new(false) };
}

/// Takes lines, and never blocks or fails.
#[derive(Debug, Clone)]
pub(super) struct LogQueue(Arc<QueueState>);

/// Keeps the log open. Dropping it waits until the lines that were logged before are written, for a short time at most.
#[derive(Debug)]
#[must_use]
pub(crate) struct LogGuard(Arc<QueueState>);

#[derive(Debug, Default)]
struct QueueState {
    state: Mutex<State>,
    /// There is a first line to write, or there are [`GATHERED_BYTES`], or the queue is closed.
    changed: Condvar,
    /// The thread has ended.
    ended: Condvar,
}

#[derive(Debug, Default)]
struct State {
    lines: Vec<u8>,
    /// Lines that were dropped since their number was logged last.
    dropped: u64,
    is_closed: bool,
    has_ended: bool,
}

impl LogQueue {
    /// Starts the thread that writes lines to the sink.
    pub(super) fn start(sink: impl Write + Send + 'static) -> io::Result<(Self, LogGuard)> {
        let shared = Arc::new(QueueState::default());
        let thread = thread::Builder::new().name("log".to_owned());
        thread.spawn({
            let shared = Arc::clone(&shared);
            move || shared.write_all(sink)
        })?;
        Ok((Self(Arc::clone(&shared)), LogGuard(shared)))
    }

    /// Takes a whole line.
    pub(super) fn push(&self, line: &[u8]) {
        self.0.push(line);
    }
}

impl QueueState {
    fn state(&self) -> MutexGuard<'_, State> {
        // No panic can leave the state half changed.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, line: &[u8]) {
        let mut state = self.state();
        // The thread that writes logs the number of dropped lines, for which there is always room.
        if state.lines.len() + line.len() > MAX_BYTES && !WRITES.get() {
            state.dropped += 1;
            return;
        }
        let before = state.lines.len();
        state.lines.extend_from_slice(line);
        let is_first = before == 0;
        let is_enough = before < GATHERED_BYTES && state.lines.len() >= GATHERED_BYTES;
        drop(state);
        if is_first || is_enough {
            self.changed.notify_one();
        }
    }

    /// Writes lines until the queue is closed and empty.
    fn write_all(&self, mut sink: impl Write) {
        WRITES.set(true);
        let mut lines = Vec::new();
        // The number of dropped lines that is among the lines being written.
        let mut reported = 0;
        while self.take(&mut lines) {
            let written = write(&mut sink, &lines);
            let lost = count_lines(&lines[written..]);
            if lost > 0 {
                self.state().dropped += lost + reported;
                reported = 0;
            } else {
                reported = mem::take(&mut self.state().dropped);
                if reported > 0 {
                    emit(&Event::LogLinesDropped { count: reported });
                }
            }
            lines.clear();
        }
        self.state().has_ended = true;
        self.ended.notify_all();
    }

    /// Waits for lines, lets more of them gather, and takes all; false at the end.
    fn take(&self, lines: &mut Vec<u8>) -> bool {
        let is_waiting = |state: &mut State| state.lines.is_empty() && !state.is_closed;
        let state = self.changed.wait_while(self.state(), is_waiting).unwrap_or_else(PoisonError::into_inner);
        let is_gathering = |state: &mut State| state.lines.len() < GATHERED_BYTES && !state.is_closed;
        let gathered = self.changed.wait_timeout_while(state, GATHERING_TIME, is_gathering);
        let (mut state, _) = gathered.unwrap_or_else(PoisonError::into_inner);
        mem::swap(&mut state.lines, lines);
        !lines.is_empty()
    }
}

/// Writes as much as the sink takes, and returns how many bytes that is.
fn write(sink: &mut impl Write, bytes: &[u8]) -> usize {
    let mut written = 0;
    while written < bytes.len() {
        match sink.write(&bytes[written..]) {
            Ok(0) => break,
            Ok(count) => written += count,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            // Another process may have made the file non-blocking for all that share it.
            Err(error) if error.kind() == ErrorKind::WouldBlock => thread::sleep(RETRY_PAUSE),
            Err(_) => break,
        }
    }
    written
}

fn count_lines(bytes: &[u8]) -> u64 {
    bytes.split_inclusive(|byte| *byte == b'\n').count() as u64
}

impl Write for LogQueue {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.push(line);
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for LogQueue {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

impl Drop for LogGuard {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.is_closed = true;
        self.0.changed.notify_one();
        // A sink that takes nothing more must not keep the process from ending.
        let _ = self.0.ended.wait_timeout_while(state, MAX_FLUSH, |state| !state.has_ended);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, Sender, channel};

    use super::*;

    /// A sink whose every write waits for its result.
    struct Sink {
        results: Receiver<io::Result<usize>>,
        written: Sender<Vec<u8>>,
    }

    impl Write for Sink {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let _ = self.written.send(bytes.to_vec());
            self.results.recv().unwrap_or(Ok(bytes.len()))
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn drops_and_counts_lines_while_the_sink_is_stuck_and_takes_no_time() {
        let ((release, results), (written, writes)) = (channel(), channel());
        let (mut queue, guard) = LogQueue::start(Sink { results, written }).unwrap();
        let line = [&[b'x'; 1023][..], b"\n"].concat();
        queue.write_all(&line).unwrap();
        assert_eq!(writes.recv().unwrap().len(), 1024);
        for _ in 0..MAX_BYTES / 1024 + 7 {
            queue.write_all(&line).unwrap();
        }
        assert_eq!(queue.0.state().dropped, 7);
        release.send(Err(ErrorKind::BrokenPipe.into())).unwrap();
        // The sink fails, so its line is lost, too.
        assert_eq!(writes.recv().unwrap().len(), MAX_BYTES);
        assert_eq!(queue.0.state().dropped, 8);
        release.send(Ok(1024)).unwrap();
        assert_eq!(writes.recv().unwrap().len(), MAX_BYTES - 1024, "a line that is written is not written again");
        drop(release);
        drop(guard);
        let state = queue.0.state();
        assert!(state.has_ended && state.lines.is_empty());
    }
}
