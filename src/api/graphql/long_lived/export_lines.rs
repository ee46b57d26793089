//! The lines of an export beside its nodes.
//!
//! These lines are objects with one key that begins with `@`, which no key of a response can:
//! `@errors` reports nodes with fields that could not be written, `@search` nodes with lists that ended early, `@resume` has a cursor
//! from which another export can go on, and `@end` is the last line of every export that was not cut off.

use serde::Serialize;

use crate::api::error_response;
use crate::api::errors::api_error::ApiError;
use crate::api::extensions::cost_extension::SearchExtension;
use crate::api::graphql::response::response_envelope;
use crate::execute::field_error::{FieldError, PathPart};
use crate::execute::partial_results::ShortSearch;

/// The segments of a field's path before the node's: the root, `edges`, the index of the edge, `node`.
const NODE_DEPTH: usize = 4;

/// Appends the line of a page's field errors, if it has some. `before` is the number of lines before the page's first node.
pub(crate) fn write_errors(errors: &[FieldError], before: u64, out: &mut Vec<u8>) {
    #[derive(Serialize)]
    struct Errors {
        #[serde(rename = "@errors")]
        errors: Vec<Error>,
    }
    #[derive(Serialize)]
    struct Error {
        /// The number of the node, from 1.
        node: u64,
        #[serde(flatten)]
        entry: serde_json::Value,
    }
    if errors.is_empty() {
        return;
    }
    let entry = |error: &FieldError| {
        let index = error.path.iter().find_map(|part| match part {
            PathPart::Index(index) => Some(*index as u64),
            PathPart::Key(_) => None,
        });
        let path = error.path.get(NODE_DEPTH..).unwrap_or_default().to_vec();
        let entry = response_envelope::error(&FieldError { cause: error.cause.clone(), path });
        Error { node: before + index.unwrap_or(0) + 1, entry }
    };
    write(&Errors { errors: errors.iter().map(entry).collect() }, out);
}

/// Appends the line of the lists below a page's nodes that ended early, if there are some. Each has the index of its node on the page;
/// `before` is the number of lines before the page's first node. Returns how many nodes have such lists.
pub(crate) fn write_short_lists<'a>(
    lists: impl Iterator<Item = (usize, ShortSearch<'a>)>,
    before: u64,
    out: &mut Vec<u8>,
) -> u64 {
    #[derive(Serialize)]
    struct Line<'a> {
        #[serde(rename = "@search")]
        lists: Vec<List<'a>>,
    }
    #[derive(Serialize)]
    struct List<'a> {
        /// The number of the node, from 1.
        node: u64,
        #[serde(flatten)]
        search: SearchExtension<'a>,
    }
    let list = |(index, search): (usize, ShortSearch<'a>)| {
        let mut search = SearchExtension::from(search);
        // The key of the collection of the root is in no line.
        search.path.remove(0);
        List { node: before + index as u64 + 1, search }
    };
    let lists: Vec<_> = lists.map(list).collect();
    if lists.is_empty() {
        return 0;
    }
    let nodes = lists.chunk_by(|list, next| list.node == next.node).count() as u64;
    write(&Line { lists }, out);
    nodes
}

/// Appends a line from which another export can go on.
pub(crate) fn write_resume(cursor: &str, nodes: u64, out: &mut Vec<u8>) {
    #[derive(Serialize)]
    struct Resume<'a> {
        cursor: &'a str,
        nodes: u64,
    }
    #[derive(Serialize)]
    struct Line<'a> {
        #[serde(rename = "@resume")]
        resume: Resume<'a>,
    }
    write(&Line { resume: Resume { cursor, nodes } }, out);
}

/// The end of an export.
pub(crate) struct End<'a> {
    /// The number of its nodes.
    pub nodes: u64,
    /// How many of them have lists that ended early.
    pub(crate) short_nodes: u64,
    /// Credits that were debited.
    pub cost: u64,
    /// The values that limited the nodes to a part, if there are some.
    pub scope: Option<&'a serde_json::Value>,
    /// The rest of the collection was not exported: where the rest begins, and why.
    pub rest: Option<Rest<'a>>,
}

/// Why an export ends before the collection does.
pub(crate) struct Rest<'a> {
    /// The cursor from which another export can go on; `None` for the beginning.
    pub cursor: Option<&'a str>,
    /// The error; `None` if the export's time was over.
    pub error: Option<&'a ApiError>,
}

