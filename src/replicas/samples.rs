//! Positions of the primary with their times. So the age of a replica's data is known without comparing clocks, and an idle primary makes
//! no replica look old.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use crate::database::wal_position::WalPosition;

/// Positions with the times at which the primary was asked for them: it had reached each at that time or a moment later.
#[derive(Debug)]
pub(super) struct Samples {
    /// In ascending order of both.
    entries: VecDeque<(WalPosition, Instant)>,
    /// How long they are kept.
    kept: Duration,
}

impl Samples {
    pub(super) fn new(kept: Duration) -> Self {
        Self { entries: VecDeque::new(), kept }
    }

    /// Adds a sample. If it is before the last one, another server is the primary now, and the older ones are of no use.
    pub(super) fn add(&mut self, position: WalPosition, at: Instant) {
        match self.entries.back_mut() {
            Some((last, last_at)) if *last == position => *last_at = at,
            Some((last, _)) if *last > position => {
                self.entries.clear();
                self.entries.push_back((position, at));
            }
            _ => self.entries.push_back((position, at)),
        }
        while self.entries.len() > 1
            && self.entries.front().is_some_and(|(_, first)| at.duration_since(*first) > self.kept)
        {
            self.entries.pop_front();
        }
    }

    /// The position of the last one.
    pub(super) fn last(&self) -> Option<WalPosition> {
        self.entries.back().map(|(position, _)| *position)
    }

    /// The time of the newest sample that a server at this position has reached. It has all that was committed before.
    pub(super) fn newest_reached(&self, position: WalPosition) -> Option<Instant> {
        let reached = self.entries.partition_point(|(sample, _)| *sample <= position);
        reached.checked_sub(1).map(|index| self.entries[index].1)
    }

    /// Forgets all.
    pub(super) fn clear(&mut self) {
        self.entries.clear();
    }
}
