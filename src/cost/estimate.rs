//! The depth and estimated price of an operation, and the actual price over the rows that came back.

use std::sync::Arc;

use crate::cost::operation_cost::OperationCost;
use crate::cost::price::Cost;
use crate::query::bind::selection::BoundOperation;
use crate::query::bind::step_values::StepValues;

/// Depth and price of an operation.
///
/// The estimate counts the rows that the page sizes allow, the actual cost the rows that came back. So the actual cost is
/// never above the estimate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Estimate {
    cost: Cost,
    of: Arc<OperationCost>,
    sizes: Vec<u64>,
}

impl Estimate {
    /// The price with these numbers of rows, by step: page sizes, 1 of a lookup, of totals how many are summed up.
    pub(crate) fn new(of: Arc<OperationCost>, sizes: impl Iterator<Item = u32>) -> Self {
        let sizes: Vec<_> = sizes.map(u64::from).collect();
        let cost = of.price(&sizes, &mut Vec::new());
        Self { cost, of, sizes }
    }

    /// The estimated cost, which is checked against the limits and debited.
    pub fn cost(&self) -> Cost {
        self.cost
    }

    /// The actual cost, from the number of rows of each step that came back.
    pub fn actual(&self, rows: &[u64]) -> Cost {
        self.of.actual(rows)
    }

    /// The numbers of rows that it counts, by step.
    pub(crate) fn sizes(&self) -> &[u64] {
        &self.sizes
    }

    /// The cost of the operation, without these numbers.
    pub(crate) fn operation_cost(&self) -> &Arc<OperationCost> {
        &self.of
    }

    /// The deepest level of object nesting; 0 if there are no objects.
    pub fn depth(&self) -> u32 {
        self.of.depth
    }
}

/// Estimates the price of an operation with these values.
pub fn estimate(operation: &BoundOperation<'_>, values: &[StepValues]) -> Estimate {
    Estimate::new(Arc::new(OperationCost::of(operation)), values.iter().map(StepValues::rows))
}

#[cfg(test)]
mod tests {
    use crate::catalog::Catalog;
    use crate::compile::explanation::explain;
    use crate::limits::Limits;
    use crate::query::Request;

    fn estimate(query: &str) -> super::Estimate {
        let request = Request { query: query.to_owned(), ..Request::default() };
        explain(&Catalog::built_in().unwrap(), &request, &Limits::default()).unwrap().estimate
    }

    #[test]
    fn each_element_has_its_price() {
        for (query, cost) in [
            ("{ __typename }", 0),
            (r#"{ order(orderId: "A") { __typename } }"#, 1),
            (r#"{ order(orderId: "A") { orderId } }"#, 2),
            (r#"{ order(orderId: "A") { orderItemCount } }"#, 6),
            (r#"{ order(orderId: "A") { billToCustomer { firstName lastName } } }"#, 4),
            ("{ orders(first: 10) { pageInfo { hasNextPage endCursor } } }", 10),
            ("{ orders(first: 10) { edges { cursor node { orderId } } } }", 20),
            (r#"{ orders(first: 10, query: "orderId:A") { edges { cursor } } }"#, 10),
            (r#"{ orders(first: 10, query: "statusId:A") { edges { cursor } } }"#, 60),
            (
                r#"{ orders(first: 10, query: "statusId:A statusId:B orderDate:>2026-01-01") { edges { cursor } } }"#,
                160,
            ),
            ("{ a: orders(first: 1) { edges { cursor } } b: orders(last: 2) { edges { cursor } } }", 3),
            ("{ orders(first: 3) { edges { node { orderItems(last: 4) { edges { node { quantity } } } } } } }", 27),
        ] {
            assert_eq!(estimate(query).cost(), cost, "{query}");
        }
    }

    #[test]
    fn the_actual_cost_counts_the_rows_that_came() {
        let query = r#"{ orders(first: 3, query: "statusId:A") { edges { node { orderId billToCustomer { firstName }
            orderItems(last: 4) { edges { node { quantity } } } } } } }"#;
        let estimate = estimate(query);
        assert_eq!(estimate.cost(), 50 + 3 * (1 + 1 + 2 + 4 * 2));
        assert_eq!(estimate.actual(&[3, 12]), estimate.cost());
        assert_eq!(estimate.actual(&[0, 0]), 50);
        assert_eq!(estimate.actual(&[2, 3]), 50 + 2 * 4 + 3 * 2);
        assert_eq!(estimate.actual(&[u64::MAX, u64::MAX]), u64::MAX);
    }

    #[test]
    fn counts_objects_and_connections_and_nothing_else() {
        for (query, depth) in [
            ("{ __typename }", 0),
            ("{ orders(first: 1) { pageInfo { hasNextPage } } }", 1),
            ("{ orders(first: 1) { edges { node { orderId orderItemCount } } } }", 1),
            (
                "{ ... { orders(first: 1) { edges { ... on OrderEdge { node { ...F } } } } } } fragment F on Order { orderId }",
                1,
            ),
            ("{ orders(first: 1) { edges { node { billToCustomer { firstName } } } } }", 2),
            (
                "{ orders(first: 1) { edges { node { orderItems(first: 1) { edges { node { product { productId } } } } } } } }",
                3,
            ),
            (
                r#"{ product(productId: "A") { productId } orders(first: 1) { edges { node { productStore { storeName } } } } }"#,
                2,
            ),
        ] {
            assert_eq!(estimate(query).depth(), depth, "{query}");
        }
    }
}
