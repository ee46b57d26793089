//! Keys of relations without a key in PostgreSQL: views, tables of other servers, and tables without a primary key.

use std::str::FromStr;

use thiserror::Error;

use crate::catalog::Catalog;
use crate::relations::description::DatabaseDescription;
use crate::relations::relation::{Children, DescribedRelation, RelationKind};
use crate::schema_file::error::SchemaError;

/// The columns that identify the rows of a relation. Nobody checks that they do, and that they are never null.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DeclaredKey {
    /// The relation, as a schema file names it.
    pub(crate) relation: String,
    /// The columns, in the order of the key.
    pub(crate) columns: Vec<String>,
}

/// Why a key cannot be declared.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(crate) enum DeclaredKeyError {
    #[error("a key is declared as RELATION=COLUMN,…, such as stock_level=product_id,facility_id")]
    Syntax,
    #[error("there is no table and no view {0} that the role may read")]
    NoRelation(String),
    #[error("{0} is a table, whose key is that of a primary key or of a unique index on columns without nulls")]
    Table(String),
    #[error("{0} has no column {1} that the role may read")]
    NoColumn(String, String),
}

impl FromStr for DeclaredKey {
    type Err = DeclaredKeyError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (relation, columns) = text.split_once('=').ok_or(DeclaredKeyError::Syntax)?;
        let columns: Vec<_> = columns.split(',').map(|column| column.trim().to_owned()).collect();
        let is_repeated = columns.iter().enumerate().any(|(index, column)| columns[..index].contains(column));
        if relation.is_empty() || is_repeated || columns.iter().any(String::is_empty) {
            return Err(DeclaredKeyError::Syntax);
        }
        Ok(Self { relation: relation.to_owned(), columns })
    }
}

impl DatabaseDescription {
    /// Gives relations declared keys. Fails if one cannot have it.
    pub(crate) fn declare(&mut self, keys: &[DeclaredKey]) -> Result<(), DeclaredKeyError> {
        keys.iter().try_for_each(|key| {
            let name = || key.relation.clone();
            let found = self.relations.iter_mut().find(|relation| relation.path() == key.relation);
            let relation = found.ok_or_else(|| DeclaredKeyError::NoRelation(name()))?;
            if !relation.takes_key() {
                return Err(DeclaredKeyError::Table(name()));
            }
            if let Some(column) = key.columns.iter().find(|column| relation.readable_column(column).is_none()) {
                return Err(DeclaredKeyError::NoColumn(name(), column.clone()));
            }
            relation.declare(&key.columns);
            Ok(())
        })
    }

    /// Gives relations without a key the keys that a schema file declares. Fails if the text is no schema file.
    pub(crate) fn declare_as(&mut self, text: &str) -> Result<(), SchemaError> {
        let catalog = Catalog::parse(text)?;
        for relation in self.relations.iter_mut().filter(|one| one.takes_key() && one.keys().next().is_none()) {
            let known = catalog.entities().find(|(_, entity)| entity.relation == relation.path());
            let columns = known.map(|(_, entity)| entity.key.iter().map(|column| column.name.clone()).collect());
            let columns: Vec<String> = columns.unwrap_or_default();
            if !columns.is_empty() && columns.iter().all(|column| relation.readable_column(column).is_some()) {
                relation.declare(&columns);
            }
        }
        Ok(())
    }
}

impl DescribedRelation {
    /// Whether PostgreSQL may know no key of it, so that one is declared.
    fn takes_key(&self) -> bool {
        self.kind != RelationKind::Table || self.children != Children::Inheriting && self.keys().next().is_none()
    }

    fn declare(&mut self, key: &[String]) {
        self.declared_key = Some(key.to_vec());
        for column in self.columns.iter_mut().filter(|column| key.contains(&column.name)) {
            column.is_not_null = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_a_relation_and_its_columns() {
        let key = |text: &str| text.parse::<DeclaredKey>().map(|key| (key.relation, key.columns.join("|")));
        assert_eq!(key("charts=place"), Ok(("charts".to_owned(), "place".to_owned())));
        assert_eq!(key("Odd Schema.x=a b, c"), Ok(("Odd Schema.x".to_owned(), "a b|c".to_owned())));
        for text in ["", "charts", "=place", "charts=", "charts=a,,b", "charts=a,a"] {
            assert_eq!(key(text), Err(DeclaredKeyError::Syntax), "{text}");
        }
    }
}
