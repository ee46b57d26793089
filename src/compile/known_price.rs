//! Prices that do not depend on the values of variables, and so are known from a request's text.

use crate::catalog::Catalog;
use crate::cost::price::Cost;
use crate::limits::Limits;
use crate::query::operation::{Literal, Operation, Selection, Target};

/// The price of an operation for callers with these limits.
#[derive(Debug, Clone, Copy)]
pub(super) struct KnownPrice {
    limits: Limits,
    credits: Cost,
}

impl KnownPrice {
    /// The price that a request for the operation had, if all others have it too.
    pub(super) fn of(catalog: &Catalog, operation: &Operation, limits: &Limits, credits: Cost) -> Option<Self> {
        let is_known = operation.conditions.is_empty() && operation.selections.iter().all(|one| is_fixed(catalog, one));
        is_known.then_some(Self { limits: *limits, credits })
    }

    /// The price for a caller with these limits. Under other limits it may not be admitted.
    pub(super) fn within(self, limits: &Limits) -> Option<Cost> {
        (self.limits == *limits).then_some(self.credits)
    }
}

fn has_variable(value: &Literal) -> bool {
    match value {
        Literal::Variable(_) => true,
        Literal::List(elements) => elements.iter().any(has_variable),
        _ => false,
    }
}

/// Whether a selection has its page sizes, search strings and what decides the price of totals from the document.
fn is_fixed(catalog: &Catalog, selection: &Selection) -> bool {
    let is_priced = |index: usize| match selection.target {
        Target::TypeName(_) => false,
        Target::Field(field) => {
            catalog.field(field).arguments.get(index).is_some_and(|argument| argument.role.is_priced())
        }
    };
    let mut arguments = selection.arguments.iter();
    !arguments.any(|(index, value)| has_variable(value) && is_priced(*index))
        && selection.selections.iter().all(|below| is_fixed(catalog, below))
}
