//! How far the primary and its replicas are, and which replicas may be read.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Notify;
use tokio::sync::futures::Notified;

use crate::database::wal_position::WalPosition;
use crate::replicas::samples::Samples;

/// How long the primary's positions are kept, at least: so long a lag is measured.
const HISTORY: Duration = Duration::from_mins(10);

/// How far all servers are.
#[derive(Debug)]
pub(super) struct Positions {
    state: Mutex<State>,
    longest_lag: Duration,
    /// Notified when somebody waits for newer positions.
    wanted: Notify,
    /// Notified when a server has been asked.
    learnt: Notify,
}

#[derive(Debug)]
struct State {
    primary: Primary,
    /// The primary's positions; while it is away, the positions of the replica that is ahead of the others.
    samples: Samples,
    replicas: Vec<Result<Replica, Absence>>,
    /// Counts the schemas that were served.
    schema: u64,
}

#[derive(Debug, Clone, Copy)]
enum Primary {
    /// It has not been asked yet.
    Unknown,
    /// It was at this position or behind it when it was asked, then.
    At(WalPosition, Instant),
    /// It does not answer.
    Away,
}

/// A replica that answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Replica {
    position: WalPosition,
    /// When it was asked for its position.
    asked: Instant,
    /// When its answer arrived.
    answered: Instant,
    /// The time up to which it has what was committed on the primary; `None` if that is not known.
    has_until: Option<Instant>,
}

/// Why a replica is not read, whatever its position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Absence {
    /// It was not asked yet, or not whether it fits another schema.
    Unknown,
    /// It does not answer.
    Unreachable,
    /// It is no standby.
    NotAStandby,
    /// It does not fit the schema.
    Unfit,
    /// It is ahead of the primary, so that it follows another one; and where it is.
    Ahead(WalPosition),
}

/// Whether a replica may be read, by its position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReplicaState {
    /// It may be read. It lags so far.
    Current(Duration),
    /// It lags too far, or so far that nothing is known of it.
    Lagging(Option<Duration>),
    /// It is not read.
    Absent(Absence),
}

/// A server among all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ServerId {
    Primary,
    Replica(usize),
}

/// A read, and what a server must have replayed to be at least as far.
#[derive(Debug, Clone, Copy)]
pub(super) struct SeenRead {
    pub(super) server: ServerId,
    /// When the read's rows were there.
    pub(super) at: Instant,
    /// The position of its server at a later time; `None` until it is known.
    pub(super) position: Option<WalPosition>,
}

/// How far a replica has replayed, as it said between two times.
#[derive(Debug, Clone, Copy)]
pub(super) struct ReplicaAnswer {
    pub(super) position: WalPosition,
    pub(super) asked: Instant,
    pub(super) answered: Instant,
}

/// The needs of a request that a replica has to meet.
pub(super) struct ReadNeeds<'s> {
    /// It has what was written up to this.
    pub(super) after: Option<WalPosition>,
    /// It is not behind these. What is learnt of their positions is kept there.
    pub(super) seen: &'s mut [SeenRead],
}

/// Whether a replica may answer a request, the best last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Suitability {
    /// It is not read.
    Unavailable,
    /// It may be read, but is not known to have what the caller has written or asks for.
    Behind,
    /// It may be read and has that, but is not known to have what the caller has seen.
    Unseen,
    Suitable,
}

impl Positions {
    pub(super) fn new(replicas: usize, longest_lag: Duration) -> Self {
        let state = State {
            primary: Primary::Unknown,
            samples: Samples::new(HISTORY.max(longest_lag)),
            replicas: vec![Err(Absence::Unknown); replicas],
            schema: 0,
        };
        Self { state: Mutex::new(state), longest_lag, wanted: Notify::new(), learnt: Notify::new() }
    }

    /// Has the servers asked soon, and not only when it is time.
    pub(super) fn want(&self) {
        self.wanted.notify_waiters();
    }

