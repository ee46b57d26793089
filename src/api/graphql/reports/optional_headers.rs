//! The headers that change how a query is executed and reported. Few requests have one, and each look-up hashes a long name, so
//! that a request's headers are rather looked at once.

use hyper::HeaderMap;
use hyper::header::HeaderName;

use crate::api::graphql::reports::cost_report::{COST, INCLUDE_FIELDS, INCLUDE_PLAN};
use crate::api::prefer::PREFER;
use crate::api::read_position::AFTER;

static OPTIONAL: [HeaderName; 5] = [COST, INCLUDE_FIELDS, INCLUDE_PLAN, PREFER, AFTER];

/// The request's headers if one of these is among them, and none otherwise: looking them up in an empty map costs nothing.
pub(crate) fn of(headers: &HeaderMap) -> HeaderMap {
    if headers.keys().any(|name| OPTIONAL.contains(name)) { headers.clone() } else { HeaderMap::new() }
}

#[cfg(test)]
mod tests {
    use hyper::header;

    use super::*;

    #[test]
    fn headers_are_looked_up_only_where_one_is_there() {
        let usual = HeaderMap::from_iter([(header::ACCEPT, "*/*".parse().unwrap())]);
        assert!(of(&usual).is_empty());
        for name in &OPTIONAL {
            let mut headers = usual.clone();
            headers.insert(name, "wait=1".parse().unwrap());
            assert_eq!(of(&headers), headers, "{name}");
        }
    }
}
