//! Records put together into statements without changing what they come to.
//!
//! Records of one table, action and set of columns go in one statement, in whatever order they come in the file; but a
//! record must not overtake an earlier one that it needs. So groups stand in a line and are sent in its order, and a
//! record joins its group only if everything that it needs stands in that group or before it. Otherwise a new group of
//! the same kind is opened at the end of the line. What a record needs:
//! - an earlier record of the same key: in an earlier group, as one statement cannot touch a row twice;
//! - the rows it refers to: in an earlier group or the same, as PostgreSQL checks references at the end of a statement;
//! - if it is a delete, everything before it; and everything after a delete needs the delete.

use std::collections::HashMap;

use crate::load::read::Action;
use crate::load::record::{KEY_SEPARATOR, Record};
use crate::load::tables::{ForeignKey, Tables};

/// When so many records or bytes wait, they are sent.
const MOST_RECORDS: usize = 4096;
const MOST_BYTES: usize = 4 << 20;

/// What the records of one statement have in common.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Shape {
    /// The table's place.
    pub table: usize,
    /// What is done.
    pub action: Action,
    /// The columns written.
    pub columns: Vec<usize>,
}

/// Records for one statement.
#[derive(Debug)]
pub struct Group {
    /// What they have in common.
    pub shape: Shape,
    /// Each record's line and values.
    pub records: Vec<(u64, Vec<Option<String>>)>,
}

/// The records that wait.
#[derive(Debug, Default)]
pub struct Queue {
    line: Vec<Group>,
    /// The last group of each shape.
    open: HashMap<Shape, usize>,
    /// The last group that holds a record of this table and key.
    holders: HashMap<(usize, Box<str>), usize>,
    /// The last group of each table.
    last: HashMap<usize, usize>,
    /// Groups before this one hold a delete that later records must not overtake.
    barrier: usize,
    records: usize,
    bytes: usize,
}

impl Queue {
    /// Puts `record` where it belongs.
    pub fn push(&mut self, tables: &Tables, record: Record) {
        let earliest = self.earliest(tables, &record);
        self.records += 1;
        self.bytes += record.values.iter().flatten().map(String::len).sum::<usize>() + 24 * record.values.len();
        let deletes = record.action == Action::Delete;
        let shape = Shape { table: record.table, action: record.action, columns: record.columns };
        let at = match self.open.get(&shape) {
            Some(at) if *at >= earliest => *at,
            _ => {
                self.line.push(Group { shape: shape.clone(), records: Vec::new() });
                self.open.insert(shape, self.line.len() - 1);
                self.line.len() - 1
            }
        };
        self.line[at].records.push((record.line, record.values));
        self.holders.insert((record.table, record.key), at);
        let last = self.last.entry(record.table).or_insert(at);
        *last = at.max(*last);
        if deletes {
            self.barrier = at + 1;
        }
    }

    /// Whether it is time to send.
    pub fn is_full(&self) -> bool {
        self.records >= MOST_RECORDS || self.bytes >= MOST_BYTES
    }

    /// All groups in the order to send them. The queue is empty afterwards.
    pub fn take(&mut self) -> Vec<Group> {
        std::mem::take(self).line
    }

    /// The first place in the line that `record` may have.
    fn earliest(&self, tables: &Tables, record: &Record) -> usize {
        if record.action == Action::Delete {
            let own = self.holder(record.table, &record.key).map_or(0, |at| at + 1);
            return own.max(self.line.len().saturating_sub(1));
        }
        let own = self.holder(record.table, &record.key).map_or(0, |at| at + 1);
        tables
            .get(record.table)
            .foreign_keys
            .iter()
            .filter_map(|reference| self.parent(reference, record))
            .fold(own.max(self.barrier), usize::max)
    }

    /// The group of the row that `record` refers to, if it waits. Where the row cannot be told from the record alone,
    /// the last group of its table.
    fn parent(&self, reference: &ForeignKey, record: &Record) -> Option<usize> {
        let mut values = Vec::with_capacity(reference.columns.len());
        for column in &reference.columns {
            match record.columns.binary_search(column) {
                Ok(at) => values.push(record.values[at].as_deref()),
                Err(_) => values.push(Some("")),
            }
        }
        let named = reference.columns.iter().filter(|column| record.columns.binary_search(column).is_ok()).count();
        if named == 0 || values.iter().any(Option::is_none) {
            // Nothing said about the reference, or a null in it: nothing is checked.
            return None;
        }
        let last = self.last.get(&reference.table).copied();
        match &reference.key {
            Some(order) if named == values.len() => {
                last?;
                let mut key = String::new();
                for part in order {
                    key.push_str(values[*part].unwrap_or_default());
                    key.push(KEY_SEPARATOR);
                }
                self.holder(reference.table, &key)
            }
            _ => last,
        }
    }

    fn holder(&self, table: usize, key: &str) -> Option<usize> {
        self.holders.get(&(table, Box::from(key))).copied()
    }
}
