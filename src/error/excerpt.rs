//! Excerpts of a client's text, for error messages.

/// The most characters of a client's text that a message repeats.
const MAX_EXCERPT: usize = 80;

/// The text, cut to a length fit for a message.
pub(crate) fn excerpt(text: &str) -> String {
    let mut excerpt: String = text.chars().take(MAX_EXCERPT).collect();
    if excerpt.len() < text.len() {
        excerpt.push('…');
    }
    excerpt
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_what_it_cuts() {
        assert_eq!(excerpt(&"é".repeat(80)), "é".repeat(80));
        assert_eq!(excerpt(&"é".repeat(81)), "é".repeat(80) + "…");
    }
}
