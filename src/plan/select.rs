//! What a step reads: columns of its base relation and of objects joined to it, each once, and aggregates; only what is
//! selected.

use std::fmt::{self, Display};

use crate::catalog::Catalog;
use crate::catalog::binding::{Aggregate, Column, Entity, Join, One};
use crate::plan::sql::{Alias, ColumnOf, List, Relation};
use crate::value::ScalarType;

/// The select list and the joins of one statement.
#[derive(Debug)]
pub struct Select<'a> {
    offset: usize,
    expressions: Vec<Expression<'a>>,
    joins: Vec<Joined<'a>>,
}

/// Something that is read.
#[derive(Debug)]
enum Expression<'a> {
    Column(ColumnOf<'a>),
    /// A whole number as PostgreSQL's largest.
    Int8(ColumnOf<'a>),
    Aggregate(Alias, &'a Aggregate),
}

#[derive(Debug)]
struct Joined<'a> {
    parent: Alias,
    one: &'a One,
    /// The type of the row, unless it has none to read.
    target: Option<&'a Entity>,
}

impl<'a> Select<'a> {
    /// Nothing is read yet; the first column will stand at `offset` in a row.
    pub fn new(offset: usize) -> Self {
        Self { offset, expressions: Vec::new(), joins: Vec::new() }
    }

    /// Reads a column; returns its place in a row.
    pub fn column(&mut self, alias: Alias, name: &'a str) -> usize {
        self.expression(Expression::Column(ColumnOf(alias, name)))
    }

    /// Reads a column by which children find their parents, in the type that [`array_type`] has for it.
    pub fn key(&mut self, alias: Alias, column: &'a Column) -> usize {
        let name = ColumnOf(alias, &column.name);
        match column.scalar {
            // Whole numbers are of several types in the database; their arrays are of one.
            ScalarType::Int => self.expression(Expression::Int8(name)),
            _ => self.expression(Expression::Column(name)),
        }
    }

    /// Reads an aggregate over the rows of a connection; returns its place in a row.
    pub fn aggregate(&mut self, alias: Alias, aggregate: &'a Aggregate) -> usize {
        self.expression(Expression::Aggregate(alias, aggregate))
    }

    /// Joins an object, once however often it is selected; returns its alias.
    pub fn join(&mut self, catalog: &'a Catalog, parent: Alias, one: &'a One) -> Alias {
        let same = |joined: &Joined<'a>| joined.parent == parent && std::ptr::eq(joined.one, one);
        let place = self.joins.iter().position(same).unwrap_or_else(|| {
            self.joins.push(Joined { parent, one, target: catalog.entity(one.target) });
            self.joins.len() - 1
        });
        Alias::Joined(place)
    }

    /// The select list; every column is named `c` and its place in a row.
    pub fn list(&self) -> impl Display {
        fmt::from_fn(|f| {
            // A statement may be asked for nothing but its number of rows.
            if self.expressions.is_empty() {
                return f.write_str("NULL AS nothing");
            }
            for (index, expression) in self.expressions.iter().enumerate() {
                f.write_str(if index > 0 { ", " } else { "" })?;
                expression.fmt(f)?;
                f.write_str(" AS c")?;
                (self.offset + index).fmt(f)?;
            }
            Ok(())
        })
    }

    /// The joins, each on a line of its own.
    pub fn joins(&self) -> impl Display {
        fmt::from_fn(|f| {
            for (place, Joined { parent, one, target }) in self.joins.iter().enumerate() {
                if let Some(target) = target {
                    join(f, target, Alias::Joined(place), *parent, one)?;
                }
            }
            Ok(())
        })
    }

    fn expression(&mut self, expression: Expression<'a>) -> usize {
        let place = self.expressions.iter().position(|known| known.is(&expression)).unwrap_or_else(|| {
            self.expressions.push(expression);
            self.expressions.len() - 1
        });
        self.offset + place
    }
}

impl Expression<'_> {
    fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Column(one), Self::Column(other)) | (Self::Int8(one), Self::Int8(other)) => one == other,
            (Self::Aggregate(alias, one), Self::Aggregate(other_alias, other)) => {
                alias == other_alias && std::ptr::eq(*one, *other)
            }
            _ => false,
        }
    }
}

impl Display for Expression<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Column(column) => column.fmt(f),
            Self::Int8(column) => {
                column.fmt(f)?;
                f.write_str("::int8")
            }
            Self::Aggregate(alias, aggregate) => {
                let column = ColumnOf(Alias::Inner, &aggregate.column);
                let (relation, on) = (Relation(&aggregate.relation), on(Alias::Inner, *alias, &aggregate.join));
                write!(f, "(SELECT count(DISTINCT {column}) FROM {relation} AS {} WHERE {on})", Alias::Inner)
            }
        }
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
fn on(child: Alias, parent: Alias, join: &Join) -> impl Display {
    fmt::from_fn(move |f| {
        for (index, (to, by)) in join.to.iter().zip(&join.by).enumerate() {
            f.write_str(if index > 0 { " AND " } else { "" })?;
            ColumnOf(child, to).fmt(f)?;
            f.write_str(" = ")?;
            ColumnOf(parent, &by.name).fmt(f)?;
        }
        Ok(())
    })
}

/// One row at most is joined: by its whole key, or the first by key.
fn join(f: &mut fmt::Formatter<'_>, target: &Entity, alias: Alias, parent: Alias, one: &One) -> fmt::Result {
    let relation = Relation(&target.relation);
    if one.unique {
        return write!(f, "\nLEFT JOIN {relation} AS {alias} ON {}", on(alias, parent, &one.join));
    }
    let order = List(target.key.iter().map(|column| ColumnOf(Alias::Inner, &column.name)));
    let on = on(Alias::Inner, parent, &one.join);
    write!(
        f,
        "\nLEFT JOIN LATERAL (SELECT x.* FROM {relation} AS x WHERE {on} ORDER BY {order} LIMIT 1) AS {alias} ON TRUE"
    )
}
