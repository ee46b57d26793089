//! The SQL of totals: the rows of a page of a connection, in groups.
//!
//! The page is read first, and has a bound of rows that are examined, as any other. So has the sorting of its groups.

use std::fmt::{self, Display, Write};

use crate::catalog::totals::TimeUnit;
use crate::plan::page_sql::PageSql;
use crate::plan::parameters::Placeholder;
use crate::plan::select::Select;
use crate::plan::sql::{List, Separated};

/// The parts of the text that returns totals: a row for each group, or one without a group. Its columns are `present` and `c0`, `c1`…,
/// in the order in which they are listed here.
pub(crate) struct TotalsSql<'a> {
    /// The returned columns, and the joins.
    pub(crate) select: Select<'a>,
    /// The rows that are summed up, and the one that follows them.
    pub(crate) page: PageSql<'a>,
    /// How many rows are summed up at most.
    pub(crate) rows: Placeholder,
    /// How many groups are returned.
    pub(crate) groups: Placeholder,
    /// The time zone of periods, if one is a key.
    pub(crate) time_zone: Option<Placeholder>,
    /// The number of the last row of the window that the page may end with, if it has one.
    pub(crate) window: Option<Placeholder>,
    /// The columns of the page that a cursor has. They follow the number of rows, whether they are all, and the number of groups.
    pub(crate) cursor: Vec<usize>,
    /// The keys of groups.
    pub(crate) keys: Vec<KeySql>,
    /// The sums. They follow the keys and the number of rows of a group, and are followed by the offsets of the keys that are periods.
    pub(crate) sums: Vec<SumSql>,
    pub(crate) order: OrderSql,
}

/// A key of groups: a column of the page, or the period that it is in.
pub(crate) struct KeySql {
    pub(crate) column: usize,
    pub(crate) unit: Option<TimeUnit>,
}

/// A sum of a column of the page, or of its products with another.
pub(crate) struct SumSql {
    pub(crate) column: usize,
    pub(crate) times: Option<usize>,
}

/// The order of groups, before the order of their keys.
pub(crate) enum OrderSql {
    Keys,
    Count,
    /// The n-th sum.
    Sum(usize),
}

