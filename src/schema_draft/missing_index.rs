//! What a draft leaves out, and the indexes that would bring it.

use std::fmt;

use crate::plan::sql::{Identifier, List, Relation as Quoted, WhereNull};
use crate::relations::relation::{DescribedRelation, RelationKind};

/// The beginning of a statement that makes an index.
pub(super) const CREATE_INDEX: &str = "CREATE INDEX CONCURRENTLY ON ";

/// Why something is left out. Its `Display` is the text of a comment.
#[derive(Debug)]
pub(super) struct LeftOut {
    pub(super) reason: String,
    /// The index that would bring it.
    pub(super) index: Option<MissingIndex>,
}

/// An index that is missing. Its `Display` is the statement that makes it, or what else it takes.
#[derive(Debug)]
pub(super) enum MissingIndex {
    Statement(String),
    OtherAdvice(String),
}

impl LeftOut {
    /// Left out for want of an index.
    pub(super) fn without(index: MissingIndex, reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), index: Some(index) }
    }
}

impl From<String> for LeftOut {
    fn from(reason: String) -> Self {
        Self { reason, index: None }
    }
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)?;
        self.index.iter().try_for_each(|index| write!(f, ": {index}"))
    }
}

impl MissingIndex {
    /// An index on the words of a column.
    pub(super) fn of_words(relation: &DescribedRelation, column: &str) -> Self {
        match relation.kind {
            RelationKind::View => {
                Self::OtherAdvice(format!("declare the search where the table of the column has one ({column})"))
            }
            _ => Self::on(relation, fmt::from_fn(|f| write!(f, "USING gin ({})", Identifier(column)))),
        }
    }

    /// An index on these columns.
    pub(super) fn of_columns<'a>(relation: &DescribedRelation, columns: impl Iterator<Item = &'a str>) -> Self {
        Self::of_rows(relation, columns, None)
    }

    /// An index on these columns, of all rows or of those with a null in another one.
    pub(super) fn of_rows<'a>(
        relation: &DescribedRelation,
        columns: impl Iterator<Item = &'a str>,
        where_null: Option<&str>,
    ) -> Self {
        let mut distinct: Vec<&str> = Vec::new();
        for column in columns {
            if !distinct.contains(&column) {
                distinct.push(column);
            }
        }
        if relation.kind == RelationKind::View {
            return Self::OtherAdvice(format!("an index on the table of its columns ({})", distinct.join(", ")));
        }
        let columns = List(distinct.into_iter().map(Identifier));
        Self::on(relation, format_args!("({columns}){}", WhereNull(where_null)))
    }

    fn on(relation: &DescribedRelation, indexed: impl fmt::Display) -> Self {
        match relation.kind {
            RelationKind::Foreign => Self::OtherAdvice("whether the other server has one is not known".to_owned()),
            _ => Self::Statement(format!("{CREATE_INDEX}{} {indexed};", Quoted(&relation.path()))),
        }
    }

    /// The statement that makes it, if there is one.
    pub(super) fn statement(&self) -> Option<&str> {
        match self {
            Self::Statement(text) => Some(text),
            Self::OtherAdvice(_) => None,
        }
    }
}

impl fmt::Display for MissingIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Statement(text) | Self::OtherAdvice(text)) = self;
        f.write_str(text)
    }
}
