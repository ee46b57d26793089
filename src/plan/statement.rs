//! The text of one step's statement, from its parts.

use std::fmt::{self, Display, Write};

use crate::catalog::binding::Column;
use crate::plan::locator::{Locator, Span, Take, direction};
use crate::plan::select::Select;
use crate::plan::sql::{Alias, ColumnOf, Condition, List, Placeholder, Relation, Where, type_name};
use crate::plan::step::{KeysStatement, ParentsText};

/// Where a statement gets the parents' keys from.
pub(crate) enum ParentKeys<'a> {
    /// There are none: all rows are one group.
    None,
    /// From arrays, one for each key column, with an ordinal for each parent.
    Arrays(Vec<(Placeholder, &'a Column)>),
}

/// The parts of the statement that fetches a page of a connection.
pub(crate) struct PageStatement<'a> {
    /// The relation of the rows.
    pub(crate) relation: &'a str,
    /// What is read.
    pub(crate) select: &'a Select<'a>,
    /// Where the parents' keys come from.
    pub(crate) parent_keys: ParentKeys<'a>,
    /// What every row must fulfil, beside its segment: the join with its parent, and a search term that chooses a range.
    pub(crate) conditions: Vec<Condition<'a>>,
    /// The part of the order that the page is in.
    pub(crate) span: Span<'a>,
    /// The columns of the index that has the order, but for those that are equal in all rows of a parent.
    pub(crate) index: Vec<&'a str>,
    /// One more than the page size.
    pub(crate) limit: Placeholder,
    /// The probes: the parts of the order outside of the page in which any row is looked for. The scan begins with the row
    /// nearest to the page.
    pub(crate) probes: Vec<Span<'a>>,
    /// The rows that are counted, if some are.
    pub(crate) count: Option<Count<'a>>,
    /// What finds the page's rows, if it takes more than conditions.
    pub(crate) located: Option<Located<'a>>,
}

/// Rows that are counted.
pub(crate) struct Count<'a> {
    /// All rows of the connection.
    pub(crate) span: Span<'a>,
    /// How many are counted at most.
    pub(crate) limit: Placeholder,
}

/// Rows that a locator finds.
pub(crate) struct Located<'a> {
    pub(crate) locator: Locator<'a>,
    /// The rows of the window; 0 if there is none.
    pub(crate) window: u32,
    /// The rows of the window of each probe.
    pub(crate) probe_window: u32,
}

/// The end of a statement with parents: their order.
pub(crate) const PARENTS_ORDER: &str = "\nORDER BY k.ord";

/// The buffer for a statement, in bytes. Most statements fit.
const TEXT_CAPACITY: usize = 1024;

