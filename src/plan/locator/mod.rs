//! The part of a statement that finds the keys of a page's rows, where conditions on one range of an index do not.
//!
//! It is a `UNION ALL` of alternatives; one of them has rows. There is a look-up for each term with an index, used if few rows
//! match, and the window of the order. Each scan is `ORDER BY` the columns of the index that it is meant to use. With sorting
//! disabled, PostgreSQL has no choice, whatever its statistics say. An equality is written as a comparison with an array
//! (`= ANY`), because PostgreSQL drops columns that equal one value from the order.
//!
//! The alternatives rely on an order that PostgreSQL keeps, although SQL does not guarantee it: the rows of a sub-select with
//! `ORDER BY`, and the parts of a `UNION ALL`, are read in their order if no worker processes read in parallel.
//!
//! - `source`: what all ways have in common
//! - `ranges`: ranges of the index that has the order
//! - `window`: a window of such ranges, and its look-ups

mod ranges;
mod source;
mod window;

use std::fmt::{self, Display, Write};

use crate::plan::access_path::SortLimit;
use crate::plan::locator::ranges::RangeRows;
use crate::plan::locator::source::{Cut, FoundRows, SourceSpan};
use crate::plan::locator::window::WindowRows;
use crate::plan::lookup_source::LookupSource;
use crate::plan::parameters::Placeholder;
use crate::plan::sql::{Alias, Columns, Separated};

pub(crate) use ranges::RangesSql;
pub(crate) use source::{RowSource, Span, Take};
pub(crate) use window::{CountedLookup, MergedLookup, WindowSql};

/// Finds the keys of a page's rows. An access path as SQL: the planner makes it from the path and the terms of the search, while it writes
/// the statement of a shape. Only the text outlives the planner. Names are borrowed from the catalog; values are placeholders.
pub(crate) struct Locator<'a> {
    pub(crate) source: RowSource<'a>,
    pub(crate) rows: LocatedRows<'a>,
}

/// Which rows are read. Each is an access path's strategy; in order, a locator is needed only for the ranges of a list.
pub(crate) enum LocatedRows<'a> {
    Ranges(RangesSql<'a>),
    Window(WindowSql<'a>),
    Key(LookupSource<'a>),
    Parent {
        rows: LookupSource<'a>,
        /// The most rows that a parent has. With more, none is returned.
        at_most: u32,
    },
}

/// The rows of a span, as SQL.
#[derive(Clone, Copy)]
pub(crate) struct SpanRows<'l> {
    locator: &'l Locator<'l>,
    at: SourceSpan<'l>,
}

impl<'a> Locator<'a> {
    /// The rows of a span.
    pub(crate) fn of<'l>(&'l self, span: &'l Span<'a>) -> SpanRows<'l> {
        SpanRows { locator: self, at: SourceSpan { source: &self.source, span } }
    }

    /// The most rows of its window, if it has one.
    pub(crate) fn window(&self) -> Option<Placeholder> {
        if let LocatedRows::Window(window) = &self.rows { Some(window.rows) } else { None }
    }

    /// What makes the connection null, if rows are read and sorted.
    pub(crate) fn sort_limit(&self) -> Option<SortLimit> {
        match &self.rows {
            LocatedRows::Parent { at_most, .. } => Some(SortLimit::Parent(*at_most)),
            LocatedRows::Ranges(ranges) | LocatedRows::Window(WindowSql { ranges, .. }) => {
                ranges.ties.map(SortLimit::Ties)
            }
            LocatedRows::Key(_) => None,
        }
    }

    /// Whether more rows than that are read, if rows are read and sorted for these spans.
    pub(crate) fn is_too_long<'s>(&'s self, spans: impl Iterator<Item = &'s Span<'a>> + Clone) -> Option<impl Display> {
        let limit = self.sort_limit()?;
        let first = Columns(Alias::Base, &self.source.sort[..1]);
        let has_ties = move |number: usize, ties: u32| {
            fmt::from_fn(move |f| {
                write!(f, "EXISTS (SELECT FROM s{number} AS t GROUP BY {first} HAVING count(*) > {ties})")
            })
        };
        Some(fmt::from_fn(move |f| match limit {
            SortLimit::Parent(at_most) => write!(f, "(SELECT count(*) > {at_most} FROM s)"),
            SortLimit::Ties(ties) => {
                let numbers = spans.clone().filter_map(|span| span.sorted);
                write!(f, "({})", Separated(" OR ", numbers.map(|number| has_ties(number, ties))))
            }
        }))
    }

    /// The rows that are read and sorted, as the rest of a `WITH` list or as one: all rows of a parent and one more than there may be, or for
    /// each span as many as are needed to have the first `limit` in order, whatever rows the last value and the cursor's value have.
    pub(crate) fn write_sorted_rows<'s>(
        &'s self,
        spans: impl Iterator<Item = &'s Span<'a>>,
        limit: Placeholder,
        text: &mut String,
    ) -> fmt::Result {
        if let LocatedRows::Parent { rows, at_most } = &self.rows {
            text.write_str("WITH s AS MATERIALIZED (")?;
            rows.write_rows(self.source.relation, &self.source.columns, text)?;
            return writeln!(text, "\nLIMIT {})", at_most + 1);
        }
        let (ranges, of_page, of_probe) = match &self.rows {
            LocatedRows::Ranges(ranges) => (ranges, format!("{limit}::int8"), "1".to_owned()),
            LocatedRows::Window(WindowSql { ranges, rows, probe_rows, .. }) => {
                (ranges, format!("{rows}::int8 + 1"), probe_rows.and_one().to_string())
            }
            LocatedRows::Key(_) | LocatedRows::Parent { .. } => return Ok(()),
        };
        let Some(ties) = ranges.ties else { return Ok(()) };
        let is_continued = self.counts().is_some();
        for (number, span) in spans.filter_map(|span| Some((span.sorted?, span))) {
            // A page may begin among the rows with the cursor's value, and end among those with one value. For a probe, any row will do.
            let (wanted, times) = match number {
                0 if span.lookup_segments.is_empty() => (&of_page, 1),
                0 => (&of_page, 2),
                _ => (&of_probe, 1),
            };
            let rows = fmt::from_fn(|f| write!(f, "{wanted} + {}", times * ties));
            write!(text, "{}s{number} AS MATERIALIZED (", if number > 0 || is_continued { "," } else { "WITH " })?;
            self.of(span).ranges(ranges).segments(&Cut::first(&rows), text)?;
            text.write_str(")\n")?;
        }
        Ok(())
    }

    /// Whether it returns the rows of the page, and not their keys: few others are read beside them, and none that does not match. Or
    /// they are read in any case.
    pub(crate) fn returns_rows(&self) -> bool {
        match &self.rows {
            LocatedRows::Ranges(ranges) => ranges.ties.is_some() || ranges.list.is_some_and(|list| list.head.is_none()),
            LocatedRows::Window(_) | LocatedRows::Key(_) => false,
            LocatedRows::Parent { .. } => true,
        }
    }

    /// The counts that decide between the alternatives, if look-ups are tried, as the beginning of a `WITH` list.
    pub(crate) fn counts(&self) -> Option<impl Display> {
        if let LocatedRows::Window(window) = &self.rows { window.counts(&self.source) } else { None }
    }

    /// The rows with the keys of the alternatives, joined to them.
    pub(crate) fn rows_by_key(&self, columns: &[&str]) -> impl Display {
        self.source.rows_by_key(columns)
    }
}

