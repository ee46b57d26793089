//! Enums of column values.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// An enum: the names for clients, and the texts in the database. All enums that were ever made are kept until the program ends, so that
/// they can be copied as other types are. A schema file has few enums, and the same ones when it is read again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Enumeration(&'static NamedValues);

#[derive(Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct NamedValues {
    name: String,
    /// The name and the text of each value.
    values: Vec<(String, String)>,
}

static KNOWN: Mutex<BTreeSet<&'static NamedValues>> = Mutex::new(BTreeSet::new());

impl Enumeration {
    /// The enum with this name and these values, each with its name and text.
    pub fn new(name: String, values: Vec<(String, String)>) -> Self {
        let definition = NamedValues { name, values };
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(same) = known.get(&definition) {
            return Self(same);
        }
        let definition: &'static NamedValues = Box::leak(Box::new(definition));
        known.insert(definition);
        Self(definition)
    }

    /// The name of the type that is published.
    pub fn name(self) -> &'static str {
        &self.0.name
    }

    /// The name and the text of each value, in their order.
    pub fn values(self) -> impl Iterator<Item = (&'static str, &'static str)> + Clone {
        self.0.values.iter().map(|(name, text)| (name.as_str(), text.as_str()))
    }

    /// The text that the database has for a value.
    pub fn text(self, name: &str) -> Option<&'static str> {
        self.values().find(|(known, _)| *known == name).map(|(_, text)| text)
    }

    /// The name of the value that the database has as this text. Spaces at its end, which a column of the type `char` adds, make a
    /// difference only between values.
    pub fn name_of(self, text: &[u8]) -> Option<&'static str> {
        let exact = self.values().find(|(_, known)| known.as_bytes() == text);
        let text = text.trim_ascii_end();
        let found = exact.or_else(|| self.values().find(|(_, known)| known.as_bytes().trim_ascii_end() == text));
        found.map(|(name, _)| name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_enums_are_one() {
        let make = || Enumeration::new("State".to_owned(), vec![("IN_USE".to_owned(), "in use".to_owned())]);
        assert!(std::ptr::eq(make().0, make().0));
        assert_eq!((make().text("IN_USE"), make().text("in use")), (Some("in use"), None));
        assert_eq!((make().name_of(b"in use  "), make().name_of(b"IN_USE")), (Some("IN_USE"), None));
        let blank = [("EMPTY", ""), ("SPACE", " ")].map(|(name, text)| (name.to_owned(), text.to_owned()));
        let blank = Enumeration::new("Blank".to_owned(), blank.to_vec());
        assert_eq!(
            ["", " ", "  "].map(|text| blank.name_of(text.as_bytes())),
            [Some("EMPTY"), Some("SPACE"), Some("EMPTY")]
        );
    }
}
