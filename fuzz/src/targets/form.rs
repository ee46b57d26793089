//! `form`: the first line is a content type; the rest is the body of an order update.
//!
//! - Parameters are text, within the limits.
//! - The canonical text of a request, read as a form, has the same set of parameters, each once and in their order; it changes the same, and is
//!   its own canonical text.
//! - What is no request has errors, each once.
//! - Memory grows with the body's length at most.

use std::collections::BTreeSet;

use orderql::fuzzing::form::parse;

use crate::support::allocation::{Allowance, within};

const URLENCODED: &str = "application/x-www-form-urlencoded";
const ALLOWANCE: Allowance = Allowance { per_byte: 2000, constant: 200_000 };

/// Runs the target.
pub fn run(data: &[u8]) {
    let end = data.iter().position(|byte| *byte == b'\n').unwrap_or(data.len());
    let (first, body) = (&data[..end], data.get(end + 1..).unwrap_or_default());
    let Ok(content_type) = str::from_utf8(first) else { return };
    let form = match within(ALLOWANCE, data.len(), || parse(content_type, body)) {
        Ok(form) => form,
        Err(message) => return assert!(!message.is_empty()),
    };
    let parameters = form.parameters();
    assert!(parameters.iter().all(|(name, value)| !name.contains('\0') && !value.contains('\0')));

    // The same parameters in the other encoding.
    let written = form_urlencoded::Serializer::new(String::new()).extend_pairs(&parameters).finish();
    let again = parse(URLENCODED, written.as_bytes()).expect("the parameters of a form are a form");
    assert_eq!(again.parameters(), parameters);

    match within(ALLOWANCE, data.len(), || form.request()) {
        Ok(request) => {
            assert_eq!(again.request().as_ref(), Ok(&request));
            let canonical = parse(URLENCODED, request.canonical().as_bytes()).expect("a canonical text is a form");
            let set: BTreeSet<_> = parameters.into_iter().collect();
            assert!(canonical.parameters().into_iter().eq(set));
            let same = canonical.request().expect("the canonical text of a request is one");
            assert!(same.changes_as(&request), "{same:?} in place of {request:?}");
            assert!(request.rows().0 > 0, "a request without boxes");
        }
        Err(errors) => {
            assert!(!errors.is_empty());
            for (index, error) in errors.iter().enumerate() {
                assert!(!errors[..index].contains(error), "twice: {error}");
            }
            assert_eq!(again.request(), Err(errors));
        }
    }
}
