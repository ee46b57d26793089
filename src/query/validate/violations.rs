//! The violations that the rules have found so far.

use crate::error::graphql_error::{GraphqlError, Location};
use crate::query::validate::violation::Violation;

/// How many violations are collected before they are sorted and cut. A malicious document can have millions.
const MAX_VIOLATIONS: usize = 200;

/// The violations found so far, in the order of the rules.
#[derive(Debug, Default)]
pub(super) struct Violations {
    errors: Vec<GraphqlError>,
}

impl Violations {
    /// Adds a violation with its locations, the most important first. Does nothing if the list is full.
    pub(super) fn add(&mut self, violation: &Violation, locations: impl IntoIterator<Item = Location>) {
        if !self.is_full() {
            self.errors.push(GraphqlError::new(violation, locations));
        }
    }

    /// Whether [`Violations::add`] does nothing any more, so that a rule can stop.
    pub(super) fn is_full(&self) -> bool {
        self.errors.len() >= MAX_VIOLATIONS
    }

    pub(super) fn len(&self) -> usize {
        self.errors.len()
    }

    pub(super) fn into_errors(self) -> Vec<GraphqlError> {
        self.errors
    }
}
