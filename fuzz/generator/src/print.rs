//! A tree as text. The same tree can be laid out in several ways, which all mean the same.

use std::fmt::Write as _;

use crate::document::{Argument, Definition, Directive, Document, Operation, OperationKind, Selection, Value};

/// How a text is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Layout {
    /// One line.
    #[default]
    Line,
    /// As few characters as possible.
    Dense,
    /// Many lines, with commas, comments and a byte order mark.
    Loose,
    /// Strings as escape sequences.
    Escaped,
}

impl Layout {
    /// All layouts.
    pub const ALL: [Self; 4] = [Self::Line, Self::Dense, Self::Loose, Self::Escaped];
}

/// The text of a document.
pub fn print(document: &Document, layout: Layout) -> String {
    let mut printer = Printer { text: String::with_capacity(1024), layout };
    if layout == Layout::Loose {
        printer.text.push_str("\u{feff}# generated\r\n");
    }
    for definition in &document.definitions {
        match definition {
            Definition::Operation(operation) => printer.operation(operation),
            Definition::Fragment(fragment) => {
                let _ = write!(printer.text, "fragment {} on {}", fragment.name, fragment.on);
                printer.directives(&fragment.directives);
                printer.selections(&fragment.selections);
            }
        }
    }
    printer.text
}

struct Printer {
    text: String,
    layout: Layout,
}

impl Printer {
    fn operation(&mut self, operation: &Operation) {
        let Operation { kind, name, variables, directives, selections } = operation;
        let is_short = *kind == OperationKind::Query && name.is_none() && variables.is_empty() && directives.is_empty();
        if !is_short {
            self.text.push_str(match kind {
                OperationKind::Query => "query",
                OperationKind::Mutation => "mutation",
                OperationKind::Subscription => "subscription",
            });
            if let Some(name) = name {
                let _ = write!(self.text, " {name}");
            }
            for (index, variable) in variables.iter().enumerate() {
                self.item(index, "(");
                let _ = write!(self.text, "${}: {}", variable.name, variable.ty);
                if let Some(default) = &variable.default {
                    self.text.push_str(" = ");
                    self.value(default);
                }
                self.directives(&variable.directives);
            }
            self.text.push_str(if variables.is_empty() { "" } else { ")" });
            self.directives(directives);
        }
        self.selections(selections);
    }

    fn selections(&mut self, selections: &[Selection]) {
        self.text.push('{');
        for (index, selection) in selections.iter().enumerate() {
            self.separate(index);
            match selection {
                Selection::Field(field) => {
                    if let Some(alias) = &field.alias {
                        let _ = write!(self.text, "{alias}: ");
                    }
                    self.text.push_str(&field.name);
                    self.arguments(&field.arguments);
                    self.directives(&field.directives);
                    if !field.selections.is_empty() {
                        self.selections(&field.selections);
                    }
                }
                Selection::Inline(inline) => {
                    self.text.push_str("...");
                    if let Some(on) = &inline.on {
                        let _ = write!(self.text, " on {on}");
                    }
                    self.directives(&inline.directives);
                    self.selections(&inline.selections);
                }
                Selection::Spread(spread) => {
                    let _ = write!(self.text, "...{}", spread.name);
                    self.directives(&spread.directives);
                }
            }
        }
        self.text.push('}');
    }

    /// What stands before a selection.
    fn separate(&mut self, index: usize) {
        match self.layout {
            Layout::Line | Layout::Escaped => self.text.push(' '),
            Layout::Dense if index == 0 => {}
            Layout::Dense => self.text.push(','),
            Layout::Loose => self.text.push_str(if index % 3 == 1 { " ,,#{ \"\n\t" } else { "\r\n" }),
        }
    }

    /// What stands before a member of a list, the first of which follows `opening`.
    fn item(&mut self, index: usize, opening: &str) {
        self.text.push_str(if index == 0 { opening } else { ", " });
    }

    fn arguments(&mut self, arguments: &[Argument]) {
        for (index, argument) in arguments.iter().enumerate() {
            self.item(index, "(");
            self.text.push_str(&argument.name);
            self.text.push_str(if self.layout == Layout::Dense { ":" } else { ": " });
            self.value(&argument.value);
        }
        self.text.push_str(if arguments.is_empty() { "" } else { ")" });
    }

    fn directives(&mut self, directives: &[Directive]) {
        for directive in directives {
            let _ = write!(self.text, "@{}", directive.name);
            self.arguments(&directive.arguments);
        }
    }

    fn value(&mut self, value: &Value) {
        match value {
            Value::Variable(name) => {
                let _ = write!(self.text, "${name}");
            }
            Value::Number(text) | Value::Enum(text) => self.text.push_str(text),
            Value::String(text) => self.string(text),
            Value::Key(key) if key.is_bare() => self.text.push_str(&key.text),
            Value::Key(key) => self.string(&key.text),
            Value::Boolean(truth) => self.text.push_str(if *truth { "true" } else { "false" }),
            Value::Null => self.text.push_str("null"),
            Value::List(elements) => {
                self.text.push('[');
                for (index, element) in elements.iter().enumerate() {
                    self.item(index, "");
                    self.value(element);
                }
                self.text.push(']');
            }
            Value::Object(fields) => {
                self.text.push('{');
                for (index, (name, value)) in fields.iter().enumerate() {
                    self.item(index, "");
                    let _ = write!(self.text, "{name}: ");
                    self.value(value);
                }
                self.text.push('}');
            }
            Value::Size(size) => {
                let _ = write!(self.text, "{size}");
            }
            Value::Cursor(cursor) => self.string(&cursor.text()),
            Value::Search(search) => self.string(&search.text()),
        }
    }

    fn string(&mut self, value: &str) {
        if self.layout != Layout::Escaped {
            // GraphQL has the escape sequences of JSON.
            let json = serde_json::to_string(value).unwrap_or_default();
            self.text.push_str(&json);
            return;
        }
        self.text.push('"');
        for character in value.chars() {
            if character.is_ascii_digit() {
                self.text.push(character);
            } else {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    let _ = write!(self.text, "\\u{unit:04X}");
                }
            }
        }
        self.text.push('"');
    }
}
