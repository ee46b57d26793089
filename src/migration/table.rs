//! The declared tables: `declared/tables.txt` describes the format.

/// OFBiz's columns in every table: when a row was made and changed.
const STAMPS: [&str; 4] = ["last_updated_stamp", "last_updated_tx_stamp", "created_stamp", "created_tx_stamp"];

/// The longest name of a constraint in OFBiz.
const LONGEST_NAME: usize = 30;

/// A name as it is shown: names of OFBiz's schema have no prefix, others are `orderql.name`.
pub(super) fn shown_name(name: &str) -> &str {
    name.strip_prefix("public.").unwrap_or(name)
}

/// A declared table.
#[derive(Debug, Clone)]
pub(super) struct MigratedTable {
    /// Its schema and name.
    pub(super) name: String,
    pub(super) columns: Vec<MigratedColumn>,
    /// The columns of the primary key, unless a constraint declares it.
    pub(super) key: Vec<&'static str>,
    constraints: Vec<&'static str>,
    /// Whether the stamps are added to a table that lacks them.
    adds_stamps: bool,
    /// `UNLOGGED`, or a clause after the columns, such as `WITH (…)`.
    options: &'static str,
}

/// A column of a declared table.
#[derive(Debug, Clone)]
pub(super) struct MigratedColumn {
    pub(super) name: &'static str,
    /// Its type and constraints, or `LIKE table.column` for a column of that one's type.
    pub(super) definition: String,
    /// Whether it is added to a table that lacks it.
    pub(super) is_added: bool,
}

impl MigratedColumn {
    /// The table and column whose type the column has.
    pub(super) fn like(&self) -> Option<(String, &str)> {
        let (table, column) = self.definition.strip_prefix("LIKE ")?.split_once('.')?;
        Some((format!("public.{table}"), column))
    }
}

impl MigratedTable {
    /// The tables of a file.
    pub(super) fn read(text: &'static str) -> Vec<Self> {
        let mut tables: Vec<Self> = Vec::new();
        for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            match (line.strip_prefix("  "), tables.last_mut()) {
                (Some(part), Some(table)) => table.add(part),
                _ => tables.push(Self::named(line)),
            }
        }
        for table in &mut tables {
            if table.is_of_ofbiz() {
                let is_added = table.adds_stamps;
                let stamp = |name| MigratedColumn { name, definition: "TIMESTAMPTZ".to_owned(), is_added };
                table.columns.extend(STAMPS.map(stamp));
                // The stamps come before what orderql adds of its own.
                table.columns.sort_by_key(|column| column.name.starts_with("orderql_"));
            }
        }
        tables
    }

    fn named(line: &'static str) -> Self {
        let (name, options) = line.split_once(' ').unwrap_or((line, ""));
        let name = name.trim_start_matches('~');
        let name = if name.contains('.') { name.to_owned() } else { format!("public.{name}") };
        Self { name, columns: Vec::new(), key: Vec::new(), constraints: Vec::new(), adds_stamps: false, options }
    }

    fn add(&mut self, part: &'static str) {
        if part.starts_with("CONSTRAINT ") || part.starts_with("PRIMARY KEY ") {
            self.constraints.push(part);
            return;
        }
        if part == "+stamps" {
            self.adds_stamps = true;
            return;
        }
        let (name, definition) = part.split_once(' ').unwrap_or((part, ""));
        let is_added = name.starts_with('+') || !self.is_of_ofbiz();
        let name = name.trim_start_matches(['+', '~']);
        let is_key = name.ends_with('!');
        let name = name.trim_end_matches('!');
        if is_key {
            self.key.push(name);
        }
        let definition = if is_key { format!("{definition} NOT NULL") } else { definition.to_owned() };
        self.columns.push(MigratedColumn { name, definition, is_added });
    }

    /// Whether it is one of OFBiz's or `HotWax`'s.
    pub(super) fn is_of_ofbiz(&self) -> bool {
        self.name.starts_with("public.")
    }

    /// Its name without the schema.
    pub(super) fn bare_name(&self) -> &str {
        self.name.split_once('.').map_or(&self.name, |(_, name)| name)
    }

    /// The statement that makes it. `definition` gives the definition of a column.
    pub(super) fn create(&self, definition: impl Fn(&MigratedColumn) -> String) -> String {
        let columns = self.columns.iter().map(|column| format!("{} {}", column.name, definition(column)));
        let key = (!self.key.is_empty()).then(|| {
            let name: String = format!("pk_{}", self.bare_name()).chars().take(LONGEST_NAME).collect();
            format!("CONSTRAINT {name} PRIMARY KEY ({})", self.key.join(", "))
        });
        let constraints = self.constraints.iter().map(|&constraint| constraint.to_owned());
        let parts: Vec<_> = columns.chain(key).chain(constraints).collect();
        let (kind, options) = match self.options {
            "UNLOGGED" => ("UNLOGGED TABLE", String::new()),
            "" => ("TABLE", String::new()),
            options => ("TABLE", format!(" {options}")),
        };
        format!("CREATE {kind} {} (\n    {}\n){options}", self.name, parts.join(",\n    "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_tables_with_keys_added_columns_and_constraints() {
        let tables = MigratedTable::read(
            "# Comment.\n~note\n  id! TEXT\n  ~a DATE\n  +b INT\n  +orderql_c LIKE note.a\n\norderql.x WITH (y)\n  n INT CHECK (n > 0)\n  PRIMARY KEY (n)\n",
        );
        let [note, x] = &tables[..] else { panic!("{tables:?}") };
        assert_eq!(
            note.create(|column| column.definition.clone()),
            "CREATE TABLE public.note (\n    id TEXT NOT NULL,\n    a DATE,\n    b INT,\n    last_updated_stamp TIMESTAMPTZ,\n    \
             last_updated_tx_stamp TIMESTAMPTZ,\n    created_stamp TIMESTAMPTZ,\n    created_tx_stamp TIMESTAMPTZ,\n    \
             orderql_c LIKE note.a,\n    CONSTRAINT pk_note PRIMARY KEY (id)\n)"
        );
        let added: Vec<_> = note.columns.iter().filter(|column| column.is_added).map(|column| column.name).collect();
        assert_eq!(added, ["b", "orderql_c"]);
        assert_eq!(note.columns.last().and_then(MigratedColumn::like), Some(("public.note".to_owned(), "a")));
        assert_eq!(
            x.create(|column| column.definition.clone()),
            "CREATE TABLE orderql.x (\n    n INT CHECK (n > 0),\n    PRIMARY KEY (n)\n) WITH (y)"
        );
        assert!(x.columns[0].is_added);
    }
}
