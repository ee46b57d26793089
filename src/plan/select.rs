//! What a step reads: columns of its base relation and of objects joined to it, each once, and aggregates; only what is
//! selected.

use std::fmt::Write;

use crate::catalog::Catalog;
use crate::catalog::binding::{Aggregate, Column, Entity, Join, One};
use crate::plan::sql::{Alias, ColumnOf, Relation, list};
use crate::value::ScalarType;

/// The select list and the joins of one statement.
#[derive(Debug)]
pub struct Select<'a> {
    offset: usize,
    expressions: Vec<String>,
    joins: Vec<Joined<'a>>,
}

#[derive(Debug)]
struct Joined<'a> {
    parent: Alias,
    one: &'a One,
    clause: String,
}

impl<'a> Select<'a> {
    /// Nothing is read yet; the first column will stand at `offset` in a row.
    pub fn new(offset: usize) -> Self {
        Self { offset, expressions: Vec::new(), joins: Vec::new() }
    }

    /// Reads a column; returns its place in a row.
    pub fn column(&mut self, alias: Alias, name: &str) -> usize {
        self.expression(ColumnOf(alias, name).to_string())
    }

    /// Reads a column by which children find their parents, in the type that [`array_type`] has for it.
    pub fn key(&mut self, alias: Alias, column: &Column) -> usize {
        let expression = ColumnOf(alias, &column.name).to_string();
        match column.scalar {
            // Whole numbers are of several types in the database; their arrays are of one.
            ScalarType::Int => self.expression(expression + "::int8"),
            _ => self.expression(expression),
        }
    }

    /// Reads an aggregate over the rows of a connection; returns its place in a row.
    pub fn aggregate(&mut self, alias: Alias, aggregate: &Aggregate) -> usize {
        let column = ColumnOf(Alias::Inner, &aggregate.column);
        let relation = Relation(&aggregate.relation);
        let on = on(Alias::Inner, alias, &aggregate.join);
        self.expression(format!("(SELECT count(DISTINCT {column}) FROM {relation} AS x WHERE {on})"))
    }

    /// Joins an object, once however often it is selected; returns its alias.
    pub fn join(&mut self, catalog: &Catalog, parent: Alias, one: &'a One) -> Alias {
        let same = |joined: &Joined<'a>| joined.parent == parent && std::ptr::eq(joined.one, one);
        if let Some(place) = self.joins.iter().position(same) {
            return Alias::Joined(place);
        }
        let alias = Alias::Joined(self.joins.len());
        let clause = catalog.entity(one.target).map_or_else(String::new, |target| join(target, alias, parent, one));
        self.joins.push(Joined { parent, one, clause });
        alias
    }

    /// The select list; every column is named `c` and its place in a row.
    pub fn list(&self) -> String {
        let named =
            (self.offset..).zip(&self.expressions).map(|(place, expression)| format!("{expression} AS c{place}"));
        list(named)
    }

    /// The joins, each on a line of its own.
    pub fn joins(&self) -> String {
        self.joins.iter().fold(String::new(), |mut text, joined| {
            let _ = write!(text, "\n{}", joined.clause);
            text
        })
    }

    fn expression(&mut self, expression: String) -> usize {
        let place = self.expressions.iter().position(|known| *known == expression).unwrap_or_else(|| {
            self.expressions.push(expression);
            self.expressions.len() - 1
        });
        self.offset + place
    }
}

/// The array type of the parents' keys in a column of that type.
pub fn array_type(scalar: ScalarType) -> &'static str {
    match scalar {
        ScalarType::Id | ScalarType::String => "text[]",
        ScalarType::Int => "int8[]",
        ScalarType::Decimal => "numeric[]",
        ScalarType::DateTime => "timestamptz[]",
        ScalarType::Boolean => "bool[]",
    }
}

/// Pairs of columns that are equal between a child's row and its parent's.
pub fn on(child: Alias, parent: Alias, join: &Join) -> String {
    let pairs = join.to.iter().zip(&join.by);
    let pairs = pairs.map(|(to, by)| format!("{} = {}", ColumnOf(child, to), ColumnOf(parent, &by.name)));
    pairs.collect::<Vec<_>>().join(" AND ")
}

/// One row at most is joined: by its whole key, or the first by key.
fn join(target: &Entity, alias: Alias, parent: Alias, one: &One) -> String {
    let relation = Relation(&target.relation);
    if one.unique {
        return format!("LEFT JOIN {relation} AS {alias} ON {}", on(alias, parent, &one.join));
    }
    let order = list(target.key.iter().map(|column| ColumnOf(Alias::Inner, &column.name)));
    let on = on(Alias::Inner, parent, &one.join);
    format!(
        "LEFT JOIN LATERAL (SELECT x.* FROM {relation} AS x WHERE {on} ORDER BY {order} LIMIT 1) AS {alias} ON TRUE"
    )
}
