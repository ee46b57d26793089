//! The relations of a database.

use std::collections::{HashMap, HashSet};

use crate::relations::column::DescribedColumn;
use crate::relations::relation::DescribedRelation;

/// The relations of a database, or some of them.
#[derive(Debug, Clone, Default)]
pub(crate) struct DatabaseDescription {
    /// The connection's role, quoted for SQL.
    pub(crate) role: String,
    /// The name of its encoding.
    pub(crate) encoding: String,
    /// The names of the text search configurations, by which statements find them.
    pub(crate) languages: HashSet<String>,
    /// In the order of their schemas and names, `public` first.
    pub(crate) relations: Vec<DescribedRelation>,
    /// The index of each, by its name in a schema file.
    places: HashMap<String, usize>,
}

impl DatabaseDescription {
    /// The description of relations alone.
    pub(crate) fn of(relations: Vec<DescribedRelation>) -> Self {
        let places = relations.iter().enumerate().map(|(place, relation)| (relation.path(), place)).collect();
        Self { relations, places, ..Self::default() }
    }

    /// The relation with that name in a schema file.
    pub(crate) fn relation(&self, name: &str) -> Option<&DescribedRelation> {
        let place = self.places.get(name.strip_prefix("public.").unwrap_or(name))?;
        self.relations.get(*place)
    }

    /// The column of a relation with that name in a schema file.
    pub(crate) fn column(&self, relation: &str, name: &str) -> Option<&DescribedColumn> {
        self.relation(relation)?.column(name)
    }
}
