//! The characters that the texts of a database can have.

use std::sync::Arc;

use crate::value::Value;

/// The characters of a database's encoding.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Characters {
    /// All of Unicode.
    #[default]
    All,
    /// ASCII and the characters of these ranges, in order.
    Ranges(Arc<[(char, char)]>),
}

impl Characters {
    /// A value as it is sent to the database, which rejects a text with other characters. No row has such a text, so null takes its
    /// place, which equals nothing.
    pub fn sent<'v>(&self, value: &'v Value) -> Option<&'v Value> {
        let is_included = match (self, value) {
            (Self::Ranges(ranges), Value::Text(text)) => text.chars().all(|c| c.is_ascii() || is_within(ranges, c)),
            _ => true,
        };
        is_included.then_some(value)
    }
}

fn is_within(ranges: &[(char, char)], c: char) -> bool {
    let after = ranges.partition_point(|(first, _)| *first <= c);
    after > 0 && ranges[after - 1].1 >= c
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sends_texts_of_its_characters_alone() {
        let text = |text: &str| Value::Text(text.to_owned());
        let some = Characters::Ranges([('\u{a0}', 'ÿ'), ('€', '€')].into());
        for (value, is_included) in [
            (text(""), true),
            (text("plain"), true),
            (text("Zoë ÿ 5 €"), true),
            (text("Ā"), false),
            (text("\u{9f}"), false),
            (text("a日"), false),
            (Value::Int(7), true),
        ] {
            assert_eq!(some.sent(&value).is_some(), is_included, "{value:?}");
            assert!(Characters::All.sent(&value).is_some());
        }
    }
}
