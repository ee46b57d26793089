//! What came of a file.

use std::collections::BTreeMap;
use std::fmt;

use crate::load::mapping::BadRow;

/// Bad records that a report keeps; the rest is counted. A file that fits nowhere must not fill the memory.
const MOST_BAD: usize = 1000;
/// Entities that a report's one line names, the most rows first.
const NAMED: usize = 6;

/// What became of one entity's rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Rows that were not there before.
    pub inserted: u64,
    /// Rows in which something differed.
    pub updated: u64,
    /// Rows that were there already, all their fields alike, or that `create` found there; and rows to delete that
    /// were not there.
    pub unchanged: u64,
    /// Rows that a `delete` took away.
    pub deleted: u64,
}

impl Outcome {
    /// All rows that were loaded.
    pub fn rows(&self) -> u64 {
        self.inserted + self.updated + self.unchanged + self.deleted
    }
}

/// A row that was not loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadRecord {
    /// The line of the file that the row begins on, from 1.
    pub line: u64,
    /// Its entity.
    pub entity: String,
    /// Why.
    pub reason: BadRow,
}

/// What came of a file. [`fmt::Display`] is one line, and one more for each field without a column and each bad record;
/// the alternate form (`{:#}`) has a line for each entity too.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileReport {
    /// The file, as its source names it.
    pub file: String,
    /// The rows of each entity that has a table.
    pub entities: BTreeMap<String, Outcome>,
    /// The rows of each entity that has none.
    pub skipped: BTreeMap<String, u64>,
    /// How often each (entity, field) came for which the entity's table has no column.
    pub unknown_fields: BTreeMap<(String, String), u64>,
    /// Whether the file asks for missing parents to be made up (`create-dummy-fk`), which is not done.
    pub wants_dummies: bool,
    /// The first thousand bad records, in the order of their lines.
    pub bad: Vec<BadRecord>,
    /// Bad records beyond those.
    pub more_bad: u64,
}

impl FileReport {
    /// Rows that were loaded.
    pub fn rows(&self) -> u64 {
        self.entities.values().map(Outcome::rows).sum()
    }

    /// Rows whose entity has no table.
    pub fn skipped_rows(&self) -> u64 {
        self.skipped.values().sum()
    }

    /// Rows that were not loaded though their entity has a table.
    pub fn bad_rows(&self) -> u64 {
        self.bad.len() as u64 + self.more_bad
    }

    pub(in crate::load) fn refuse(&mut self, line: u64, entity: &str, reason: BadRow) {
        if self.bad.len() < MOST_BAD {
            self.bad.push(BadRecord { line, entity: entity.to_owned(), reason });
        } else {
            self.more_bad += 1;
        }
    }
}

impl fmt::Display for FileReport {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {} of {}", self.file, count(self.rows(), "row"), entities(self.entities.len(), ""))?;
        let mut largest: Vec<_> = self.entities.iter().collect();
        largest.sort_by_key(|(_, outcome)| std::cmp::Reverse(outcome.rows()));
        for (at, (entity, outcome)) in largest.iter().take(NAMED).enumerate() {
            write!(out, "{}{entity} {}", if at == 0 { " (" } else { ", " }, outcome.rows())?;
        }
        if !largest.is_empty() {
            out.write_str(if largest.len() > NAMED { ", …)" } else { ")" })?;
        }
        if !self.skipped.is_empty() {
            let (rows, kinds) = (count(self.skipped_rows(), "row"), entities(self.skipped.len(), "unknown "));
            write!(out, "; {rows} of {kinds} skipped")?;
        }
        write!(out, "; {} bad", self.bad_rows())?;
        if out.alternate() {
            for (entity, outcome) in &self.entities {
                let Outcome { inserted, updated, unchanged, deleted } = outcome;
                write!(
                    out,
                    "\n  {entity}: {inserted} inserted, {updated} updated, {unchanged} unchanged, {deleted} deleted"
                )?;
            }
            for (entity, rows) in &self.skipped {
                write!(out, "\n  {entity}: {rows} skipped, there is no such table")?;
            }
        }
        if self.wants_dummies {
            write!(out, "\n{}: create-dummy-fk is not done: rows without their parents are bad", self.file)?;
        }
        for ((entity, field), times) in &self.unknown_fields {
            write!(out, "\n{}: {entity}.{field} ignored {times}×: its table has no such column", self.file)?;
        }
        for BadRecord { line, entity, reason } in &self.bad {
            write!(out, "\n{}:{line}: {entity}: {reason}", self.file)?;
        }
        if self.more_bad > 0 {
            write!(out, "\n{}: {} more bad records", self.file, self.more_bad)?;
        }
        Ok(())
    }
}

fn count(number: u64, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

fn entities(number: usize, kind: &str) -> String {
    format!("{number} {kind}{}", if number == 1 { "entity" } else { "entities" })
}
