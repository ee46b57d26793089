//! Other pages of a request: with another page size, or from another place on. A connection is named by its path in the response. `None` is
//! returned where the request does not say that itself, such as inside a fragment.

use serde_json::Value;

use crate::correction::pages::set_size;
use crate::correction::tokens::Text;
use crate::correction::values::with_argument;
use crate::query::Request;

/// The page size of a connection.
pub fn page_size(request: &Request, path: &[&str]) -> Option<u64> {
    let text = Text::new(request.query.as_str());
    let field = text.field_at_path(path)?;
    let (name, end) = text.argument(field, "first").or_else(|| text.argument(field, "last"))?;
    match text.get(name + 2) {
        "$" => request.variables.get(text.get(end))?.as_u64(),
        number => number.parse().ok(),
    }
}

/// The request with another page size.
pub fn with_page_size(request: &Request, path: &[&str], size: u64) -> Option<Request> {
    page_size(request, path)?;
    let text = Text::new(request.query.as_str());
    let mut smaller = request.clone();
    if let Some(query) = set_size(&mut smaller, &text, text.field_at_path(path)?, size) {
        smaller.query = query;
    }
    Some(smaller)
}

/// The request for the page beyond a cursor: after it if the page has a `first`, before it if it has a `last`.
pub fn beyond(request: &Request, path: &[&str], cursor: &str) -> Option<Request> {
    let text = Text::new(request.query.as_str());
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
    let text = Text::new(request.query.as_str());
    text.field_at_path(path).is_some_and(|field| is_backward(&text, field))
}

fn is_backward(text: &Text, field: usize) -> bool {
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
        assert_eq!(page_size(&literal, &["a", "b"]), Some(50));
        assert_eq!(with_page_size(&literal, &["a", "b"], 3).unwrap().query, "{ a { b(first: 3) { c } } }");
        let variable = request("query($n: Int) { b(last: $n) { c } }");
        assert_eq!(page_size(&variable, &["b"]), Some(7));
        let smaller = with_page_size(&variable, &["b"], 3).unwrap();
        assert_eq!((&smaller.query, &smaller.variables["n"]), (&variable.query, &json!(3)));
        assert_eq!((page_size(&literal, &["a"]), with_page_size(&literal, &["x"], 3)), (None, None));
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
