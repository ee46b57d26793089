//! A fragment does not spread itself, not through others either. (Section 5.5.2.2, Fragment Spreads Must Not Form Cycles)
//!
//! The search keeps its own stack: a chain of fragments can be thousands long.

use crate::query::validate::document_index::{DefinitionKind, DocumentIndex};
use crate::query::validate::violation::{Findings, Truncated, Violation};

/// The most fragments of a cycle that are named.
const MOST_NAMED: usize = 10;

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    New,
    /// On the way from where the search began, at that place.
    OnTheWay(usize),
    Done,
}

pub(super) fn check(survey: &DocumentIndex<'_, '_>, findings: &mut Findings) {
    let mut states = vec![State::New; survey.definitions.len()];
    for (start, definition) in survey.definitions.iter().enumerate() {
        if states[start] != State::New || !matches!(definition.kind, DefinitionKind::Fragment(_)) {
            continue;
        }
        // Fragments on the way, each with the spreads that are still to be followed.
        let mut way = vec![(start, definition.spreads.clone())];
        states[start] = State::OnTheWay(0);
        while let Some((at, spreads)) = way.last_mut() {
            let Some(spread) = spreads.next().map(|place| &survey.spreads[place]) else {
                states[*at] = State::Done;
                way.pop();
                continue;
            };
            let Some(target) = spread.target else { continue };
            match states[target] {
                State::Done => {}
                State::New => {
                    states[target] = State::OnTheWay(way.len());
                    way.push((target, survey.definitions[target].spreads.clone()));
                }
                State::OnTheWay(from) => {
                    let through = way[from + 1..].iter().take(MOST_NAMED);
                    let name = |at: &usize| survey.definitions[*at].name.map(Truncated::from);
                    let through = through.filter_map(|(at, _)| name(at)).collect();
                    let violation = Violation::FragmentCycle { fragment: spread.name.into(), through };
                    findings.add(&violation, [spread.location]);
                }
            }
        }
    }
}
