//! What a step reads: columns of its base relation and of objects joined to it, each once, and aggregates. It reads only
//! what is selected or needed for that.

use std::fmt::{self, Display};

use crate::catalog::Catalog;
use crate::catalog::binding::{Aggregate, AggregateFunction, Column, Entity, Join, One, SearchKey};
use crate::plan::sql::{Alias, ColumnOf, Condition, List, Placeholder, Relation, is_number, type_name};

/// The select list and the joins of one statement.
#[derive(Debug)]
pub(crate) struct Select<'a> {
    offset: usize,
    expressions: Vec<Selected<'a>>,
    joins: Vec<Joined<'a>>,
    /// The keys on other relations that the rows are searched by, and the values that are searched for.
    searched: Vec<(&'a SearchKey, Placeholder)>,
}

/// An element of the select list, and its index in a row.
#[derive(Debug, Clone)]
struct Selected<'a> {
    index: usize,
    expression: Expression<'a>,
    /// Whether children find their parents by it.
    is_key: bool,
}

#[derive(Debug, Clone, Copy)]
enum Expression<'a> {
    Column(ColumnOf<'a>),
    /// A number, cast to the type of that name.
    Cast(ColumnOf<'a>, &'static str),
    /// An aggregate, and the values that count if not all do.
    Aggregate(Alias, &'a Aggregate, Option<Placeholder>),
}

#[derive(Debug, Clone, Copy)]
struct Joined<'a> {
    alias: Alias,
    parent: Alias,
    one: &'a One,
    /// The table of the joined type.
    target: Option<&'a Entity>,
}

impl<'a> Select<'a> {
    /// An empty select list, whose first column will have the index `offset` in a row.
    pub(crate) fn new(offset: usize) -> Self {
        Self { offset, expressions: Vec::new(), joins: Vec::new(), searched: Vec::new() }
    }

    /// The rows are searched by this key, and have one of the values.
    pub(crate) fn search(&mut self, key: &'a SearchKey, values: Placeholder) {
        self.searched.push((key, values));
    }

    /// Reads a column, and returns its index in a row.
    pub(crate) fn column(&mut self, alias: Alias, name: &'a str) -> usize {
        self.expression(Expression::Column(ColumnOf(alias, name)))
    }

    /// Reads a column of the key by which children find their parents, as a value of the type that
    /// [`type_name`] gives.
    pub(crate) fn key(&mut self, alias: Alias, column: &'a Column) -> usize {
        let name = ColumnOf(alias, &column.name);
        // Numbers have several types in the database, and one array type here.
        let is_number = is_number(column.stored);
        let index = self.expression(if is_number {
            Expression::Cast(name, type_name(column.stored))
        } else {
            Expression::Column(name)
        });
        self.expressions[index - self.offset].is_key = true;
        index
    }

    /// The same rows with nothing but the keys by which children find their parents. `None` if there are no such keys.
    pub(crate) fn keys(&self) -> Option<Self> {
        let expressions: Vec<_> = self.expressions.iter().filter(|selected| selected.is_key).cloned().collect();
        if expressions.is_empty() {
            return None;
        }
        let mut aliases: Vec<Alias> = expressions.iter().map(|selected| selected.expression.alias()).collect();
        let mut joins = Vec::new();
        // An object is joined after the one that it belongs to.
        for joined in self.joins.iter().rev() {
            if aliases.contains(&joined.alias) {
                aliases.push(joined.parent);
                joins.push(*joined);
            }
        }
        joins.reverse();
        Some(Self { offset: self.offset, expressions, joins, searched: self.searched.clone() })
    }

    /// Reads an aggregate over the rows of a connection, and returns its index in a row.
    pub(crate) fn aggregate(&mut self, alias: Alias, aggregate: &'a Aggregate) -> usize {
        let is_searched = |(key, _): &&(&SearchKey, Placeholder)| alias == Alias::Base && aggregate.is_searched_by(key);
        let values = self.searched.iter().find(is_searched).map(|(_, values)| *values);
        self.expression(Expression::Aggregate(alias, aggregate, values))
    }

    /// Joins an object, and returns its alias. An object that is selected several times is joined once.
    pub(crate) fn join(&mut self, catalog: &'a Catalog, parent: Alias, one: &'a One) -> Alias {
        let same = |joined: &&Joined<'a>| joined.parent == parent && std::ptr::eq(joined.one, one);
        if let Some(joined) = self.joins.iter().find(same) {
            return joined.alias;
        }
        let alias = Alias::Joined(self.joins.len());
        self.joins.push(Joined { alias, parent, one, target: catalog.entity(one.target) });
        alias
    }

    /// The select list. A column's name is `c` and its index in a row.
    pub(crate) fn list(&self) -> impl Display {
        fmt::from_fn(|f| {
            // A statement may select nothing but the number of its rows.
            if self.expressions.is_empty() {
                return f.write_str("NULL AS nothing");
            }
            for (position, Selected { index, expression, .. }) in self.expressions.iter().enumerate() {
                f.write_str(if position > 0 { ", " } else { "" })?;
                expression.fmt(f)?;
                f.write_str(" AS c")?;
                index.fmt(f)?;
            }
            Ok(())
        })
    }

