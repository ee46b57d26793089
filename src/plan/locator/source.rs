//! What all ways to find the rows of a page have in common: the relation, its columns, and the part of the order.

use std::fmt::{self, Display, Write};
use std::mem;

use crate::plan::keyset::Nulls;
use crate::plan::lookup_source::LookupSource;
use crate::plan::sql::{
    Alias, ColumnOf, Columns, Condition, Identifier, List, Relation, Separated, direction, order_by,
};

/// The columns after the key of a row that matches.
pub(super) const MATCHES: &str = "TRUE AS matches, NULL::int8 AS number, row_number() OVER () AS position";

/// Where the rows of a page are read.
pub(crate) struct RowSource<'a> {
    /// The relation of the rows.
    pub(crate) relation: &'a str,
    /// The columns of its primary key. The alternatives return only these, so that rows that do not match are never read as a whole.
    pub(crate) key: Vec<&'a str>,
    /// The columns of the page's order. Rows of a look-up are sorted by them.
    pub(crate) sort: Vec<&'a str>,
    /// Every column that a condition or an order reads; also the columns of the response, if the locator returns rows and not their keys.
    /// No others: the database role may not be allowed to read what the schema does not serve.
    pub(crate) columns: Vec<&'a str>,
    /// The conditions that join the rows with their parent; none for a root.
    pub(crate) joined: Vec<Condition<'a>>,
}

/// A part of the order, read in one direction: the rows of a page, the rows before it, those after it, or all of them.
pub(crate) struct Span<'a> {
    /// Its segments in ascending order, as ranges of the index. Each is a list of conditions.
    pub(crate) segments: Vec<Vec<Condition<'a>>>,
    /// The same segments, as conditions on the rows of a look-up, which no index range serves. None if every row is in the part.
    pub(crate) lookup_segments: Vec<Vec<Condition<'a>>>,
    /// The same segments within a range that has one value in the first column, if ranges of a look-up are such.
    pub(crate) merged_segments: Option<Vec<Vec<Condition<'a>>>>,
    pub(crate) ascending: bool,
    pub(crate) nulls: Nulls,
    /// The number of its rows among those that are read before and sorted, if no index has them in order.
    pub(crate) sorted: Option<usize>,
}

/// How many rows are wanted.
#[derive(Clone, Copy)]
pub(crate) enum Take<'t> {
    /// A page and one more row.
    Page(&'t dyn Display),
    /// Any row that matches, or the row after the window.
    Any,
}

impl Display for Take<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Page(limit) => limit.fmt(f),
            Self::Any => f.write_str("1"),
        }
    }
}

/// Which of the rows are read: a number of rows, after a number of rows that are skipped.
pub(super) struct Cut<'t> {
    pub(super) skip: Option<&'t dyn Display>,
    pub(super) take: &'t dyn Display,
}

impl<'t> Cut<'t> {
    pub(super) fn first(take: &'t dyn Display) -> Self {
        Self { skip: None, take }
    }

    /// The number of rows from the first one that is skipped to the last one that is read.
    pub(super) fn end(&self) -> impl Display {
        fmt::from_fn(|f| {
            self.skip.map_or(Ok(()), |skip| write!(f, "{skip} + "))?;
            self.take.fmt(f)
        })
    }
}

impl Display for Cut<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\nLIMIT {}", self.take)?;
        self.skip.map_or(Ok(()), |skip| write!(f, " OFFSET {skip}"))
    }
}

/// A part of the order of a source's rows.
#[derive(Clone, Copy)]
pub(super) struct SourceSpan<'l> {
    pub(super) source: &'l RowSource<'l>,
    pub(super) span: &'l Span<'l>,
}

/// Rows that are sorted after an index has found them.
pub(super) struct FoundRows<'t> {
    /// The source of a select list.
    pub(super) from: String,
    /// The conditions that allow to use them.
    pub(super) conditions: Vec<String>,
    /// The conditions of the terms that the index does not serve.
    pub(super) filters: &'t [Condition<'t>],
}

impl<'t> FoundRows<'t> {
    /// Rows that the statement has read before, under this name.
    pub(super) fn read_before(name: impl Display, filters: &'t [Condition<'t>]) -> Self {
        Self { from: format!("{name} AS t"), conditions: Vec::new(), filters }
    }
}

