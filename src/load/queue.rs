//! Groups records into statements without changing the result.
//!
//! Records of one table, action and set of columns go into one statement, wherever they are in the file. But a record must not
//! overtake an earlier one that it depends on. So batches are sent in the order in which they were opened. A record joins the last
//! batch of its statement only if that batch or an earlier one has all records that it depends on. Otherwise it opens a new batch
//! at the end. A record depends on
//! - an earlier record with the same key, which must be in an earlier batch: one statement cannot change a row twice;
//! - the rows that it references, in the same or an earlier batch: PostgreSQL checks references at the end of a statement;
//! - everything before it, if it is a delete; and every later record depends on the delete.

use std::collections::HashMap;

use crate::load::record::{CheckedRow, KEY_SEPARATOR, RecordBatch, StatementKey};
use crate::load::row::RowAction;
use crate::load::tables::{TargetForeignKey, TargetTables};

/// The queue is full at this number of records.
const MAX_RECORDS: usize = 4096;
/// The queue is full at this number of bytes, estimated.
const MAX_BYTES: usize = 4 << 20;

/// The records to be sent, in batches.
#[derive(Debug, Default)]
pub(super) struct RecordQueue {
    batches: Vec<RecordBatch>,
    /// The last batch of each statement.
    open: HashMap<StatementKey, usize>,
    /// The last batch with a record of this table and key.
    by_key: HashMap<(usize, Box<str>), usize>,
    /// The last batch of each table.
    last_of_table: HashMap<usize, usize>,
    /// The first batch that later records may join: the one after the last delete.
    barrier: usize,
    records: usize,
    bytes: usize,
}

impl RecordQueue {
    /// Adds a record to the earliest possible batch.
    pub(super) fn push(&mut self, tables: &TargetTables, record: CheckedRow) {
        let earliest = self.earliest(tables, &record);
        self.records += 1;
        self.bytes += record.values.iter().flatten().map(String::len).sum::<usize>() + 24 * record.values.len();
        let is_delete = record.action == RowAction::Delete;
        let statement = StatementKey { table: record.table, action: record.action, columns: record.columns };
        let index = match self.open.get(&statement) {
            Some(index) if *index >= earliest => *index,
            _ => {
                self.batches.push(RecordBatch { statement: statement.clone(), records: Vec::new() });
                self.open.insert(statement, self.batches.len() - 1);
                self.batches.len() - 1
            }
        };
        self.batches[index].records.push((record.line, record.values));
        self.by_key.insert((record.table, record.key), index);
        let last = self.last_of_table.entry(record.table).or_insert(index);
        *last = index.max(*last);
        if is_delete {
            self.barrier = index + 1;
        }
    }

    /// Whether the batches should be sent.
    pub(super) fn is_full(&self) -> bool {
        self.records >= MAX_RECORDS || self.bytes >= MAX_BYTES
    }

    /// Removes and returns all batches, in the order to send them.
    pub(super) fn take(&mut self) -> Vec<RecordBatch> {
        std::mem::take(self).batches
    }

    /// The first batch that the record may join.
    fn earliest(&self, tables: &TargetTables, record: &CheckedRow) -> usize {
        let after_same_key = self.batch_of(record.table, &record.key).map_or(0, |index| index + 1);
        if record.action == RowAction::Delete {
            return after_same_key.max(self.batches.len().saturating_sub(1));
        }
        tables
            .get(record.table)
            .foreign_keys
            .iter()
            .filter_map(|foreign_key| self.batch_of_parent(foreign_key, record))
            .fold(after_same_key.max(self.barrier), usize::max)
    }

    /// The batch of the row that the record references, if that row is in the queue. If the record does not identify the
    /// row, the last batch of the referenced table.
    fn batch_of_parent(&self, foreign_key: &TargetForeignKey, record: &CheckedRow) -> Option<usize> {
        let mut values = Vec::with_capacity(foreign_key.columns.len());
        for column in &foreign_key.columns {
            match record.columns.binary_search(column) {
                Ok(index) => values.push(record.values[index].as_deref()),
                Err(_) => values.push(Some("")),
            }
        }
        let named = foreign_key.columns.iter().filter(|column| record.columns.binary_search(column).is_ok()).count();
        if named == 0 || values.iter().any(Option::is_none) {
            // PostgreSQL checks nothing: the record does not write the reference, or writes a null.
            return None;
        }
        let last = self.last_of_table.get(&foreign_key.table).copied();
        match &foreign_key.key {
            Some(order) if named == values.len() => {
                last?;
                let mut key = String::new();
                for part in order {
                    key.push_str(values[*part].unwrap_or_default());
                    key.push(KEY_SEPARATOR);
                }
                self.batch_of(foreign_key.table, &key)
            }
            _ => last,
        }
    }

