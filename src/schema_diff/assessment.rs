//! The least and the most credits of an operation over the values of its variables, and whether the operation is refused.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use crate::catalog::Catalog;
use crate::compile::explanation::explain_operation;
use crate::compile::valid_operation::valid_operation;
use crate::cost::price::Cost;
use crate::error::graphql_error::GraphqlErrors;
use crate::limits::Limits;
use crate::query::operation::Operation;
use crate::query::{Request, Variables};
use crate::schema_diff::assignment::{Variable, variables};

/// How often the values of all variables are chosen again.
const ROUNDS: usize = 3;

/// The credits of an operation, whatever its variables are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CreditInterval {
    /// With the smallest pages.
    pub(crate) least: Cost,
    /// With the largest pages, and a search by every key.
    pub(crate) most: Cost,
}

/// The database's work for an operation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct DatabaseWork {
    /// The most branches that its statement has.
    pub(crate) branches: usize,
    /// The most rows that are examined.
    pub(crate) rows_examined: u64,
    /// The search keys by which a page may come short.
    pub(crate) short_pages: BTreeSet<String>,
}

/// An operation against a schema for which it is valid.
#[derive(Debug)]
pub(super) struct Assessment {
    pub(super) operation: Operation,
    /// `None` if no values are known with which it can be priced.
    pub(super) interval: Option<CreditInterval>,
    /// Why it is refused with the values that cost least.
    pub(super) refused: Option<GraphqlErrors>,
    /// Why it is refused with others, but for its price.
    pub(super) refused_for_some: Option<GraphqlErrors>,
    pub(super) work: DatabaseWork,
}

/// Assesses an operation. Fails if it is not valid, whatever its variables are.
pub(super) fn assess(catalog: &Catalog, request: &Request, limits: &Limits) -> Result<Assessment, GraphqlErrors> {
    let operation = valid_operation(catalog, request)?;
    let variables = variables(catalog, &operation, limits);
    let mut search = AssessedSearch {
        catalog,
        operation: &operation,
        request,
        limits,
        variables,
        refused_for_some: None,
        work: DatabaseWork::default(),
    };
    let base = vec![0; search.variables.len()];
    let refused = search.refused(&base);
    let largest: Vec<_> = search.variables.iter().map(|variable| variable.values.len() - 1).collect();
    let least = search.extreme(&base, Ordering::Less);
    let most = search.extreme(&largest, Ordering::Greater).max(search.extreme(&base, Ordering::Greater));
    let interval = least.zip(most).map(|(least, most)| CreditInterval { least, most });
    let AssessedSearch { refused_for_some, work, .. } = search;
    Ok(Assessment { operation, interval, refused, refused_for_some, work })
}

struct AssessedSearch<'a> {
    catalog: &'a Catalog,
    operation: &'a Operation,
    request: &'a Request,
    limits: &'a Limits,
    variables: Vec<Variable>,
    refused_for_some: Option<GraphqlErrors>,
    work: DatabaseWork,
}

impl AssessedSearch<'_> {
    fn request(&self, choice: &[usize]) -> Request {
        let values = self.variables.iter().zip(choice);
        let variables: Variables =
            values.map(|(variable, index)| (variable.name.clone(), variable.values[*index].clone())).collect();
        Request { variables, ..self.request.clone() }
    }

    /// Why a request with these values is refused.
    fn refused(&self, choice: &[usize]) -> Option<GraphqlErrors> {
        match explain_operation(self.catalog, self.operation, &self.request(choice), self.limits.into()) {
            Ok(explanation) => explanation.errors,
            Err(errors) => Some(errors),
        }
    }

    /// The price with these values; `None` if they cannot be used.
    fn price(&mut self, choice: &[usize]) -> Option<Cost> {
        match explain_operation(self.catalog, self.operation, &self.request(choice), self.limits.into()) {
            Err(errors) => {
                self.refused_for_some.get_or_insert(errors);
                None
            }
            Ok(explanation) => {
                let (plan, work) = (&explanation.plan, &mut self.work);
                work.branches = work.branches.max(plan.steps().len());
                work.rows_examined = work.rows_examined.max(plan.row_bounds().examined);
                let pages = (0..plan.steps().len()).filter_map(|step| plan.expected_pages(step));
                work.short_pages.extend(pages.flat_map(|pages| pages.checked.iter().cloned()));
                Some(explanation.estimate.cost())
            }
        }
    }

    /// The lowest or the highest price that is found from these values on, by changing one variable after the other.
    fn extreme(&mut self, start: &[usize], toward: Ordering) -> Option<Cost> {
        let mut choice = start.to_vec();
        let mut best = self.price(&choice);
        for _ in 0..ROUNDS {
            let before = choice.clone();
            for index in 0..choice.len() {
                for value in 0..self.variables[index].values.len() {
                    let kept = std::mem::replace(&mut choice[index], value);
                    let price = if kept == value { None } else { self.price(&choice) };
                    match (price, best) {
                        (Some(price), Some(known)) if price.cmp(&known) == toward => best = Some(price),
                        (Some(price), None) => best = Some(price),
                        _ => choice[index] = kept,
                    }
                }
            }
            if choice == before {
                break;
            }
        }
        best
    }
}
