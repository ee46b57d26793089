//! The price of a bound operation, and the weight of each step's rows in it.

use std::sync::Arc;

use crate::cost::formula::Formula;
use crate::cost::{AGGREGATE, Cost, OBJECT, SCALAR, UNINDEXED_TERM};
use crate::query::bind::resolve::StepArguments;
use crate::query::bind::{Bound, BoundConnection, BoundOperation};

/// The price of an operation.
///
/// The estimate takes the rows that the page sizes allow, the actual cost the rows that came back. So the actual cost is
/// never above the estimate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Estimate {
    cost: Cost,
    formula: Arc<Formula>,
}

impl Estimate {
    pub(super) fn new(cost: Cost, formula: Arc<Formula>) -> Self {
        Self { cost, formula }
    }

    /// The estimated cost: what is admitted and debited.
    pub fn cost(&self) -> Cost {
        self.cost
    }

    /// The same over the rows of each step that came back.
    pub fn actual(&self, rows: &[u64]) -> Cost {
        self.formula.actual(rows)
    }

    /// How the price comes about.
    pub fn formula(&self) -> &Arc<Formula> {
        &self.formula
    }
}

/// Prices an operation.
pub fn estimate(operation: &BoundOperation<'_>) -> Estimate {
    Arc::new(Formula::of(operation)).estimate(operation.steps.iter().map(StepArguments::size))
}

/// The penalty for a connection's search terms.
pub(super) fn penalty(connection: &BoundConnection<'_>) -> Cost {
    let unindexed = connection.terms.iter().filter(|term| !connection.binding.search_keys[term.key].indexed);
    UNINDEXED_TERM.saturating_mul(unindexed.count() as Cost)
}

/// What a field costs by itself, each time.
pub(super) fn own(kind: &Bound<'_>) -> Cost {
    match kind {
        Bound::Column(..) => SCALAR,
        Bound::Aggregate(..) => AGGREGATE,
        Bound::One(..) | Bound::Lookup(_) | Bound::Connection(_) => OBJECT,
        Bound::Edges(_)
        | Bound::Node(_)
        | Bound::TypeName(_)
        | Bound::PageInfo(_)
        | Bound::Cursor
        | Bound::PageInfoField(_)
        | Bound::Constant(_) => 0,
    }
}

#[cfg(test)]
mod tests {
    use crate::catalog::Catalog;
    use crate::compile::explain;
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
}
