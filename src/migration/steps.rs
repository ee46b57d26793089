//! The statements that make a difference, and the notes for the operator before them.

use std::collections::BTreeSet;
use std::fmt::{self, Write as _};

use tokio_postgres::{Error, Transaction};

use crate::migration::difference::Difference;
use crate::migration::indexes::MissingIndex;
use crate::migration::object::{DeclaredKind, DeclaredObject};
use crate::migration::record;
use crate::migration::table::{MigratedColumn, shown_name};

/// Statements that belong together: one transaction where indexes are built beside writers.
#[derive(Debug)]
pub(super) struct MigrationStep {
    pub(super) title: String,
    /// The kind of the object that it makes, if it makes one.
    pub(super) kind: Option<DeclaredKind>,
    pub(super) statements: Vec<String>,
}

impl MigrationStep {
    pub(super) fn new(title: impl Into<String>, statements: Vec<String>) -> Self {
        Self { title: title.into(), kind: None, statements }
    }
}

impl fmt::Display for MigrationStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "-- {}", self.title)?;
        for statement in &self.statements {
            let statement = statement.trim_end();
            writeln!(f, "{statement}{}", if statement.ends_with(';') { "" } else { ";" })?;
        }
        writeln!(f)
    }
}

/// The steps of a migration.
#[derive(Debug)]
pub(super) struct Steps {
    /// Schema, tables and columns.
    pub(super) tables: Vec<MigrationStep>,
    /// The steps that need the tables and columns, and the record of the applied state.
    pub(super) objects: Vec<MigrationStep>,
}

impl Difference {
    /// The steps that make the difference, but for indexes.
    pub(super) fn steps(&self) -> Steps {
        let mut tables = Vec::new();
        if self.lacks_schema {
            tables.push(MigrationStep::new("schema", vec!["CREATE SCHEMA orderql".to_owned()]));
        }
        // A column may be computed by a function. Functions that exist already may be in use until the tables fit the new ones.
        let functions = self.objects.iter().filter(|object| self.is_new_function(object));
        let functions: Vec<_> = functions.map(|object| object.text.clone()).collect();
        if !functions.is_empty() {
            tables.push(MigrationStep::new("functions", functions));
        }
        if !self.tables.is_empty() {
            let made = self.tables.iter().map(|table| table.create(|column| self.definition(column)));
            // An index on rows that were changed since could not be used while older transactions run.
            let indexes =
                self.indexes.iter().filter(|index| !self.stands(index)).flat_map(|index| index.statements(false));
            tables.push(MigrationStep::new("tables", made.chain(self.reference_statements()).chain(indexes).collect()));
        }
        for (table, column) in &self.columns {
            let add = format!("ALTER TABLE {} ADD COLUMN {} {}", table.name, column.name, self.definition(column));
            tables.push(MigrationStep::new(format!("column {}.{}", table.bare_name(), column.name), vec![add]));
        }
        let mut objects: Vec<_> = self.objects.iter().map(|object| self.object(object)).collect();
        let forgotten = |name: &String| {
            let (kind, name) = name.split_once(' ').unwrap_or_default();
            let kind = kind.to_lowercase();
            vec![
                format!("DROP {kind} IF EXISTS {name}"),
                format!("DELETE FROM orderql.schema_object WHERE name IN ('{kind} {name}', 'trigger_{kind} {name}')"),
            ]
        };
        let dropped: Vec<_> = self.undeclared.iter().flat_map(forgotten).collect();
        if !dropped.is_empty() {
            objects.push(MigrationStep::new("what is not needed any more", dropped));
        }
        if self.is_of_other_version || !objects.is_empty() {
            objects.push(MigrationStep::new("record", vec![record::of_version()]));
        }
        Steps { tables, objects }
    }

    fn is_new_function(&self, object: &DeclaredObject) -> bool {
        let is_function = matches!(object.kind, DeclaredKind::Function | DeclaredKind::TriggerFunction);
        is_function && !self.present.functions.contains(object.name)
    }

    fn object(&self, object: &DeclaredObject) -> MigrationStep {
        let text = (!self.is_new_function(object)).then(|| object.text.clone());
        let statements = text.into_iter().chain([record::of_object(object)]).collect();
        MigrationStep { title: object.id(), kind: Some(object.kind), statements }
    }

    fn definition(&self, column: &MigratedColumn) -> String {
        let Some((table, like)) = column.like() else { return column.definition.clone() };
        let found = self.present.relations.get(&table).and_then(|found| found.column_type(like));
        let declared = || {
            let table = self.tables.iter().find(|other| other.name == table)?;
            table.columns.iter().find(|other| other.name == like).map(|other| other.definition.as_str())
        };
        found.or_else(declared).unwrap_or("TEXT").to_owned()
    }

    /// The keys and indexes of OFBiz. Of several indexes on the same columns of a table one is made.
    fn reference_statements(&self) -> Vec<String> {
        let mut indexed: BTreeSet<(&str, String)> =
            self.tables.iter().map(|table| (table.bare_name(), table.key.join(","))).collect();
        let mut statements = Vec::new();
        for reference in &self.references {
            statements.extend(reference.key());
            if indexed.insert((reference.table, reference.columns.to_owned())) {
                statements.push(reference.index());
            }
        }
        statements
    }