    /// Completes when somebody wants newer positions.
    pub(super) fn wanted(&self) -> Notified<'_> {
        self.wanted.notified()
    }

    /// Completes when a server has been asked from now on.
    pub(super) fn learnt(&self) -> Notified<'_> {
        self.learnt.notified()
    }

    /// The primary has written up to this position, as it said when it was asked, `asked`.
    pub(super) fn primary_at(&self, position: WalPosition, asked: Instant) {
        let mut state = self.state();
        if !matches!(state.primary, Primary::At(..)) {
            // The comparisons of replicas until now say nothing about the primary.
            state.samples.clear();
            state.replicas.iter_mut().flatten().for_each(|replica| replica.has_until = None);
        }
        state.primary = Primary::At(position, asked);
        state.samples.add(position, asked);
        for replica in &mut state.replicas {
            if let Ok(found) = replica
                && found.answered < asked
                && found.position > position
            {
                *replica = Err(Absence::Ahead(found.position));
            }
        }
        drop(state);
        self.learnt.notify_waiters();
    }

    /// The primary does not answer. The replicas are compared with each other until it does.
    pub(super) fn primary_is_away(&self) {
        let mut state = self.state();
        if !matches!(state.primary, Primary::Away) {
            state.primary = Primary::Away;
            state.samples.clear();
        }
    }

    /// A replica that was found to fit the schema has answered.
    pub(super) fn replica_at(
        &self,
        index: usize,
        schema: u64,
        ReplicaAnswer { position, asked, answered }: ReplicaAnswer,
    ) {
        let mut state = self.state();
        let State { primary, samples, replicas, schema: current } = &mut *state;
        let Some(replica) = replicas.get_mut(index) else { return };
        if schema != *current || *replica == Err(Absence::Ahead(position)) {
            return;
        }
        if matches!(primary, Primary::Away) && samples.last().is_none_or(|last| last <= position) {
            samples.add(position, asked);
        }
        let has_until = match primary {
            Primary::Unknown => None,
            Primary::At(..) | Primary::Away => samples.newest_reached(position),
        };
        *replica = Ok(Replica { position, asked, answered, has_until });
        drop(state);
        self.learnt.notify_waiters();
    }

    /// A replica is not read any more.
    pub(super) fn replica_is_absent(&self, index: usize, absence: Absence) {
        if let Some(replica) = self.state().replicas.get_mut(index) {
            *replica = Err(absence);
        }
    }

    /// Begins another schema. No replica is read before it is found to fit. Returns the schema's number.
    pub(super) fn begin_schema(&self) -> u64 {
        let mut state = self.state();
        state.schema += 1;
        state.replicas.fill(Err(Absence::Unknown));
        state.schema
    }

    /// The state of each replica now.
    pub(super) fn replicas(&self, now: Instant) -> Vec<ReplicaState> {
        let state = self.state();
        state.replicas.iter().map(|replica| self.describe(replica, now)).collect()
    }

    /// The state of a replica now.
    pub(super) fn replica(&self, index: usize, now: Instant) -> ReplicaState {
        let state = self.state();
        state.replicas.get(index).map_or(ReplicaState::Absent(Absence::Unknown), |replica| self.describe(replica, now))
    }

    /// Whether the primary answers; `None` before it was asked.
    pub(super) fn is_primary_there(&self) -> Option<bool> {
        match self.state().primary {
            Primary::Unknown => None,
            Primary::At(..) => Some(true),
            Primary::Away => Some(false),
        }
    }

    /// Whether the primary has written up to this position. `None` if it was not asked after `since`, and had not before.
    pub(super) fn is_written(&self, position: WalPosition, since: Instant) -> Option<bool> {
        match self.state().primary {
            Primary::At(written, _) if written >= position => Some(true),
            Primary::At(_, asked) if asked > since => Some(false),
            Primary::At(..) | Primary::Unknown | Primary::Away => None,
        }
    }

    /// Which of these replicas may answer a request, in their order.
    pub(super) fn suitable(
        &self,
        order: Vec<usize>,
        ReadNeeds { after, seen }: ReadNeeds<'_>,
        now: Instant,
    ) -> (Vec<usize>, Suitability) {
        let state = self.state();
        for read in seen.iter_mut().filter(|read| read.position.is_none()) {
            read.position = state.position_after(read);
        }
        let suitability = |index: usize| match state.replicas.get(index) {
            Some(Ok(replica)) if self.is_current(replica, now) => {
                if after.is_some_and(|after| replica.position < after) {
                    Suitability::Behind
                } else if seen.iter().all(|read| read.is_included(index, replica)) {
                    Suitability::Suitable
                } else {
                    Suitability::Unseen
                }
            }
            _ => Suitability::Unavailable,
        };
        let found: Vec<_> = order.into_iter().map(|index| (index, suitability(index))).collect();
        let best = found.iter().map(|(_, found)| *found).max().unwrap_or(Suitability::Unavailable);
        let of = |wanted| found.iter().filter(|(_, found)| *found == wanted).map(|(index, _)| *index).collect();
        match best {
            // While the primary is away, a replica that is behind what was seen is better than none.
            Suitability::Unseen if matches!(state.primary, Primary::Away) => (of(best), Suitability::Suitable),
            Suitability::Suitable => (of(best), best),
            Suitability::Unseen | Suitability::Behind | Suitability::Unavailable => (Vec::new(), best),
        }
    }

    fn describe(&self, replica: &Result<Replica, Absence>, now: Instant) -> ReplicaState {
        match replica {
            Err(absence) => ReplicaState::Absent(*absence),
            Ok(replica) => match replica.has_until.map(|until| now.saturating_duration_since(until)) {
                Some(lag) if lag <= self.longest_lag => ReplicaState::Current(lag),
                lag => ReplicaState::Lagging(lag),
            },
        }
    }

    fn is_current(&self, replica: &Replica, now: Instant) -> bool {
        replica.has_until.is_some_and(|until| now.saturating_duration_since(until) <= self.longest_lag)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // A panic elsewhere cannot leave the state half changed, so a poisoned lock can be used.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// The position of a read's server at a later time, if the server has been asked since.
    fn position_after(&self, read: &SeenRead) -> Option<WalPosition> {
        match read.server {
            ServerId::Primary => match self.primary {
                Primary::At(position, asked) => (asked > read.at).then_some(position),
                Primary::Unknown | Primary::Away => None,
            },
            ServerId::Replica(index) => match self.replicas.get(index) {
                Some(Ok(replica)) => (replica.asked > read.at).then_some(replica.position),
                _ => None,
            },
        }
    }
}

