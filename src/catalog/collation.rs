//! The collation by which the database compares the texts of a column.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Mutex, PoisonError};

/// The collation of a column. Columns of types without texts have the default.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Collation {
    /// The collation of the database.
    #[default]
    Default,
    /// A collation of the column's own.
    Named {
        /// Its name, quoted for SQL. All names are kept until the program ends, so that they can be copied; a database has few.
        name: &'static str,
        /// Whether only texts with the same bytes are equal.
        is_deterministic: bool,
    },
}

static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());

impl Collation {
    /// The collation with this name, quoted for SQL.
    pub fn named(name: String, is_deterministic: bool) -> Self {
        let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
        let known = names.get(name.as_str()).copied();
        let name = known.unwrap_or_else(|| {
            let kept: &'static str = Box::leak(name.into_boxed_str());
            names.insert(kept);
            kept
        });
        Self::Named { name, is_deterministic }
    }

    /// Its name, if it takes some different texts for equal. A key does not tell such texts apart, and a cursor has the bytes of one of them.
    pub fn nondeterministic(self) -> Option<&'static str> {
        match self {
            Self::Named { name, is_deterministic: false } => Some(name),
            Self::Named { .. } | Self::Default => None,
        }
    }

    /// Whether an index on a column of this collation serves the comparison with a column of another one. PostgreSQL fails to compare
    /// columns of two named collations. If one is named, it compares by that one, and an index in the database's collation does not help.
    pub fn serves_comparison_with(self, other: Self) -> bool {
        other == self || other == Self::Default
    }
}

/// The clause after the name of a type in SQL.
impl fmt::Display for Collation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => Ok(()),
            Self::Named { name, .. } => write!(f, " COLLATE {name}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_serves_columns_of_its_collation_and_of_the_default() {
        let [c, en] = ["\"C\"", "\"en\""].map(|name| Collation::named(name.to_owned(), true));
        let default = Collation::Default;
        for (of_index, other, serves) in [
            (default, default, true),
            (c, default, true),
            (c, c, true),
            (default, c, false),
            (en, c, false),
            (c, Collation::named("\"C\"".to_owned(), true), true),
        ] {
            assert_eq!(of_index.serves_comparison_with(other), serves, "{of_index} {other}");
        }
        assert_eq!(c.nondeterministic(), None);
        assert_eq!(Collation::named("ci".to_owned(), false).nondeterministic(), Some("ci"));
    }
}
