//! The difference between a database and its declaration: missing objects, and objects that are not declared any more.

use std::collections::{BTreeSet, HashSet};

use tokio_postgres::{Client, Error};

use crate::migration::declaration::Declaration;
use crate::migration::indexes::{self, MissingIndex};
use crate::migration::object::{DeclaredKind, DeclaredObject};
use crate::migration::present::Present;
use crate::migration::reference::Reference;
use crate::migration::table::{MigratedColumn, MigratedTable};
use crate::migration::view_columns::{ColumnsRead, expand};

/// The difference between a database and a declaration.
#[derive(Debug)]
pub(super) struct Difference {
    /// Whether the schema `orderql` is missing.
    pub(super) lacks_schema: bool,
    /// Whether the record names another version.
    pub(super) is_of_other_version: bool,
    pub(super) tables: Vec<&'static MigratedTable>,
    /// Columns of tables that stand.
    pub(super) columns: Vec<(&'static MigratedTable, &'static MigratedColumn)>,
    /// The references of the tables that are made.
    pub(super) references: Vec<&'static Reference>,
    /// In the order in which they are made. Views have their columns.
    pub(super) objects: Vec<DeclaredObject>,
    /// All declared views, in the same form.
    pub(super) views: Vec<DeclaredObject>,
    /// All declared triggers of tables.
    pub(super) triggers: Vec<&'static DeclaredObject>,
    /// Views and functions of the schema `orderql` that are not declared any more, and the triggers of these: `VIEW orderql.name`.
    pub(super) undeclared: Vec<String>,
    pub(super) indexes: Vec<MissingIndex>,
    /// The state of the database.
    pub(super) present: Present,
}

impl Difference {
    /// Compares a database with a declaration. `read` has the columns that the schema file reads from views.
    pub(super) async fn read(
        client: &Client,
        declaration: &'static Declaration,
        read: Option<&ColumnsRead>,
    ) -> Result<Self, Error> {
        let present = Present::read(client).await?;
        let tables: Vec<_> =
            declaration.tables.iter().filter(|table| !present.relations.contains_key(&table.name)).collect();
        let is_made = |name: &str| tables.iter().any(|table| table.name == name);
        let columns = missing_columns(declaration, &present);
        let references = declaration
            .references
            .iter()
            .filter(|reference| is_made(&format!("public.{}", reference.table)))
            .filter(|reference| can_refer(reference, &present))
            .collect();
        let has_column = |table: &str, column: &str| {
            let name = format!("public.{table}");
            let is_declared = || {
                let mut declared = declaration.tables.iter().filter(|table| is_made(&table.name));
                declared.any(|table| table.name == name && table.columns.iter().any(|other| other.name == column))
            };
            let is_added = || columns.iter().any(|(table, added)| table.name == name && added.name == column);
            let stands = present.relations.get(&name).is_some_and(|table| table.column_type(column).is_some());
            stands || is_added() || is_declared()
        };
        let is_declared = |object: &&DeclaredObject| {
            object.condition.is_none_or(|condition| has_column(condition.table, condition.column) == condition.is_there)
        };
        let (views, others): (Vec<&DeclaredObject>, Vec<&DeclaredObject>) =
            declaration.objects.iter().filter(is_declared).partition(|object| object.kind == DeclaredKind::View);
        let views: Vec<_> = views.into_iter().map(|view| expand(view, read, &present, has_column)).collect();
        let is_made_before = |object: &&DeclaredObject| {
            matches!(object.kind, DeclaredKind::Function | DeclaredKind::TriggerFunction | DeclaredKind::Sequence)
        };
        let (functions, others): (Vec<&DeclaredObject>, Vec<&DeclaredObject>) =
            others.into_iter().partition(is_made_before);
        let triggers = others.iter().copied().filter(|object| object.kind == DeclaredKind::Triggers).collect();
        let objects = functions.into_iter().chain(&views).chain(others);
        let objects = objects.filter(|object| !is_applied(object, &present)).cloned().collect();
        let made: Vec<_> = tables.iter().map(|table| &*table.name).collect();
        let indexes = indexes::missing(client, &made).await?;
        Ok(Self {
            lacks_schema: !present.has_schema,
            is_of_other_version: present.record.as_ref().is_none_or(|record| !record.is_current()),
            undeclared: undeclared(declaration, &present),
            tables,
            columns,
            references,
            objects,
            views,
            triggers,
            indexes,
            present,
        })
    }

    /// Whether the index is of a table that stood before.
    pub(super) fn stands(&self, index: &MissingIndex) -> bool {
        self.present.relations.contains_key(index.index.relation)
    }

    /// The missing indexes of tables that existed before. The indexes of other tables are made with their tables.
    pub(super) fn indexes_to_build(&self) -> impl Iterator<Item = &MissingIndex> {
        self.indexes.iter().filter(|index| self.stands(index))
    }