impl TotalsSql<'_> {
    /// The index of the number of rows that are summed up among the columns.
    pub(crate) const ROWS: usize = 0;
    /// Whether they are all that match.
    pub(crate) const COMPLETE: usize = 1;
    /// The number of groups.
    pub(crate) const GROUP_COUNT: usize = 2;
    /// The first column of the cursor.
    pub(crate) const CURSOR: usize = 3;

    /// The index of the first key of a group among the columns.
    pub(crate) fn first_key(&self) -> usize {
        Self::CURSOR + self.cursor.len()
    }

    /// The index of the number of rows of a group.
    pub(crate) fn count(&self) -> usize {
        self.first_key() + self.keys.len()
    }

    /// The number of its columns.
    pub(crate) fn width(&self) -> usize {
        (self.first_offset() + 1 + self.periods().count()).max(self.page.width() + 1)
    }

    /// The index of the offset from UTC of the first key that is a period, in seconds. The offsets of other periods follow.
    pub(crate) fn first_offset(&self) -> usize {
        self.count() + 1 + self.sums.len()
    }

    /// The indexes of the keys that are periods, among the columns.
    fn periods(&self) -> impl Iterator<Item = usize> {
        let keys = (self.first_key()..).zip(&self.keys);
        keys.filter(|(_, key)| key.unit.is_some()).map(|(column, _)| column)
    }

    /// The offsets of the periods, each after a comma.
    fn offsets(&self) -> impl Display {
        let offsets: Vec<_> = (self.first_offset()..).zip(self.periods()).collect();
        let time_zone = self.time_zone;
        fmt::from_fn(move |f| {
            let Some(zone) = time_zone else { return Ok(()) };
            offsets.iter().try_for_each(|(index, key)| {
                write!(f, ", CASE WHEN isfinite(g.c{key}) THEN ")?;
                write!(f, "extract(epoch FROM g.c{key} AT TIME ZONE {zone}::text - g.c{key} AT TIME ZONE 'UTC') END AS c{index}")
            })
        })
    }

    /// Appends the text.
    pub(crate) fn write(&self, text: &mut String) -> fmt::Result {
        let (rows, groups) = (self.rows, self.groups);
        text.write_str("WITH q AS MATERIALIZED (SELECT q.*, row_number() OVER () AS n FROM (\n")?;
        self.page.write(text)?;
        let matches = if self.window.is_some() { "q.n <= {} AND q.matches" } else { "q.n <= {}" };
        let is_summed = matches.replace("{}", &rows.to_string());
        write!(
            text,
            "\n) AS q),\ng AS MATERIALIZED (SELECT {}\nFROM q WHERE {is_summed}{})\n",
            self.columns(),
            self.group_by()
        )?;
        write!(text, "SELECT s.*, {}g.*\nFROM (SELECT count(*) FILTER (WHERE {is_summed}) AS c0, ", self.of_end())?;
        write!(text, "{} AS c1, (SELECT count(*) FROM g) AS c2 FROM q) AS s", self.is_complete())?;
        if !self.cursor.is_empty() {
            write!(text, "\nLEFT JOIN LATERAL ({}) AS e ON NOT s.c1", self.end())?;
        }
        write!(
            text,
            "\nLEFT JOIN LATERAL (SELECT TRUE AS present, g.*{} FROM g{}\nLIMIT {groups}) AS g ON TRUE",
            self.offsets(),
            self.order_by()
        )
    }

    /// The select list of groups.
    fn columns(&self) -> impl Display {
        let keys = self.keys.iter().map(|key| match key.unit.zip(self.time_zone) {
            Some((unit, zone)) => {
                format!("date_trunc('{}', q.c{}::timestamptz, {zone}::text)", unit.name(), key.column)
            }
            None => format!("q.c{}", key.column),
        });
        let sums = self.sums.iter().map(|sum| match sum.times {
            Some(times) => format!("sum(q.c{}::numeric * q.c{times}::numeric)", sum.column),
            None => format!("sum(q.c{}::numeric)", sum.column),
        });
        let columns: Vec<_> = keys.chain(["count(*)".to_owned()]).chain(sums).collect();
        let first = self.first_key();
        fmt::from_fn(move |f| {
            let columns = columns.iter().enumerate();
            List(columns.map(|(index, column)| fmt::from_fn(move |f| write!(f, "{column} AS c{}", first + index))))
                .fmt(f)
        })
    }

    /// Without keys all rows are one group, if there are any.
    fn group_by(&self) -> impl Display {
        fmt::from_fn(|f| {
            f.write_str(if self.keys.is_empty() { "\nHAVING count(*) > 0" } else { "\nGROUP BY " })?;
            List(1..=self.keys.len()).fmt(f)
        })
    }

    /// The columns of the cursor, followed by a comma each.
    fn of_end(&self) -> impl Display {
        fmt::from_fn(|f| f.write_str(if self.cursor.is_empty() { "" } else { "e.*, " }))
    }

    /// Whether no row follows the rows that are summed up, and the page did not end with its window.
    fn is_complete(&self) -> impl Display {
        let rows = self.rows;
        fmt::from_fn(move |f| match self.window {
            None => write!(f, "bool_or(q.n > {rows}) IS NOT TRUE"),
            Some(window) => write!(f, "bool_or(q.matches AND q.n > {rows} OR q.number > {window}) IS NOT TRUE"),
        })
    }

    /// The last row that was summed up, or the last one of the window.
    fn end(&self) -> impl Display {
        let columns = self.cursor.iter().enumerate();
        let columns =
            columns.map(|(index, column)| fmt::from_fn(move |f| write!(f, "q.c{column} AS c{}", Self::CURSOR + index)));
        let rows = self.rows;
        fmt::from_fn(move |f| {
            write!(f, "SELECT {} FROM q WHERE q.n = {rows}", List(columns.clone()))?;
            self.window.map_or(Ok(()), |window| write!(f, " OR q.number = {window} ORDER BY q.number LIMIT 1"))
        })
    }

    fn order_by(&self) -> impl Display {
        let first = match self.order {
            OrderSql::Keys => None,
            OrderSql::Count => Some(self.count()),
            OrderSql::Sum(sum) => Some(self.count() + 1 + sum),
        };
        let first = first.map(|column| format!("g.c{column} DESC NULLS LAST"));
        let keys = (0..self.keys.len()).map(|key| format!("g.c{}", self.first_key() + key));
        let columns: Vec<_> = first.into_iter().chain(keys).collect();
        fmt::from_fn(move |f| {
            f.write_str(if columns.is_empty() { "" } else { "\nORDER BY " })?;
            Separated(", ", columns.iter()).fmt(f)
        })
    }
}
