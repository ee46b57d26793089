//! The part of a statement that finds the keys of a page's rows, where conditions on one range of an index do not.
//!
//! It is a `UNION ALL` of alternatives; one of them has rows. There is a look-up for each term with an index, used if few rows
//! match, and the window of the order. Each scan is `ORDER BY` the columns of the index that it is meant to use. With sorting
//! disabled, PostgreSQL has no choice, whatever its statistics say. An equality is written as a comparison with an array
//! (`= ANY`), because PostgreSQL drops columns that equal one value from the order.
//!
//! The alternatives rely on an order that PostgreSQL keeps, although SQL does not guarantee it: the rows of a sub-select with
//! `ORDER BY`, and the parts of a `UNION ALL`, are read in their order if no worker processes read in parallel.

use std::fmt::{self, Display, Write};
use std::mem;

use crate::plan::access_path::FoundBy;
use crate::plan::keyset::Nulls;
use crate::plan::lookup_source::{LookupSource, too_many};
use crate::plan::parameters::{Placeholder, RowBound};
use crate::plan::sql::{
    Alias, ColumnOf, Columns, Comparand, Condition, Identifier, IndexOrder, List, Relation, Separated, Where,
    direction, in_turn, order_by,
};
use crate::plan::value_list::{FewRanges, RangeHeads, ValueList};

/// The columns after the key of a row that matches.
const MATCHES: &str = "TRUE AS matches, NULL::int8 AS number, row_number() OVER () AS position";

/// Finds the keys of a page's rows. An access path as SQL: the planner makes it from the path and the terms of the search, while it writes
/// the statement of a shape. Only the text outlives the planner. Names are borrowed from the catalog; values are placeholders.
pub(crate) struct Locator<'a> {
    /// The relation of the rows.
    pub(crate) relation: &'a str,
    /// The columns of its primary key. The alternatives return only these, so that rows that do not match are never read as a whole.
    pub(crate) key: Vec<&'a str>,
    /// The columns of the page's order. Rows of a look-up are sorted by them.
    pub(crate) sort: Vec<&'a str>,
    /// The columns of the index that has this order. A scan is ordered by all of them, which leaves PostgreSQL no other index.
    pub(crate) index: IndexOrder<'a>,
    /// Every column that a condition or an order reads; also the columns of the response, if the locator returns rows and not their keys.
    /// No others: the database role may not be allowed to read what the schema does not serve.
    pub(crate) columns: Vec<&'a str>,
    /// The conditions that join the rows with their parent; none for a root.
    pub(crate) joined: Vec<Condition<'a>>,
    /// The values that choose ranges of the index, if they are a list. The ranges are read one after the other, or merged.
    pub(crate) list: Option<ValueList>,
    /// The conditions that choose the ranges, in each scan of the index.
    pub(crate) prefix: Vec<Condition<'a>>,
    /// The conditions of the terms that no range serves. Each row of the window is compared with them; none if there is no window.
    pub(crate) filters: Vec<Condition<'a>>,
    /// The look-ups, in the order in which they are tried. Each is used if it finds few rows, and those before it find many.
    pub(crate) lookups: Vec<LookupSource<'a>>,
    /// Which indexes find every row. With `Key` or `Parent` there is one look-up, which is always used, and no window.
    pub(crate) found_by: FoundBy,
    /// The most rows of the window, if there is one. A parameter, because a larger page has a larger window. The rows of the window end
    /// with its last row and the row after it, whether these match or not.
    pub(crate) window: Option<Placeholder>,
    /// The most rows that are examined to find any row before or after the page. It does not depend on the page size, and is a number in
    /// the text.
    pub(crate) probe_window: RowBound,
}

