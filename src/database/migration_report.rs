//! The report of a migration.

use std::fmt;

use crate::database::schema_objects::SchemaObjects;

/// What a migration changed. Its [`fmt::Display`] form is for the operator.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct MigrationReport {
    /// The migration files that were applied, `V1__foundation` and so on.
    pub migrations: Vec<String>,
    /// Tables created.
    pub tables: Vec<String>,
    /// Columns added to existing tables, as `table.column`.
    pub columns: Vec<String>,
    /// Indexes added to existing tables, as `table.index`.
    pub indexes: Vec<String>,
    /// Views created.
    pub views: Vec<String>,
    /// Functions created.
    pub functions: Vec<String>,
    /// Reference rows added, by table.
    pub rows: Vec<(String, i64)>,
    /// Indexes that had been dropped or changed, and were made again, as `table.index`.
    pub repaired: Vec<String>,
    /// Rows of `orderql.party` that were brought up to date with OFBiz's tables.
    pub parties: i64,
    /// Returns whose store was brought up to date.
    pub search_columns: i64,
    /// Rows of `orderql.item_place`, likewise.
    pub item_places: i64,
}

impl MigrationReport {
    /// The objects that were added between two readings. Columns and indexes of new tables are left out.
    pub(super) fn added(before: &SchemaObjects, after: &SchemaObjects) -> Self {
        let is_of_existing_table =
            |name: &&String| name.rsplit_once('.').is_some_and(|(table, _)| before.tables.contains(table));
        Self {
            tables: after.tables.difference(&before.tables).cloned().collect(),
            columns: after.columns.difference(&before.columns).filter(is_of_existing_table).cloned().collect(),
            indexes: after.indexes.difference(&before.indexes).filter(is_of_existing_table).cloned().collect(),
            views: after.views.difference(&before.views).cloned().collect(),
            functions: after.functions.difference(&before.functions).cloned().collect(),
            rows: after
                .rows
                .iter()
                .map(|(table, rows)| ((*table).to_owned(), rows - before.rows.get(table).unwrap_or(&0)))
                .filter(|(_, rows)| *rows > 0)
                .collect(),
            ..Self::default()
        }
    }

    /// Whether the database was up to date.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl fmt::Display for MigrationReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return f.write_str("Nothing to do: the database is up to date.");
        }
        let rows: Vec<String> = self.rows.iter().map(|(table, rows)| format!("{table} {rows}")).collect();
        let mut separator = "";
        for (names, label) in [
            (&self.migrations, "migrations applied"),
            (&self.tables, "tables made"),
            (&self.columns, "columns added to existing tables"),
            (&self.indexes, "indexes added to existing tables"),
            (&self.repaired, "indexes made again"),
            (&self.views, "views made"),
            (&self.functions, "functions made"),
            (&rows, "reference tables given rows"),
        ] {
            if !names.is_empty() {
                write!(f, "{separator}{} {label}:", names.len())?;
                write_wrapped(f, names)?;
                separator = "\n";
            }
        }
        for (count, label) in [
            (self.parties, "parties brought up to date"),
            (self.search_columns, "returns brought up to date"),
            (self.item_places, "items in ship groups brought up to date"),
        ] {
            if count > 0 {
                write!(f, "{separator}{count} {label}")?;
                separator = "\n";
            }
        }
        Ok(())
    }
}

/// Writes the names indented and separated by commas, in lines of about a hundred characters.
fn write_wrapped(f: &mut fmt::Formatter<'_>, names: &[String]) -> fmt::Result {
    const WIDTH: usize = 100;
    let mut column = WIDTH;
    for (index, name) in names.iter().enumerate() {
        let comma = if index + 1 < names.len() { "," } else { "" };
        if column + name.len() + 1 >= WIDTH {
            write!(f, "\n  {name}{comma}")?;
            column = 2 + name.len() + comma.len();
        } else {
            write!(f, " {name}{comma}")?;
            column += 1 + name.len() + comma.len();
        }
    }
    Ok(())
}
