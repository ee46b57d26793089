//! The rows around a row of Moqui's format, whose keys it inherits.

use crate::load::tables::{TargetTable, TargetTables};

/// The rows around the next row, outermost first.
#[derive(Debug, Default)]
pub(super) struct Ancestors {
    rows: Vec<Ancestor>,
}

#[derive(Debug)]
struct Ancestor {
    /// `None` if the row's entity has no table.
    table: Option<usize>,
    /// The key's values in the order of its columns. Empty if the row has no table or is bad.
    key: Vec<String>,
}

impl Ancestors {
    /// Removes the rows that do not contain one of this depth.
    pub(super) fn leave(&mut self, depth: usize) {
        self.rows.truncate(depth);
    }

    /// Adds a row, which contains the next one if that is deeper.
    pub(super) fn enter(&mut self, table: Option<usize>, key: Vec<String>) {
        self.rows.push(Ancestor { table, key });
    }

    /// Whether a row around the next one was skipped because its entity has no table.
    pub(super) fn has_skipped(&self) -> bool {
        self.rows.iter().any(|row| row.table.is_none())
    }

    /// The table of the row that directly contains the next one.
    pub(super) fn parent(&self) -> Option<usize> {
        self.rows.last()?.table
    }

    /// The values that a row of the table inherits, by column, as Moqui does: the keys of all rows around it, into the
    /// columns of the same name; and the parent's key into the columns that reference it, if one foreign key does.
    pub(super) fn inherited(&self, tables: &TargetTables, table: usize) -> Vec<(usize, String)> {
        let child = tables.get(table);
        let mut values = Vec::new();
        if let Some(Ancestor { table: Some(parent), key }) = self.rows.last() {
            values.extend(referencing_columns(child, *parent).into_iter().zip(key.iter().cloned()));
        }
        for row in self.rows.iter().rev() {
            let Some(ancestor) = row.table else { continue };
            let ancestor = tables.get(ancestor);
            for (part, value) in ancestor.key.iter().zip(&row.key) {
                if let Some(column) = child.index_of(&ancestor.columns[*part].name)
                    && !values.iter().any(|(taken, _)| *taken == column)
                {
                    values.push((column, value.clone()));
                }
            }
        }
        values
    }
}

/// The child's columns that reference the parts of the parent's key, in the key's order. None if no foreign key or more
/// than one references the parent.
fn referencing_columns(child: &TargetTable, parent: usize) -> Vec<usize> {
    let mut references = child.foreign_keys.iter().filter(|reference| reference.table == parent);
    match (references.next(), references.next()) {
        (Some(reference), None) => {
            reference.key.iter().flatten().map(|position| reference.columns[*position]).collect()
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `party(party_id, parent → party, note)`, `role(role_id, for_party → party, party_id)`.
    fn tables() -> TargetTables {
        TargetTables::for_test(&[
            ("party", &["party_id", "parent", "note"]),
            ("role", &["role_id", "for_party", "party_id"]),
        ])
    }

    fn around(rows: &[(Option<usize>, &str)]) -> Ancestors {
        let mut ancestors = Ancestors::default();
        for (table, key) in rows {
            ancestors.enter(*table, if table.is_some() { vec![(*key).to_owned()] } else { Vec::new() });
        }
        ancestors
    }

    fn inherited(rows: &[(Option<usize>, &str)], table: usize) -> Vec<(usize, String)> {
        around(rows).inherited(&tables(), table)
    }

    fn expected(values: &[(usize, &str)]) -> Vec<(usize, String)> {
        values.iter().map(|(column, value)| (*column, (*value).to_owned())).collect()
    }

    #[test]
    fn the_parents_key_goes_to_the_reference_and_to_the_column_of_its_name() {
        assert_eq!(inherited(&[(Some(0), "P")], 1), expected(&[(1, "P"), (2, "P")]));
        assert_eq!(inherited(&[(Some(0), "P")], 0), expected(&[(1, "P"), (0, "P")]));
        assert_eq!(inherited(&[], 1), []);
    }

    #[test]
    fn the_nearest_row_with_the_column_wins_and_rows_without_a_table_have_no_key() {
        assert_eq!(inherited(&[(Some(0), "P"), (Some(0), "Q"), (Some(1), "R")], 1), expected(&[(0, "R"), (2, "Q")]));
        assert_eq!(inherited(&[(Some(0), "P"), (None, "")], 1), expected(&[(2, "P")]));
        assert!(around(&[(Some(0), "P"), (None, "")]).has_skipped());
        assert!(!around(&[(Some(0), "P")]).has_skipped());
    }

    #[test]
    fn leaving_a_row_forgets_its_key() {
        let mut ancestors = around(&[(Some(0), "P"), (Some(0), "Q")]);
        ancestors.leave(1);
        assert_eq!(ancestors.inherited(&tables(), 1), expected(&[(1, "P"), (2, "P")]));
        assert_eq!(ancestors.parent(), Some(0));
        ancestors.leave(0);
        assert_eq!(ancestors.parent(), None);
    }
}