    /// The joins, each on a line of its own.
    pub(crate) fn joins(&self) -> impl Display {
        fmt::from_fn(|f| {
            for Joined { alias, parent, one, target } in &self.joins {
                if let Some(target) = target {
                    join(f, target, *alias, *parent, one, &self.columns_of(*alias))?;
                }
            }
            Ok(())
        })
    }

    /// The columns that are read of an alias, each once. A sub-select that returned others as well would take longer:
    /// PostgreSQL replaces each by a null in every row.
    pub(crate) fn columns_of(&self, alias: Alias) -> Vec<&'a str> {
        let mut columns: Vec<&'a str> = Vec::new();
        let mut add = |name: &'a str| {
            if !columns.contains(&name) {
                columns.push(name);
            }
        };
        for Selected { expression, .. } in &self.expressions {
            match expression {
                Expression::Column(ColumnOf(of, name)) | Expression::Cast(ColumnOf(of, name), _) if *of == alias => {
                    add(name);
                }
                Expression::Aggregate(of, aggregate, _) if *of == alias => {
                    aggregate.join.by.iter().for_each(|column| add(&column.name));
                }
                Expression::Column(_) | Expression::Cast(..) | Expression::Aggregate(..) => {}
            }
        }
        for joined in self.joins.iter().filter(|joined| joined.parent == alias) {
            joined.one.join.by.iter().for_each(|column| add(&column.name));
        }
        columns
    }

    fn expression(&mut self, expression: Expression<'a>) -> usize {
        if let Some(selected) = self.expressions.iter().find(|known| known.expression.is(&expression)) {
            return selected.index;
        }
        let index = self.offset + self.expressions.len();
        self.expressions.push(Selected { index, expression, is_key: false });
        index
    }
}

impl Expression<'_> {
    /// The relation that has its value.
    fn alias(&self) -> Alias {
        match self {
            Self::Column(column) | Self::Cast(column, _) => column.0,
            Self::Aggregate(alias, ..) => *alias,
        }
    }

    fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Column(one), Self::Column(other)) => one == other,
            (Self::Cast(one, ty), Self::Cast(other, other_ty)) => one == other && ty == other_ty,
            (Self::Aggregate(alias, one, _), Self::Aggregate(other_alias, other, _)) => {
                alias == other_alias && std::ptr::eq(*one, *other)
            }
            (Self::Column(_) | Self::Cast(..) | Self::Aggregate(..), _) => false,
        }
    }
}

impl Display for Expression<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Column(column) => column.fmt(f),
            Self::Cast(column, ty) => write!(f, "{column}::{ty}"),
            Self::Aggregate(alias, aggregate, values) => {
                let column = ColumnOf(Alias::Inner, &aggregate.column);
                let (relation, join) = (Relation(&aggregate.relation), &aggregate.join);
                match aggregate.function {
                    AggregateFunction::CountDistinct => {
                        let on = on(Alias::Inner, *alias, join);
                        write!(f, "(SELECT count(DISTINCT {column}) FROM {relation} AS x WHERE {on})")
                    }
                    AggregateFunction::Lowest => {
                        let counts =
                            values.map_or(Condition::IsNotNull(column), |values| Condition::Among(column, values));
                        let of_parent = by_index(*alias, join);
                        let first = List(join.to.iter().take(1).map(|to| ColumnOf(Alias::Inner, to)));
                        write!(f, "(SELECT {column} FROM {relation} AS x WHERE {of_parent} AND {counts}")?;
                        write!(f, " ORDER BY {first}, {column} LIMIT 1)")
                    }
                }
            }
        }
    }
}

/// The join condition between a child and its parent.
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

/// The join condition between a child, which is in a sub-select, and its parent. Its array, and an order that begins with the
/// first column of the child, say which index to use, as in [`locator`](crate::plan::locator). Without them, PostgreSQL would
/// read the whole table where it believes that it is small.
fn by_index(parent: Alias, join: &Join) -> impl Display {
    fmt::from_fn(move |f| {
        for (index, (to, by)) in join.to.iter().zip(&join.by).enumerate() {
            let (to, by) = (ColumnOf(Alias::Inner, to), ColumnOf(parent, &by.name));
            if index == 0 { write!(f, "{to} = ANY(ARRAY[{by}])") } else { write!(f, " AND {to} = {by}") }?;
        }
        Ok(())
    })
}

/// Joins one row at most: by its whole key, or the first by key.
fn join(
    f: &mut fmt::Formatter<'_>,
    target: &Entity,
    alias: Alias,
    parent: Alias,
    one: &One,
    columns: &[&str],
) -> fmt::Result {
    let (relation, to, of_parent) = (Relation(&target.relation), &one.join.to, by_index(parent, &one.join));
    let columns = List(columns.iter().map(|column| ColumnOf(Alias::Inner, column)));
    write!(f, "\nLEFT JOIN LATERAL (SELECT {columns} FROM {relation} AS x WHERE {of_parent}")?;
    let rest = target.key.iter().map(|column| &column.name).filter(|column| !one.unique && !to.contains(column));
    let order = List(to.iter().take(1).chain(rest).map(|column| ColumnOf(Alias::Inner, column)));
    write!(f, " ORDER BY {order} LIMIT 1) AS {alias} ON TRUE")
}
