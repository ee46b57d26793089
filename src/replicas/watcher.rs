//! Asks each server how far it is, ten times a second, and at once when a request waits for that. Each has a connection for it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{self, MissedTickBehavior};
use tokio_postgres::{Client, Error};

use crate::catalog::Catalog;
use crate::database::address::database_address::DatabaseAddress;
use crate::database::address::role::Role;
use crate::database::connection::connect::connect;
use crate::database::error::DatabaseError;
use crate::database::wal_position::{replayed, written};
use crate::preflight::mismatch::Mismatch;
use crate::preflight::{Constraints, check};
use crate::replicas::positions::{Absence, Positions, ReplicaAnswer, ReplicaState, ServerId};
use crate::replicas::read_server::ReadServer;
use crate::telemetry::emit;
use crate::telemetry::event::Event;

/// How often a server is asked.
const INTERVAL: Duration = Duration::from_millis(100);

/// How long it is not asked again, at least.
const SHORTEST_INTERVAL: Duration = Duration::from_millis(1);

/// How long it may take to answer.
const LONGEST_ANSWER: Duration = Duration::from_secs(1);

/// How long connecting may take.
const LONGEST_CONNECT: Duration = Duration::from_secs(2);

/// How long a replica may take to be checked against the schema.
const LONGEST_CHECK: Duration = Duration::from_secs(30);

/// The pause after the first failed attempt. Every further one doubles it.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// The pause after a replica was found not to fit the schema: to compare them takes it some work.
const UNFIT_PAUSE: Duration = Duration::from_secs(5);

/// A schema that replicas have to fit.
#[derive(Debug, Clone)]
pub(super) struct SchemaToCheck {
    /// Schemas are counted as they are served.
    pub(super) number: u64,
    pub(super) catalog: Arc<Catalog>,
    pub(super) constraints: Constraints,
}

/// The schema that is served.
#[derive(Debug)]
pub(super) struct Schemas(watch::Sender<SchemaToCheck>);

impl Schemas {
    pub(super) fn new(schema: SchemaToCheck) -> Self {
        Self(watch::Sender::new(schema))
    }

    pub(super) fn replace(&self, schema: SchemaToCheck) {
        self.0.send_replace(schema);
    }

    pub(super) fn subscribe(&self) -> watch::Receiver<SchemaToCheck> {
        self.0.subscribe()
    }
}

