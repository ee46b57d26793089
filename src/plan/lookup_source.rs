//! A search by the index of one term's key: the part of a statement that finds its rows, and the one that counts them.

use std::fmt::{self, Display, Write};

use crate::catalog::search_key::SemiJoin;
use crate::plan::rare_words::Words;
use crate::plan::sql::{Alias, ColumnOf, Columns, Condition, List, Relation, Separated, Where, direction};

/// A search by the index of one term's key.
pub(crate) struct LookupSource<'a> {
    /// The conditions of the terms on the key; none if it searches text.
    pub(crate) conditions: Vec<Condition<'a>>,
    /// The columns that the index begins with, as many as the conditions bound.
    pub(crate) order: Vec<ColumnOf<'a>>,
    /// Whether the first of them is descending in the index.
    pub(crate) is_first_descending: bool,
    /// The words that are searched for, if the index is one on the words of a text.
    pub(crate) words: Option<Words<'a>>,
    /// The relation that has the column, if it is another one.
    pub(crate) semi_join: Option<&'a SemiJoin>,
    /// The range of the rows that join one of its rows, by the column that continues the index of the join.
    pub(crate) joined_range: Option<JoinedRange<'a>>,
    /// The conditions of all other terms.
    pub(crate) filters: Vec<Condition<'a>>,
}

/// A range of the rows that join a row of another relation.
pub(crate) struct JoinedRange<'a> {
    /// The column that is compared.
    pub(crate) column: ColumnOf<'a>,
    pub(crate) conditions: Vec<Condition<'a>>,
}

impl LookupSource<'_> {
    /// The columns of the index, with the direction of the first.
    fn order(&self) -> impl Display {
        List(self.order.iter().enumerate().map(|(index, column)| {
            let direction = direction(!(self.is_first_descending && index == 0));
            fmt::from_fn(move |f| write!(f, "{column}{direction}"))
        }))
    }

    /// Appends the statement of the rows of a relation with that key that it finds, up to a limit.
    pub(super) fn write_counted(
        &self,
        (relation, key): (&str, &[&str]),
        limit: &dyn Display,
        f: &mut fmt::Formatter<'_>,
    ) -> fmt::Result {
        let (conditions, order) = (Where(self.conditions.iter()), self.order());
        if let Some(words) = &self.words {
            return write!(f, "SELECT FROM {}\nLIMIT {limit}", words.rows(relation, &""));
        }
        let own = Relation(relation);
        let Some(SemiJoin { relation, by, unlimited, .. }) = self.semi_join else {
            let relation = own;
            return write!(f, "SELECT FROM {relation} AS t{conditions}\nORDER BY {order}\nLIMIT {limit}");
        };
        let relation = Relation(unlimited.as_ref().unwrap_or(relation));
        if key.iter().all(|column| by.iter().any(|joined| joined == column)) {
            // Each of its rows joins one row at most.
            return write!(f, "SELECT FROM {relation} AS x{conditions}\nORDER BY {order}\nLIMIT {limit}");
        }
        let inner = List(by.iter().map(|column| ColumnOf(Alias::Inner, column)));
        write!(f, "SELECT FROM (SELECT {inner} FROM {relation} AS x{conditions}\nORDER BY {order}")?;
        write!(f, "\nLIMIT {limit}) AS x\nLEFT JOIN LATERAL (SELECT FROM {own} AS t ")?;
        write!(f, "WHERE {}) AS t ON TRUE\nLIMIT {limit}", self.joined(by))
    }

    /// Appends the statement of the rows of another relation that it finds, up to a limit.
    pub(super) fn write_joined_counted(&self, limit: &dyn Display, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(SemiJoin { relation, .. }) = self.semi_join else { return Ok(()) };
        let (relation, conditions, order) = (Relation(relation), Where(self.conditions.iter()), self.order());
        write!(f, "SELECT FROM {relation} AS x{conditions}\nORDER BY {order}\nLIMIT {limit}")
    }

    /// The values by which the rows of another relation join rows, each once, as `e.v`: a select list and its source.
    pub(super) fn joined_values(&self) -> impl Display {
        fmt::from_fn(|f| {
            let Some(SemiJoin { relation, by, .. }) = self.semi_join else { return Ok(()) };
            let inner = List(by.iter().map(|column| ColumnOf(Alias::Inner, column)));
            let (relation, conditions, order) = (Relation(relation), Where(self.conditions.iter()), self.order());
            write!(f, "DISTINCT e.v FROM (SELECT {inner} AS v FROM {relation} AS x{conditions}")?;
            write!(f, "\nORDER BY {order} OFFSET 0) AS e")
        })
    }

    /// The condition that rows join a row of another relation, and the order of the index that is meant to be used.
    fn joined(&self, by: &[String]) -> impl Display {
        fmt::from_fn(move |f| {
            let Some(JoinedRange { column, conditions }) = &self.joined_range else { return joined(by).fmt(f) };
            for by in by {
                write!(f, "{} = ANY(ARRAY[{}]) AND ", ColumnOf(Alias::Base, by), ColumnOf(Alias::Inner, by))?;
            }
            let by = by.iter().map(|column| ColumnOf(Alias::Base, column));
            let order = List(by.chain(std::iter::once(*column)));
            write!(f, "{} ORDER BY {order}", Separated(" AND ", conditions.iter()))
        })
    }

    /// Appends the statement of the rows of a relation that it finds, with these columns.
    pub(super) fn write_rows(&self, relation: &str, columns: &[&str], text: &mut String) -> fmt::Result {
        let (conditions, order) = (Where(self.conditions.iter()), self.order());
        let columns = Columns(Alias::Base, columns);
        if let Some(words) = &self.words {
            return write!(text, "SELECT t.* FROM {}", words.rows(relation, &columns));
        }
        let rows = Relation(relation);
        let Some(SemiJoin { relation, by, .. }) = self.semi_join else {
            return write!(text, "SELECT {columns} FROM {rows} AS t{conditions}\nORDER BY {order} OFFSET 0");
        };
        let inner = List(by.iter().map(|column| ColumnOf(Alias::Inner, column)));
        write!(text, "SELECT DISTINCT {columns} FROM (SELECT {inner} FROM {} AS x{conditions}", Relation(relation))?;
        write!(text, "\nORDER BY {order} OFFSET 0) AS x\nCROSS JOIN LATERAL (SELECT {columns} FROM {rows} AS t ")?;
        write!(text, "WHERE {} OFFSET 0) AS t", self.joined(by))
    }
}

/// The condition of a semi-join, and the order of the index that is meant to be used: one that begins with all of these columns.
/// With one that begins with some of them, PostgreSQL would read other rows and discard them. The last column is in a range of
/// one value, because PostgreSQL drops columns that equal a value from the order.
fn joined(by: &[String]) -> impl Display {
    let is_last = |index: usize| index > 0 && index + 1 == by.len();
    let columns = by.iter().enumerate().map(move |(index, column)| {
        let (base, inner) = (ColumnOf(Alias::Base, column), ColumnOf(Alias::Inner, column));
        fmt::from_fn(move |f| {
            if is_last(index) {
                write!(f, "{base} >= {inner} AND {base} <= {inner} ORDER BY {base}")
            } else {
                write!(f, "{base} = {inner}")
            }
        })
    });
    Separated(" AND ", columns)
}
