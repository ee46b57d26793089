//! The columns that a page reads: columns of its base relation and of objects joined to it, each once, and aggregates. A page reads only
//! the columns of the selection and of its joins, and returns only the columns of the response.

use std::fmt::{self, Display};

use crate::catalog::Catalog;
use crate::catalog::aggregate::{Aggregate, AggregateFunction};
use crate::catalog::binding::{Entity, One};
use crate::catalog::column::Column;
use crate::catalog::connection::Join;
use crate::catalog::result_type::ResultType;
use crate::catalog::search_key::SearchKey;
use crate::plan::parameters::Placeholder;
use crate::plan::result_columns::ResultColumns;
use crate::plan::sql::{Alias, ColumnOf, Condition, List, Relation, Separated};
use crate::value::MAX_VALUE_BYTES;

/// The select list and the joins of a page, and which of its columns are returned.
#[derive(Debug, Default)]
pub(crate) struct Select<'a> {
    expressions: Vec<Expression<'a>>,
    /// The columns that are returned, and where they are in a row of the statement.
    results: Vec<Returned>,
    joins: Vec<Joined<'a>>,
    /// The keys on other relations that the rows are searched by, and the values that are searched for.
    searched: Vec<(&'a SearchKey, Placeholder)>,
}

/// A column of a page that is returned.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Returned {
    /// Its index in a row of the statement.
    pub(crate) column: usize,
    pub(crate) source: ReturnedSource,
}

/// A column of a page, by its name there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReturnedSource {
    /// An element of the select list.
    Selected(usize),
    /// A flag of `pageInfo`, or the count.
    Flag(usize),
    /// Whether there is a row at all.
    Present,
    /// Whether the row matches the search.
    Matches,
    /// The row's number in the window of the search.
    Number,
    /// The mark of a change.
    Position,
    /// Whether the row follows the page, which is taken from the back.
    BeyondPage,
}

/// A column that is shown: its index in a row of the statement, and the index of its size.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ShownColumn {
    pub(crate) column: usize,
    pub(crate) size: Option<usize>,
}

