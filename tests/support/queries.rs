//! Queries made up from the catalog: valid, with everything that a document can have, the same for the same seed.

use std::fmt::Write as _;

use orderql::{
    catalog::{
        Catalog,
        binding::{Binding, Connection},
        schema::{ArgumentRole, Field, ObjectType, TypeId},
    },
    query::{Request, Variables},
};
use serde_json::json;

/// Levels of objects before fragments are spread: one more than a caller may ask for.
const MOST_LEVELS: u32 = 7;

/// Connections and point roots of a query, about.
const MOST_STEPS: u32 = 20;

/// Numbers that follow from a seed (`SplitMix64`).
pub struct Random(u64);

impl Random {
    /// The numbers of a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number from 0 to below that one.
    pub fn below(&mut self, end: u32) -> u32 {
        u32::try_from(self.next() % u64::from(end.max(1))).unwrap()
    }

    /// True once in so many times.
    pub fn once_in(&mut self, times: u32) -> bool {
        self.below(times) == 0
    }

    /// One of them.
    pub fn one_of<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(u32::try_from(list.len()).unwrap()) as usize]
    }
}

/// A valid query and its variables. Page sizes are within 100; depth and cost may be more than allowed.
pub fn query(catalog: &Catalog, seed: u64) -> Request {
    let mut writer = Writer {
        catalog,
        random: Random::new(seed),
        names: 0,
        steps: 0,
        fragments: Vec::new(),
        declared: Vec::new(),
        sizes: Vec::new(),
        conditions: Vec::new(),
        variables: Variables::new(),
    };
    let mut selection = String::new();
    for _ in 0..=writer.random.below(2) {
        writer.root(&mut selection);
    }
    if writer.random.once_in(8) {
        selection.push_str("  __typename\n");
    }
    let mut query = String::new();
    if !writer.declared.is_empty() {
        write!(query, "query Made({}) ", writer.declared.join(", ")).unwrap();
    } else if writer.random.once_in(2) {
        query.push_str("query Made ");
    }
    writeln!(query, "{{\n{selection}}}").unwrap();
    for (_, _, fragment) in &writer.fragments {
        query.push_str(fragment);
    }
    Request { query, operation_name: None, variables: writer.variables }
}

struct Writer<'c> {
    catalog: &'c Catalog,
    random: Random,
    /// Names made so far; each is used once, so that nothing merges but what is written twice.
    names: u32,
    steps: u32,
    /// The type, name and text of the fragments so far.
    fragments: Vec<(TypeId, String, String)>,
    /// The operation's variables, as declared.
    declared: Vec<String>,
    /// Those that hold page sizes.
    sizes: Vec<String>,
    /// Those that decide what is selected.
    conditions: Vec<String>,
    variables: Variables,
}

impl<'c> Writer<'c> {
    fn name(&mut self, prefix: &str) -> String {
        self.names += 1;
        format!("{prefix}{}", self.names)
    }