/// A part of the order, read in one direction: the rows of a page, the rows before it, those after it, or all of them.
pub(crate) struct Span<'a> {
    /// Its segments in ascending order, as ranges of the index. Each is a list of conditions.
    pub(crate) segments: Vec<Vec<Condition<'a>>>,
    /// The same segments, as conditions on the rows of a look-up, which no index range serves. None if every row is in the part.
    pub(crate) lookup_segments: Vec<Vec<Condition<'a>>>,
    pub(crate) ascending: bool,
    pub(crate) nulls: Nulls,
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
struct Cut<'t> {
    skip: Option<&'t dyn Display>,
    take: &'t dyn Display,
}

impl<'t> Cut<'t> {
    fn first(take: &'t dyn Display) -> Self {
        Self { skip: None, take }
    }

    /// The number of rows from the first one that is skipped to the last one that is read.
    fn end(&self) -> impl Display {
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

/// Some rows of a segment.
#[derive(Clone, Copy)]
struct SegmentRows<'t> {
    segment: &'t [Condition<'t>],
    cut: &'t Cut<'t>,
}

/// The rows of a span, as SQL.
#[derive(Clone, Copy)]
pub(crate) struct SpanRows<'l> {
    locator: &'l Locator<'l>,
    span: &'l Span<'l>,
}

impl<'a> Locator<'a> {
    /// The rows of a span.
    pub(crate) fn of<'l>(&'l self, span: &'l Span<'a>) -> SpanRows<'l> {
        SpanRows { locator: self, span }
    }

    /// Whether counts decide between the alternatives.
    pub(crate) fn has_counts(&self) -> bool {
        self.found_by == FoundBy::Order && !self.lookups.is_empty()
    }

    /// The most rows that a parent has, if all of them are read.
    fn at_most(&self) -> Option<u32> {
        if let FoundBy::Parent { at_most } = self.found_by { Some(at_most) } else { None }
    }

    /// Whether a parent has more rows, if all of them are read.
    pub(crate) fn is_too_long(&self) -> Option<impl Display> {
        self.at_most().map(|at_most| fmt::from_fn(move |f| write!(f, "(SELECT count(*) > {at_most} FROM s)")))
    }

    /// All rows of a parent and one more than there may be, as a `WITH` list, if they are read.
    pub(crate) fn write_rows_of_parent(&self, text: &mut String) -> fmt::Result {
        let (Some(at_most), Some(lookup)) = (self.at_most(), self.lookups.first()) else { return Ok(()) };
        text.write_str("WITH s AS MATERIALIZED (")?;
        lookup.write_rows(self.relation, &self.columns, text)?;
        writeln!(text, "\nLIMIT {})", at_most + 1)
    }

    /// Whether it returns the rows of the page, and not their keys: few others are read beside them, and none that does not match. Or
    /// they are read in any case.
    pub(crate) fn returns_rows(&self) -> bool {
        self.at_most().is_some()
            || self.window.is_none() && self.lookups.is_empty() && self.list.is_some_and(|list| list.head.is_none())
    }

    /// The counts that decide between the alternatives, as the beginning of a `WITH` list.
    pub(crate) fn counts(&self) -> impl Display {
        let counts = self.lookups.iter().enumerate().map(move |(number, lookup)| {
            fmt::from_fn(move |f| {
                let Some(words) = &lookup.words else {
                    writeln!(f, "n{number} AS MATERIALIZED (SELECT count(*) AS n FROM (")?;
                    lookup.write_counted(self.relation, &self.key, f)?;
                    return f.write_str("\n) AS c)");
                };
                // An index without an order is read for all rows of its rarest word, so they have to be few.
                writeln!(f, "n{number} AS MATERIALIZED (SELECT CASE WHEN {} THEN", words.are_rare(self.relation))?;
                f.write_str("(SELECT count(*) FROM (")?;
                lookup.write_counted(self.relation, &self.key, f)?;
                write!(f, "\n) AS c) ELSE {} END AS n)", lookup.limit())
            })
        });
        fmt::from_fn(move |f| write!(f, "WITH {}", Separated(",\n", counts.clone())))
    }

    /// The rows with the keys of the alternatives, joined to them. As they exist, the first row that is not below a key has it.
    pub(crate) fn rows_by_key(&self, columns: &[&str]) -> impl Display {
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

    /// The condition that no look-up is used, followed by `AND`.
    fn too_many(&self) -> impl Display {
        fmt::from_fn(|f| too_many(&self.lookups).try_for_each(|condition| write!(f, "{condition} AND ")))
    }

    /// The key's columns of an alias, as `k0`, `k1`….
    fn keys(&self, alias: &'static str) -> impl Display {
        List(
            self.key.iter().enumerate().map(move |(index, column)| {
                fmt::from_fn(move |f| write!(f, "{alias}.{} AS k{index}", Identifier(column)))
            }),
        )
    }
}