#[derive(Debug, Clone, Copy)]
enum Expression<'a> {
    Column(ColumnOf<'a>),
    /// A column without values that are too long.
    Short(ColumnOf<'a>, ResultType),
    /// The bytes of such a value, or else null.
    Size(ColumnOf<'a>, ResultType),
    /// Whether an object was joined: true, or else null.
    Present(Alias),
    /// An aggregate, and the values that count if not all do.
    Aggregate(Alias, &'a Aggregate, Option<Placeholder>),
}

#[derive(Debug, Clone, Copy)]
struct Joined<'a> {
    alias: Alias,
    parent: Alias,
    one: &'a One,
    /// The table of the joined type.
    target: &'a Entity,
}

impl<'a> Select<'a> {
    /// The rows are searched by this key, and have one of the values.
    pub(crate) fn search(&mut self, key: &'a SearchKey, values: Placeholder) {
        self.searched.push((key, values));
    }

    /// Returns a column, and its index in a row of the statement.
    pub(crate) fn column(&mut self, alias: Alias, column: &'a Column, columns: &mut ResultColumns) -> usize {
        self.selected(Expression::Column(ColumnOf(alias, &column.name)), column.result, columns)
    }

    /// Returns a column that is shown, and not one of its values that is too long, but the size of that.
    pub(crate) fn shown(&mut self, alias: Alias, column: &'a Column, columns: &mut ResultColumns) -> ShownColumn {
        if !column.is_long {
            return ShownColumn { column: self.column(alias, column, columns), size: None };
        }
        let of = ColumnOf(alias, &column.name);
        let size = self.selected(Expression::Size(of, column.result), ResultType::Int8, columns);
        let column = self.selected(Expression::Short(of, column.result), column.result, columns);
        ShownColumn { column, size: Some(size) }
    }

    /// Returns an aggregate over the rows of a connection, and its index in a row of the statement.
    pub(crate) fn aggregate(&mut self, alias: Alias, aggregate: &'a Aggregate, columns: &mut ResultColumns) -> usize {
        let is_searched = |(key, _): &&(&SearchKey, Placeholder)| alias == Alias::Base && aggregate.is_searched_by(key);
        let values = self.searched.iter().find(is_searched).map(|(_, values)| *values);
        self.selected(Expression::Aggregate(alias, aggregate, values), aggregate.result, columns)
    }

    /// Returns whether an object was joined, and the index in a row of the statement.
    pub(crate) fn present(&mut self, alias: Alias, columns: &mut ResultColumns) -> usize {
        self.selected(Expression::Present(alias), ResultType::Boolean, columns)
    }

    /// Returns something that is not in the select list, and its index in a row of the statement.
    pub(crate) fn other(&mut self, source: ReturnedSource, ty: ResultType, columns: &mut ResultColumns) -> usize {
        let column = columns.find(ty, |column| self.results.iter().any(|result| result.column == column));
        self.results.push(Returned { column, source });
        column
    }

    /// Reads a column by which children find their parents. Returns its index in the select list.
    pub(crate) fn key(&mut self, alias: Alias, name: &'a str) -> usize {
        self.expression(Expression::Column(ColumnOf(alias, name)))
    }

    /// The columns that are returned.
    pub(crate) fn results(&self) -> &[Returned] {
        &self.results
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

    /// The number of columns of the select list.
    pub(crate) fn width(&self) -> usize {
        self.expressions.len().max(1)
    }

    /// The select list. A column's name is `c` and its index.
    pub(crate) fn list(&self) -> impl Display {
        fmt::from_fn(|f| {
            // A page may select nothing but the number of its rows.
            if self.expressions.is_empty() {
                return f.write_str("NULL AS nothing");
            }
            let expressions = self.expressions.iter().enumerate().map(|(index, expression)| {
                fmt::from_fn(move |f| {
                    expression.fmt(f)?;
                    f.write_str(" AS c")?;
                    index.fmt(f)
                })
            });
            List(expressions).fmt(f)
        })
    }

    /// The joins, each on a line of its own.
    pub(crate) fn joins(&self) -> impl Display {
        fmt::from_fn(|f| {
            self.joins.iter().try_for_each(|joined| {
                let is_tested = self.expressions.contains(&Expression::Present(joined.alias));
                joined.write(&self.columns_of(joined.alias), is_tested, f)
            })
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
        for expression in &self.expressions {
            match expression {
                Expression::Column(ColumnOf(of, name))
                | Expression::Short(ColumnOf(of, name), _)
                | Expression::Size(ColumnOf(of, name), _)
                    if *of == alias =>
                {
                    add(name);
                }
                Expression::Aggregate(of, aggregate, _) if *of == alias => {
                    aggregate.join.by.iter().for_each(|column| add(&column.name));
                }
                Expression::Column(_)
                | Expression::Short(..)
                | Expression::Size(..)
                | Expression::Present(_)
                | Expression::Aggregate(..) => {}
            }
        }
        for joined in self.joins.iter().filter(|joined| joined.parent == alias) {
            joined.one.join.by.iter().for_each(|column| add(&column.name));
        }
        columns
    }

    fn selected(&mut self, expression: Expression<'a>, ty: ResultType, columns: &mut ResultColumns) -> usize {
        let source = ReturnedSource::Selected(self.expression(expression));
        let mut results = self.results.iter();
        let known = results.find(|result| result.source == source && columns.ty(result.column) == ty);
        match known {
            Some(known) => known.column,
            None => self.other(source, ty, columns),
        }
    }

    fn expression(&mut self, expression: Expression<'a>) -> usize {
        if let Some(index) = self.expressions.iter().position(|known| *known == expression) {
            return index;
        }
        self.expressions.push(expression);
        self.expressions.len() - 1
    }
}

impl PartialEq for Expression<'_> {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Column(one), Self::Column(other))
            | (Self::Short(one, _), Self::Short(other, _))
            | (Self::Size(one, _), Self::Size(other, _)) => one == other,
            (Self::Present(one), Self::Present(other)) => one == other,
            (Self::Aggregate(alias, one, _), Self::Aggregate(other_alias, other, _)) => {
                alias == other_alias && std::ptr::eq(*one, *other)
            }
            (Self::Column(_) | Self::Short(..) | Self::Size(..) | Self::Present(_) | Self::Aggregate(..), _) => false,
        }
    }
}

impl Display for Expression<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Column(column) => column.fmt(f),
            Self::Short(column, ty) => {
                write!(f, "CASE WHEN {} <= {MAX_VALUE_BYTES} THEN {column} END", ValueSize(*column, *ty))
            }
            Self::Size(column, ty) => {
                let size = ValueSize(*column, *ty);
                write!(f, "CASE WHEN {size} > {MAX_VALUE_BYTES} THEN {size} END")
            }
            Self::Present(alias) => write!(f, "{alias}.present"),
            Self::Aggregate(alias, aggregate, values) => {
                let column = ColumnOf(Alias::Inner, &aggregate.column);
                let (relation, join) = (Relation(&aggregate.relation), &aggregate.join);
                let of_parent = by_index(*alias, join);
                let first = List(join.to.iter().take(1).map(|to| ColumnOf(Alias::Inner, to)));
                match aggregate.function {
                    AggregateFunction::CountDistinct => {
                        // From version 16 on, PostgreSQL reads what `count(DISTINCT)` counts in its order: through an index of the whole
                        // table, if one has that order. Groups need no order.
                        write!(
                            f,
                            "(SELECT count(g.e) FROM (SELECT y.e FROM (SELECT {column} AS e FROM {relation} AS x "
                        )?;
                        write!(f, "WHERE {of_parent} ORDER BY {first} OFFSET 0) AS y GROUP BY y.e) AS g)")
                    }
                    AggregateFunction::Lowest => {
                        let counts =
                            values.map_or(Condition::IsNotNull(column), |values| Condition::Among(column, values));
                        write!(f, "(SELECT {column} FROM {relation} AS x WHERE {of_parent} AND {counts}")?;
                        write!(f, " ORDER BY {first}, {column} LIMIT 1)")
                    }
                }
            }
        }
    }
}

