//! The text of one step's statement, from its parts.

use std::fmt::Write;

use crate::catalog::binding::Column;
use crate::plan::select::{Select, array_type};
use crate::plan::sql::{Alias, ColumnOf, Placeholder, Relation, list, where_clause};

/// Where the parents' keys come from, once per statement.
pub enum Source {
    /// From nowhere: there is one group of rows.
    Alone,
    /// From arrays, one for each key column, with an ordinal for each parent.
    Parents(Vec<(Placeholder, Column)>),
}

/// The parts of the statement that fetches a page of a connection.
pub struct PageStatement<'a> {
    /// The relation of the rows.
    pub relation: &'a str,
    /// What is read.
    pub select: &'a Select<'a>,
    /// Whose rows.
    pub source: Source,
    /// What every row must fulfil: belonging to its parent, and the search terms.
    pub conditions: Vec<String>,
    /// The ranges of the index that the page lies in, in ascending order.
    pub segments: Vec<Vec<String>>,
    /// The columns of the order that are not the same in all rows of a parent.
    pub order: Vec<&'a Column>,
    /// Where those columns stand in a row; needed where there are two segments.
    pub order_places: Vec<usize>,
    /// Whether the walk goes up the index.
    pub ascending: bool,
    /// One more than the rows that are wanted.
    pub limit: Placeholder,
    /// What is asked about rows outside the page.
    pub probes: Vec<Probe>,
}

/// Whether there is any row in some ranges of the index.
pub struct Probe {
    /// The ranges.
    pub segments: Vec<Vec<String>>,
    /// Whether the row nearest to the page is the lowest of them: it is looked at first.
    pub ascending: bool,
}

impl PageStatement<'_> {
    /// The statement.
    pub fn text(&self) -> String {
        let page = self.page();
        let probes = self.probes.iter().map(|probe| self.probe(probe));
        let probes = probes.enumerate().map(|(index, probe)| format!("{probe} AS f{index}"));
        // OFFSET 0 keeps PostgreSQL from drawing the sub-select into the list above it, where it would be asked for every row
        // of the page instead of once for the parent. Without parents it is asked once anyhow.
        let fence = if matches!(self.source, Source::Parents(_)) { " OFFSET 0" } else { "" };
        let probes = (!self.probes.is_empty()).then(|| format!("(SELECT {}{fence}) AS f", list(probes)));
        match (&self.source, probes) {
            (Source::Alone, None) => page,
            (Source::Alone, Some(probes)) => {
                format!("SELECT f.*, p.*\nFROM {probes}\nLEFT JOIN LATERAL (\n{page}\n) AS p ON TRUE")
            }
            (Source::Parents(keys), probes) => {
                let parents = parents(keys);
                match probes {
                    None => format!(
                        "SELECT k.ord, p.*\nFROM {parents}\nCROSS JOIN LATERAL (\n{page}\n) AS p\nORDER BY k.ord"
                    ),
                    Some(probes) => format!(
                        "SELECT k.ord, f.*, p.*\nFROM {parents}\nCROSS JOIN LATERAL {probes}\nLEFT JOIN LATERAL \
                         (\n{page}\n) AS p ON TRUE\nORDER BY k.ord"
                    ),
                }
            }
        }
    }

    fn page(&self) -> String {
        let segments = self.segments.iter().map(|segment| self.segment(segment));
        let segments: Vec<_> = if self.ascending { segments.collect() } else { segments.rev().collect() };
        match segments.as_slice() {
            [] => self.segment(&["FALSE".to_owned()]),
            [segment] => segment.clone(),
            _ => {
                let order = self.order_places.iter().map(|place| format!("u.c{place}{}", direction(self.ascending)));
                let union = segments.join("\n) UNION ALL (\n");
                format!("SELECT u.* FROM ((\n{union}\n)) AS u\nORDER BY {}\nLIMIT {}", list(order), self.limit)
            }
        }
    }

    fn segment(&self, segment: &[String]) -> String {
        let present = if self.probes.is_empty() { "" } else { "TRUE AS present, " };
        let columns = self.select.list();
        // A statement may be asked for nothing but its number of rows.
        let columns = if columns.is_empty() { "NULL AS nothing".to_owned() } else { columns };
        let relation = Relation(self.relation);
        let joins = self.select.joins();
        let conditions = where_clause(self.conditions.iter().chain(segment));
        let order = self.order_by(self.ascending);
        format!("SELECT {present}{columns}\nFROM {relation} AS t{joins}{conditions}{order}\nLIMIT {}", self.limit)
    }

    fn probe(&self, probe: &Probe) -> String {
        let relation = Relation(self.relation);
        let order = self.order_by(probe.ascending);
        let exists = probe.segments.iter().map(|segment| {
            let conditions = where_clause(self.conditions.iter().chain(segment));
            format!("(SELECT TRUE FROM {relation} AS t{conditions}{order} LIMIT 1) IS NOT NULL")
        });
        let exists: Vec<_> = exists.collect();
        if exists.is_empty() { "FALSE".to_owned() } else { exists.join(" OR ") }
    }

    fn order_by(&self, ascending: bool) -> String {
        if self.order.is_empty() {
            return String::new();
        }
        let columns =
            self.order.iter().map(|column| format!("{}{}", ColumnOf(Alias::Base, &column.name), direction(ascending)));
        format!("\nORDER BY {}", list(columns))
    }
}

/// PostgreSQL's own order of nulls, last when ascending and first when descending, is the one that is wanted.
fn direction(ascending: bool) -> &'static str {
    if ascending { "" } else { " DESC" }
}

fn parents(keys: &[(Placeholder, Column)]) -> String {
    let arrays = keys.iter().map(|(placeholder, column)| format!("{placeholder}::{}", array_type(column.scalar)));
    let names = (0..keys.len()).map(|index| format!("k{index}"));
    let mut text = format!("unnest({}) WITH ORDINALITY AS k(", list(arrays));
    for name in names {
        let _ = write!(text, "{name}, ");
    }
    text + "ord)"
}

/// The statement of a point root: the row with these keys, the lowest by key where there can be several.
pub fn point(relation: &str, select: &Select<'_>, conditions: &[String], order: &[Column]) -> String {
    let columns = select.list();
    let columns = if columns.is_empty() { "NULL AS nothing".to_owned() } else { columns };
    let conditions = where_clause(conditions);
    let order = match order {
        [] => String::new(),
        _ => format!("\nORDER BY {}", list(order.iter().map(|column| ColumnOf(Alias::Base, &column.name)))),
    };
    format!("SELECT {columns}\nFROM {} AS t{}{conditions}{order}\nLIMIT 1", Relation(relation), select.joins())
}
