//! A window of the order, after look-ups that are used instead if they find few rows.

use std::fmt::{self, Display, Write};

use crate::plan::locator::ranges::{RangeRows, RangesSql};
use crate::plan::locator::source::{Cut, MATCHES, RowSource, SourceSpan, Span, Take, all};
use crate::plan::lookup_source::LookupSource;
use crate::plan::parameters::{Placeholder, RowBound};
use crate::plan::sql::{Condition, List, Separated};

/// A window, and its look-ups.
pub(crate) struct WindowSql<'a> {
    /// The ranges that have the rows of the window.
    pub(crate) ranges: RangesSql<'a>,
    /// The conditions of the terms that no range serves. Each row of the window is compared with them.
    pub(crate) filters: Vec<Condition<'a>>,
    /// The look-ups, in the order in which they are tried. Each is used if it finds few rows, and those before it find many.
    pub(crate) lookups: Vec<CountedLookup<'a>>,
    /// The most rows of the window. A parameter, because a larger page has a larger window. The rows of the window end with its last row
    /// and the row after it, whether these match or not.
    pub(crate) rows: Placeholder,
    /// The most rows that are examined to find any row before or after the page. It does not depend on the page size, and is a number in
    /// the text.
    pub(crate) probe_rows: RowBound,
}

/// A look-up that is used if it finds few rows.
pub(crate) struct CountedLookup<'a> {
    pub(crate) source: LookupSource<'a>,
    /// The most rows with which it is used, at least.
    pub(crate) rows: RowBound,
    /// How many rows are paid, if it is used with as many.
    pub(crate) paid: Option<Placeholder>,
    /// The ranges that are merged, if it finds the values that choose them.
    pub(crate) merged: Option<MergedLookup<'a>>,
}

/// Ranges in the page's order, each of the rows that join one row of another relation.
pub(crate) struct MergedLookup<'a> {
    pub(crate) ranges: RangesSql<'a>,
    /// How many rows are read first of each range; none if they are counted.
    pub(crate) head: Option<Placeholder>,
}

/// The rows of a span that a window has.
#[derive(Clone, Copy)]
pub(super) struct WindowRows<'l> {
    pub(super) at: SourceSpan<'l>,
    pub(super) window: &'l WindowSql<'l>,
}

impl CountedLookup<'_> {
    /// The most rows with which it is used.
    fn most(&self) -> impl Display {
        fmt::from_fn(|f| match self.paid {
            Some(paid) => write!(f, "greatest({paid}::int8, {})", self.rows),
            None => self.rows.fmt(f),
        })
    }

    /// One more than the most rows.
    fn limit(&self) -> impl Display {
        fmt::from_fn(|f| match self.paid {
            Some(_) => write!(f, "{} + 1", self.most()),
            None => self.rows.and_one().fmt(f),
        })
    }

    /// The number of its rows, up to the first that is too many, as a member of a `WITH` list.
    fn write_count(&self, number: usize, source: &RowSource<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (relation, limit) = (source.relation, self.limit());
        let Some(words) = &self.source.words else {
            writeln!(f, "n{number} AS MATERIALIZED (SELECT count(*) AS n FROM (")?;
            match &self.merged {
                Some(_) => self.source.write_joined_counted(&limit, f),
                None => self.source.write_counted((relation, &source.key), &limit, f),
            }?;
            return f.write_str("\n) AS c)");
        };
        // An index without an order is read for all rows of its rarest word, so they have to be few.
        writeln!(f, "n{number} AS MATERIALIZED (SELECT CASE WHEN {} THEN", words.are_rare(relation))?;
        f.write_str("(SELECT count(*) FROM (")?;
        self.source.write_counted((relation, &source.key), &limit, f)?;
        write!(f, "\n) AS c) ELSE {limit} END AS n)")
    }
}

impl WindowSql<'_> {
    /// The counts that decide between the alternatives, as the beginning of a `WITH` list, if there are look-ups.
    pub(super) fn counts(&self, source: &RowSource<'_>) -> Option<impl Display> {
        let counts = self.lookups.iter().enumerate();
        let counts = counts.map(move |(number, lookup)| fmt::from_fn(move |f| lookup.write_count(number, source, f)));
        (!self.lookups.is_empty())
            .then(|| fmt::from_fn(move |f| write!(f, "WITH {}", Separated(",\n", counts.clone()))))
    }

    /// The conditions that these first look-ups find too many rows.
    fn too_many(&self, first: usize) -> impl Iterator<Item: Display> {
        let lookups = self.lookups[..first].iter().enumerate();
        lookups
            .map(|(number, lookup)| fmt::from_fn(move |f| write!(f, "(SELECT n FROM n{number}) > {}", lookup.most())))
    }

    /// The condition that no look-up is used, followed by `AND`.
    fn no_lookup(&self) -> impl Display {
        fmt::from_fn(|f| self.too_many(self.lookups.len()).try_for_each(|condition| write!(f, "{condition} AND ")))
    }
}

