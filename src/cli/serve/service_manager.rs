//! Notifications to the service manager, in systemd's protocol. Without one, nothing happens.

use std::time::Duration;

use sd_notify::NotifyState;
use tokio::task::JoinHandle;
use tokio::time;

use crate::telemetry::emit;
use crate::telemetry::event::Event;

/// The server accepts connections, or has read its settings again.
pub(super) fn ready() {
    notify(&[NotifyState::Ready]);
}

/// The server reads its settings again.
pub(super) fn reloading() {
    // systemd wants the time with it.
    match NotifyState::monotonic_usec_now() {
        Ok(now) => notify(&[NotifyState::Reloading, now]),
        Err(_) => notify(&[NotifyState::Reloading]),
    }
}

/// The server is stopping.
pub(super) fn stopping() {
    notify(&[NotifyState::Stopping]);
}

/// The start takes this much longer.
pub(super) fn extend_start(time: Duration) {
    notify(&[NotifyState::ExtendTimeoutUsec(u32::try_from(time.as_micros()).unwrap_or(u32::MAX))]);
}

/// Shows the service manager that the runtime works, until it is dropped.
pub(super) struct Watchdog(Option<JoinHandle<()>>);

impl Watchdog {
    /// Starts if the service manager wants signs of life.
    pub(super) fn start() -> Self {
        Self(sd_notify::watchdog_enabled().map(|limit| {
            tokio::spawn(async move {
                let mut interval = time::interval(limit / 2);
                loop {
                    interval.tick().await;
                    notify(&[NotifyState::Watchdog]);
                }
            })
        }))
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        if let Some(task) = &self.0 {
            task.abort();
        }
    }
}

fn notify(states: &[NotifyState<'_>]) {
    if let Err(error) = sd_notify::notify(states) {
        emit(&Event::ServiceManagerUnreachable { error: &error });
    }
}