impl PageStatement<'_> {
    /// The text of the statement, and the part of it that names the parents' keys.
    pub(crate) fn text(&self) -> (String, Option<ParentsText>) {
        let mut parents_text = None;
        let sql = written(|text| {
            if let Some(locator) =
                self.located.as_ref().map(|located| &located.locator).filter(|found| found.has_counts())
            {
                write!(text, "{}", locator.counts())?;
                text.write_str(if self.has_flags() { "\n" } else { ",\n" })?;
            }
            parents_text = self.rows(text)?;
            Ok(())
        });
        (sql, parents_text)
    }

    /// The statement with nothing but the keys of the page's rows, if there are any. Its pages have one row less.
    pub(crate) fn keys(self) -> Option<KeysStatement> {
        // PostgreSQL could not infer the type of a count's parameter, which the keys would not use.
        if self.located.is_some() || self.count.is_some() {
            return None;
        }
        let select = self.select.keys()?;
        let (sql, parents_text) = PageStatement { select: &select, probes: Vec::new(), count: None, ..self }.text();
        Some(KeysStatement { sql, parents_text })
    }

    fn rows(&self, text: &mut String) -> Result<Option<ParentsText>, fmt::Error> {
        let ParentKeys::Arrays(keys) = &self.parent_keys else {
            if self.has_flags() {
                write!(text, "SELECT f.*, p.*\nFROM {}\nLEFT JOIN LATERAL (\n", self.flags())?;
                self.page(text)?;
                text.write_str("\n) AS p ON TRUE")?;
            } else {
                self.page(text)?;
            }
            return Ok(None);
        };
        let is_probed = self.has_flags();
        write!(text, "SELECT k.ord, {}p.*\nFROM ", if is_probed { "f.*, " } else { "" })?;
        let start = text.len();
        write!(text, "{}", parents(keys))?;
        let range = start..text.len();
        if is_probed {
            write!(text, "\nCROSS JOIN LATERAL {}\nLEFT", self.flags())?;
        } else {
            text.write_str("\nCROSS")?;
        }
        text.write_str(" JOIN LATERAL (\n")?;
        self.page(text)?;
        write!(text, "\n) AS p{}{PARENTS_ORDER}", if is_probed { " ON TRUE" } else { "" })?;
        let types = keys.iter().map(|(_, column)| type_name(column.stored)).collect();
        Ok(Some(ParentsText { range, types }))
    }

    fn page(&self, text: &mut String) -> fmt::Result {
        if let Some(located) = &self.located {
            return self.located(located, text);
        }
        let Span { segments, ascending, .. } = &self.span;
        if let [segment] = segments.as_slice() {
            return self.segment(segment, text);
        }
        text.write_str("SELECT u.* FROM ((\n")?;
        for index in 0..segments.len() {
            if index > 0 {
                text.write_str("\n) UNION ALL (\n")?;
            }
            self.segment(&segments[if *ascending { index } else { segments.len() - 1 - index }], text)?;
        }
        // The parts are read one after the other, as in the locator, and only as far as the page needs.
        write!(text, "\n)) AS u\nLIMIT {}", self.limit)
    }

    /// The rows that the locator finds.
    fn located(&self, Located { locator, window, .. }: &Located<'_>, text: &mut String) -> fmt::Result {
        let search = if *window > 0 { "m.matches, m.number, " } else { "" };
        // A disabled sort in the alternatives would hide the cost of the joins. A materialized one is planned apart.
        let continues_list = locator.has_counts() && !self.has_flags();
        writeln!(text, "{}m AS MATERIALIZED (", if continues_list { "" } else { "WITH " })?;
        locator.alternatives(&self.span, Take::Page { limit: self.limit, window: *window }, text)?;
        let (columns, joins) = (self.select.list(), self.select.joins());
        write!(text, "\n)\nSELECT {}{search}{columns}\nFROM m\n", self.present())?;
        write!(text, "{}{joins}\nORDER BY m.position", locator.rows_by_key(&self.select.columns_of(Alias::Base)))
    }

    fn segment(&self, segment: &[Condition<'_>], text: &mut String) -> fmt::Result {
        let (columns, joins) = (self.select.list(), self.select.joins());
        let (relation, present) = (Relation(self.relation), self.present());
        let (segment, remaining) = Condition::of_scan(segment, self.span.ascending);
        let conditions = Where(self.conditions.iter().chain(&segment));
        let (order, limit) = (self.order_by(self.span.ascending), self.limit);
        write!(text, "SELECT {present}{columns}\nFROM ")?;
        if remaining.is_empty() {
            return write!(text, "{relation} AS t{joins}{conditions}{order}\nLIMIT {limit}");
        }
        write!(text, "(SELECT t.* FROM {relation} AS t{conditions}{order}\nLIMIT {limit}) AS t{joins}")?;
        write!(text, "{}{order}", Where(remaining.iter()))
    }

    fn present(&self) -> &'static str {
        if self.has_flags() { "TRUE AS present, " } else { "" }
    }

    /// Whether the result has a row for an empty page, too.
    fn has_flags(&self) -> bool {
        !self.probes.is_empty() || self.count.is_some()
    }

    /// The probes and the count as a relation.
    fn flags(&self) -> impl Display {
        // OFFSET 0 prevents PostgreSQL from pulling the sub-select up into the outer select list, where it would run for every
        // row of the page instead of once for the parent. Without parents it runs once anyway.
        let fence = if matches!(self.parent_keys, ParentKeys::Arrays(_)) { " OFFSET 0" } else { "" };
        fmt::from_fn(move |f| {
            f.write_str("(SELECT ")?;
            for (index, probe) in self.probes.iter().enumerate() {
                let comma = if index > 0 { ", " } else { "" };
                write!(f, "{comma}{} AS f{index}", self.probe(probe))?;
            }
            if let Some(count) = &self.count {
                let comma = if self.probes.is_empty() { "" } else { ", " };
                write!(f, "{comma}{} AS f{}", self.count(count), self.probes.len())?;
            }
            write!(f, "{fence}) AS f")
        })
    }

    fn probe(&self, probe: &Span<'_>) -> impl Display {
        fmt::from_fn(move |f| {
            if let Some(Located { locator, probe_window, .. }) = &self.located {
                let mut text = String::new();
                locator.alternatives(probe, Take::Any { window: *probe_window }, &mut text)?;
                return write!(f, "EXISTS (\n{text}\n)");
            }
            let (relation, order) = (Relation(self.relation), self.order_by(probe.ascending));
            for (index, segment) in probe.segments.iter().enumerate() {
                let or = if index > 0 { " OR " } else { "" };
                let conditions = Where(self.conditions.iter().chain(segment));
                write!(f, "{or}(SELECT TRUE FROM {relation} AS t{conditions}{order} LIMIT 1) IS NOT NULL")?;
            }
            Ok(())
        })
    }

    fn count(&self, Count { span, limit }: &Count<'_>) -> impl Display {
        fmt::from_fn(move |f| {
            if let Some(Located { locator, window, .. }) = &self.located {
                return locator.count(span, *limit, *window, f);
            }
            let (relation, order) = (Relation(self.relation), self.order_by(span.ascending));
            let conditions = Where(self.conditions.iter().chain(span.segments.iter().flatten()));
            write!(f, "(SELECT count(*) FROM (SELECT FROM {relation} AS t{conditions}{order}\nLIMIT {limit}) AS n)")
        })
    }

    fn order_by(&self, ascending: bool) -> impl Display {
        fmt::from_fn(move |f| {
            for (index, column) in self.index.iter().enumerate() {
                let before = if index > 0 { ", " } else { "\nORDER BY " };
                write!(f, "{before}{}{}", ColumnOf(Alias::Base, column), direction(ascending))?;
            }
            Ok(())
        })
    }
}

