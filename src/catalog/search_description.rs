//! The search keys of a field in words, for the descriptions that SDL and introspection publish.

use std::borrow::Cow;
use std::fmt::Write;

use crate::catalog::binding::{Binding, Connection, SearchKey};
use crate::catalog::schema::Field;
use crate::search::Comparator;

impl Field {
    /// The field's description. That of a collection root ends with the list of its search keys.
    pub(super) fn description_with_search(&self) -> Option<Cow<'_, str>> {
        let search = self.connection().map(describe_search_keys).unwrap_or_default();
        match (&self.description, search.is_empty()) {
            (description, true) => description.as_deref().map(Cow::Borrowed),
            (None, false) => Some(search.into()),
            (Some(description), false) => Some(format!("{description}\n\n{search}").into()),
        }
    }

    pub(super) fn connection(&self) -> Option<&Connection> {
        if let Binding::Connection(connection) = &self.binding { Some(connection) } else { None }
    }
}

/// A line per search key; empty if there are none.
fn describe_search_keys(connection: &Connection) -> String {
    let mut text = String::new();
    if !connection.search_keys.is_empty() {
        text.push_str("Search keys:");
        for key in &connection.search_keys {
            // Writing to a string cannot fail.
            let _ = write!(text, "\n- `{}`: {}", key.name, describe_comparators(key).join(", "));
            if !key.indexed {
                text.push_str(" (adds 50 to the cost)");
            }
        }
    }
    text
}

/// The comparators that a key accepts, as error messages name them.
pub(super) fn describe_comparators(key: &SearchKey) -> Vec<&'static str> {
    key.comparators.iter().copied().map(Comparator::describe).collect()
}
