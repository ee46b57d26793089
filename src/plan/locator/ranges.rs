//! Ranges of the index that has the page's order, one or one for each value of a list.

use std::fmt::{self, Display, Write};

use crate::plan::locator::source::{Cut, FoundRows, MATCHES, SourceSpan, Span, Take};
use crate::plan::parameters::Placeholder;
use crate::plan::sql::{
    Alias, ColumnOf, Columns, Comparand, Condition, IndexOrder, Relation, Where, direction, in_turn, order_by,
};
use crate::plan::value_list::{FewRanges, RangeHeads, ValueList};

/// Ranges of an index.
pub(crate) struct RangesSql<'a> {
    /// The columns of the index. A scan is ordered by all of them, which leaves PostgreSQL no other index.
    pub(crate) index: IndexOrder<'a>,
    /// The values that choose the ranges, if they are a list. The ranges are read one after the other, or merged.
    pub(crate) list: Option<ValueList>,
    /// The conditions that choose the ranges, in each scan of the index.
    pub(crate) prefix: Vec<Condition<'a>>,
    /// The most rows with one value in the last column of the index, if it does not have the whole order.
    pub(crate) ties: Option<u32>,
}

/// The rows of a span in these ranges.
#[derive(Clone, Copy)]
pub(super) struct RangeRows<'l> {
    pub(super) at: SourceSpan<'l>,
    pub(super) ranges: &'l RangesSql<'l>,
}

/// Some rows of a segment.
#[derive(Clone, Copy)]
struct SegmentRows<'t> {
    segment: &'t [Condition<'t>],
    cut: &'t Cut<'t>,
}

impl RangeRows<'_> {
    /// The number of rows, up to a limit. Their order does not matter.
    pub(super) fn count(&self, limit: Placeholder, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        self.segments(&Cut::first(&limit), &mut text)?;
        f.write_str("(SELECT count(*) FROM (SELECT FROM ")?;
        if let Some(list) = self.ranges.list {
            write!(f, "(SELECT {}) AS e\nCROSS JOIN LATERAL ", list.elements())?;
        }
        write!(f, "(\n{text}\n) AS t\nLIMIT {limit}) AS n)")
    }

    /// Ranges in which every row matches.
    pub(super) fn in_order(&self, take: Take<'_>, text: &mut String) -> fmt::Result {
        writeln!(text, "(SELECT {}, {MATCHES} FROM (", self.at.source.keys("t"))?;
        match (self.ranges.list.and_then(ValueList::heads), take) {
            (Some(RangeHeads { list, rows }), Take::Page(limit)) => self.merged(&list.elements(), rows, limit, text)?,
            (Some(_), Take::Any) | (None, _) => self.rows(&Cut::first(&take), text)?,
        }
        text.write_str("\n) AS t)")
    }

    /// Some rows, in order.
    pub(super) fn rows(&self, cut: &Cut<'_>, text: &mut String) -> fmt::Result {
        if let Some(number) = self.at.span.sorted {
            write!(text, "SELECT {}\nFROM ", Columns(Alias::Base, &self.at.source.columns))?;
            let rows = FoundRows::read_before(format_args!("s{number}"), &[]);
            return self.at.write_first(&rows, cut, text);
        }
        let Some(list) = self.ranges.list else { return self.segments(cut, text) };
        if let Some(ranges) = list.few_ranges() {
            return self.in_parts(cut, text, |rows, text| self.merge(rows, ranges, text));
        }
        write!(text, "SELECT t.* FROM (SELECT {}", list.elements())?;
        if !list.is_merged {
            write!(text, " ORDER BY e.v{}{}", list.collation, direction(self.at.span.ascending))?;
        }
        text.write_str(") AS e\nCROSS JOIN LATERAL (\n")?;
        self.segments(&Cut::first(&cut.end()), text)?;
        text.write_str("\n) AS t")?;
        if list.is_merged {
            write!(text, "{}", self.at.sorted())?;
        }
        write!(text, "{cut}")
    }

    /// The first rows of the merged ranges of these values. A range whose first rows are all among these is read on.
    pub(super) fn merged(
        &self,
        elements: &dyn Display,
        head: Placeholder,
        limit: &dyn Display,
        text: &mut String,
    ) -> fmt::Result {
        let order = self.at.sorted();
        let columns = Columns(Alias::Base, &self.at.source.columns);
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
        let (source, ascending, SegmentRows { segment, cut }) = (self.at.source, self.at.span.ascending, rows);
        let first = self.ranges.index.columns.first().copied();
        let equals = first.map(|first| Condition::Equals(ColumnOf(Alias::Base, first), Comparand::Element));
        let columns: Vec<_> = first.into_iter().chain(source.sort.iter().copied()).collect();
        let (equals, order, end) = (Where(equals.iter()), order_by(&columns, ascending), cut.end());
        text.write_str("SELECT t.* FROM ((\n")?;
        for (index, element) in ranges.each().enumerate() {
            text.write_str(if index > 0 { "\n) UNION ALL (\n" } else { "" })?;
            writeln!(text, "SELECT t.* FROM (SELECT {element}) AS e\nCROSS JOIN LATERAL (")?;
            self.segment(SegmentRows { segment, cut: &Cut::first(&end) }, text)?;
            write!(text, "\n) AS t{equals}{order}")?;
        }
        write!(text, "\n)) AS t{}{cut}", order_by(&source.sort, ascending))
    }

    /// Some rows of the segments, one after the other.
    pub(super) fn segments(&self, cut: &Cut<'_>, text: &mut String) -> fmt::Result {
        self.in_parts(cut, text, |rows, text| self.segment(rows, text))
    }

    /// Some rows of the text for each segment, one after the other.
    fn in_parts(
        &self,
        cut: &Cut<'_>,
        text: &mut String,
        write: impl Fn(SegmentRows<'_>, &mut String) -> fmt::Result,
    ) -> fmt::Result {
        let Span { segments, ascending, .. } = self.at.span;
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
        let (source, ascending, cut) = (self.at.source, self.at.span.ascending, rows.cut);
        let columns = Columns(Alias::Base, &source.columns);
        let (segment, remaining) = Condition::of_scan(rows.segment, ascending);
        let conditions = Where(source.joined.iter().chain(&self.ranges.prefix).chain(&segment));
        let (relation, order) = (Relation(source.relation), self.ranges.index.order_by(ascending));
        if remaining.is_empty() {
            return write!(text, "SELECT {columns}\nFROM {relation} AS t{conditions}{order}{cut}");
        }
        write!(text, "SELECT t.* FROM (SELECT {columns}\nFROM {relation} AS t{conditions}{order}{cut}) AS t")?;
        write!(text, "{}", Where(remaining.iter()))
    }
}
