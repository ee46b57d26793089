//! Whether the server can answer queries, part by part. Reads what is known already, so that probes, which anybody may send,
//! do not load the database.

use std::sync::atomic::Ordering;

use serde_json::{Map, Value, json};

use crate::http::service::Service;

/// Whether the server can answer queries.
#[derive(Debug)]
pub(crate) struct Readiness {
    /// Each part.
    pub(crate) parts: [Part; 5],
    is_draining: bool,
}

/// A part that answering needs.
#[derive(Debug)]
pub(crate) struct Part {
    /// Its name.
    pub(crate) name: &'static str,
    state: State,
}

/// The state of a part.
#[derive(Debug)]
enum State {
    Ok,
    /// Something is wrong, and queries are answered all the same.
    Degraded(&'static str),
    /// Queries cannot be answered.
    Failed(&'static str),
}

impl Readiness {
    /// Looks at each part.
    pub(crate) fn of(service: &Service) -> Self {
        let is_connected = service.grants.is_connected();
        let pool = service.pool_status();
        let part = |name, state| Part { name, state };
        Self {
            is_draining: service.is_draining.load(Ordering::Relaxed),
            parts: [
                // The connection that listens for changed grants shows it.
                part(
                    "database",
                    if is_connected { State::Ok } else { State::Failed("the database cannot be reached") },
                ),
                // A server that is busy stays in service: the others would get its load as well.
                part(
                    "pool",
                    if pool.is_exhausted() {
                        State::Degraded("every connection is in use, and requests wait")
                    } else {
                        State::Ok
                    },
                ),
                part(
                    "accounts",
                    if is_connected {
                        State::Ok
                    } else {
                        State::Degraded("changes are not received; those read last are in force")
                    },
                ),
                part(
                    "keys",
                    if service.tokens.can_read_keys() {
                        State::Ok
                    } else {
                        State::Degraded("the keys cannot be read; those read last are in force")
                    },
                ),
                // Checked against the database before the server listens.
                part("schema", State::Ok),
            ],
        }
    }

    /// Whether queries can be answered.
    pub(crate) fn is_ready(&self) -> bool {
        self.failure().is_none()
    }

    /// Why queries cannot be answered.
    pub(crate) fn failure(&self) -> Option<&'static str> {
        if self.is_draining {
            return Some("the server is about to stop");
        }
        self.parts.iter().find_map(|part| match part.state {
            State::Failed(reason) => Some(reason),
            State::Ok | State::Degraded(_) => None,
        })
    }

    /// The parts as JSON.
    pub(crate) fn describe_parts(&self) -> Value {
        let described = |part: &Part| match part.state {
            State::Ok => json!({ "status": "ok" }),
            State::Degraded(reason) => json!({ "status": "degraded", "reason": reason }),
            State::Failed(reason) => json!({ "status": "failed", "reason": reason }),
        };
        self.parts.iter().map(|part| (part.name.to_owned(), described(part))).collect::<Map<_, _>>().into()
    }
}

impl Part {
    /// Whether nothing is wrong.
    pub(crate) fn is_ok(&self) -> bool {
        matches!(self.state, State::Ok)
    }
}