impl RowSource<'_> {
    /// The rows with the keys of the alternatives, joined to them. As they exist, the first row that is not below a key has it.
    pub(super) fn rows_by_key(&self, columns: &[&str]) -> impl Display {
        fmt::from_fn(|f| {
            let relation = Relation(self.relation);
            let columns = Columns(Alias::Base, columns);
            write!(f, "LEFT JOIN LATERAL (SELECT {columns} FROM {relation} AS t WHERE ")?;
            self.joined.iter().try_for_each(|condition| write!(f, "{condition} AND "))?;
            if let [first, rest @ ..] = self.key.as_slice() {
                write!(f, "{} = ANY(ARRAY[m.k0])", ColumnOf(Alias::Base, first))?;
                let columns = Columns(Alias::Base, rest);
                let keys = List((1..=rest.len()).map(|index| fmt::from_fn(move |f| write!(f, "m.k{index}"))));
                match rest.len() {
                    0 => Ok(()),
                    1 => write!(f, " AND {columns} >= {keys}"),
                    _ => write!(f, " AND ({columns}) >= ({keys})"),
                }?;
            }
            write!(f, "{}\nLIMIT 1) AS t ON TRUE", order_by(&self.key, true))
        })
    }

    /// The key's columns of an alias, as `k0`, `k1`….
    pub(super) fn keys(&self, alias: &'static str) -> impl Display {
        List(
            self.key.iter().enumerate().map(move |(index, column)| {
                fmt::from_fn(move |f| write!(f, "{alias}.{} AS k{index}", Identifier(column)))
            }),
        )
    }
}

impl SourceSpan<'_> {
    /// The order of the rows, for rows that no index returns in it.
    pub(super) fn sorted(&self) -> impl Display {
        let Self { source, span } = *self;
        // The other columns are never null.
        let nulls = match (span.nulls, span.ascending) {
            (Nulls::First, true) => " NULLS FIRST",
            (Nulls::First, false) => " NULLS LAST",
            (Nulls::Last, _) => "",
        };
        let direction = direction(span.ascending);
        let columns = source.sort.iter().enumerate().map(move |(index, column)| {
            let nulls = if index == 0 { nulls } else { "" };
            fmt::from_fn(move |f| write!(f, "{}{direction}{nulls}", ColumnOf(Alias::Base, column)))
        });
        fmt::from_fn(move |f| write!(f, "\nORDER BY {}", List(columns.clone())))
    }

    /// The rows that a look-up finds.
    pub(super) fn found_by<'t>(&self, lookup: &'t LookupSource<'t>) -> Result<FoundRows<'t>, fmt::Error> {
        let mut from = "(".to_owned();
        lookup.write_rows(self.source.relation, &self.source.columns, &mut from)?;
        from.push_str(") AS t");
        Ok(FoundRows { from, conditions: Vec::new(), filters: &lookup.filters })
    }

    /// The first of these rows, as the source of a select list and what follows.
    pub(super) fn write_first(&self, rows: &FoundRows<'_>, cut: &Cut<'_>, text: &mut String) -> fmt::Result {
        text.write_str(&rows.from)?;
        let mut and = "\nWHERE ";
        let mut add = |condition: &dyn Display| write!(text, "{}{condition}", mem::replace(&mut and, " AND "));
        rows.conditions.iter().try_for_each(|condition| add(condition))?;
        rows.filters.iter().try_for_each(|condition| add(condition))?;
        if !self.span.lookup_segments.is_empty() {
            add(&any(&self.span.lookup_segments))?;
        }
        write!(text, "{}{cut}", self.sorted())
    }

    /// The keys of the first of these rows.
    pub(super) fn write_first_keys(&self, rows: &FoundRows<'_>, take: Take<'_>, text: &mut String) -> fmt::Result {
        writeln!(text, "(SELECT {}, {MATCHES} FROM (", self.source.keys("t"))?;
        write!(text, "SELECT {}\nFROM ", Columns(Alias::Base, &self.source.key))?;
        self.write_first(rows, &Cut::first(&take), text)?;
        text.write_str("\n) AS t)")
    }
}

/// Conditions joined by `AND`.
pub(super) fn all(conditions: &[Condition<'_>]) -> impl Display {
    Separated(" AND ", conditions.iter())
}

/// Segments joined by `OR`.
pub(super) fn any(segments: &[Vec<Condition<'_>>]) -> impl Display {
    let segments = segments.iter().map(|segment| all(segment));
    fmt::from_fn(move |f| write!(f, "({})", Separated(" OR ", segments.clone())))
}
