//! Whether the server can answer queries, part by part. The check reads facts that are known already. Anybody may send probes, so they must
//! not load the database.

use std::borrow::Cow;
use std::sync::atomic::Ordering;

use serde_json::{Map, Value, json};

use crate::api::service::Service;
use crate::database::metrics::ConnectFailure;
use crate::database::pool::pool_status::PoolStatus;
use crate::replicas::positions::{Absence, ReplicaState};

/// Whether the server can answer queries.
#[derive(Debug)]
pub(crate) struct Readiness {
    /// Each part.
    pub(crate) parts: Vec<ServicePart>,
    is_draining: bool,
}

/// A part that answering needs.
#[derive(Debug)]
pub(crate) struct ServicePart {
    pub(crate) name: Cow<'static, str>,
    state: State,
}

/// The state of a part.
#[derive(Debug)]
enum State {
    Ok,
    /// Something is wrong, and queries are answered all the same.
    Degraded(Cow<'static, str>),
    /// Queries cannot be answered.
    Failed(&'static str),
}

impl Readiness {
    /// Looks at each part.
    pub(crate) fn of(service: &Service) -> Self {
        let part = |name: &'static str, state| ServicePart { name: name.into(), state };
        let replicas = service.servers.replica_states().map(|(server, state)| ServicePart {
            name: format!("replica {}", server.name).into(),
            state: of_replica(state),
        });
        // Without it queries are answered as `bucket-away` says.
        let store = service.shared_store.as_ref().map(|store| {
            part(
                "store",
                if store.is_up() {
                    State::Ok
                } else {
                    State::Degraded("the shared store is away; what bucket-away says is in force".into())
                },
            )
        });
        Self {
            is_draining: service.http.is_draining.load(Ordering::Relaxed),
            parts: [
                part("database", of_database(service)),
                part("pool", of_pool(service.servers.query_pools())),
                part(
                    "accounts",
                    if service.grants.is_connected() {
                        State::Ok
                    } else {
                        State::Degraded("changes are not received; those read last are in force".into())
                    },
                ),
                part(
                    "keys",
                    if service.tokens.can_read_keys() {
                        State::Ok
                    } else {
                        State::Degraded("the keys cannot be read; those read last are in force".into())
                    },
                ),
                part(
                    "schema",
                    service.schema_fit.mismatch().map_or(State::Ok, |mismatch| {
                        State::Degraded(format!("a table was changed and does not fit the schema: {mismatch}").into())
                    }),
                ),
            ]
            .into_iter()
            .chain(replicas)
            .chain(store)
            .collect(),
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
        let described = |part: &ServicePart| match &part.state {
            State::Ok => json!({ "status": "ok" }),
            State::Degraded(reason) => json!({ "status": "degraded", "reason": reason }),
            State::Failed(reason) => json!({ "status": "failed", "reason": reason }),
        };
        self.parts.iter().map(|part| (part.name.to_string(), described(part))).collect::<Map<_, _>>().into()
    }
}

fn of_database(service: &Service) -> State {
    if !service.database_answers() {
        State::Failed("the database cannot be reached")
    } else if service.servers.is_primary_there() == Some(false) {
        State::Degraded("the primary cannot be reached; replicas are read, and order updates get 503".into())
    } else {
        let failure = service.servers.primary_failure().or_else(|| service.writer.status().failure);
        failure.map_or(State::Ok, |failure| State::Degraded(reason(failure).into()))
    }
}

fn of_pool(pool: PoolStatus) -> State {
    match pool.failure {
        Some(_) if !pool.is_usable => State::Failed("no connection to the database can be opened, and none is open"),
        Some(_) => State::Degraded("no further connection to the database can be opened".into()),
        // A server that is busy stays in service: the others would get its load as well.
        None if pool.is_exhausted() => State::Degraded("every connection is in use, and requests wait".into()),
        None => State::Ok,
    }
}

const fn reason(failure: ConnectFailure) -> &'static str {
    match failure {
        ConnectFailure::TooManyConnections => {
            "it has no connection left: max_connections is reached, or a limit of the role or the database"
        }
        ConnectFailure::Authentication => "it refuses new connections of the role: password, user or pg_hba.conf",
        ConnectFailure::Unavailable | ConnectFailure::Unsuitable => "it refuses new connections; the log says why",
        ConnectFailure::Timeout => "it does not answer new connections in time",
        ConnectFailure::Unreachable => "new connections do not reach it",
    }
}

fn of_replica(state: ReplicaState) -> State {
    let reason = match state {
        ReplicaState::Current(_) => return State::Ok,
        ReplicaState::Lagging(_) => "it lags too far",
        ReplicaState::Absent(Absence::Unknown) => "it is not known yet whether it fits the schema",
        ReplicaState::Absent(Absence::Unreachable) => "it does not answer",
        ReplicaState::Absent(Absence::NotAStandby) => "it is no standby",
        ReplicaState::Absent(Absence::Unfit) => "it does not fit the schema",
        ReplicaState::Absent(Absence::Ahead(_)) => "it is ahead of the primary, so it follows another one",
    };
    State::Degraded(reason.into())
}

impl ServicePart {
    /// Whether nothing is wrong.
    pub(crate) fn is_ok(&self) -> bool {
        matches!(self.state, State::Ok)
    }
}
