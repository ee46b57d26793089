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

use crate::load::mapping::{KEY_SEPARATOR, Record};
use crate::load::read::Action;
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    /// `node(id, parent → node, note)`, `leaf(id, node → node, note)`.
    fn tables() -> Tables {
        Tables::of(&[("node", &["id", "parent", "note"]), ("leaf", &["id", "node", "note"])])
    }

    fn upsert(table: usize, cells: &[(usize, Option<&str>)]) -> Record {
        record(table, Action::CreateUpdate, cells)
    }

    fn record(table: usize, action: Action, cells: &[(usize, Option<&str>)]) -> Record {
        Record {
            table,
            action,
            columns: cells.iter().map(|(column, _)| *column).collect(),
            values: cells.iter().map(|(_, value)| value.map(str::to_owned)).collect(),
            key: format!("{}\0", cells[0].1.unwrap()).into(),
            line: 0,
        }
    }

    /// Each group as its table and the keys of its records.
    fn line(records: Vec<Record>) -> Vec<(usize, String)> {
        let mut queue = Queue::default();
        for record in records {
            queue.push(&tables(), record);
        }
        let keys = |group: &Group| group.records.iter().filter_map(|(_, values)| values[0].clone()).collect();
        queue.take().iter().map(|group| (group.shape.table, keys(group))).collect()
    }

    fn groups(expected: &[(usize, &str)]) -> Vec<(usize, String)> {
        expected.iter().map(|(table, keys)| (*table, (*keys).to_owned())).collect()
    }

    #[test]
    fn parents_and_children_in_turn_make_two_statements() {
        let records = vec![
            upsert(0, &[(0, Some("a"))]),
            upsert(1, &[(0, Some("x")), (1, Some("a"))]),
            upsert(0, &[(0, Some("b"))]),
            upsert(1, &[(0, Some("y")), (1, Some("b"))]),
        ];
        assert_eq!(line(records), groups(&[(0, "ab"), (1, "xy")]));
    }

    #[test]
    fn a_child_does_not_overtake_a_parent_that_came_in_a_later_group() {
        let records = vec![
            upsert(1, &[(0, Some("x")), (1, None)]),
            upsert(0, &[(0, Some("a"))]),
            upsert(1, &[(0, Some("y")), (1, Some("a"))]),
            upsert(1, &[(0, Some("z")), (1, None)]),
        ];
        assert_eq!(line(records), groups(&[(1, "x"), (0, "a"), (1, "yz")]));
    }

    #[test]
    fn a_row_twice_is_in_two_statements_in_their_order() {
        let records = vec![
            upsert(0, &[(0, Some("a")), (2, Some("1"))]),
            upsert(0, &[(0, Some("a")), (2, Some("2"))]),
            upsert(0, &[(0, Some("b")), (2, Some("3"))]),
        ];
        assert_eq!(line(records), groups(&[(0, "a"), (0, "ab")]));
    }

    #[test]
    fn nothing_overtakes_a_delete_nor_a_delete_anything() {
        let records = vec![
            upsert(0, &[(0, Some("a"))]),
            record(0, Action::Delete, &[(0, Some("a"))]),
            record(0, Action::Delete, &[(0, Some("b"))]),
            upsert(0, &[(0, Some("c"))]),
            record(0, Action::Delete, &[(0, Some("d"))]),
        ];
        assert_eq!(line(records), groups(&[(0, "a"), (0, "ab"), (0, "c"), (0, "d")]));
    }

    /// What is stored: the cells of each row of each table.
    type Store = [BTreeMap<String, [Option<String>; 3]>; 2];

    fn apply(store: &mut Store, shape: &Shape, values: &[Option<String>]) {
        let key = values[0].clone().unwrap();
        if shape.action == Action::Delete {
            store[shape.table].remove(&key);
            return;
        }
        let known = store[shape.table].contains_key(&key);
        let row = store[shape.table].entry(key).or_default();
        if !(known && shape.action == Action::Create) {
            for (column, value) in shape.columns.iter().zip(values) {
                row[*column].clone_from(value);
            }
        }
    }

    fn sound(store: &Store) -> bool {
        store.iter().flat_map(BTreeMap::values).filter_map(|row| row[1].as_ref()).all(|to| store[0].contains_key(to))
    }

    fn any_record() -> impl Strategy<Value = Record> {
        let action = prop_oneof![
            6 => Just(Action::CreateUpdate), 1 => Just(Action::Create), 1 => Just(Action::Delete)
        ];
        let id = prop::sample::select(vec!["a", "b", "c", "d"]);
        let parent = prop::option::of(prop::option::of(id.clone()));
        let note = prop::option::of(prop::option::of(prop::sample::select(vec!["1", "2"])));
        (0..2_usize, action, id, parent, note).prop_map(|(table, action, id, parent, note)| {
            let mut cells = vec![(0, Some(id))];
            if action != Action::Delete {
                cells.extend(parent.map(|parent| (1, parent)));
                cells.extend(note.map(|note| (2, note)));
            }
            record(table, action, &cells)
        })
    }

    proptest! {
        /// Sent in groups, records leave what they leave one by one, and every reference holds after every statement.
        #[test]
        fn groups_come_to_what_their_records_come_to(records in prop::collection::vec(any_record(), 0..60)) {
            let tables = tables();
            let (mut one_by_one, mut in_groups) = (Store::default(), Store::default());
            let mut queue = Queue::default();
            for record in records {
                let shape = Shape { table: record.table, action: record.action, columns: record.columns.clone() };
                let mut next = one_by_one.clone();
                apply(&mut next, &shape, &record.values);
                if sound(&next) {
                    one_by_one = next;
                    queue.push(&tables, record);
                }
            }
            for group in queue.take() {
                let mut keys: Vec<_> = group.records.iter().map(|(_, values)| values[0].clone()).collect();
                keys.sort();
                keys.dedup();
                prop_assert_eq!(keys.len(), group.records.len(), "a statement touches a row twice");
                for (_, values) in &group.records {
                    apply(&mut in_groups, &group.shape, values);
                }
                prop_assert!(sound(&in_groups), "a reference is broken");
            }
            prop_assert_eq!(one_by_one, in_groups);
        }
    }
}
