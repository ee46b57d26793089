//! Corrections one after the other, since one may show another error.

use serde_json::Value;

use crate::correction::changes::{Change, changes, selects_nothing};
use crate::correction::corrected;
use crate::correction::unkept::{Unkept, unkept};
use crate::query::Request;

/// As many corrections are made.
const MAX_ROUNDS: usize = 4;

/// A request that is corrected until it has no errors.
#[derive(Debug)]
pub struct Attempt {
    before: Request,
    /// What the request's own errors are about; later ones have other places.
    first: Option<Vec<Unkept>>,
    request: Request,
    left_out: Vec<Unkept>,
    rounds: usize,
}

impl Attempt {
    /// Before the first correction.
    pub fn new(request: Request) -> Self {
        Self { before: request.clone(), first: None, request, left_out: Vec::new(), rounds: 0 }
    }

    /// The request after the corrections.
    pub fn request(&self) -> &Request {
        &self.request
    }

    /// Corrects the request by its errors. `false` if there is nothing else to try.
    pub fn correct(&mut self, errors: &[Value]) -> bool {
        if self.first.is_none() {
            self.first = Some(unkept(&self.request, errors));
        }
        let next = corrected(&self.request, errors);
        let is_another = self.rounds < MAX_ROUNDS && next.request != self.request;
        if !is_another || selects_nothing(&next.request.query) {
            return false;
        }
        self.rounds += 1;
        self.left_out.extend(next.left_out);
        self.request = next.request;
        true
    }

    /// What the corrections changed.
    pub fn changes(&self) -> Vec<Change> {
        changes(&self.before, &self.request)
    }

    /// What has no equivalent: the fields that are left out, and what the errors are about that are left.
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