    fn batch_of(&self, table: usize, key: &str) -> Option<usize> {
        self.by_key.get(&(table, Box::from(key))).copied()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    /// `node(id, parent → node, note)`, `leaf(id, node → node, note)`.
    fn tables() -> TargetTables {
        TargetTables::for_test(&[("node", &["id", "parent", "note"]), ("leaf", &["id", "node", "note"])])
    }

    fn upsert(table: usize, cells: &[(usize, Option<&str>)]) -> CheckedRow {
        record(table, RowAction::CreateUpdate, cells)
    }

    fn record(table: usize, action: RowAction, cells: &[(usize, Option<&str>)]) -> CheckedRow {
        CheckedRow {
            table,
            action,
            columns: cells.iter().map(|(column, _)| *column).collect(),
            values: cells.iter().map(|(_, value)| value.map(str::to_owned)).collect(),
            key: format!("{}\0", cells[0].1.unwrap()).into(),
            line: 0,
        }
    }

    /// Each batch as its table and the keys of its records.
    fn batches(records: Vec<CheckedRow>) -> Vec<(usize, String)> {
        let mut queue = RecordQueue::default();
        for record in records {
            queue.push(&tables(), record);
        }
        let keys = |batch: &RecordBatch| batch.records.iter().filter_map(|(_, values)| values[0].clone()).collect();
        queue.take().iter().map(|batch| (batch.statement.table, keys(batch))).collect()
    }

    fn expected(batches: &[(usize, &str)]) -> Vec<(usize, String)> {
        batches.iter().map(|(table, keys)| (*table, (*keys).to_owned())).collect()
    }

    #[test]
    fn alternating_parents_and_children_need_two_statements() {
        let records = vec![
            upsert(0, &[(0, Some("a"))]),
            upsert(1, &[(0, Some("x")), (1, Some("a"))]),
            upsert(0, &[(0, Some("b"))]),
            upsert(1, &[(0, Some("y")), (1, Some("b"))]),
        ];
        assert_eq!(batches(records), expected(&[(0, "ab"), (1, "xy")]));
    }

    #[test]
    fn a_child_does_not_overtake_a_parent_in_a_later_batch() {
        let records = vec![
            upsert(1, &[(0, Some("x")), (1, None)]),
            upsert(0, &[(0, Some("a"))]),
            upsert(1, &[(0, Some("y")), (1, Some("a"))]),
            upsert(1, &[(0, Some("z")), (1, None)]),
        ];
        assert_eq!(batches(records), expected(&[(1, "x"), (0, "a"), (1, "yz")]));
    }

    #[test]
    fn a_row_that_occurs_twice_is_in_two_statements_in_order() {
        let records = vec![
            upsert(0, &[(0, Some("a")), (2, Some("1"))]),
            upsert(0, &[(0, Some("a")), (2, Some("2"))]),
            upsert(0, &[(0, Some("b")), (2, Some("3"))]),
        ];
        assert_eq!(batches(records), expected(&[(0, "a"), (0, "ab")]));
    }

    #[test]
    fn a_delete_neither_overtakes_nor_is_overtaken() {
        let records = vec![
            upsert(0, &[(0, Some("a"))]),
            record(0, RowAction::Delete, &[(0, Some("a"))]),
            record(0, RowAction::Delete, &[(0, Some("b"))]),
            upsert(0, &[(0, Some("c"))]),
            record(0, RowAction::Delete, &[(0, Some("d"))]),
        ];
        assert_eq!(batches(records), expected(&[(0, "a"), (0, "ab"), (0, "c"), (0, "d")]));
    }

    /// The cells of each row, by table and key.
    type Store = [BTreeMap<String, [Option<String>; 3]>; 2];

    fn apply(store: &mut Store, statement: &StatementKey, values: &[Option<String>]) {
        let key = values[0].clone().unwrap();
        if statement.action == RowAction::Delete {
            store[statement.table].remove(&key);
            return;
        }
        let known = store[statement.table].contains_key(&key);
        let row = store[statement.table].entry(key).or_default();
        if !(known && statement.action == RowAction::Create) {
            for (column, value) in statement.columns.iter().zip(values) {
                row[*column].clone_from(value);
            }
        }
    }

    fn has_no_broken_reference(store: &Store) -> bool {
        store.iter().flat_map(BTreeMap::values).filter_map(|row| row[1].as_ref()).all(|to| store[0].contains_key(to))
    }

    fn any_record() -> impl Strategy<Value = CheckedRow> {
        let action = prop_oneof![
            6 => Just(RowAction::CreateUpdate), 1 => Just(RowAction::Create), 1 => Just(RowAction::Delete)
        ];
        let id = prop::sample::select(vec!["a", "b", "c", "d"]);
        let parent = prop::option::of(prop::option::of(id.clone()));
        let note = prop::option::of(prop::option::of(prop::sample::select(vec!["1", "2"])));
        (0..2_usize, action, id, parent, note).prop_map(|(table, action, id, parent, note)| {
            let mut cells = vec![(0, Some(id))];
            if action != RowAction::Delete {
                cells.extend(parent.map(|parent| (1, parent)));
                cells.extend(note.map(|note| (2, note)));
            }
            record(table, action, &cells)
        })
    }

    proptest! {
        /// Batches have the same result as single records, and no reference is broken after any statement.
        #[test]
        fn batches_have_the_same_result_as_single_records(records in prop::collection::vec(any_record(), 0..60)) {
            let tables = tables();
            let (mut one_by_one, mut in_batches) = (Store::default(), Store::default());
            let mut queue = RecordQueue::default();
            for record in records {
                let statement = StatementKey { table: record.table, action: record.action, columns: record.columns.clone() };
                let mut next = one_by_one.clone();
                apply(&mut next, &statement, &record.values);
                if has_no_broken_reference(&next) {
                    one_by_one = next;
                    queue.push(&tables, record);
                }
            }
            for batch in queue.take() {
                let mut keys: Vec<_> = batch.records.iter().map(|(_, values)| values[0].clone()).collect();
                keys.sort();
                keys.dedup();
                prop_assert_eq!(keys.len(), batch.records.len(), "a statement changes a row twice");
                for (_, values) in &batch.records {
                    apply(&mut in_batches, &batch.statement, values);
                }
                prop_assert!(has_no_broken_reference(&in_batches), "a reference is broken");
            }
            prop_assert_eq!(one_by_one, in_batches);
        }
    }
}