    /// The facts that deserve attention before the statements, as comments in SQL.
    pub(super) fn summary(&self, concurrently: bool, is_filled: &[(String, i64)]) -> String {
        let triggers = self.objects.iter().filter(|object| object.kind == DeclaredKind::Triggers);
        let triggers: Vec<_> = triggers
            .flat_map(|object| object.parts.iter().map(move |part| format!("{part} on {}", shown_name(object.name))))
            .collect();
        let of_kind = |kinds: &[DeclaredKind]| {
            let objects = self.objects.iter().filter(|object| kinds.contains(&object.kind));
            objects.map(|object| object.name.to_owned()).collect::<Vec<_>>()
        };
        let built: Vec<_> = self.indexes_to_build().map(|index| self.describe_index(index)).collect();
        let filled: Vec<_> = is_filled.iter().map(|(table, rows)| format!("{table} {rows}")).collect();
        let columns: Vec<_> =
            self.columns.iter().map(|(table, column)| format!("{}.{}", table.bare_name(), column.name)).collect();
        let tables: Vec<_> = self.tables.iter().map(|table| shown_name(&table.name).to_owned()).collect();
        let mut text = String::new();
        for (title, names) in [
            ("tables to be made", &tables),
            ("columns to be added to tables that stand", &columns),
            ("triggers to be put on tables", &triggers),
            ("indexes to be built on tables that stand", &built),
            ("views", &of_kind(&[DeclaredKind::View])),
            ("functions", &of_kind(&[DeclaredKind::Function, DeclaredKind::TriggerFunction])),
            ("tables given rows", &of_kind(&[DeclaredKind::Rows])),
            ("to be dropped", &self.undeclared),
            ("tables whose rows are filled in", &filled),
        ] {
            if !names.is_empty() {
                // Writing to a string cannot fail.
                let _ = writeln!(text, "-- {} {title}: {}", names.len(), names.join(", "));
            }
        }
        if !self.columns.is_empty() {
            text += "-- Adding a column locks its table against readers and writers for a moment.\n";
        }
        if !triggers.is_empty() {
            text += "-- Putting triggers on a table locks it against writers for a moment.\n";
        }
        if !built.is_empty() {
            text += if concurrently {
                "-- Indexes are built beside writers, and wait for transactions that have begun before.\n"
            } else {
                "-- Building an index locks its table against writers until it is built; with --concurrently it does not.\n"
            };
        }
        text
    }

    /// The index with the estimated rows of its table.
    fn describe_index(&self, missing: &MissingIndex) -> String {
        let relation = self.present.relations.get(missing.index.relation);
        match relation.map(|relation| relation.rows) {
            Some(rows) if rows >= 0.0 => format!("{} ({rows} rows)", missing.index.name),
            _ => missing.index.name.to_owned(),
        }
    }
}

/// A view and the views that read it, with the rights that others have on each.
const DEPENDENTS: &str = "
    WITH RECURSIVE lost (oid) AS (
        SELECT $1::text::regclass::oid
        UNION
        SELECT ev_class
        FROM lost
        JOIN pg_catalog.pg_depend ON refclassid = 'pg_class'::regclass AND refobjid = lost.oid AND classid = 'pg_rewrite'::regclass
        JOIN pg_catalog.pg_rewrite ON pg_rewrite.oid = objid
    )
    SELECT relnamespace::regnamespace || '.' || relname, ARRAY(
        SELECT format('GRANT %s ON %s TO %s', privilege_type, view.oid::regclass,
            CASE grantee WHEN 0 THEN 'PUBLIC' ELSE grantee::regrole::text END)
        FROM pg_catalog.aclexplode(relacl) AS acl
        WHERE grantee <> relowner
    )
    FROM lost
    JOIN pg_catalog.pg_class AS view ON view.oid = lost.oid";

/// The statements that drop a view and make it anew, with the declared views that read it and the rights that others have on them. Views of
/// others that read it stand in the way.
pub(super) async fn recreate(
    transaction: &Transaction<'_>,
    difference: &Difference,
    view: &str,
) -> Result<String, Error> {
    let (mut dropped, mut grants) = (Vec::new(), Vec::new());
    for row in transaction.query(DEPENDENTS, &[&view]).await? {
        let name: String = row.try_get(0)?;
        if difference.views.iter().any(|view| view.name == name) {
            dropped.push(name);
            grants.extend(row.try_get::<_, Vec<String>>(1)?);
        }
    }
    let made = difference.views.iter().filter(|view| dropped.iter().any(|name| name == view.name));
    let made = made.map(|view| view.text.trim_end().trim_end_matches(';').to_owned());
    let drop = format!("DROP VIEW {}", dropped.join(", "));
    Ok([drop].into_iter().chain(made).chain(grants).collect::<Vec<_>>().join(";\n"))
}