fn parents(keys: &[(Placeholder, &Column)]) -> impl Display {
    fmt::from_fn(move |f| {
        let array = |(placeholder, column): &(Placeholder, &Column)| {
            let (placeholder, ty) = (*placeholder, type_name(column.stored));
            fmt::from_fn(move |f| write!(f, "{placeholder}::{ty}[]"))
        };
        write!(f, "unnest({}) WITH ORDINALITY AS k(", List(keys.iter().map(array)))?;
        for index in 0..keys.len() {
            write!(f, "k{index}, ")?;
        }
        f.write_str("ord)")
    })
}

/// The statement of a lookup: the row with these keys, or the lowest by `order` if there can be several.
pub(crate) fn lookup(relation: &str, select: &Select<'_>, conditions: &[Condition<'_>], order: &[&str]) -> String {
    written(|text| {
        let (columns, joins, conditions) = (select.list(), select.joins(), Where(conditions.iter()));
        write!(text, "SELECT {columns}\nFROM {} AS t{joins}{conditions}", Relation(relation))?;
        if !order.is_empty() {
            let columns = order.iter().map(|column| ColumnOf(Alias::Base, column));
            write!(text, "\nORDER BY {}", List(columns))?;
        }
        text.write_str("\nLIMIT 1")
    })
}

fn written(write: impl FnOnce(&mut String) -> fmt::Result) -> String {
    let mut text = String::with_capacity(TEXT_CAPACITY);
    // Writing to memory cannot fail.
    let _ = write(&mut text);
    text.shrink_to_fit();
    text
}
