//! Other pages of a request: with another page size, or from another place on. A connection is named by its path in the response. `None` is
//! returned where the request does not say that itself, such as inside a fragment.

use serde_json::Value;

use crate::correction::pages::set_size;
use crate::correction::tokens::QueryText;
use crate::correction::values::with_argument;
use crate::query::Request;

/// The number of rows that are read: of totals how many they add up, of others their page size.
const SIZES: &[&str] = &["rows", "first", "last"];

/// The argument for the number of rows of a field, and the number.
pub fn size(request: &Request, path: &[&str]) -> Option<(&'static str, u64)> {
    let text = QueryText::new(request.query.as_str());
    let field = text.field_at_path(path)?;
    let (argument, (name, end)) =
        SIZES.iter().find_map(|argument| Some((*argument, text.argument(field, argument)?)))?;
    let size = match text.get(name + 2) {
        "$" => request.variables.get(text.get(end))?.as_u64()?,
        number => number.parse().ok()?,
    };
    Some((argument, size))
}

/// The request with another number of rows of a field, which is given in `argument` if the field has none so far.
pub fn with_size(request: &Request, path: &[&str], argument: &str, size: u64) -> Option<Request> {
    let text = QueryText::new(request.query.as_str());
    let field = text.field_at_path(path)?;
    let mut smaller = request.clone();
    if text.argument(field, argument).is_none() {
        smaller.query = with_argument(&text, field, &format!("{argument}: {size}"));
    } else if let Some(query) = set_size(&mut smaller, &text, field, &[argument], size) {
        smaller.query = query;
    }
    Some(smaller)
}

/// The request for the page beyond a cursor: after it if the page has a `first`, before it if it has a `last`.
pub fn beyond(request: &Request, path: &[&str], cursor: &str) -> Option<Request> {
    let text = QueryText::new(request.query.as_str());
    let field = text.field_at_path(path)?;
    let argument = if is_backward(&text, field) { "before" } else { "after" };
    let mut next = request.clone();
    next.query = match text.argument(field, argument) {
        Some((name, end)) if text.get(name + 2) == "$" => {
            next.variables.insert(text.get(end).to_owned(), cursor.into());
            return Some(next);
        }
        Some((name, end)) => text.replaced(name + 2, end, &Value::from(cursor).to_string()),
        None => with_argument(&text, field, &format!("{argument}: {}", Value::from(cursor))),
    };
    Some(next)
}

/// Whether a connection is paged backward.
pub fn is_last(request: &Request, path: &[&str]) -> bool {
    let text = QueryText::new(request.query.as_str());
    text.field_at_path(path).is_some_and(|field| is_backward(&text, field))
}

fn is_backward(text: &QueryText, field: usize) -> bool {
    text.argument(field, "first").is_none() && text.argument(field, "last").is_some()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn request(query: &str) -> Request {
        let Value::Object(variables) = json!({ "n": 7, "c": null }) else { return Request::default() };
        Request { query: query.to_owned(), variables, operation_name: None }
    }

    #[test]
    fn the_page_size_is_in_the_text_or_in_a_variable() {
        let literal = request("{ a { b(first: 50) { c } } }");
        assert_eq!(size(&literal, &["a", "b"]), Some(("first", 50)));
        assert_eq!(with_size(&literal, &["a", "b"], "first", 3).unwrap().query, "{ a { b(first: 3) { c } } }");
        let variable = request("query($n: Int) { b(last: $n) { c } }");
        assert_eq!(size(&variable, &["b"]), Some(("last", 7)));
        let smaller = with_size(&variable, &["b"], "last", 3).unwrap();
        assert_eq!((&smaller.query, &smaller.variables["n"]), (&variable.query, &json!(3)));
        assert_eq!((size(&literal, &["a"]), with_size(&literal, &["x"], "first", 3)), (None, None));
    }

    #[test]
    fn totals_have_the_rows_that_they_add_up() {
        let totals = request("{ t(first: 5, rows: 400) { c } }");
        assert_eq!(size(&totals, &["t"]), Some(("rows", 400)));
        assert_eq!(with_size(&totals, &["t"], "rows", 90).unwrap().query, "{ t(first: 5, rows: 90) { c } }");
        let without = with_size(&request("{ t { c } }"), &["t"], "rows", 90).unwrap();
        assert_eq!(without.query, "{ t(rows: 90) { c } }");
    }

    #[test]
    fn a_page_goes_on_beyond_a_cursor_in_its_own_direction() {
        let next = |query: &str| beyond(&request(query), &["b"], "x\"").unwrap();
        assert_eq!(next("{ b(first: 1) { c } }").query, "{ b(after: \"x\\\"\", first: 1) { c } }");
        assert_eq!(next("{ b(first: 1, after: \"w\") { c } }").query, "{ b(first: 1, after: \"x\\\"\") { c } }");
        assert_eq!(next("{ b(last: 1) { c } }").query, "{ b(before: \"x\\\"\", last: 1) { c } }");
        let with_variable = next("query($c: String) { b(first: 1, after: $c) { c } }");
        assert_eq!(with_variable.variables["c"], "x\"");
        assert!(is_last(&request("{ b(last: 1) { c } }"), &["b"]) && !is_last(&request("{ b { c } }"), &["b"]));
        assert_eq!(beyond(&request("{ ...F } fragment F on Q { b(first: 1) { c } }"), &["b"], "x"), None);
    }
}