/// The bytes of a value. The size of a text or of bytes is known without reading them.
struct ValueSize<'a>(ColumnOf<'a>, ResultType);

impl Display for ValueSize<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(column, ty) = self;
        if *ty == ResultType::Bytes {
            write!(f, "octet_length({column})")
        } else {
            write!(f, "octet_length({column}::text)")
        }
    }
}

/// The join condition between a child, which is in a sub-select, and its parent. Its array, and an order that begins with the first column
/// of the child, decide which index is used, as in [`locator`](crate::plan::locator). Without them, PostgreSQL would read the whole table
/// where it believes that it is small.
fn by_index(parent: Alias, join: &Join) -> impl Display {
    let columns = join.to.iter().zip(&join.by).enumerate();
    let columns = columns.map(move |(index, (to, by))| (index, ColumnOf(Alias::Inner, to), ColumnOf(parent, &by.name)));
    let conditions = columns.map(|(index, to, by)| {
        fmt::from_fn(move |f| if index == 0 { write!(f, "{to} = ANY(ARRAY[{by}])") } else { write!(f, "{to} = {by}") })
    });
    let empty = join.where_null.as_ref().map(|column| Condition::IsNull(ColumnOf(Alias::Inner, column)));
    fmt::from_fn(move |f| {
        Separated(" AND ", conditions.clone()).fmt(f)?;
        empty.iter().try_for_each(|empty| write!(f, " AND {empty}"))
    })
}

impl Joined<'_> {
    /// Joins one row at most: by its whole key, or the first by key.
    fn write(&self, columns: &[&str], is_tested: bool, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { alias, parent, one, target } = *self;
        let relation = Relation(one.unlimited.as_ref().unwrap_or(&target.relation));
        let (to, of_parent) = (&one.join.to, by_index(parent, &one.join));
        let present = match (is_tested, columns.is_empty()) {
            (true, true) => "TRUE AS present",
            (true, false) => "TRUE AS present, ",
            (false, _) => "",
        };
        let columns = List(columns.iter().map(|column| ColumnOf(Alias::Inner, column)));
        write!(f, "\nLEFT JOIN LATERAL (SELECT {present}{columns} FROM {relation} AS x WHERE {of_parent}")?;
        let rest = target.key.iter().map(|column| &column.name).filter(|column| !one.unique && !to.contains(column));
        let order = List(to.iter().take(1).chain(rest).map(|column| ColumnOf(Alias::Inner, column)));
        write!(f, " ORDER BY {order} LIMIT 1) AS {alias} ON TRUE")
    }
}