/// Why a server is not read.
#[derive(Debug, thiserror::Error)]
enum UnreadableReplica {
    /// It cannot be connected to.
    #[error("it cannot be connected to")]
    Connect(#[source] Error),
    /// It does not say how far it is.
    #[error("it does not say how far it is")]
    Position(#[from] DatabaseError),
    /// It does not answer in time.
    #[error("it does not answer in time")]
    TooSlow(#[from] time::error::Elapsed),
    /// The schema cannot be checked.
    #[error("its tables cannot be compared with the schema")]
    Check(#[source] Error),
    /// It is no standby.
    #[error("it is no standby")]
    NotAStandby,
    /// It does not fit the schema.
    #[error("it does not fit the schema: {0}")]
    Unfit(Box<Mismatch>),
    /// It lags too far, or how far is not known.
    #[error("it lags too far")]
    Lagging,
    /// It is ahead of the primary.
    #[error("it is ahead of the primary, so it follows another one")]
    Ahead,
}

impl UnreadableReplica {
    const fn absence(&self) -> Absence {
        match self {
            Self::NotAStandby => Absence::NotAStandby,
            Self::Unfit(_) => Absence::Unfit,
            _ => Absence::Unreachable,
        }
    }
}

/// Watches the primary.
pub(super) fn watch_primary(
    address: &DatabaseAddress,
    server: Arc<ReadServer>,
    positions: Arc<Positions>,
) -> JoinHandle<()> {
    let address = address.for_role(Role::Positions);
    tokio::spawn(async move {
        let mut pause = FIRST_PAUSE;
        loop {
            let error = follow_primary(&address, &positions, &mut pause).await;
            if positions.is_primary_there() != Some(false) {
                emit(&Event::PrimaryLost { error: &error });
            }
            positions.primary_is_away();
            // Nothing can be read from the primary now.
            server.give_up();
            time::sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    })
}

/// Records where the primary is until it does not say it any more.
async fn follow_primary(address: &DatabaseAddress, positions: &Positions, pause: &mut Duration) -> UnreadableReplica {
    let client = match open(address).await {
        Ok(client) => client,
        Err(error) => return error,
    };
    let mut ticks = ticks();
    loop {
        let asked = Instant::now();
        match time::timeout(LONGEST_ANSWER, written(&client)).await {
            Ok(Ok(position)) => {
                if positions.is_primary_there() == Some(false) {
                    emit(&Event::PrimaryFound);
                }
                positions.primary_at(position, asked);
                *pause = FIRST_PAUSE;
            }
            Ok(Err(error)) => return error.into(),
            Err(timeout) => return timeout.into(),
        }
        next(&mut ticks, positions).await;
    }
}

/// Watches a replica.
pub(super) fn watch_replica(
    address: &DatabaseAddress,
    server: Arc<ReadServer>,
    positions: Arc<Positions>,
    schemas: watch::Receiver<SchemaToCheck>,
) -> JoinHandle<()> {
    let ServerId::Replica(index) = server.id else { return tokio::spawn(async {}) };
    let mut watcher =
        ReplicaWatcher { address: address.for_role(Role::Positions), index, server, positions, schemas, is_read: None };
    tokio::spawn(async move {
        let mut pause = FIRST_PAUSE;
        loop {
            let error = watcher.follow(&mut pause).await;
            let longest = if matches!(error, UnreadableReplica::Unfit(_)) { UNFIT_PAUSE } else { pause };
            watcher.positions.replica_is_absent(index, error.absence());
            watcher.report(Err(error));
            // Requests that wait for its answers are read elsewhere.
            watcher.server.give_up();
            time::sleep(longest).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    })
}

struct ReplicaWatcher {
    address: DatabaseAddress,
    index: usize,
    server: Arc<ReadServer>,
    positions: Arc<Positions>,
    schemas: watch::Receiver<SchemaToCheck>,
    /// Whether it may be read, as was reported last.
    is_read: Option<bool>,
}

impl ReplicaWatcher {
    /// Records where the replica is, once it is found to fit the schema, until it does not say it any more.
    async fn follow(&mut self, pause: &mut Duration) -> UnreadableReplica {
        match self.try_follow(pause).await {
            Ok(never) => match never {},
            Err(error) => error,
        }
    }

    async fn try_follow(&mut self, pause: &mut Duration) -> Result<std::convert::Infallible, UnreadableReplica> {
        let client = open(&self.address).await?;
        let mut ticks = ticks();
        let mut fits = None;
        loop {
            let schema = self.schemas.borrow_and_update().clone();
            if fits != Some(schema.number) {
                fit(&client, &schema).await?;
                fits = Some(schema.number);
            }
            let asked = Instant::now();
            let position =
                time::timeout(LONGEST_ANSWER, replayed(&client)).await??.ok_or(UnreadableReplica::NotAStandby)?;
            let answer = ReplicaAnswer { position, asked, answered: Instant::now() };
            self.positions.replica_at(self.index, schema.number, answer);
            *pause = FIRST_PAUSE;
            match self.positions.replica(self.index, Instant::now()) {
                ReplicaState::Current(_) => self.report(Ok(())),
                // Before the primary was asked for the first time, nothing is known.
                ReplicaState::Lagging(_) if self.positions.is_primary_there().is_none() => {}
                ReplicaState::Lagging(_) => self.report(Err(UnreadableReplica::Lagging)),
                ReplicaState::Absent(Absence::Ahead(_)) => self.report(Err(UnreadableReplica::Ahead)),
                // Another schema is about to be served.
                ReplicaState::Absent(_) => {}
            }
            next(&mut ticks, &self.positions).await;
        }
    }

    /// Logs that the replica may be read, or why not, if that has changed.
    fn report(&mut self, found: Result<(), UnreadableReplica>) {
        let server = &*self.server.name;
        if self.is_read.replace(found.is_ok()) == Some(found.is_ok()) {
            return;
        }
        match found {
            Ok(()) => emit(&Event::ReplicaJoined { server }),
            Err(error) => emit(&Event::ReplicaLeft { server, error: &error }),
        }
    }
}

/// Connects to a server.
async fn open(address: &DatabaseAddress) -> Result<Client, UnreadableReplica> {
    time::timeout(LONGEST_CONNECT, connect(address)).await?.map_err(UnreadableReplica::Connect)
}

/// Fails if the replica does not fit the schema.
async fn fit(client: &Client, schema: &SchemaToCheck) -> Result<(), UnreadableReplica> {
    let mismatches =
        time::timeout(LONGEST_CHECK, check(client, &schema.catalog)).await?.map_err(UnreadableReplica::Check)?;
    let is_trusted =
        |mismatch: &Mismatch| schema.constraints == Constraints::Trusted && mismatch.is_missing_guarantee();
    mismatches
        .into_iter()
        .find(|mismatch| !is_trusted(mismatch) && !mismatch.can_be_served())
        .map_or(Ok(()), |mismatch| Err(UnreadableReplica::Unfit(Box::new(mismatch))))
}

/// Waits until it is time to ask a server again, or somebody wants to know.
async fn next(ticks: &mut time::Interval, positions: &Positions) {
    tokio::select! {
        _ = ticks.tick() => {}
        // However many requests want to know, and however often.
        () = positions.wanted() => time::sleep(SHORTEST_INTERVAL).await,
    }
}

fn ticks() -> time::Interval {
    let mut ticks = time::interval(INTERVAL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    ticks
}