/// Appends the last line.
pub(crate) fn write_end(end: &End<'_>, out: &mut Vec<u8>) {
    #[derive(Serialize)]
    struct Line<'a, E: Serialize> {
        #[serde(rename = "@end")]
        end: Fields<'a, E>,
    }
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Fields<'a, E: Serialize> {
        complete: bool,
        nodes: u64,
        #[serde(skip_serializing_if = "is_zero")]
        short_nodes: u64,
        requested_query_cost: u64,
        #[serde(skip_serializing_if = "Option::is_none")]
        scope: Option<&'a serde_json::Value>,
        #[serde(skip_serializing_if = "Option::is_none")]
        cursor: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        errors: Option<E>,
    }
    let rest = end.rest.as_ref();
    let fields = Fields {
        complete: rest.is_none(),
        nodes: end.nodes,
        short_nodes: end.short_nodes,
        requested_query_cost: end.cost,
        scope: end.scope,
        cursor: rest.and_then(|rest| rest.cursor),
        errors: rest.and_then(|rest| rest.error).map(error_response::entries),
    };
    write(&Line { end: fields }, out);
}

// The signature is serde's.
#[expect(clippy::trivially_copy_pass_by_ref)]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

fn write(line: &impl Serialize, out: &mut Vec<u8>) {
    // Writing to memory cannot fail, and the keys are strings.
    let _ = serde_json::to_writer(&mut *out, line);
    out.push(b'\n');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::code::ErrorCode;
    use crate::execute::field_error::Cause;

    fn text(write: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        write(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn all_other_lines_have_one_key_that_no_node_can_have() {
        let path = [
            PathPart::Key("root".into()),
            PathPart::Key("edges".into()),
            PathPart::Index(4),
            PathPart::Key("node".into()),
            PathPart::Key("grandTotal".into()),
        ];
        let errors = [FieldError { cause: Cause::Missing, path: path.into() }];
        let line = text(|out| write_errors(&errors, 100, out));
        assert!(
            line.starts_with("{\"@errors\":[{\"node\":105,") && line.contains("\"path\":[\"grandTotal\"]"),
            "{line}"
        );
        assert_eq!(text(|out| write_errors(&[], 100, out)), "");
        assert_eq!(text(|out| write_resume("x", 7, out)), "{\"@resume\":{\"cursor\":\"x\",\"nodes\":7}}\n");
        let search = ShortSearch {
            key: "parties.orders",
            rows_examined: 750,
            is_page_cut: true,
            has_next_page: true,
            has_previous_page: false,
        };
        let lists = [(0, search), (0, ShortSearch { key: "parties.orders.shipments", ..search }), (4, search)];
        let mut out = Vec::new();
        assert_eq!(write_short_lists(lists.into_iter(), 100, &mut out), 2);
        let entry = |node: u64, path: &str| {
            format!("{{\"node\":{node},\"path\":[{path}],\"rowsExamined\":750,\"inexact\":[\"hasNextPage\"]}}")
        };
        let entries =
            [entry(101, "\"orders\""), entry(101, "\"orders\",\"shipments\""), entry(105, "\"orders\"")].join(",");
        assert_eq!(String::from_utf8(out).unwrap(), format!("{{\"@search\":[{entries}]}}\n"));
        assert_eq!(write_short_lists(std::iter::empty(), 100, &mut Vec::new()), 0);
        let end = End { nodes: 7, short_nodes: 0, cost: 14, scope: None, rest: None };
        let complete = "{\"@end\":{\"complete\":true,\"nodes\":7,\"requestedQueryCost\":14}}\n";
        assert_eq!(text(|out| write_end(&end, out)), complete);
        let short = "{\"@end\":{\"complete\":true,\"nodes\":7,\"shortNodes\":2,\"requestedQueryCost\":14}}\n";
        assert_eq!(text(|out| write_end(&End { short_nodes: 2, ..end }, out)), short);
        let end = End { nodes: 7, short_nodes: 0, cost: 14, scope: None, rest: None };
        let error = ApiError::new(ErrorCode::Throttled, &"wait");
        let end = End { rest: Some(Rest { cursor: Some("x"), error: Some(&error) }), ..end };
        assert_eq!(
            text(|out| write_end(&end, out)),
            "{\"@end\":{\"complete\":false,\"nodes\":7,\"requestedQueryCost\":14,\"cursor\":\"x\",\"errors\":[{\"message\":\
             \"wait\",\"extensions\":{\"code\":\"THROTTLED\"}}]}}\n"
        );
    }
}
