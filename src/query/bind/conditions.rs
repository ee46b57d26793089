//! The conditions of `@skip` and `@include`, decided.

use crate::query::bind::variable::Values;
use crate::query::operation::{DirectiveCondition, Operation, Selection};

/// The values of the variables that selections depend on, by the variable's index.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Conditions(Vec<(usize, Option<bool>)>);

impl Conditions {
    /// The conditions of an operation with these values.
    pub(super) fn of(operation: &Operation, values: &Values<'_>) -> Self {
        Self(operation.conditions.iter().map(|variable| (*variable, values.truth(*variable))).collect())
    }

    /// Whether every selection is selected.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The selections whose conditions hold, in the order of the response.
    pub(super) fn selected<'s>(&self, selections: &'s [Selection]) -> Vec<&'s Selection> {
        let mut selected: Vec<_> = selections.iter().filter_map(|s| Some((self.first_occurrence(s)?, s))).collect();
        selected.sort_by_key(|(order, _)| *order);
        selected.into_iter().map(|(_, selection)| selection).collect()
    }

    /// The order of the first occurrence whose conditions hold. It decides the position of the key in the response.
    fn first_occurrence(&self, selection: &Selection) -> Option<u32> {
        let holds = |condition: &DirectiveCondition| {
            let known = self.0.binary_search_by_key(&condition.variable, |(variable, _)| *variable);
            known.is_ok_and(|index| self.0[index].1 == Some(condition.expected))
        };
        let occurrence = selection.occurrences.iter().find(|occurrence| occurrence.conditions.iter().all(holds));
        occurrence.map(|occurrence| occurrence.order)
    }

    /// About how much memory they take beside themselves, in bytes.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(self.0.as_slice())
    }
}
