//! Tokens that the server has accepted a moment ago, so that it need not be asked for each request.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long a token counts as accepted. Whatever is asked with it is checked by the server once more.
const FRESH: Duration = Duration::from_secs(10);

/// The number of tokens at which all are forgotten.
const MAX_TOKENS: usize = 1024;

/// The tokens, and when each was accepted.
#[derive(Debug, Default)]
pub(super) struct CheckedTokens(Mutex<HashMap<Box<str>, Instant>>);

impl CheckedTokens {
    pub(super) fn contains(&self, token: &str, now: Instant) -> bool {
        let tokens = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        tokens.get(token).is_some_and(|accepted| now.saturating_duration_since(*accepted) < FRESH)
    }

    pub(super) fn add(&self, token: &str, now: Instant) {
        let mut tokens = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if tokens.len() == MAX_TOKENS {
            tokens.clear();
        }
        tokens.insert(token.into(), now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_known_for_a_while() {
        let (tokens, now) = (CheckedTokens::default(), Instant::now());
        tokens.add("a", now);
        assert!(tokens.contains("a", now) && !tokens.contains("b", now));
        assert!(!tokens.contains("a", now + FRESH));
        for number in 0..MAX_TOKENS {
            tokens.add(&number.to_string(), now);
        }
        assert!(!tokens.contains("a", now), "there is no room for all");
    }
}
