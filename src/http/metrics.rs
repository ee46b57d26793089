//! The metrics of connections.

use crate::http::listener_kind::ListenerKind;
use crate::telemetry::metrics::instrument::{Counter, Gauge};
use crate::telemetry::metrics::label::Label;
use crate::telemetry::metrics::table::metrics;

metrics! {
    /// Open connections of clients.
    CONNECTIONS: Gauge, by (ListenerKind,) = "orderql_connections";
    /// Connections that were accepted.
    ACCEPTED: Counter, by (ListenerKind,) = "orderql_connections_accepted_total";
    /// Open connections that were closed because there were too many.
    SHED: Counter, by (ListenerKind,) = "orderql_connections_shed_total";
    /// Connections that were closed at once because their address had too many.
    REFUSED: Counter, by (ListenerKind,) = "orderql_connections_refused_total";
    /// Bytes that clients sent.
    RECEIVED: Counter, by (ListenerKind,) = "orderql_received_bytes_total";
    /// Bytes that were sent to clients.
    SENT: Counter, by (ListenerKind,) = "orderql_sent_bytes_total";
}

impl Label for ListenerKind {
    const NAME: &'static str = "listener";
    const COUNT: usize = Self::ALL.len();

    fn index(self) -> usize {
        self as usize
    }

    fn text(index: usize) -> &'static str {
        Self::ALL[index].name()
    }
}