impl<'l> SpanRows<'l> {
    fn ranges(&self, ranges: &'l RangesSql<'l>) -> RangeRows<'l> {
        RangeRows { at: self.at, ranges }
    }

    /// Whether its rows are the rows of several segments, each merged, one after the other.
    pub(crate) fn reads_in_turn(&self) -> bool {
        let is_merged = |ranges: &RangesSql<'_>| ranges.list.is_some_and(|list| list.ranges.is_some());
        self.at.span.segments.len() > 1
            && matches!(&self.locator.rows, LocatedRows::Ranges(ranges) if is_merged(ranges))
    }

    /// The order of the rows, for rows that no index returns in it.
    pub(crate) fn sorted(&self) -> impl Display {
        self.at.sorted()
    }

    /// The rows of a page, if the locator returns rows.
    pub(crate) fn page_rows(&self, limit: &dyn Display, text: &mut String) -> fmt::Result {
        match &self.locator.rows {
            LocatedRows::Ranges(ranges) => self.ranges(ranges).rows(&Cut::first(limit), text),
            LocatedRows::Parent { rows, .. } => {
                write!(text, "SELECT {}\nFROM ", Columns(Alias::Base, &self.at.source.columns))?;
                self.at.write_first(&of_parent(rows), &Cut::first(limit), text)
            }
            LocatedRows::Window(_) | LocatedRows::Key(_) => Ok(()),
        }
    }

    /// The keys of the rows, as `k0`, `k1`…; whether each matches, its number in the window, and its position.
    pub(crate) fn alternatives(&self, take: Take<'_>, text: &mut String) -> fmt::Result {
        match &self.locator.rows {
            LocatedRows::Ranges(ranges) => self.ranges(ranges).in_order(take, text),
            LocatedRows::Window(window) => WindowRows { at: self.at, window }.alternatives(take, text),
            LocatedRows::Key(rows) => self.at.write_first_keys(&self.at.found_by(rows)?, take, text),
            LocatedRows::Parent { rows, .. } => self.at.write_first_keys(&of_parent(rows), take, text),
        }
    }

    /// The number of rows, up to a limit; null if a window ended before the limit was reached.
    pub(crate) fn count(&self, limit: Placeholder, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.locator.rows {
            LocatedRows::Ranges(ranges) => self.ranges(ranges).count(limit, f),
            LocatedRows::Window(window) => WindowRows { at: self.at, window }.count(limit, f),
            LocatedRows::Key(_) | LocatedRows::Parent { .. } => {
                let mut text = String::new();
                self.alternatives(Take::Page(&limit), &mut text)?;
                write!(f, "(SELECT count(*)\nFROM (\n{text}\n) AS n)")
            }
        }
    }
}

/// The rows of a parent, which the statement has read before.
fn of_parent<'t>(rows: &'t LookupSource<'t>) -> FoundRows<'t> {
    FoundRows::read_before("s", &rows.filters)
}
