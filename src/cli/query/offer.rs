//! The offer of a corrected query in place of a query with errors.

use serde_json::Value;

use crate::cli::outcome::Outcome;
use crate::cli::query::response::Ordered;
use crate::correction::attempt::CorrectionAttempt;
use crate::query::Request;

/// The corrected request, if there is one that is accepted, and in one line what it changes. `price` gets the response to a request that is
/// not run.
pub(super) fn offer(
    request: &Request,
    response: &Ordered,
    mut price: impl FnMut(&Request) -> Outcome<Ordered>,
) -> Outcome<Option<(Request, String)>> {
    let mut attempt = CorrectionAttempt::new(request.clone());
    let mut errors = errors(response);
    while !errors.is_empty() && attempt.correct(&errors) {
        errors = self::errors(&price(attempt.request())?);
        if errors.is_empty() {
            let changes: Vec<_> = attempt.changes().iter().map(ToString::to_string).collect();
            return Ok(Some((attempt.request().clone(), changes.join("; "))));
        }
    }
    Ok(None)
}

fn errors(response: &Ordered) -> Vec<Value> {
    match response.get("errors").map(Ordered::to_value) {
        Some(Value::Array(errors)) => errors,
        _ => Vec::new(),
    }
}
