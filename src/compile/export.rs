//! Exports: one operation, compiled for one page after the other.

use std::sync::Arc;

use crate::catalog::Catalog;
use crate::compile::cached_operation::CachedOperation;
use crate::compile::compiled::Compiled;
use crate::compile::valid_operation::valid_operation;
use crate::error::code::ErrorCode;
use crate::error::diagnostic::Diagnostic;
use crate::error::graphql_error::{GraphqlError, GraphqlErrors};
use crate::plan::planner::output::Output;
use crate::query::bind::caller::Caller;
use crate::query::export::{ExportOperation, FirstCursor, export};
use crate::query::{Request, Variables};

/// The pages of the collection may be null.
#[derive(Debug, thiserror::Error)]
#[error(
    "no index has the rows in this order, so that too many rows with one value would end an export: give another `sortKey`"
)]
struct UnsortedExport;

impl Diagnostic for UnsortedExport {
    fn code(&self) -> ErrorCode {
        ErrorCode::BadUserInput
    }
}

/// A collection that is exported.
#[derive(Debug)]
pub struct Export {
    /// The operation of a page. All pages but the first have the same plan.
    operation: CachedOperation,
    /// The response key of the collection in the request.
    root: Arc<str>,
    first: FirstCursor,
    variables: Variables,
    reads_changes: bool,
}

impl Export {
    /// Parses and validates the text of a request. Fails if it does not select one collection.
    pub fn new(catalog: &Catalog, request: &Request) -> Result<Self, GraphqlErrors> {
        let operation = valid_operation(catalog, request)?;
        let root = operation.selections.first().map(|root| Arc::clone(&root.key)).unwrap_or_default();
        let ExportOperation { operation, first, reads_changes } = export(catalog, operation)?;
        let operation = CachedOperation::new(operation, 0);
        Ok(Self { operation, root, first, variables: request.variables.clone(), reads_changes })
    }

    /// Whether it is of a change feed, which never ends.
    pub fn reads_changes(&self) -> bool {
        self.reads_changes
    }

    /// The operation's name.
    pub fn operation_name(&self) -> Option<&str> {
        self.operation.operation.name.as_deref()
    }

    /// The page that follows a cursor, or the first one.
    pub fn page(&self, catalog: &Catalog, caller: Caller<'_>, after: Option<&str>) -> Result<Compiled, GraphqlErrors> {
        let variables = self.first.variables(&self.variables, after);
        let output = Output::Lines { root: &self.root };
        let compiled = self.operation.compile(catalog, &variables, caller, output, || {})?.compiled;
        let selections = &self.operation.operation.selections;
        match (selections.first(), compiled.plan.steps().first().and_then(|root| root.access_path.sort_limit())) {
            (Some(root), Some(_)) => Err(GraphqlErrors::one(GraphqlError::new(&UnsortedExport, [root.location]))),
            _ => Ok(compiled),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::limits::Limits;

    fn request(query: &str, variables: serde_json::Value) -> Request {
        Request { query: query.to_owned(), variables: serde_json::from_value(variables).unwrap(), ..Request::default() }
    }

    #[test]
    fn all_pages_but_the_first_share_a_plan_and_cost_what_the_query_costs() {
        let (catalog, limits) = (Catalog::built_in().unwrap(), Limits::default());
        let query = "query All($after: String, $q: String) { mine: orders(first: 10, after: $after, query: $q) {
            pageInfo { startCursor } e: edges { cursor n: node { orderId orderItems(first: 2) { edges { cursor } } } } } }";
        let request = request(query, json!({ "q": "statusId:ORDER_HELD" }));
        let export = Export::new(&catalog, &request).unwrap();
        let first = export.page(&catalog, (&limits).into(), None).unwrap();
        let plain = crate::compile::compile(&catalog, &request, &limits).unwrap();
        assert_eq!(first.estimate.cost(), plain.estimate.cost());
        assert_eq!(first.operation_name.as_deref(), Some("All"));
        let ops = format!("{:?}", first.plan.response_template().ops);
        assert!(ops.contains("PageEnd") && !ops.contains("StartCursor"), "{ops}");
        let error = export.page(&catalog, (&limits).into(), Some("no cursor")).unwrap_err();
        assert!(error.to_string().contains("after"), "{error}");
    }

    #[test]
    fn a_request_begins_after_its_own_cursor() {
        let catalog = Catalog::built_in().unwrap();
        for (query, variables) in [
            ("{ orders(first: 1, after: \"x\") { edges { node { orderId } } } }", json!({})),
            ("query($a: String) { orders(first: 1, after: $a) { edges { node { orderId } } } }", json!({ "a": "x" })),
            ("query($a: String = \"x\") { orders(first: 1, after: $a) { edges { node { orderId } } } }", json!({})),
        ] {
            let export = Export::new(&catalog, &request(query, variables)).unwrap();
            let error = export.page(&catalog, (&Limits::default()).into(), None).unwrap_err();
            assert!(error.to_string().contains("it is not a cursor"), "{query}: {error}");
        }
        let plain = "query($a: String) { orders(first: 1, after: $a) { edges { node { orderId } } } }";
        for variables in [json!({}), json!({ "a": null }), json!({ "@after": "x" })] {
            let export = Export::new(&catalog, &request(plain, variables)).unwrap();
            assert!(export.page(&catalog, (&Limits::default()).into(), None).is_ok());
        }
        let export = Export::new(&catalog, &request(plain, json!({ "a": 7 }))).unwrap();
        assert!(export.page(&catalog, (&Limits::default()).into(), None).unwrap_err().to_string().contains("$a"));
    }

    #[test]
    fn only_the_nodes_of_one_collection_can_be_exported() {
        let catalog = Catalog::built_in().unwrap();
        for query in [
            "{ __typename }",
            "{ order(orderId: 1) { orderId } }",
            "{ orders(first: 1) { edges { node { orderId } } } __typename }",
            "{ orders(last: 1) { edges { node { orderId } } } }",
            "{ orders(first: 1) { edges { cursor } } }",
            "{ orders(first: 1) { pageInfo { hasNextPage } } }",
            "{ orders(first: 1) { a: edges { node { orderId } } b: edges { node { orderId } } } }",
            "{ orders(first: 1) { edges { a: node { orderId } b: node { orderId } } } }",
            "query($x: Boolean!) { orders(first: 1) @include(if: $x) { edges { node { orderId } } } }",
            "query($x: Boolean!) { orders(first: 1) { edges @skip(if: $x) { node { orderId } } } }",
            "query($x: Boolean!) { orders(first: 1) { edges { node @skip(if: $x) { orderId } } } }",
        ] {
            let error = Export::new(&catalog, &request(query, json!({ "x": true }))).unwrap_err();
            assert!(error.to_string().contains("an export takes a query for one collection"), "{query}: {error}");
        }
    }
}
