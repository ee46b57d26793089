//! Search strings as a tree.

use orderql::catalog::stored_type::StoredType;
use orderql::search::Comparator;
use orderql::value::ScalarType;

/// A search string.
#[derive(Debug, Clone, Default)]
pub struct Search {
    /// The name of the root that has the keys.
    pub root: String,
    /// Its terms.
    pub terms: Vec<Term>,
}

/// A search term.
#[derive(Debug, Clone)]
pub struct Term {
    /// The key.
    pub key: String,
    /// The relation of the key's column, and the column.
    pub column: (String, String),
    /// How it is compared.
    pub comparator: Comparator,
    /// The scalar type of the key's column.
    pub scalar: ScalarType,
    /// How the database stores the column.
    pub stored: StoredType,
    /// The values without quotes: several for a list, else one.
    pub values: Vec<String>,
}

impl Search {
    /// The text.
    pub fn text(&self) -> String {
        let terms: Vec<_> = self.terms.iter().map(Term::text).collect();
        terms.join(" ")
    }
}

impl Term {
    fn text(&self) -> String {
        let sign = match self.comparator {
            Comparator::Equals | Comparator::In | Comparator::Matches => "",
            Comparator::Greater => ">",
            Comparator::GreaterOrEqual => ">=",
            Comparator::Less => "<",
            Comparator::LessOrEqual => "<=",
        };
        let values: Vec<_> = self.values.iter().filter_map(|value| quoted(value)).collect();
        format!("{}:{sign}{}", self.key, values.join(","))
    }
}

/// Whether a search string can hold a value.
pub fn can_hold(value: &str) -> bool {
    quoted(value).is_some()
}

/// A value as search strings have it, in quotes where it needs them; `None` if no search string can hold it.
fn quoted(value: &str) -> Option<String> {
    if value.is_empty() {
        return None;
    }
    let has_spaces = value.contains([' ', '\t', '\n', '\r']);
    let is_plain =
        !has_spaces && !value.starts_with(['<', '>', '=', '!', '~', '\'', '"']) && !value.contains([',', '*']);
    if is_plain {
        return Some(value.to_owned());
    }
    // A quote ends the value where a comma or the end follows; with spaces in the value, it has none of its own.
    let fits = |quote: &char| {
        let ends_early = value.ends_with(*quote) || value.contains(&format!("{quote},"));
        !(ends_early || has_spaces && value.contains(*quote))
    };
    ['\'', '"'].into_iter().find(fits).map(|quote| format!("{quote}{value}{quote}"))
}