impl<'l> WindowRows<'l> {
    /// The keys of the rows of the first look-up that finds few, or of the window.
    pub(super) fn alternatives(&self, take: Take<'_>, text: &mut String) -> fmt::Result {
        for number in 0..self.window.lookups.len() {
            self.lookup(number, take, text)?;
            text.write_str("\nUNION ALL\n")?;
        }
        match take {
            Take::Page(limit) => self.page(limit, text),
            Take::Any => self.probe(text),
        }
    }

    /// The number of rows, up to a limit; null if the window ended before the limit was reached. A look-up finds all rows. The window is
    /// read once, and one row beyond it.
    pub(super) fn count(&self, limit: Placeholder, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (WindowSql { rows: window, lookups, filters, .. }, mut text) = (self.window, String::new());
        f.write_str("(")?;
        self.window.counts(self.at.source).map_or(Ok(()), |counts| writeln!(f, "{counts}"))?;
        let (matching, examined) = ("sum(c.matching)::int8", "sum(c.examined)::int8");
        write!(f, "SELECT CASE WHEN {matching} >= {limit} OR {examined} <= {window}")?;
        write!(f, " THEN least({matching}, {limit}) END\nFROM (\n")?;
        for (number, lookup) in lookups.iter().enumerate() {
            text.clear();
            match &lookup.merged {
                Some(merged) => self.count_merged(number, merged, limit, &mut text),
                None => self.lookup(number, Take::Page(&limit), &mut text),
            }?;
            write!(f, "SELECT count(*) AS matching, 0::int8 AS examined FROM {text} AS n\nUNION ALL\n")?;
        }
        text.clear();
        self.ranges().rows(&Cut::first(&fmt::from_fn(|f| write!(f, "{window}::int8 + 1"))), &mut text)?;
        let (no_lookup, filters) = (self.window.no_lookup(), all(filters));
        write!(f, "SELECT count(*) FILTER (WHERE {filters}) AS matching, count(*) AS examined FROM (\n{text}\n) AS t")?;
        write!(f, "\nWHERE {no_lookup}TRUE\n) AS c)")
    }

    /// The rows that a look-up finds, if it is the first that finds few.
    fn lookup(&self, number: usize, take: Take<'_>, text: &mut String) -> fmt::Result {
        let lookup = &self.window.lookups[number];
        if let Some(merged) = &lookup.merged {
            return self.merged(number, merged, take, text);
        }
        let mut rows = self.at.found_by(&lookup.source)?;
        rows.conditions.extend(self.is_used(number));
        self.at.write_first_keys(&rows, take, text)
    }

    /// The conditions that this look-up is the first that finds few rows.
    fn is_used(&self, number: usize) -> impl Iterator<Item = String> {
        let too_many = self.window.too_many(number).map(|condition| condition.to_string());
        too_many.chain([format!("(SELECT n FROM n{number}) <= {}", self.window.lookups[number].most())])
    }

    /// The first rows of merged ranges. One row of each is enough to find any.
    fn merged(
        &self,
        number: usize,
        MergedLookup { ranges, head }: &MergedLookup<'_>,
        take: Take<'_>,
        text: &mut String,
    ) -> fmt::Result {
        let span = self.merged_span();
        let rows = RangeRows { at: SourceSpan { source: self.at.source, span: &span }, ranges };
        let values = self.window.lookups[number].source.joined_values();
        writeln!(text, "(SELECT {}, {MATCHES} FROM (", self.at.source.keys("t"))?;
        match (take, *head) {
            (Take::Page(limit), Some(head)) => rows.merged(&values, head, limit, text)?,
            (Take::Page(_), None) | (Take::Any, _) => {
                writeln!(text, "SELECT t.* FROM (SELECT {values}) AS e\nCROSS JOIN LATERAL (")?;
                rows.segments(&Cut::first(&take), text)?;
                write!(text, "\n) AS t{}\nLIMIT {take}", self.at.sorted())?;
            }
        }
        write!(text, "\n) AS t\nWHERE {})", Separated(" AND ", self.is_used(number).collect::<Vec<_>>().iter()))
    }

