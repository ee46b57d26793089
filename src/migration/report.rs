//! The report of a migration.

use std::fmt;

use crate::migration::difference::Difference;
use crate::migration::object::DeclaredKind;
use crate::migration::steps::MigrationStep;
use crate::migration::table::shown_name;

/// The changes by a migration. Its [`fmt::Display`] form is for the operator.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct MigrationReport {
    /// Tables created. Names of OFBiz's schema have no prefix, others are `orderql.name`.
    pub tables: Vec<String>,
    /// Columns added to existing tables, as `table.column`.
    pub columns: Vec<String>,
    /// Indexes made on existing tables, as `table.index`.
    pub indexes: Vec<String>,
    /// Views made or replaced.
    pub views: Vec<String>,
    /// Functions made or replaced.
    pub functions: Vec<String>,
    /// Tables whose triggers were made or replaced.
    pub triggers: Vec<String>,
    /// Views and functions of earlier versions that were dropped.
    pub dropped: Vec<String>,
    /// Reference rows added, by table.
    pub rows: Vec<(String, u64)>,
    /// The number of tables that were given the triggers of change feeds.
    pub fed: i32,
    /// Tables whose rows were filled in, and how many.
    pub filled: Vec<(String, i64)>,
}

impl MigrationReport {
    /// The report of the objects that a migration makes, by the difference. Rows and indexes are added as they are made.
    pub(super) fn of(difference: &Difference) -> Self {
        let shown = |name: &str| shown_name(name).to_owned();
        let named = |kinds: &[DeclaredKind]| {
            let objects = difference.objects.iter().filter(|object| kinds.contains(&object.kind));
            objects.map(|object| shown(object.name)).collect()
        };
        let mut tables: Vec<_> = difference.tables.iter().map(|table| shown(&table.name)).collect();
        tables.sort();
        let columns =
            difference.columns.iter().map(|(table, column)| format!("{}.{}", shown(&table.name), column.name));
        let mut columns: Vec<_> = columns.collect();
        columns.sort();
        Self {
            tables,
            columns,
            views: named(&[DeclaredKind::View]),
            functions: named(&[DeclaredKind::Function, DeclaredKind::TriggerFunction]),
            triggers: named(&[DeclaredKind::Triggers]),
            dropped: difference.undeclared.clone(),
            ..Self::default()
        }
    }

    /// Adds the rows that a step inserted.
    pub(super) fn add_rows(&mut self, step: &MigrationStep, rows: u64) {
        let table = step.title.strip_prefix("rows ").filter(|_| step.kind == Some(DeclaredKind::Rows) && rows > 0);
        self.rows.extend(table.map(|table| (table.to_owned(), rows)));
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
        let filled: Vec<String> = self.filled.iter().map(|(table, rows)| format!("{table} {rows}")).collect();
        let mut separator = "";
        for (names, label) in [
            (&self.tables, "tables made"),
            (&self.columns, "columns added to existing tables"),
            (&self.indexes, "indexes made on existing tables"),
            (&self.views, "views made or replaced"),
            (&self.functions, "functions made or replaced"),
            (&self.triggers, "tables given triggers"),
            (&self.dropped, "views and functions of earlier versions dropped"),
            (&rows, "reference tables given rows"),
            (&filled, "tables whose rows were brought up to date"),
        ] {
            if !names.is_empty() {
                write!(f, "{separator}{} {label}:", names.len())?;
                write_wrapped(f, names)?;
                separator = "\n";
            }
        }
        if self.fed > 0 {
            write!(f, "{separator}{} tables given the triggers of change feeds", self.fed)?;
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
