//! Columns that statements return or compare values with.

use crate::catalog::collation::Collation;
use crate::catalog::result_type::ResultType;
use crate::catalog::stored_type::{StoredType, StoredTypes};
use crate::value::ScalarType;

/// A column that a statement returns or compares values with.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Column {
    /// The column's name.
    pub name: String,
    /// The scalar type of its values.
    pub scalar: ScalarType,
    /// How the database stores it.
    pub stored: StoredType,
    /// By what it compares its texts.
    pub collation: Collation,
    /// The type as which statements return it.
    pub result: ResultType,
    /// Whether the database lets its values be longer than a response may have: then their size is looked at before they are sent.
    pub is_long: bool,
}

impl Column {
    /// A column, as far as a schema file describes it.
    pub fn new(name: impl Into<String>, scalar: ScalarType) -> Self {
        Self {
            name: name.into(),
            scalar,
            stored: StoredType::of(scalar),
            collation: Collation::Default,
            result: ResultType::of(scalar),
            is_long: false,
        }
    }

    /// The column with an array of such values.
    pub(crate) fn of_list(self) -> Self {
        Self { result: ResultType::array(self.scalar), ..self }
    }

    /// Sets how the database stores it.
    pub(super) fn set_stored_type(&mut self, relation: &str, stored: &StoredTypes) {
        self.stored = stored.get(relation, &self.name, self.scalar);
        self.collation = stored.collation(relation, &self.name);
        self.result = stored.result(relation, &self.name, self.scalar);
        self.is_long = stored.is_long(relation, &self.name, self.scalar);
    }
}

/// Sets how the database stores columns of a relation.
pub(super) fn set_stored_types(relation: &str, columns: &mut [Column], stored: &StoredTypes) {
    for column in columns {
        column.set_stored_type(relation, stored);
    }
}
