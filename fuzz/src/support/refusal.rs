//! What every list of GraphQL errors fulfils.

use orderql::error::graphql_error::{GraphqlErrors, Location, MAX_ERRORS};

/// Checks the errors of a document: at least one, within the cap, each once, in document order, at places that the text has,
/// and JSON when they are serialized.
pub fn check(errors: &GraphqlErrors, text: &str) {
    let list: Vec<_> = errors.iter().collect();
    assert!((1..=MAX_ERRORS).contains(&list.len()), "{} errors", list.len());
    for (index, error) in list.iter().enumerate() {
        assert!(!list[..index].contains(error), "twice: {error:?}");
        assert!(!error.message.is_empty());
        error.locations.iter().for_each(|location| check_location(*location, text));
    }
    let in_order = list.is_sorted_by_key(|error| error.locations.first());
    assert!(in_order, "not in document order: {errors}");
    let json = serde_json::to_string(errors).expect("errors are JSON");
    serde_json::from_str::<serde_json::Value>(&json).expect("errors are JSON");
}

fn check_location(location: Location, text: &str) {
    let text = text.replace("\r\n", "\n");
    let line = text.split(['\n', '\r']).nth(usize::try_from(location.line).unwrap() - 1);
    let Some(line) = line else { panic!("there is no line {}", location.line) };
    let columns = line.chars().count() + 1;
    assert!(
        (1..=columns).contains(&usize::try_from(location.column).unwrap()),
        "line {} has no column {}",
        location.line,
        location.column
    );
}