    fn object(&self, id: TypeId) -> &'c ObjectType {
        self.catalog.object(id).unwrap()
    }

    fn root(&mut self, out: &mut String) {
        let fields = &self.object(self.catalog.query()).fields;
        let roots: Vec<_> = fields.iter().filter(|field| is_step(&field.binding)).collect();
        let field = *self.random.one_of(&roots);
        self.field(out, field, 1);
    }

    /// A field that takes a level, under a name of its own.
    fn field(&mut self, out: &mut String, field: &'c Field, level: u32) {
        let start = out.len();
        let indent = "  ".repeat(level as usize);
        let alias = self.name(&field.name[..1]);
        write!(out, "{indent}{alias}: {}", field.name).unwrap();
        match &field.binding {
            Binding::Connection(connection) => {
                self.steps += 1;
                self.page(out, field, connection);
                self.condition(out);
                out.push_str(" {\n");
                self.connection(out, connection, level);
            }
            Binding::Point(_) => {
                self.steps += 1;
                let arguments = &field.arguments;
                let argument = self.random.one_of(arguments);
                let non_null = arguments.iter().filter(|argument| argument.ty.is_non_null());
                let mut given: Vec<_> = non_null.map(|argument| argument.name.as_str()).collect();
                if given.is_empty() {
                    given.push(&argument.name);
                }
                let given: Vec<_> = given.iter().map(|name| format!("{name}: \"NONE\"")).collect();
                writeln!(out, "({}) {{", given.join(", ")).unwrap();
                self.selection(out, field.ty.named(), level + 1);
            }
            _ => {
                self.condition(out);
                out.push_str(" {\n");
                self.selection(out, field.ty.named(), level + 1);
            }
        }
        writeln!(out, "{indent}}}").unwrap();
        // What is written twice is one.
        if self.random.once_in(12) {
            out.extend_from_within(start..);
        }
    }

    fn page(&mut self, out: &mut String, field: &Field, connection: &Connection) {
        let end = *self.random.one_of(&["first", "first", "last"]);
        let size = self.size();
        write!(out, "({end}: {size}").unwrap();
        if !connection.search_keys.is_empty() && self.random.once_in(2) {
            let key = self.random.one_of(&connection.search_keys);
            let operator = match key.comparators[0].describe() {
                "equals" | "in" => "",
                range => range,
            };
            let value = if operator.is_empty() { "X" } else { "2026-05-01" };
            write!(out, ", query: \"{}:{operator}{value}\"", key.name).unwrap();
        }
        let reverses = field.arguments.iter().any(|argument| argument.role == ArgumentRole::Reverse);
        if reverses && self.random.once_in(3) {
            out.push_str(", reverse: true");
        }
        out.push(')');
    }

    /// A page size: a number, a variable, a variable that others have, or one with a default.
    fn size(&mut self) -> String {
        let size = 1 + if self.random.once_in(2) { self.random.below(100) } else { self.random.below(10) };
        if !self.sizes.is_empty() && self.random.once_in(4) {
            return self.random.one_of(&self.sizes).clone();
        }
        if !self.random.once_in(3) {
            return size.to_string();
        }
        let name = self.name("n");
        if self.random.once_in(3) {
            self.declared.push(format!("${name}: Int = {size}"));
        } else {
            self.declared.push(format!("${name}: Int!"));
            self.variables.insert(name.clone(), json!(size));
        }
        self.sizes.push(format!("${name}"));
        format!("${name}")
    }

    fn condition(&mut self, out: &mut String) {
        if !self.random.once_in(12) {
            return;
        }
        let name = if self.conditions.is_empty() || self.random.once_in(2) {
            let name = self.name("is");
            self.declared.push(format!("${name}: Boolean!"));
            self.variables.insert(name.clone(), json!(self.random.once_in(2)));
            self.conditions.push(name.clone());
            name
        } else {
            self.random.one_of(&self.conditions).clone()
        };
        let directive = *self.random.one_of(&["include", "skip"]);
        write!(out, " @{directive}(if: ${name})").unwrap();
    }

    fn connection(&mut self, out: &mut String, connection: &'c Connection, level: u32) {
        let indent = "  ".repeat(level as usize + 1);
        if self.random.once_in(4) {
            writeln!(out, "{indent}pageInfo {{ hasNextPage endCursor }}").unwrap();
        }
        let edges = if self.random.once_in(6) { "all: edges" } else { "edges" };
        writeln!(out, "{indent}{edges} {{ cursor node {{").unwrap();
        self.selection(out, connection.node, level + 1);
        writeln!(out, "{indent}}} }}").unwrap();
    }

    /// What is selected from an object: leaves, and where there is room what takes a level.
    fn selection(&mut self, out: &mut String, object: TypeId, level: u32) {
        let indent = "  ".repeat(level as usize);
        let fields = &self.object(object).fields;
        out.push_str(&indent);
        out.push_str("__typename");
        for field in fields {
            let is_leaf = matches!(field.binding, Binding::Column(_) | Binding::Aggregate(_));
            if is_leaf && self.random.once_in(3) {
                write!(out, " {}", field.name).unwrap();
            }
        }
        out.push('\n');
        let nested: Vec<_> =
            fields.iter().filter(|field| is_step(&field.binding) || matches!(field.binding, Binding::One(_))).collect();
        let is_deep = level > MOST_LEVELS || self.steps > MOST_STEPS || nested.is_empty();
        let count = if is_deep { 0 } else { self.random.below(4) };
        for _ in 0..count {
            let field = *self.random.one_of(&nested);
            match self.random.below(10) {
                0 => {
                    writeln!(out, "{indent}... {{").unwrap();
                    self.field(out, field, level);
                    writeln!(out, "{indent}}}").unwrap();
                }
                1 => {
                    let name = self.fragment(object, field, level);
                    writeln!(out, "{indent}...{name}").unwrap();
                }
                _ => self.field(out, field, level),
            }
        }
    }

    /// A fragment on that type, perhaps one that is spread elsewhere too.
    fn fragment(&mut self, object: TypeId, field: &'c Field, level: u32) -> String {
        let known: Vec<_> = self.fragments.iter().filter(|(on, ..)| *on == object).map(|(_, name, _)| name).collect();
        if !known.is_empty() && self.random.once_in(2) {
            return (*self.random.one_of(&known)).clone();
        }
        let name = self.name("F");
        let mut text = format!("fragment {name} on {} {{\n", self.object(object).name);
        self.field(&mut text, field, level);
        text.push_str("}\n");
        self.fragments.push((object, name.clone(), text));
        name
    }
}

fn is_step(binding: &Binding) -> bool {
    matches!(binding, Binding::Connection(_) | Binding::Point(_))
}
