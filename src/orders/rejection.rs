//! A rejected order update: one code, and the messages of all errors.

use std::fmt;

use crate::error::code::ErrorCode;

/// The maximum number of messages.
const MAX_MESSAGES: usize = 50;

/// Why an order update is rejected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Rejection {
    pub(crate) code: ErrorCode,
    /// At least one.
    pub(crate) messages: Vec<String>,
}

impl Rejection {
    /// The rejection for these errors. If there are too many, the last message has the number of the others, so that a response stays
    /// small.
    pub(crate) fn new<E: fmt::Display>(code: ErrorCode, errors: &[E]) -> Self {
        let left_out = errors.len().saturating_sub(MAX_MESSAGES);
        let mut messages: Vec<String> = errors.iter().take(MAX_MESSAGES).map(ToString::to_string).collect();
        if left_out > 0 {
            messages.push(format!("and {left_out} more errors"));
        }
        Self { code, messages }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_the_errors_that_it_leaves_out() {
        let rejection = Rejection::new(ErrorCode::Conflict, &["e"; 60]);
        assert_eq!((rejection.messages.len(), rejection.messages[50].as_str()), (51, "and 10 more errors"));
    }
}
