//! Accepts connections, within limits, and shuts down gracefully.
//!
//! `open_connections` decides which connection makes room where there are too many; if none can, the server accepts nothing
//! more, and further clients wait in the system's queue, where they cost nothing. When the server is asked to stop, it stops
//! accepting, closes idle connections at once and busy ones after their requests. Connections that are still open at the end
//! of the grace time are cut off.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{self, Instant};

use crate::http::connection::Connection;
use crate::http::connection_task::{ConnectionTask, builder};
use crate::http::current_service::CurrentService;
use crate::http::metrics::{ACCEPTED, CONNECTIONS, REFUSED, SHED};
use crate::http::open_connections::{ConnectionLimits, OpenConnections};
use crate::http::route::Endpoints;
use crate::http::service::Service;
use crate::http::socket::address::ListenAddress;
use crate::http::socket::listening::ListeningSocket;
use crate::telemetry::emit;
use crate::telemetry::event::Event;

/// The pause after the system could not hand out a connection, and how many idle connections are closed then: most likely
/// there are too many open files.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
const SHED_AT_FAILURE: u64 = 16;

/// How often the log says that there are too many connections.
const REPORT_INTERVAL: Duration = Duration::from_mins(1);

/// Connections of the operators' listener.
const ADMIN_CONNECTIONS: usize = 64;

/// A socket and what is served there.
#[derive(Debug)]
pub(crate) struct Listener {
    socket: ListeningSocket,
    endpoints: Endpoints,
}

impl Listener {
    /// Serves these endpoints on the socket.
    pub(crate) fn new(socket: ListeningSocket, endpoints: Endpoints) -> Self {
        Self { socket, endpoints }
    }

    /// The address, with the port that the system chose if the configured one is 0.
    pub(crate) fn address(&self) -> &ListenAddress {
        self.socket.address()
    }

    /// Serves until `stop` is ready, and then until all requests have ended or the grace time is over. Logs the address at
    /// once, before the future is polled.
    pub(crate) fn serve(
        self,
        services: Arc<CurrentService>,
        stop: impl Future<Output = ()> + Send,
    ) -> impl Future<Output = ()> + Send {
        let endpoints = self.endpoints.name();
        emit(&Event::Listening { address: &self.address().to_string(), endpoints });
        async move {
            let (stopping, _) = watch::channel(false);
            let mut connections = JoinSet::new();
            tokio::select! {
                () = self.accept(&mut connections, &stopping, &services) => {}
                () = stop => {}
            }

            while connections.try_join_next().is_some() {}
            let grace = services.get().options.grace;
            emit(&Event::Stopping { open_connections: connections.len(), grace, endpoints });
            stopping.send_replace(true);
            let all_ended = async { while connections.join_next().await.is_some() {} };
            if time::timeout(grace, all_ended).await.is_err() {
                emit(&Event::ConnectionsCutOff { open_connections: connections.len() });
                connections.shutdown().await;
            }
        }
    }

    /// Accepts connections. Never ends.
    async fn accept(
        self,
        connections: &mut JoinSet<()>,
        stopping: &watch::Sender<bool>,
        services: &Arc<CurrentService>,
    ) {
        let open = Arc::<OpenConnections>::default();
        let builder = Arc::new(builder());
        let mut crowding = Crowding::new(self.endpoints);
        loop {
            while connections.try_join_next().is_some() {}
            let (stream, peer) = match self.socket.accept().await {
                Ok(accepted) => accepted,
                // The client disconnected before it was accepted.
                Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => continue,
                Err(error) => {
                    emit(&Event::AcceptFailed { error: &error });
                    crowding.count(open.shed(SHED_AT_FAILURE), 0);
                    time::sleep(ACCEPT_PAUSE).await;
                    continue;
                }
            };
            let service = services.get();
            let connection = Arc::new(Connection::new(service.memory.connection()));
            let Ok((place, shed)) = open.admit(peer, &connection, self.limits(&service)).await else {
                stream.reset();
                crowding.count(0, 1);
                continue;
            };
            crowding.count(shed, 0);
            ACCEPTED.of((self.endpoints,)).increment();
            let task = ConnectionTask {
                builder: Arc::clone(&builder),
                services: Arc::clone(services),
                service,
                endpoints: self.endpoints,
                connection,
                peer,
                stopping: stopping.subscribe(),
                place,
                counted: CONNECTIONS.of((self.endpoints,)).count(),
            };
            connections.spawn(task.run(stream));
        }
    }

    fn limits<'a>(&self, service: &'a Service) -> ConnectionLimits<'a> {
        let options = &service.options;
        match self.endpoints {
            Endpoints::Public => ConnectionLimits {
                all: options.connection_limit,
                per_address: options.connections_per_address,
                trusted_proxies: &options.trusted_proxies,
            },
            Endpoints::Admin => {
                ConnectionLimits { all: ADMIN_CONNECTIONS, per_address: ADMIN_CONNECTIONS, trusted_proxies: &[] }
            }
        }
    }
}

/// Connections that were closed because there were too many, since the log last said so.
#[derive(Debug)]
struct Crowding {
    endpoints: Endpoints,
    shed: u64,
    refused: u64,
    reported: Option<Instant>,
}

impl Crowding {
    fn new(endpoints: Endpoints) -> Self {
        Self { endpoints, shed: 0, refused: 0, reported: None }
    }

    /// Adds connections that were closed to make room, and those that were not accepted. Reports them now and then.
    fn count(&mut self, shed: u64, refused: u64) {
        SHED.of((self.endpoints,)).add(shed);
        REFUSED.of((self.endpoints,)).add(refused);
        self.shed += shed;
        self.refused += refused;
        let is_due = self.reported.is_none_or(|reported| reported.elapsed() >= REPORT_INTERVAL);
        if self.shed + self.refused > 0 && is_due {
            emit(&Event::TooManyConnections { shed: self.shed, refused: self.refused });
            *self = Self { shed: 0, refused: 0, reported: Some(Instant::now()), ..*self };
        }
    }
}
