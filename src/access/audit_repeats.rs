//! Keeps a flood of refused logins from becoming a flood of rows: of events that are alike, the first one is recorded at
//! once, and one row a minute counts the others.

use std::collections::HashMap;
use std::mem;

use serde_json::Value;

use crate::access::audit::{Action, AuditEvent};
use crate::access::network::Network;

/// How many kinds of events have rows of their own within a minute. Further kinds share rows without address and subject.
const MAX_KINDS: usize = 100;

/// The detail that says why a login was refused.
pub(crate) const REASON: &str = "reason";

/// The detail with the number of events that a row stands for, if there are several.
const COUNT: &str = "count";

/// The events of a minute that are alike.
#[derive(Debug, Default)]
pub(super) struct Repeats {
    kinds: HashMap<EventKind, Repeated>,
}

/// The facts that equal events have in common.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct EventKind {
    action: Action,
    subject: Option<String>,
    network: Option<Network>,
    reason: Option<String>,
}

#[derive(Debug, Default)]
struct Repeated {
    /// Events that were not recorded.
    count: u64,
    /// The last of them.
    last: Option<AuditEvent>,
}

impl Repeats {
    /// Returns the event if it is to be recorded now, as the first of its kind in this minute. Counts it if not.
    pub(super) fn add(&mut self, mut event: AuditEvent) -> Option<AuditEvent> {
        let mut kind = EventKind::of(&event);
        if self.kinds.len() >= MAX_KINDS && !self.kinds.contains_key(&kind) {
            (event.subject, event.address) = (None, None);
            kind = EventKind::of(&event);
        }
        match self.kinds.get_mut(&kind) {
            None => {
                self.kinds.insert(kind, Repeated::default());
                Some(event)
            }
            Some(repeated) => {
                repeated.count += 1;
                repeated.last = Some(event);
                None
            }
        }
    }

    /// The events that count the events of the last minute. A new minute begins.
    pub(super) fn next_minute(&mut self) -> Vec<AuditEvent> {
        let counted = mem::take(&mut self.kinds).into_values().filter_map(|Repeated { count, last }| {
            let mut event = last?;
            event.details.insert(COUNT.to_owned(), Value::from(count));
            Some(event)
        });
        counted.collect()
    }
}

impl EventKind {
    fn of(event: &AuditEvent) -> Self {
        Self {
            action: event.action,
            subject: event.subject.clone(),
            network: event.address.map(Network::of),
            reason: event.details.get(REASON).and_then(Value::as_str).map(str::to_owned),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use serde_json::{Map, json};

    use super::*;

    fn refused(number: u32, reason: &str) -> AuditEvent {
        AuditEvent {
            actor: "service".into(),
            address: Some(IpAddr::from(number.to_be_bytes())),
            action: Action::LoginRefused,
            subject: Some("demo".into()),
            details: Map::from_iter([(REASON.to_owned(), json!(reason))]),
        }
    }

    #[test]
    fn the_first_event_is_recorded_and_the_others_are_counted() {
        let mut repeats = Repeats::default();
        assert_eq!(repeats.add(refused(1, "locked")), Some(refused(1, "locked")));
        assert_eq!(repeats.add(refused(1, "busy")), Some(refused(1, "busy")));
        for _ in 0..1000 {
            assert_eq!(repeats.add(refused(1, "locked")), None);
        }
        let [counted] = &repeats.next_minute()[..] else { panic!("one row") };
        assert_eq!(
            (counted.address, &counted.details),
            (refused(1, "").address, json!({"reason": "locked", "count": 1000}).as_object().unwrap())
        );
        assert_eq!(repeats.next_minute(), []);
        assert_eq!(repeats.add(refused(1, "locked")), Some(refused(1, "locked")), "in the next minute");
    }

    #[test]
    fn a_flood_from_many_addresses_has_a_bounded_number_of_rows() {
        let mut repeats = Repeats::default();
        let recorded: Vec<_> = (0..100_000).filter_map(|number| repeats.add(refused(number, "locked"))).collect();
        assert_eq!(recorded.len(), MAX_KINDS + 1);
        let counted = repeats.next_minute();
        assert_eq!(counted.len(), 1);
        assert_eq!((&counted[0].subject, counted[0].address), (&None, None));
        assert_eq!(counted[0].details["count"], 100_000 - MAX_KINDS - 1);
    }
}