    /// Whether an earlier version, which kept no record, may have left obsolete objects.
    pub(super) fn may_have_obsolete(&self) -> bool {
        let is_reserved = |name: &String| name.starts_with("public.oql_");
        self.present.record.is_none() && (!self.lacks_schema || self.present.relations.keys().any(is_reserved))
    }

    /// The names of the tables, columns and objects that were never made or are declared otherwise now. Indexes are not among them, nor are
    /// triggers that somebody dropped.
    pub(super) fn names(&self) -> Vec<String> {
        let is_dropped = |object: &&DeclaredObject| {
            let record = self.present.record.as_ref();
            object.kind == DeclaredKind::Triggers && record.is_some_and(|record| record.has(object))
        };
        let tables = self.tables.iter().map(|table| table.name.clone());
        let columns = self.columns.iter().map(|(table, column)| format!("{}.{}", table.bare_name(), column.name));
        let objects = self.objects.iter().filter(|object| !is_dropped(object));
        tables.chain(columns).chain(objects.map(DeclaredObject::id)).chain(self.undeclared.iter().cloned()).collect()
    }
}

fn missing_columns(
    declaration: &'static Declaration,
    present: &Present,
) -> Vec<(&'static MigratedTable, &'static MigratedColumn)> {
    let mut missing = Vec::new();
    for table in &declaration.tables {
        let Some(found) = present.table(&table.name) else { continue };
        let lacks = |column: &&MigratedColumn| column.is_added && found.column_type(column.name).is_none();
        missing.extend(table.columns.iter().filter(lacks).map(|column| (table, column)));
    }
    missing
}

/// Whether the target of a foreign key has the key that it refers to: one that stands may have another.
fn can_refer(reference: &Reference, present: &Present) -> bool {
    let Some((target, columns)) = reference.target else { return true };
    let name = format!("public.{target}");
    let Some(found) = present.relations.get(&name) else { return true };
    let is_key = present.keys.get(&name).is_some_and(|key| key.iter().map(String::as_str).eq(columns.split(',')));
    // The columns of a table that is about to be made have OFBiz's types.
    let is_id = |column: &str| found.column_type(column).is_some_and(|ty| ty.starts_with("character"));
    is_key && columns.split(',').all(is_id)
}

/// Whether the database has the object in this form.
fn is_applied(object: &DeclaredObject, present: &Present) -> bool {
    let exists = match object.kind {
        DeclaredKind::Function | DeclaredKind::TriggerFunction => present.functions.contains(object.name),
        DeclaredKind::View | DeclaredKind::Sequence => present.relations.contains_key(object.name),
        DeclaredKind::Triggers => {
            object.parts.iter().all(|part| present.triggers.contains_key(&(object.name.to_owned(), (*part).to_owned())))
        }
        DeclaredKind::Rows | DeclaredKind::Rights | DeclaredKind::Comments => true,
    };
    exists && present.record.as_ref().is_some_and(|record| record.has(object))
}

/// The views and functions that an earlier version made: the views and functions of its record, or all if there is none.
fn undeclared(declaration: &Declaration, present: &Present) -> Vec<String> {
    let declared: HashSet<&str> = declaration.objects.iter().map(|object| object.name).collect();
    let is_ours = |kind: &str, name: &str| {
        let of_kind = |id: &str| id.strip_suffix(name).is_some_and(|before| before.trim_end().ends_with(kind));
        present.record.as_ref().is_none_or(|record| record.ids().any(of_kind))
    };
    let is_left = |name: &str| !declared.contains(name) && !present.of_feeds.contains(name);
    let views = present.relations.iter().filter(|(name, relation)| {
        relation.kind == "v" && name.starts_with("orderql.") && is_left(name) && is_ours("view", name)
    });
    let mut views: Vec<_> = views.map(|(name, _)| format!("VIEW {name}")).collect();
    views.sort();
    let functions: BTreeSet<_> =
        present.functions.iter().filter(|name| is_left(name) && is_ours("function", name)).collect();
    let is_replaced = |table: &str, trigger: &str| {
        let mut of_table =
            declaration.objects.iter().filter(|object| object.kind == DeclaredKind::Triggers && object.name == table);
        of_table.any(|object| object.parts.contains(&trigger))
    };
    let triggers = present
        .triggers
        .iter()
        .filter(|((table, name), (_, function))| functions.contains(function) && !is_replaced(table, name));
    let triggers = triggers.map(|((table, name), _)| format!("TRIGGER {name} ON {table}"));
    let dropped = views.into_iter().chain(triggers);
    dropped.chain(functions.iter().map(|name| format!("FUNCTION {name}"))).collect()
}
