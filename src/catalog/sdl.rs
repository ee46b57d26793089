//! The published SDL: the exact schema that is served, bindings left out. What a search string can ask for is told twice:
//! in the root's description, for readers, and as `@search`, for programs.

use std::fmt::{self, Write};

use crate::catalog::Catalog;
use crate::catalog::binding::{Binding, Connection, SearchKey};
use crate::catalog::schema::{Argument, Field, ObjectType, Type};
use crate::search::Comparator;

const SEARCH_DIRECTIVE: &str = r#""""
A key that the field's `query` argument takes, and the comparators that it accepts. A term on a key that is not indexed adds 50 to the cost.
"""
directive @search(key: String!, comparators: [String!]!, indexed: Boolean!) repeatable on FIELD_DEFINITION
"#;

/// Writes the schema.
pub(super) fn publish(catalog: &Catalog) -> String {
    let mut out = String::from(SEARCH_DIRECTIVE);
    let mut publisher = Publisher { catalog, out: &mut out };
    for ty in catalog.types() {
        // Writing to a string cannot fail.
        let _ = publisher.ty(ty);
    }
    out
}

/// What a search string can ask of a root, as a sentence a key.
pub fn describe_search(connection: &Connection) -> String {
    let mut text = String::new();
    if !connection.search_keys.is_empty() {
        text.push_str("Search keys:");
        for key in &connection.search_keys {
            let _ = write!(text, "\n- `{}`: {}", key.name, describe_comparators(key).join(", "));
            if !key.indexed {
                text.push_str(" (adds 50 to the cost)");
            }
        }
    }
    text
}

fn describe_comparators(key: &SearchKey) -> Vec<&'static str> {
    key.comparators.iter().copied().map(Comparator::describe).collect()
}

struct Publisher<'a> {
    catalog: &'a Catalog,
    out: &'a mut String,
}

impl Publisher<'_> {
    fn ty(&mut self, ty: &Type) -> fmt::Result {
        match ty {
            Type::Scalar(scalar) => match scalar.description {
                None => Ok(()), // built in
                Some(description) => {
                    self.out.write_char('\n')?;
                    self.description(Some(description), "")?;
                    writeln!(self.out, "scalar {}", scalar.scalar)
                }
            },
            Type::Enum(enumeration) => {
                self.out.write_char('\n')?;
                self.description(enumeration.description.as_deref(), "")?;
                writeln!(self.out, "enum {} {{", enumeration.name)?;
                for value in &enumeration.values {
                    writeln!(self.out, "  {value}")?;
                }
                writeln!(self.out, "}}")
            }
            Type::Object(object) => self.object(object),
        }
    }

    fn object(&mut self, object: &ObjectType) -> fmt::Result {
        self.out.write_char('\n')?;
        self.description(object.description.as_deref(), "")?;
        writeln!(self.out, "type {} {{", object.name)?;
        for (index, field) in object.fields.iter().enumerate() {
            if index > 0 && field.description.is_some() {
                self.out.write_char('\n')?;
            }
            self.field(field)?;
        }
        writeln!(self.out, "}}")
    }

    fn field(&mut self, field: &Field) -> fmt::Result {
        self.description(field.description_with_search().as_deref(), "  ")?;
        write!(self.out, "  {}", field.name)?;
        self.arguments(&field.arguments)?;
        write!(self.out, ": {}", field.ty.display(self.catalog))?;
        if let Binding::Connection(connection) = &field.binding {
            for key in &connection.search_keys {
                let comparators = describe_comparators(key).join("\", \"");
                let Self { out, .. } = self;
                write!(
                    out,
                    "\n    @search(key: \"{}\", comparators: [\"{comparators}\"], indexed: {})",
                    key.name, key.indexed
                )?;
            }
        }
        self.out.write_char('\n')
    }

    fn arguments(&mut self, arguments: &[Argument]) -> fmt::Result {
        if arguments.is_empty() {
            return Ok(());
        }
        if arguments.iter().all(|argument| argument.description.is_none()) {
            let written = arguments.iter().map(|a| format!("{}: {}", a.name, a.ty.display(self.catalog)));
            return write!(self.out, "({})", written.collect::<Vec<_>>().join(", "));
        }
        self.out.write_str("(\n")?;
        for (index, argument) in arguments.iter().enumerate() {
            if index > 0 {
                self.out.write_char('\n')?;
            }
            self.description(argument.description.as_deref(), "    ")?;
            writeln!(self.out, "    {}: {}", argument.name, argument.ty.display(self.catalog))?;
        }
        self.out.write_str("  )")
    }

    fn description(&mut self, description: Option<&str>, indent: &str) -> fmt::Result {
        let Some(description) = description else { return Ok(()) };
        let description = description.replace("\"\"\"", "\\\"\"\"");
        writeln!(self.out, "{indent}\"\"\"")?;
        for line in description.lines() {
            let indent = if line.is_empty() { "" } else { indent };
            writeln!(self.out, "{indent}{line}")?;
        }
        writeln!(self.out, "{indent}\"\"\"")
    }
}

impl Field {
    /// The field's description; a collection root's with its search keys.
    pub fn description_with_search(&self) -> Option<String> {
        let search = match &self.binding {
            Binding::Connection(connection) => describe_search(connection),
            _ => String::new(),
        };
        match (&self.description, search.is_empty()) {
            (description, true) => description.clone(),
            (None, false) => Some(search),
            (Some(description), false) => Some(format!("{description}\n\n{search}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::catalog::Catalog;

    #[test]
    fn the_published_schema_is_sdl_without_bindings() {
        let catalog = Catalog::built_in().unwrap();
        graphql_parser::parse_schema::<&str>(catalog.sdl()).unwrap();
        for binding in ["@relation", "@column", "@one", "@many", "@aggregate", "@point", "@sort", "order_header"] {
            assert!(!catalog.sdl().contains(binding), "{binding}");
        }
        insta::assert_snapshot!(catalog.sdl());
    }
}
