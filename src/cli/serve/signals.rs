//! The signals that ask a server to stop, or to read its settings again.

use std::io;

use tokio::signal::unix::{self, SignalKind, signal};

/// The action that a signal asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Signal {
    /// To read the settings again (SIGHUP).
    Reload,
    /// To stop when the load balancers know it (SIGTERM).
    Drain,
    /// To stop (SIGINT).
    Stop,
}

/// The signals of this process.
pub(crate) struct Signals {
    hangup: unix::Signal,
    terminate: unix::Signal,
    interrupt: unix::Signal,
}

impl Signals {
    /// Takes the signals from now on. They do not end the process any more.
    pub(crate) fn listen() -> io::Result<Self> {
        Ok(Self {
            hangup: signal(SignalKind::hangup())?,
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
        })
    }

    /// The next signal.
    pub(super) async fn next(&mut self) -> Signal {
        tokio::select! {
            _ = self.hangup.recv() => Signal::Reload,
            _ = self.terminate.recv() => Signal::Drain,
            _ = self.interrupt.recv() => Signal::Stop,
        }
    }

    /// Waits for a signal that ends the process. A signal to reload is left for later.
    pub(super) async fn end(&mut self) -> Signal {
        tokio::select! {
            _ = self.terminate.recv() => Signal::Drain,
            _ = self.interrupt.recv() => Signal::Stop,
        }
    }
}
