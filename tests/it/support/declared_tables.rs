//! The tables of OFBiz and `HotWax` as `src/migration/declared/tables.txt` declares them.

const FILE: &str = include_str!("../../../src/migration/declared/tables.txt");

/// A declared table of OFBiz's schema.
pub struct DeclaredTable {
    pub name: &'static str,
    /// Whether stock OFBiz has it.
    pub is_stock: bool,
    pub columns: Vec<DeclaredColumn>,
}

/// A declared column. The stamps are not among them.
pub struct DeclaredColumn {
    pub name: &'static str,
    /// Its type and constraints.
    definition: &'static str,
    is_key: bool,
    /// Whether stock OFBiz has it.
    pub is_stock: bool,
}

impl DeclaredTable {
    /// The columns and constraints between the parentheses of a statement that makes it, with another key if one is given.
    pub fn definition(&self, key: Option<&str>) -> String {
        let columns = self.columns.iter().map(|column| {
            format!("{} {}{}", column.name, column.definition, if column.is_key { " NOT NULL" } else { "" })
        });
        let stamps = ["last_updated_stamp", "last_updated_tx_stamp", "created_stamp", "created_tx_stamp"]
            .map(|stamp| format!("{stamp} TIMESTAMPTZ"));
        let key = key.map_or_else(|| self.key().join(", "), str::to_owned);
        columns
            .chain(stamps)
            .chain([format!("CONSTRAINT pk_{} PRIMARY KEY ({key})", self.name)])
            .collect::<Vec<_>>()
            .join(", ")
    }

    pub fn key(&self) -> Vec<&'static str> {
        self.columns.iter().filter(|column| column.is_key).map(|column| column.name).collect()
    }
}

/// All of them, without columns of orderql's own.
pub fn declared_tables() -> Vec<DeclaredTable> {
    let mut tables: Vec<DeclaredTable> = Vec::new();
    for line in FILE.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if let (Some(column), Some(table)) = (line.strip_prefix("  "), tables.last_mut()) {
            table.columns.extend(read_column(column));
        } else {
            let name = line.trim_start_matches('~');
            tables.push(DeclaredTable { name, is_stock: name.len() == line.len(), columns: Vec::new() });
        }
    }
    tables.retain(|table| !table.name.starts_with("orderql."));
    tables
}

fn read_column(line: &'static str) -> Option<DeclaredColumn> {
    if line == "+stamps" {
        return None;
    }
    let (marked, definition) = line.split_once(' ').unwrap();
    let name = marked.trim_start_matches(['~', '+']);
    let is_stock = name.len() == marked.len();
    let is_key = name.ends_with('!');
    let column = DeclaredColumn { name: name.trim_end_matches('!'), definition, is_key, is_stock };
    (!column.name.starts_with("orderql_")).then_some(column)
}
