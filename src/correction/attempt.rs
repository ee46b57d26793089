//! Corrections one after the other, since one may show another error.

use serde_json::Value;

use crate::correction::changes::{TextDifference, changes, selects_nothing};
use crate::correction::corrected;
use crate::correction::unkept::{Unkept, unkept};
use crate::query::Request;

/// The most corrections that are made.
const MAX_ROUNDS: usize = 4;

/// A request that is corrected until it has no errors.
#[derive(Debug)]
pub struct CorrectionAttempt {
    before: Request,
    /// The parts that the request's own errors are about; later errors have other places.
    first: Option<Vec<Unkept>>,
    request: Request,
    left_out: Vec<Unkept>,
    /// Whether a closing bracket was removed that closed nothing.
    has_bracket_less: bool,
    rounds: usize,
}

impl CorrectionAttempt {
    /// Before the first correction.
    pub fn new(request: Request) -> Self {
        Self { before: request.clone(), first: None, request, left_out: Vec::new(), has_bracket_less: false, rounds: 0 }
    }

    /// The request after the corrections.
    pub fn request(&self) -> &Request {
        &self.request
    }

    /// Corrects the request by its errors. `false` if there is nothing else to try.
    pub fn correct(&mut self, errors: &[Value]) -> bool {
        // A field without its selection says that the opening bracket was missing there. The fields that follow belong into the selection.
        let lacks_selection = |error: &Value| !error["extensions"]["example"].is_null();
        if self.has_bracket_less && errors.iter().any(lacks_selection) {
            return false;
        }
        if self.first.is_none() {
            self.first = Some(unkept(&self.request, errors));
        }
        let next = corrected(&self.request, errors);
        let is_another = self.rounds < MAX_ROUNDS && next.request != self.request;
        if !is_another || selects_nothing(&next.request.query) {
            return false;
        }
        let brackets = |request: &Request, bracket: char| request.query.matches(bracket).count();
        let [opening, closing] = ['{', '}'].map(|one| brackets(&next.request, one).cmp(&brackets(&self.request, one)));
        self.has_bracket_less |= opening.is_eq() && closing.is_lt();
        self.rounds += 1;
        self.left_out.extend(next.left_out);
        self.request = next.request;
        true
    }

    /// The differences that the corrections made.
    pub fn changes(&self) -> Vec<TextDifference> {
        changes(&self.before, &self.request)
    }

    /// The parts without an equivalent: the fields that are left out, and the parts that the remaining errors are about.
    pub fn unkept(&self, errors: &[Value]) -> Vec<Unkept> {
        let left = unkept(&self.request, errors);
        let first = self.first.as_deref().unwrap_or_default();
        let mut parts: Vec<Unkept> = Vec::new();
        for part in self.left_out.iter().chain(&left) {
            let part = first.iter().find(|first| first.text == part.text).unwrap_or(part);
            if !parts.contains(part) {
                parts.push(part.clone());
            }
        }
        parts
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_bracket_that_is_missing_inside_is_not_taken_for_one_too_many_at_the_end() {
        let query =
            "{ party(partyId: 1) { roles edges { node { roleTypeId } } } orders(first: 1) { count } } }".to_owned();
        let end = query.len();
        let mut attempt = CorrectionAttempt::new(Request { query, ..Request::default() });
        let too_many = json!({
            "locations": [{ "line": 1, "column": end }],
            "extensions": { "code": "GRAPHQL_PARSE_FAILED", "found": "\"}\"", "expected": [] }
        });
        assert!(attempt.correct(&[too_many]));
        let no_selection = json!({
            "locations": [{ "line": 1, "column": 23 }],
            "extensions": { "code": "GRAPHQL_VALIDATION_FAILED", "field": "roles", "example": "{ count }" }
        });
        assert!(!attempt.correct(std::slice::from_ref(&no_selection)), "{}", attempt.request().query);
        // Without a bracket before, the selection is added.
        let query = "{ party(partyId: 1) { roles } }".to_owned();
        assert!(CorrectionAttempt::new(Request { query, ..Request::default() }).correct(&[no_selection]));
    }
}
