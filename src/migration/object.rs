//! The declared objects beside tables and indexes: functions, views, triggers, rows and rights.
//!
//! A file has a section for each, which begins with a line `--- kind name`. What is before the first section is a comment. An object that
//! depends on the form of OFBiz's tables has two sections, `--- kind name if table.column` and `--- kind name unless table.column`.

use std::hash::Hasher as _;

use fnv::FnvHasher;

/// The kind of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum DeclaredKind {
    Function,
    /// A function of triggers. No role may call it.
    TriggerFunction,
    View,
    /// The triggers of a table, whose names follow the table's.
    Triggers,
    Sequence,
    /// Rows that are inserted where they are missing.
    Rows,
    Rights,
    Comments,
}

/// A view, function, trigger, seed or other object that the files of `declared` have the statements of.
#[derive(Debug, Clone)]
pub(super) struct DeclaredObject {
    pub(super) kind: DeclaredKind,
    /// Its schema and name; the schema `public` is left out for rows.
    pub(super) name: &'static str,
    /// The names of triggers.
    pub(super) parts: Vec<&'static str>,
    /// The column that a database has or lacks if the object is declared for it.
    pub(super) condition: Option<ColumnCondition>,
    /// The statements that make it, or bring another form of it into this one.
    pub(super) text: String,
}

/// A column of OFBiz's schema that a database has or lacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ColumnCondition {
    pub(super) table: &'static str,
    pub(super) column: &'static str,
    /// Whether the database has it.
    pub(super) is_there: bool,
}

impl ColumnCondition {
    fn read(column: &'static str, is_there: bool) -> Option<Self> {
        let (table, column) = column.split_once('.')?;
        Some(Self { table, column, is_there })
    }
}

impl DeclaredKind {
    const ALL: [(&'static str, Self); 8] = [
        ("function", Self::Function),
        ("trigger_function", Self::TriggerFunction),
        ("view", Self::View),
        ("triggers", Self::Triggers),
        ("sequence", Self::Sequence),
        ("rows", Self::Rows),
        ("rights", Self::Rights),
        ("comments", Self::Comments),
    ];

    pub(super) fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, kind)| *kind == self).map_or("", |(name, _)| name)
    }
}

impl DeclaredObject {
    /// The objects of a file, in its order.
    pub(super) fn read(file: &'static str) -> Vec<Self> {
        let mut objects: Vec<Self> = Vec::new();
        for line in file.lines() {
            if let Some(object) = line.strip_prefix("--- ").and_then(Self::named) {
                objects.push(object);
            } else if let Some(object) = objects.last_mut() {
                object.text.push_str(line);
                object.text.push('\n');
            }
        }
        for object in &mut objects {
            object.text.truncate(object.text.trim_end().len());
            object.text.push('\n');
            if object.kind == DeclaredKind::TriggerFunction {
                object.text.push_str("REVOKE EXECUTE ON FUNCTION ");
                object.text.push_str(object.name);
                object.text.push_str(" FROM PUBLIC;\n");
            }
        }
        objects
    }

    fn named(head: &'static str) -> Option<Self> {
        let (kind, name) = head.split_once(' ')?;
        let (_, kind) = DeclaredKind::ALL.into_iter().find(|(name, _)| *name == kind)?;
        let (name, condition) = match (name.split_once(" if "), name.split_once(" unless ")) {
            (Some((name, column)), _) => (name, ColumnCondition::read(column, true)),
            (None, Some((name, column))) => (name, ColumnCondition::read(column, false)),
            (None, None) => (name, None),
        };
        let (name, parts) = name.split_once(": ").unwrap_or((name, ""));
        Some(Self { kind, name, parts: parts.split_whitespace().collect(), condition, text: String::new() })
    }

    /// The state in `pg_trigger` that it brings one of its triggers to.
    pub(super) fn trigger_state(&self, name: &str) -> &'static str {
        let is_in_mode = |mode: &str| {
            let end = format!("ENABLE {mode} TRIGGER {name}");
            self.text.split([',', ';']).any(|action| action.ends_with(&end))
        };
        let mut states = [("ALWAYS", "A"), ("REPLICA", "R")].into_iter();
        states.find(|(mode, _)| is_in_mode(mode)).map_or("O", |(_, state)| state)
    }

    /// The key of its record: kind and name.
    pub(super) fn id(&self) -> String {
        format!("{} {}", self.kind.name(), self.name)
    }

    /// A hash of its text.
    pub(super) fn hash(&self) -> String {
        hash(&self.text)
    }
}

/// A hash of a text, which is the same in every build.
pub(super) fn hash(text: &str) -> String {
    let mut hasher = FnvHasher::default();
    hasher.write(text.as_bytes());
    format!("{:016x}", hasher.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trigger_has_the_mode_that_it_is_declared_with() {
        let text = "--- triggers t: a a_b c\nALTER TABLE t ENABLE ALWAYS TRIGGER a_b, ENABLE REPLICA TRIGGER c;\n";
        let triggers = &DeclaredObject::read(text)[0];
        assert_eq!(["a", "a_b", "c"].map(|name| triggers.trigger_state(name)), ["O", "A", "R"]);
    }

    #[test]
    fn reads_sections() {
        let objects = DeclaredObject::read(
            "-- A file.\n\n--- view a.b unless t.c\n-- Why.\nCREATE 1;\n\n--- triggers c.d: e f\nCREATE 2;\n--- trigger_function g\nCREATE 3;\n",
        );
        let [view, triggers, function] = &objects[..] else { panic!("{objects:?}") };
        assert_eq!((view.id(), &*view.text), ("view a.b".to_owned(), "-- Why.\nCREATE 1;\n"));
        assert_eq!(view.condition, Some(ColumnCondition { table: "t", column: "c", is_there: false }));
        assert_eq!((triggers.name, &triggers.parts[..]), ("c.d", &["e", "f"][..]));
        assert_eq!(function.text, "CREATE 3;\nREVOKE EXECUTE ON FUNCTION g FROM PUBLIC;\n");
        assert_ne!(view.hash(), triggers.hash());
    }
}