impl SeenRead {
    /// Whether a replica has all that the read has seen.
    fn is_included(&self, index: usize, replica: &Replica) -> bool {
        self.server == ServerId::Replica(index) || self.position.is_some_and(|position| replica.position >= position)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAG: Duration = Duration::from_secs(2);

    fn at(text: &str) -> WalPosition {
        text.parse().unwrap()
    }

    fn answer(position: &str, asked: Instant, answered: Instant) -> ReplicaAnswer {
        ReplicaAnswer { position: at(position), asked, answered }
    }

    /// Positions of two replicas, at the times of a clock in milliseconds.
    struct Clock(Positions, Instant);

    impl Clock {
        fn new() -> Self {
            Self(Positions::new(2, LAG), Instant::now())
        }

        fn time(&self, milliseconds: u64) -> Instant {
            self.1 + Duration::from_millis(milliseconds)
        }

        fn primary(&self, time: u64, position: &str) {
            self.0.primary_at(at(position), self.time(time));
        }

        fn replica(&self, index: usize, time: u64, position: &str) {
            self.0.replica_at(index, 0, answer(position, self.time(time), self.time(time + 1)));
        }

        fn is_written(&self, position: &str, since: u64) -> Option<bool> {
            self.0.is_written(at(position), self.time(since))
        }

        fn lag(&self, index: usize, time: u64) -> ReplicaState {
            self.0.replica(index, self.time(time))
        }

        fn suitable(&self, time: u64, after: Option<&str>, seen: &mut [SeenRead]) -> (Vec<usize>, Suitability) {
            self.0.suitable(vec![0, 1], ReadNeeds { after: after.map(at), seen }, self.time(time))
        }

        fn seen(&self, server: ServerId, time: u64) -> SeenRead {
            SeenRead { server, at: self.time(time), position: None }
        }
    }

    fn current(milliseconds: u64) -> ReplicaState {
        ReplicaState::Current(Duration::from_millis(milliseconds))
    }

    #[test]
    fn a_position_is_beyond_the_primarys_only_if_it_was_asked_since() {
        let clock = Clock::new();
        assert_eq!(clock.is_written("0/1", 0), None, "not asked");
        clock.primary(10, "0/5");
        assert_eq!((clock.is_written("0/5", 20), clock.is_written("0/6", 20)), (Some(true), None));
        assert_eq!(clock.is_written("0/6", 10), None, "it may have been written a moment later");
        clock.primary(30, "0/5");
        assert_eq!((clock.is_written("0/6", 20), clock.is_written("0/6", 40)), (Some(false), None));
        clock.0.primary_is_away();
        assert_eq!((clock.is_written("0/5", 20), clock.is_written("0/6", 20)), (None, None));
    }

    #[test]
    fn a_replica_is_as_old_as_the_newest_position_of_the_primary_that_it_has_reached() {
        let clock = Clock::new();
        clock.replica(0, 0, "0/10");
        assert_eq!(clock.lag(0, 1), ReplicaState::Lagging(None), "nothing is known of the primary");
        clock.primary(100, "0/10");
        clock.primary(200, "0/20");
        clock.replica(0, 210, "0/10");
        assert_eq!(clock.lag(0, 300), current(200));
        // An idle primary makes nothing older.
        for time in [1000, 2000, 3000] {
            clock.primary(time, "0/20");
        }
        clock.replica(0, 3010, "0/20");
        assert_eq!(clock.lag(0, 3100), current(100));
        clock.replica(1, 3010, "0/1F");
        assert_eq!(clock.lag(1, 3100), ReplicaState::Lagging(Some(Duration::from_secs(3))));
        clock.replica(1, 3020, "0/9");
        assert_eq!(clock.lag(1, 3100), ReplicaState::Lagging(None));
        assert_eq!(clock.suitable(3100, None, &mut []), (vec![0], Suitability::Suitable));
        assert_eq!(
            clock.suitable(5001, None, &mut []),
            (vec![], Suitability::Unavailable),
            "nobody has been asked since"
        );
    }

    #[test]
    fn only_a_replica_that_has_replayed_a_position_is_read_after_it() {
        let clock = Clock::new();
        clock.primary(0, "0/20");
        clock.replica(0, 10, "0/20");
        clock.replica(1, 10, "0/30");
        assert_eq!(clock.suitable(20, Some("0/20"), &mut []).0, [0, 1]);
        assert_eq!(clock.suitable(20, Some("0/21"), &mut []).0, [1]);
        assert_eq!(clock.suitable(20, Some("0/31"), &mut []), (vec![], Suitability::Behind));
    }

    #[test]
    fn a_caller_sees_nothing_older_than_before_on_another_server() {
        let clock = Clock::new();
        clock.primary(0, "0/20");
        clock.replica(0, 10, "0/20");
        clock.replica(1, 10, "0/28");
        let mut seen = [clock.seen(ServerId::Replica(0), 20)];
        assert_eq!(clock.suitable(30, None, &mut seen).0, [0], "nothing is known of where the other one was");
        clock.replica(0, 40, "0/28");
        assert_eq!(clock.suitable(50, None, &mut seen).0, [0, 1]);
        clock.replica(0, 60, "0/30");
        assert_eq!(clock.suitable(70, None, &mut seen).0, [0, 1], "it has not seen what came later");
        let mut seen = [clock.seen(ServerId::Primary, 80)];
        assert_eq!(clock.suitable(90, None, &mut seen), (vec![], Suitability::Unseen));
        clock.primary(100, "0/30");
        assert_eq!(clock.suitable(110, None, &mut seen).0, [0]);
        let mut seen = [clock.seen(ServerId::Primary, 120)];
        clock.0.primary_is_away();
        assert_eq!(clock.suitable(130, None, &mut seen).0, [0, 1], "there is no better server");
        assert_eq!(clock.suitable(130, Some("0/31"), &mut seen).0, [0; 0], "but none that lacks what was asked for");
    }

    #[test]
    fn while_the_primary_is_away_the_replica_that_is_ahead_is_the_measure() {
        let clock = Clock::new();
        clock.primary(0, "0/40");
        clock.replica(0, 10, "0/30");
        clock.0.primary_is_away();
        clock.replica(0, 5000, "0/30");
        clock.replica(1, 5010, "0/10");
        assert_eq!((clock.lag(0, 5020), clock.lag(1, 5020)), (current(20), ReplicaState::Lagging(None)));
        clock.replica(1, 6000, "0/30");
        assert_eq!(clock.lag(1, 6000), current(0));
        // The one that was promoted has less than the old primary had, and the replicas follow it.
        clock.primary(7000, "0/38");
        assert_eq!(clock.lag(0, 7001), ReplicaState::Lagging(None));
        clock.replica(0, 7010, "0/38");
        assert_eq!(clock.lag(0, 7010), current(10));
    }

    #[test]
    fn a_replica_ahead_of_the_primary_follows_another_one_and_is_not_read_until_it_moves() {
        let clock = Clock::new();
        clock.primary(0, "0/20");
        clock.replica(0, 10, "0/30");
        assert_eq!(clock.lag(0, 20), current(20), "the primary may have gone on");
        clock.primary(30, "0/2F");
        assert_eq!(clock.lag(0, 40), ReplicaState::Absent(Absence::Ahead(at("0/30"))));
        clock.primary(50, "0/50");
        clock.replica(0, 60, "0/30");
        assert_eq!(clock.lag(0, 70), ReplicaState::Absent(Absence::Ahead(at("0/30"))));
        clock.replica(0, 80, "0/50");
        assert_eq!(clock.lag(0, 90), current(40));
    }

    #[test]
    fn no_replica_is_read_before_it_fits_the_schema() {
        let clock = Clock::new();
        clock.primary(0, "0/20");
        clock.replica(0, 10, "0/20");
        let schema = clock.0.begin_schema();
        clock.replica(0, 20, "0/20");
        assert_eq!(clock.lag(0, 30), ReplicaState::Absent(Absence::Unknown));
        clock.0.replica_at(0, schema, answer("0/20", clock.time(40), clock.time(41)));
        assert_eq!(clock.lag(0, 50), current(50));
    }
}
