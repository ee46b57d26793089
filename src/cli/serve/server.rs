//! A server that listens: it serves until a signal ends it.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures_util::FutureExt;
use tokio::sync::oneshot;
use tokio::time;

use crate::access::audit_retention::Retention;
use crate::access::audit_writer::AuditWriter;
use crate::access::tokens::error::TokenError;
use crate::access::tokens::jwt::IssuedToken;
use crate::api::service::CurrentService;
use crate::cli::outcome::Outcome;
use crate::cli::serve::admin_thread::AdminThread;
use crate::cli::serve::reload::{Reloader, Settings};
use crate::cli::serve::schema_checks::SchemaChecks;
use crate::cli::serve::served_schema::SchemaSource;
use crate::cli::serve::service_manager::{self, Watchdog};
use crate::cli::serve::signals::{Signal, Signals};
use crate::database::address::server_addresses::ServerAddresses;
use crate::http::listener::Listener;
use crate::http::socket::address::ListenAddress;
use crate::telemetry::emit;
use crate::telemetry::event::Event;
#[cfg(feature = "traces")]
use crate::telemetry::traces::recorder;

/// How long the server waits for the last audit events to be stored when it stops.
const AUDIT_TIMEOUT: Duration = Duration::from_secs(5);

/// How long it waits for the last traces to be sent.
#[cfg(feature = "traces")]
const TRACES_TIMEOUT: Duration = Duration::from_secs(2);

/// A server that is bound to its address and does not accept connections yet.
pub(crate) struct Server {
    pub(super) listener: Listener,
    pub(super) admin: Option<Listener>,
    pub(super) services: Arc<CurrentService>,
    pub(super) audit: AuditWriter,
    pub(super) schema: SchemaSource,
    pub(super) servers: ServerAddresses,
    pub(super) _retention: Option<Retention>,
}

impl Server {
    /// Issues a token for a user that is valid for this time.
    #[cfg_attr(not(feature = "tools"), expect(dead_code, reason = "for the demo"))]
    pub(crate) fn issue(&self, user_id: &str, lifetime: Duration) -> Result<IssuedToken, TokenError> {
        let service = self.services.get();
        let tokens_from = service.grants.current().principal(user_id).map_or(0, |account| account.tokens_from);
        service.tokens.issue_with_lifetime(user_id, tokens_from, lifetime)
    }

    /// The bound address.
    #[cfg_attr(not(feature = "tools"), expect(dead_code, reason = "for the demo"))]
    pub(crate) fn address(&self) -> &ListenAddress {
        self.listener.address()
    }

    /// Serves until SIGINT or SIGTERM. SIGHUP has the settings read again; without any it ends the server, too.
    pub(crate) async fn serve(self, signals: Signals, settings: Option<Settings<'_>>) -> Outcome {
        let services = self.services;
        let (public_ended, end) = oneshot::channel::<()>();
        // The sender sends nothing: it is dropped.
        let start_admin = |listener| AdminThread::start(listener, Arc::clone(&services), end.map(drop));
        let admin = self.admin.map(start_admin).transpose()?;
        let checks = SchemaChecks::new(Arc::clone(&services.get().schema_fit));
        let reloader = settings.map(|settings| Reloader::new(settings, self.schema, checks, self.servers));
        let stop = until_stop(signals, reloader, &services);
        let (stopping, stopped) = oneshot::channel::<()>();
        let serving = self.listener.serve(Arc::clone(&services), stopped.map(drop))?;
        service_manager::ready();
        let _watchdog = Watchdog::start();
        tokio::join!(serving, stop.map(|()| drop(stopping)));
        drop(public_ended);
        if let Some(admin) = admin {
            admin.ended().await?;
        }
        self.audit.finish(AUDIT_TIMEOUT).await;
        #[cfg(feature = "traces")]
        recorder::finish(TRACES_TIMEOUT).await;
        Ok(())
    }
}

/// Reads the settings again whenever that is asked for, and checks the schema when it is due, until the server is to stop accepting
/// connections.
async fn until_stop(mut signals: Signals, mut reloader: Option<Reloader<'_>>, services: &CurrentService) {
    let signal = loop {
        let Some(reloader) = reloader.as_mut() else { break signals.next().await };
        let signal = tokio::select! {
            signal = signals.next() => Some(signal),
            () = reloader.check_due() => None,
        };
        // Boxed, so that the future of the server stays small.
        let mut running: Pin<Box<dyn Future<Output = ()>>> = match signal {
            Some(Signal::Reload) => Box::pin(async {
                service_manager::reloading();
                reloader.reload(services).await;
                service_manager::ready();
            }),
            Some(signal) => break signal,
            None => Box::pin(reloader.check_schema(services)),
        };
        tokio::select! {
            () = &mut running => {}
            signal = signals.end() => break signal,
        }
    };
    service_manager::stopping();
    let service = services.get();
    service.http.is_draining.store(true, Ordering::Relaxed);
    if let (Signal::Drain, Some(drain)) = (signal, service.http.options.drain) {
        emit(&Event::Draining { time: drain });
        tokio::select! {
            () = time::sleep(drain) => {}
            // A second signal ends the wait.
            _ = signals.end() => {}
        }
    }
    service.stop_waiting();
}