    /// The rows of merged ranges, up to a limit. Their order does not matter.
    fn count_merged(
        &self,
        number: usize,
        MergedLookup { ranges, .. }: &MergedLookup<'_>,
        limit: Placeholder,
        text: &mut String,
    ) -> fmt::Result {
        let span = self.merged_span();
        let rows = RangeRows { at: SourceSpan { source: self.at.source, span: &span }, ranges };
        let values = self.window.lookups[number].source.joined_values();
        writeln!(text, "(SELECT FROM (SELECT {values}) AS e\nCROSS JOIN LATERAL (")?;
        rows.segments(&Cut::first(&limit), text)?;
        let is_used = self.is_used(number).collect::<Vec<_>>();
        write!(text, "\n) AS t\nWHERE {}\nLIMIT {limit})", Separated(" AND ", is_used.iter()))
    }

    /// The span in one of the merged ranges.
    fn merged_span(&self) -> Span<'l> {
        let Span { segments, merged_segments, ascending, nulls, .. } = self.at.span;
        let segments = merged_segments.as_ref().unwrap_or(segments).clone();
        Span {
            segments,
            lookup_segments: Vec::new(),
            merged_segments: None,
            ascending: *ascending,
            nulls: *nulls,
            sorted: None,
        }
    }

    fn ranges(&self) -> RangeRows<'l> {
        RangeRows { at: self.at, ranges: &self.window.ranges }
    }

    /// The rows of the window that match. If they are fewer than wanted, its last row and the row after it follow. They are
    /// found by reading the window once more, which takes less time than numbering its rows.
    fn page(&self, limit: &dyn Display, text: &mut String) -> fmt::Result {
        let (WindowSql { rows: window, filters, .. }, key) = (self.window, &self.at.source.key);
        let (keys, no_lookup) = (self.at.source.keys("t"), self.window.no_lookup());
        writeln!(text, "(WITH w AS MATERIALIZED (SELECT {keys} FROM (")?;
        self.ranges().rows(&Cut::first(window), text)?;
        text.write_str("\n) AS t")?;
        for (number, row) in filters.iter().filter_map(Condition::as_join).enumerate() {
            write!(text, "\nCROSS JOIN LATERAL ({row}) AS y{number}")?;
        }
        let mut checked: Vec<_> = filters.iter().filter(|filter| filter.as_join().is_none()).cloned().collect();
        if checked.is_empty() {
            checked.push(Condition::Always(true));
        }
        write!(text, "\nWHERE {no_lookup}{}\nLIMIT {limit})", all(&checked))?;
        let of_window = List((0..key.len()).map(|index| fmt::from_fn(move |f| write!(f, "w.k{index}"))));
        write!(text, "\nSELECT {of_window}, {MATCHES} FROM w")?;
        let last = fmt::from_fn(|f| write!(f, "{window} - 1"));
        write!(text, "\nUNION ALL\nSELECT {keys}, FALSE AS matches, {last} + row_number() OVER () AS number, ")?;
        writeln!(text, "{limit}::int8 + row_number() OVER () AS position FROM (")?;
        self.ranges().rows(&Cut { skip: Some(&last), take: &2 }, text)?;
        write!(text, "\n) AS t\nWHERE {no_lookup}(SELECT count(*) FROM w) < {limit})")
    }

    /// A row of the window that matches, or else the row after the window. Whether this row matches is not known.
    fn probe(&self, text: &mut String) -> fmt::Result {
        let (keys, no_lookup, window) = (self.at.source.keys("t"), self.window.no_lookup(), self.window.probe_rows);
        let columns = "NULL::int8 AS number, 1::int8 AS position";
        writeln!(text, "(SELECT {keys}, TRUE AS matches, {columns} FROM (")?;
        self.ranges().rows(&Cut::first(&window), text)?;
        write!(text, "\n) AS t\nWHERE {no_lookup}{}\nLIMIT 1)\nUNION ALL\n", all(&self.window.filters))?;
        writeln!(text, "(SELECT {keys}, FALSE AS matches, {columns} FROM (")?;
        self.ranges().rows(&Cut { skip: Some(&window), take: &1 }, text)?;
        write!(text, "\n) AS t\nWHERE {no_lookup}TRUE)")
    }
}