impl SpanRows<'_> {
    /// Whether its rows are the rows of several segments, each merged, one after the other.
    pub(crate) fn reads_in_turn(&self) -> bool {
        self.span.segments.len() > 1 && self.locator.list.is_some_and(|list| list.ranges.is_some())
    }

    /// The rows of a page.
    pub(crate) fn page_rows(&self, limit: &dyn Display, text: &mut String) -> fmt::Result {
        let locator = self.locator;
        if locator.at_most().is_some() {
            write!(text, "SELECT {}\nFROM ", Columns(Alias::Base, &locator.columns))?;
            return self.found(0, limit, text);
        }
        self.rows(&Cut::first(limit), text)
    }

    /// The keys of the rows, as `k0`, `k1`…; whether each matches, its number in the window, and its position.
    pub(crate) fn alternatives(&self, take: Take<'_>, text: &mut String) -> fmt::Result {
        let locator = self.locator;
        for number in 0..locator.lookups.len() {
            text.write_str(if number > 0 { "\nUNION ALL\n" } else { "" })?;
            self.lookup(number, take, text)?;
        }
        if locator.found_by != FoundBy::Order {
            return Ok(());
        }
        text.write_str(if locator.lookups.is_empty() { "" } else { "\nUNION ALL\n" })?;
        match (locator.window, take) {
            (None, _) => self.in_order(take, text),
            (Some(window), Take::Page(limit)) => self.window_page(window, limit, text),
            (Some(_), Take::Any) => self.window_probe(text),
        }
    }

    /// The number of rows, up to a limit; null if the window ended before the limit was reached.
    pub(crate) fn count(&self, limit: Placeholder, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (locator, mut text) = (self.locator, String::new());
        if let Some(list) = locator.list.filter(|_| locator.filters.is_empty() && locator.found_by == FoundBy::Order) {
            // Their order does not matter.
            self.segments(&Cut::first(&limit), &mut text)?;
            let elements = list.elements();
            return write!(
                f,
                "(SELECT count(*) FROM (SELECT FROM (SELECT {elements}) AS e\nCROSS JOIN LATERAL (\n{text}\n) AS t\n\
                 LIMIT {limit}) AS n)"
            );
        }
        let Some(window) = locator.window else {
            self.alternatives(Take::Page(&limit), &mut text)?;
            return write!(f, "(SELECT count(*)\nFROM (\n{text}\n) AS n)");
        };
        // A look-up finds all rows. The window is read once, and one row beyond it.
        f.write_str("(")?;
        if locator.has_counts() {
            writeln!(f, "{}", locator.counts())?;
        }
        let (matching, examined) = ("sum(c.matching)::int8", "sum(c.examined)::int8");
        write!(f, "SELECT CASE WHEN {matching} >= {limit} OR {examined} <= {window}")?;
        write!(f, " THEN least({matching}, {limit}) END\nFROM (\n")?;
        for number in 0..locator.lookups.len() {
            text.clear();
            self.lookup(number, Take::Page(&limit), &mut text)?;
            write!(f, "SELECT count(*) AS matching, 0::int8 AS examined FROM {text} AS n\nUNION ALL\n")?;
        }
        text.clear();
        self.rows(&Cut::first(&fmt::from_fn(|f| write!(f, "{window}::int8 + 1"))), &mut text)?;
        let (too_many, filters) = (locator.too_many(), all(&locator.filters));
        write!(f, "SELECT count(*) FILTER (WHERE {filters}) AS matching, count(*) AS examined FROM (\n{text}\n) AS t")?;
        write!(f, "\nWHERE {too_many}TRUE\n) AS c)")
    }

    /// The rows that a look-up finds, if it is the first that finds few.
    fn lookup(&self, number: usize, take: Take<'_>, text: &mut String) -> fmt::Result {
        writeln!(text, "(SELECT {}, {MATCHES} FROM (", self.locator.keys("t"))?;
        write!(text, "SELECT {}\nFROM ", Columns(Alias::Base, &self.locator.key))?;
        self.found(number, &take, text)?;
        text.write_str("\n) AS t)")
    }

    /// The first rows that a look-up finds, as the source of a select list.
    fn found(&self, number: usize, take: &dyn Display, text: &mut String) -> fmt::Result {
        let Self { locator, span } = self;
        let lookup = &locator.lookups[number];
        if locator.at_most().is_some() {
            text.write_str("s AS t")?;
        } else {
            text.write_str("(")?;
            lookup.write_rows(locator.relation, &locator.columns, text)?;
            text.write_str(") AS t")?;
        }
        let mut and = "\nWHERE ";
        let mut add = |condition: &dyn Display| write!(text, "{}{condition}", mem::replace(&mut and, " AND "));
        if locator.found_by == FoundBy::Order {
            too_many(&locator.lookups[..number]).try_for_each(|condition| add(&condition))?;
            add(&fmt::from_fn(|f| write!(f, "(SELECT n FROM n{number}) <= {}", lookup.most())))?;
        }
        lookup.filters.iter().try_for_each(|condition| add(condition))?;
        if !span.lookup_segments.is_empty() {
            add(&any(&span.lookup_segments))?;
        }
        write!(text, "{}\nLIMIT {take}", self.sorted())
    }

    /// Ranges in which every row matches.
    fn in_order(&self, take: Take<'_>, text: &mut String) -> fmt::Result {
        writeln!(text, "(SELECT {}, {MATCHES} FROM (", self.locator.keys("t"))?;
        match (self.locator.list.and_then(ValueList::heads), take) {
            (Some(heads), Take::Page(limit)) => self.merged(heads, limit, text)?,
            (Some(_), Take::Any) | (None, _) => self.rows(&Cut::first(&take), text)?,
        }
        text.write_str("\n) AS t)")
    }

    /// The rows of the window that match. If they are fewer than wanted, its last row and the row after it follow. They are
    /// found by reading the window once more, which takes less time than numbering its rows.
    fn window_page(&self, window: Placeholder, limit: &dyn Display, text: &mut String) -> fmt::Result {
        let locator = self.locator;
        let keys = locator.keys("t");
        writeln!(text, "(WITH w AS MATERIALIZED (SELECT {keys} FROM (")?;
        self.rows(&Cut::first(&window), text)?;
        text.write_str("\n) AS t")?;
        for (number, row) in locator.filters.iter().filter_map(Condition::as_join).enumerate() {
            write!(text, "\nCROSS JOIN LATERAL ({row}) AS y{number}")?;
        }
        let mut checked: Vec<_> = locator.filters.iter().filter(|filter| filter.as_join().is_none()).cloned().collect();
        if checked.is_empty() {
            checked.push(Condition::Always(true));
        }
        write!(text, "\nWHERE {}{}\nLIMIT {limit})", locator.too_many(), all(&checked))?;
        let of_window = List((0..locator.key.len()).map(|index| fmt::from_fn(move |f| write!(f, "w.k{index}"))));
        write!(text, "\nSELECT {of_window}, {MATCHES} FROM w")?;
        let last = fmt::from_fn(|f| write!(f, "{window} - 1"));
        write!(text, "\nUNION ALL\nSELECT {keys}, FALSE AS matches, {last} + row_number() OVER () AS number, ")?;
        writeln!(text, "{limit}::int8 + row_number() OVER () AS position FROM (")?;
        self.rows(&Cut { skip: Some(&last), take: &2 }, text)?;
        write!(text, "\n) AS t\nWHERE {}(SELECT count(*) FROM w) < {limit})", locator.too_many())
    }

    /// A row of the window that matches, or else the row after the window. Whether this row matches is not known.
    fn window_probe(&self, text: &mut String) -> fmt::Result {
        let locator = self.locator;
        let (keys, too_many, window) = (locator.keys("t"), locator.too_many(), locator.probe_window);
        let columns = "NULL::int8 AS number, 1::int8 AS position";
        writeln!(text, "(SELECT {keys}, TRUE AS matches, {columns} FROM (")?;
        self.rows(&Cut::first(&window), text)?;
        write!(text, "\n) AS t\nWHERE {too_many}{}\nLIMIT 1)\nUNION ALL\n", all(&locator.filters))?;
        writeln!(text, "(SELECT {keys}, FALSE AS matches, {columns} FROM (")?;
        self.rows(&Cut { skip: Some(&window), take: &1 }, text)?;
        write!(text, "\n) AS t\nWHERE {too_many}TRUE)")
    }

    /// Some rows, in order.
    fn rows(&self, cut: &Cut<'_>, text: &mut String) -> fmt::Result {
        let Some(list) = self.locator.list else { return self.segments(cut, text) };
        if let Some(ranges) = list.few_ranges() {
            return self.in_parts(cut, text, |rows, text| self.merge(rows, ranges, text));
        }
        write!(text, "SELECT t.* FROM (SELECT {}", list.elements())?;
        if !list.is_merged {
            write!(text, " ORDER BY e.v{}{}", list.collation, direction(self.span.ascending))?;
        }
        text.write_str(") AS e\nCROSS JOIN LATERAL (\n")?;
        self.segments(&Cut::first(&cut.end()), text)?;
        text.write_str("\n) AS t")?;
        if list.is_merged {
            write!(text, "{}", self.sorted())?;
        }
        write!(text, "{cut}")
    }

    /// The first rows of the merged ranges of a list. A range whose first rows are all among these is read on.
    fn merged(&self, heads: RangeHeads, limit: &dyn Display, text: &mut String) -> fmt::Result {
        let RangeHeads { list, rows: head } = heads;
        let (elements, order) = (list.elements(), self.sorted());
        let columns = Columns(Alias::Base, &self.locator.columns);
        writeln!(text, "WITH h AS MATERIALIZED (SELECT e.v, t.* FROM (SELECT {elements}) AS e\nCROSS JOIN LATERAL (")?;
        self.segments(&Cut::first(&head), text)?;
        writeln!(text, "\n) AS t{order}\nLIMIT {limit})\nSELECT t.* FROM (SELECT {columns} FROM h AS t\nUNION ALL")?;
        write!(text, "SELECT t.* FROM (SELECT h.v FROM h GROUP BY h.v HAVING count(*) >= {head}) AS e")?;
        text.write_str("\nCROSS JOIN LATERAL (\n")?;
        self.segments(&Cut { skip: Some(&head), take: limit }, text)?;
        write!(text, "\n) AS t) AS t{order}\nLIMIT {limit}")
    }

    /// Some rows of a segment of few merged ranges. PostgreSQL reads only as much as it needs of each: every range is in the page's order.
    /// A range that equals a value in the index's first column is in the order of the other columns. The order is written once more outside
    /// of the range, where it does not choose an index.
    fn merge(&self, rows: SegmentRows<'_>, ranges: FewRanges, text: &mut String) -> fmt::Result {
        let (locator, ascending, SegmentRows { segment, cut }) = (self.locator, self.span.ascending, rows);
        let first = locator.index.columns.first().copied();
        let equals = first.map(|first| Condition::Equals(ColumnOf(Alias::Base, first), Comparand::Element));
        let columns: Vec<_> = first.into_iter().chain(locator.sort.iter().copied()).collect();
        let (equals, order, end) = (Where(equals.iter()), order_by(&columns, ascending), cut.end());
        text.write_str("SELECT t.* FROM ((\n")?;
        for (index, element) in ranges.each().enumerate() {
            text.write_str(if index > 0 { "\n) UNION ALL (\n" } else { "" })?;
            writeln!(text, "SELECT t.* FROM (SELECT {element}) AS e\nCROSS JOIN LATERAL (")?;
            self.segment(SegmentRows { segment, cut: &Cut::first(&end) }, text)?;
            write!(text, "\n) AS t{equals}{order}")?;
        }
        write!(text, "\n)) AS t{}{cut}", order_by(&locator.sort, ascending))
    }

    /// Some rows of the segments, one after the other.
    fn segments(&self, cut: &Cut<'_>, text: &mut String) -> fmt::Result {
        self.in_parts(cut, text, |rows, text| self.segment(rows, text))
    }

    /// Some rows of the text for each segment, one after the other.
    fn in_parts(
        &self,
        cut: &Cut<'_>,
        text: &mut String,
        write: impl Fn(SegmentRows<'_>, &mut String) -> fmt::Result,
    ) -> fmt::Result {
        let Span { segments, ascending, .. } = self.span;
        if let [segment] = segments.as_slice() {
            return write(SegmentRows { segment, cut }, text);
        }
        text.write_str("SELECT t.* FROM ((\n")?;
        let end = cut.end();
        let cut_each = Cut::first(&end);
        in_turn(segments, *ascending, text, |segment, text| write(SegmentRows { segment, cut: &cut_each }, text))?;
        write!(text, "\n)) AS t{cut}")
    }

    /// Some rows of a segment, as an index returns them.
    fn segment(&self, rows: SegmentRows<'_>, text: &mut String) -> fmt::Result {
        let (locator, ascending, cut) = (self.locator, self.span.ascending, rows.cut);
        let columns = Columns(Alias::Base, &locator.columns);
        let (segment, remaining) = Condition::of_scan(rows.segment, ascending);
        let conditions = Where(locator.joined.iter().chain(&locator.prefix).chain(&segment));
        let (relation, order) = (Relation(locator.relation), locator.index.order_by(ascending));
        if remaining.is_empty() {
            return write!(text, "SELECT {columns}\nFROM {relation} AS t{conditions}{order}{cut}");
        }
        write!(text, "SELECT t.* FROM (SELECT {columns}\nFROM {relation} AS t{conditions}{order}{cut}) AS t")?;
        write!(text, "{}", Where(remaining.iter()))
    }

    /// The order of the rows, for rows that no index returns in it.
    pub(crate) fn sorted(&self) -> impl Display {
        let Self { locator, span } = *self;
        // The other columns are never null.
        let nulls = match (span.nulls, span.ascending) {
            (Nulls::First, true) => " NULLS FIRST",
            (Nulls::First, false) => " NULLS LAST",
            (Nulls::Last, _) => "",
        };
        let direction = direction(span.ascending);
        let columns = locator.sort.iter().enumerate().map(move |(index, column)| {
            let nulls = if index == 0 { nulls } else { "" };
            fmt::from_fn(move |f| write!(f, "{}{direction}{nulls}", ColumnOf(Alias::Base, column)))
        });
        fmt::from_fn(move |f| write!(f, "\nORDER BY {}", List(columns.clone())))
    }
}

/// Conditions joined by `AND`.
fn all(conditions: &[Condition<'_>]) -> impl Display {
    Separated(" AND ", conditions.iter())
}

/// Segments joined by `OR`.
fn any(segments: &[Vec<Condition<'_>>]) -> impl Display {
    let segments = segments.iter().map(|segment| all(segment));
    fmt::from_fn(move |f| write!(f, "({})", Separated(" OR ", segments.clone())))
}
