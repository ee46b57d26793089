//! Signs of life of the nodes that use a store.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher as _;
use std::process;
use std::time::Duration;

use redis::Script;

/// The key under which the nodes are counted.
const KEY: &str = "orderql:nodes";

/// How long a node that gives no sign of life still counts.
const MEMORY: Duration = Duration::from_secs(5);

/// How many counts are remembered: all that were made in that time.
const COUNTS: usize = 6;

/// Gives signs of life of this node.
#[derive(Debug)]
pub(super) struct Beat {
    script: Script,
    node: u64,
    counts: [u64; COUNTS],
}

impl Beat {
    pub(super) fn new() -> Self {
        // Random, and another one after each start: nodes need not know each other's names.
        let node = RandomState::new().hash_one(process::id());
        Self { script: Script::new(include_str!("nodes.lua")), node, counts: [0; COUNTS] }
    }

    /// The call that gives a sign of life and returns how many nodes there are.
    pub(super) fn call(&self) -> (&Script, [&'static str; 1], [u64; 2]) {
        (&self.script, [KEY], [self.node, u64::try_from(MEMORY.as_millis()).unwrap_or(u64::MAX)])
    }

    /// The number of nodes, now that `counted` nodes were counted: a store that has lost its values counts them anew, one after the other.
    pub(super) fn nodes(&mut self, counted: u64) -> u64 {
        self.counts.rotate_right(1);
        self.counts[0] = counted;
        self.counts.into_iter().max().unwrap_or(1).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_is_missed_when_it_has_not_been_counted_for_a_while() {
        let mut beat = Beat::new();
        let counts = [0, 3, 3, 1, 2, 2, 2, 2, 2].map(|counted| beat.nodes(counted));
        assert_eq!(counts, [1, 3, 3, 3, 3, 3, 3, 3, 2]);
    }
}
