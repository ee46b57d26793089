//! The report of loading a file.

use std::collections::BTreeMap;
use std::fmt;

use crate::load::data_format::TRANSFORM_ROOT;
use crate::load::error::RowError;

/// The maximum number of bad rows in a report; further ones are only counted. This bounds the memory.
const MAX_BAD: usize = 1000;
/// The maximum number of entities in a report's first line. The entity with the most rows comes first.
const MAX_NAMED: usize = 6;

/// The number of rows of an entity, by what was done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RowCounts {
    /// New rows.
    pub inserted: u64,
    /// Rows with a difference.
    pub updated: u64,
    /// Existing rows without a difference, existing rows under `create`, and rows to delete that did not exist.
    pub unchanged: u64,
    /// Rows that `delete` removed.
    pub deleted: u64,
}

impl RowCounts {
    /// All rows.
    pub fn rows(&self) -> u64 {
        self.inserted + self.updated + self.unchanged + self.deleted
    }
}

/// A row that was not loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadRow {
    /// The line on which the row begins, from 1.
    pub line: u64,
    /// The row's entity.
    pub entity: String,
    /// Why it was not loaded.
    pub error: RowError,
}

/// The report of loading a file. Its [`fmt::Display`] form has one line, and one for each field without a column and for
/// each bad row. The alternate form (`{:#}`) also has a line for each entity.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileReport {
    /// The file's name.
    pub file: String,
    /// The loaded rows of each entity with a table.
    pub entities: BTreeMap<String, RowCounts>,
    /// The number of rows of each entity without a table.
    pub skipped: BTreeMap<String, u64>,
    /// How often each (entity, field) without a column occurred.
    pub unknown_fields: BTreeMap<(String, String), u64>,
    /// Whether the file requests missing parent rows to be created (`create-dummy-fk`), which is not done.
    pub(crate) wants_dummies: bool,
    /// Whether the file is an `<entity-engine-transform-xml>`, which is skipped.
    pub(crate) is_transform: bool,
    /// The first thousand bad rows, by line.
    pub bad: Vec<BadRow>,
    /// The number of further bad rows.
    pub more_bad: u64,
}

impl FileReport {
    /// Counts loaded rows of an entity.
    pub(super) fn add(&mut self, entity: &str, loaded: RowCounts) {
        let RowCounts { inserted, updated, unchanged, deleted } = loaded;
        let counts = self.entities.entry(entity.to_owned()).or_default();
        counts.inserted += inserted;
        counts.updated += updated;
        counts.unchanged += unchanged;
        counts.deleted += deleted;
    }

    /// The number of loaded rows.
    pub fn rows(&self) -> u64 {
        self.entities.values().map(RowCounts::rows).sum()
    }

    /// The number of rows whose entity has no table.
    pub fn skipped_rows(&self) -> u64 {
        self.skipped.values().sum()
    }

    /// The number of rows whose entity has a table and that were not loaded.
    pub fn bad_rows(&self) -> u64 {
        self.bad.len() as u64 + self.more_bad
    }

    pub(super) fn add_skipped(&mut self, entity: String) {
        *self.skipped.entry(entity).or_default() += 1;
    }

    pub(super) fn add_bad(&mut self, line: u64, entity: &str, error: RowError) {
        if self.bad.len() < MAX_BAD {
            self.bad.push(BadRow { line, entity: entity.to_owned(), error });
        } else {
            self.more_bad += 1;
        }
    }
}

impl fmt::Display for FileReport {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_transform {
            return write!(
                out,
                "{}: skipped: OFBiz makes the rows of an <{TRANSFORM_ROOT}> with a template",
                self.file
            );
        }
        write!(out, "{}: {} of {}", self.file, count(self.rows(), "row"), entities(self.entities.len(), ""))?;
        largest(out, self.entities.iter().map(|(entity, counts)| (entity, counts.rows())))?;
        match self.entities.values().map(|counts| counts.unchanged).sum() {
            0 => {}
            unchanged if unchanged == self.rows() => out.write_str("; all unchanged")?,
            unchanged => write!(out, "; {unchanged} unchanged")?,
        }
        if !self.skipped.is_empty() {
            let (rows, kinds) = (count(self.skipped_rows(), "row"), entities(self.skipped.len(), "unknown "));
            write!(out, "; {rows} of {kinds} skipped")?;
            largest(out, self.skipped.iter().map(|(entity, rows)| (entity, *rows)))?;
        }
        write!(out, "; {} bad", self.bad_rows())?;
        if out.alternate() {
            for (entity, counts) in &self.entities {
                let RowCounts { inserted, updated, unchanged, deleted } = counts;
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
        for BadRow { line, entity, error } in &self.bad {
            write!(out, "\n{}:{line}: {entity}: {error}", self.file)?;
        }
        if self.more_bad > 0 {
            write!(out, "\n{}: {} more bad records", self.file, self.more_bad)?;
        }
        Ok(())
    }
}

/// The entities with the most rows, in parentheses.
fn largest<'a>(out: &mut fmt::Formatter<'_>, entities: impl Iterator<Item = (&'a String, u64)>) -> fmt::Result {
    let mut entities: Vec<_> = entities.collect();
    entities.sort_by_key(|(_, rows)| std::cmp::Reverse(*rows));
    for (index, (entity, rows)) in entities.iter().take(MAX_NAMED).enumerate() {
        write!(out, "{}{entity} {rows}", if index == 0 { " (" } else { ", " })?;
    }
    match entities.len() {
        0 => Ok(()),
        number => out.write_str(if number > MAX_NAMED { ", …)" } else { ")" }),
    }
}

fn count(number: u64, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

fn entities(number: usize, kind: &str) -> String {
    format!("{number} {kind}{}", if number == 1 { "entity" } else { "entities" })
}
