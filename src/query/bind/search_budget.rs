//! Counts the search strings of a request. Their terms are read before the cost of the request is known, and terms on indexed
//! keys cost nothing, so credits do not limit them.

use crate::query::bind::error::BindError;
use crate::query::bind::search_size::SearchSize;

/// The sizes of a request's search strings so far.
#[derive(Debug, Default)]
pub(super) struct SearchBudget {
    bytes: usize,
    terms: usize,
    values: usize,
    is_exceeded: bool,
}

impl SearchBudget {
    /// Whether the request has more than it may. Its further search strings are not read.
    pub(super) fn is_exceeded(&self) -> bool {
        self.is_exceeded
    }

    /// Adds to what the request has. Fails if that is more than it may have.
    pub(super) fn add(&mut self, size: SearchSize, amount: usize) -> Result<(), BindError> {
        let used = match size {
            SearchSize::Bytes => &mut self.bytes,
            SearchSize::Terms => &mut self.terms,
            SearchSize::Values => &mut self.values,
        };
        *used = used.saturating_add(amount);
        if *used <= size.max() {
            return Ok(());
        }
        self.is_exceeded = true;
        Err(BindError::SearchTooLarge { size })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_each_size_on_its_own_and_up_to_its_maximum() {
        for size in [SearchSize::Bytes, SearchSize::Terms, SearchSize::Values] {
            let mut budget = SearchBudget::default();
            for other in [SearchSize::Bytes, SearchSize::Terms, SearchSize::Values] {
                assert!(budget.add(other, other.max()).is_ok() && !budget.is_exceeded());
            }
            let error = budget.add(size, 1).unwrap_err().to_string();
            assert!(error.contains(&format!("at most {} {size} together", size.max())), "{error}");
            assert!(budget.is_exceeded());
        }
        assert!(SearchBudget::default().add(SearchSize::Bytes, usize::MAX).is_err());
    }
}
