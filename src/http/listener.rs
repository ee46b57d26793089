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
use crate::http::connection::open_connections::{ConnectionLimits, OpenConnections};
use crate::http::connection_task::{ConnectionTask, builder};
use crate::http::handler::{Current, Handler};
use crate::http::listener_kind::ListenerKind;
use crate::http::memory_budget::MemoryBudget;
use crate::http::metrics::{ACCEPTED, CONNECTIONS, REFUSED, SHED};
use crate::http::options::HttpOptions;
use crate::http::socket::address::ListenAddress;
use crate::http::socket::listening::{BoundSocket, ListeningSocket};
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

/// Bytes that requests and unread responses there may take together.
const ADMIN_MEMORY: usize = 32 << 20;

/// A socket on which connections are accepted.
#[derive(Debug)]
pub(crate) struct Listener {
    socket: BoundSocket,
    kind: ListenerKind,
}

impl Listener {
    /// A listener of this kind on the socket.
    pub(crate) fn new(socket: BoundSocket, kind: ListenerKind) -> Self {
        Self { socket, kind }
    }

    /// The address, with the port that the system chose if the configured one is 0.
    pub(crate) fn address(&self) -> &ListenAddress {
        self.socket.address()
    }

    /// Serves until `stop` is ready, and then until all requests have ended or the grace time is over, on the runtime where this is
    /// called. Logs the address at once, before the future is polled.
    pub(crate) fn serve<H: Handler>(
        self,
        current: Arc<Current<H>>,
        stop: impl Future<Output = ()> + Send,
    ) -> io::Result<impl Future<Output = ()> + Send> {
        let (kind, endpoints) = (self.kind, self.kind.name());
        emit(&Event::Listening { address: &self.address().to_string(), endpoints });
        let socket = self.socket.listen()?;
        Ok(async move {
            let (stopping, _) = watch::channel(false);
            let mut connections = JoinSet::new();
            tokio::select! {
                () = accept(socket, kind, &mut connections, &stopping, &current) => {}
                () = stop => {}
            }

            while connections.try_join_next().is_some() {}
            let grace = current.get().http().options.grace;
            emit(&Event::Stopping { open_connections: connections.len(), grace, endpoints });
            stopping.send_replace(true);
            let all_ended = async { while connections.join_next().await.is_some() {} };
            if time::timeout(grace, all_ended).await.is_err() {
                emit(&Event::ConnectionsCutOff { open_connections: connections.len() });
                connections.shutdown().await;
            }
        })
    }
}

/// Accepts connections. Never ends.
async fn accept<H: Handler>(
    socket: ListeningSocket,
    kind: ListenerKind,
    connections: &mut JoinSet<()>,
    stopping: &watch::Sender<bool>,
    current: &Arc<Current<H>>,
) {
    let open = Arc::<OpenConnections>::default();
    let builder = Arc::new(builder());
    // Callers cannot take the memory that operators need.
    let operators = MemoryBudget::new(ADMIN_MEMORY, 0);
    let mut crowding = Crowding::new(kind);
    loop {
        while connections.try_join_next().is_some() {}
        let (stream, peer) = match socket.accept().await {
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
        let handler = current.get();
        let connection = Arc::new(Connection::new(match kind {
            ListenerKind::Public => handler.http().memory.connection(),
            ListenerKind::Admin => operators.connection(),
        }));
        let Ok((place, shed)) = open.admit(peer, &connection, limits(kind, &handler.http().options)).await else {
            stream.reset();
            crowding.count(0, 1);
            continue;
        };
        crowding.count(shed, 0);
        ACCEPTED.of((kind,)).increment();
        let task = ConnectionTask {
            builder: Arc::clone(&builder),
            current: Arc::clone(current),
            handler,
            listener: kind,
            connection,
            peer,
            stopping: stopping.subscribe(),
            place,
            counted: CONNECTIONS.of((kind,)).count(),
        };
        connections.spawn(task.run(stream));
    }
}

fn limits(kind: ListenerKind, options: &HttpOptions) -> ConnectionLimits<'_> {
    match kind {
        ListenerKind::Public => ConnectionLimits {
            all: options.connection_limit,
            per_address: options.connections_per_address,
            trusted_proxies: &options.trusted_proxies,
        },
        ListenerKind::Admin => {
            ConnectionLimits { all: ADMIN_CONNECTIONS, per_address: ADMIN_CONNECTIONS, trusted_proxies: &[] }
        }
    }
}

/// Connections that were closed because there were too many, since the log last said so.
#[derive(Debug)]
struct Crowding {
    listener: ListenerKind,
    shed: u64,
    refused: u64,
    reported: Option<Instant>,
}

impl Crowding {
    fn new(listener: ListenerKind) -> Self {
        Self { listener, shed: 0, refused: 0, reported: None }
    }

    /// Counts connections that were closed to make room, and connections that were not accepted. Reports them now and then.
    fn count(&mut self, shed: u64, refused: u64) {
        SHED.of((self.listener,)).add(shed);
        REFUSED.of((self.listener,)).add(refused);
        self.shed += shed;
        self.refused += refused;
        let is_due = self.reported.is_none_or(|reported| reported.elapsed() >= REPORT_INTERVAL);
        if self.shed + self.refused > 0 && is_due {
            emit(&Event::TooManyConnections { shed: self.shed, refused: self.refused });
            *self = Self { shed: 0, refused: 0, reported: Some(Instant::now()), ..*self };
        }
    }
}
