//! Fragments do not spread themselves, directly or through others.
//!
//! GraphQL specification, section 5.5.2.2 (Fragment Spreads Must Not Form Cycles).
//!
//! The depth-first search has a stack of its own, because a chain of fragments can be thousands long.

use crate::query::validate::document_index::{DefinitionKind, DocumentIndex};
use crate::query::validate::violation::{Truncated, Violation};
use crate::query::validate::violations::Violations;

/// The most fragments of a cycle that an error names.
const MAX_NAMED: usize = 10;

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Unvisited,
    /// On the stack, at that index.
    Active(usize),
    Done,
}

pub(super) fn check(index: &DocumentIndex<'_, '_>, violations: &mut Violations) {
    let mut states = vec![State::Unvisited; index.definitions.len()];
    for (start, definition) in index.definitions.iter().enumerate() {
        if states[start] != State::Unvisited || !matches!(definition.kind, DefinitionKind::Fragment(_)) {
            continue;
        }
        // The fragments from `start` to the current one, each with the spreads that remain to be followed.
        let mut stack = vec![(start, definition.fragment_spreads.clone())];
        states[start] = State::Active(0);
        while let Some((current, spreads)) = stack.last_mut() {
            let Some(spread) = spreads.next().map(|number| &index.fragment_spreads[number]) else {
                states[*current] = State::Done;
                stack.pop();
                continue;
            };
            let Some(target) = spread.target else { continue };
            match states[target] {
                State::Done => {}
                State::Unvisited => {
                    states[target] = State::Active(stack.len());
                    stack.push((target, index.definitions[target].fragment_spreads.clone()));
                }
                State::Active(depth) => {
                    let through = stack[depth + 1..].iter().take(MAX_NAMED);
                    let name = |definition: &usize| index.definitions[*definition].name.map(Truncated::from);
                    let through = through.filter_map(|(definition, _)| name(definition)).collect();
                    let violation = Violation::FragmentCycle { fragment: spread.name.into(), through };
                    violations.add(&violation, [spread.location]);
                }
            }
        }
    }
}
