//! Writes the published SDL: the schema that is served, without binding directives. It lists search keys twice: in the
//! description of the argument `query` for readers, and as `@search` for programs.
//!
//! It begins with the `schema` definition, which has the same description as introspection. `graphql_parser` and the Rust clients
//! that are built on it reject the description of a `schema` definition; they leave these lines out.

use std::fmt::{self, Write};

use serde_json::Value;

use crate::catalog::connection::Connection;
use crate::catalog::schema::{Argument, Directive, Field, ObjectType, Type};
use crate::catalog::type_system::Catalog;

/// The directives that the GraphQL specification defines. The SDL contains the definitions of all others.
const STANDARD: [&str; 5] = ["include", "skip", "deprecated", "specifiedBy", "oneOf"];

/// The SDL of a catalog.
pub(super) fn write(catalog: &Catalog) -> String {
    let mut out = String::new();
    let mut writer = Writer { catalog, out: &mut out };
    // Writing to a string cannot fail.
    let _ = writer.schema();
    for directive in catalog.directives().iter().filter(|directive| !STANDARD.contains(&directive.name.as_str())) {
        let _ = writer.directive(directive);
    }
    for ty in catalog.types() {
        let _ = writer.ty(ty);
    }
    out
}

struct Writer<'a> {
    catalog: &'a Catalog,
    out: &'a mut String,
}

impl Writer<'_> {
    /// Without a description the definition could be left out, since the query root is called `Query`.
    fn schema(&mut self) -> fmt::Result {
        self.description(Some(self.catalog.description()), "")?;
        self.out.write_str("schema {\n  query: Query\n}\n\n")
    }

    fn directive(&mut self, directive: &Directive) -> fmt::Result {
        self.description(directive.description.as_deref(), "")?;
        write!(self.out, "directive @{}", directive.name)?;
        self.arguments(&directive.arguments, "")?;
        let repeatable = if directive.repeatable { " repeatable" } else { "" };
        writeln!(self.out, "{repeatable} on {}", directive.locations.join(" | "))
    }

    fn ty(&mut self, ty: &Type) -> fmt::Result {
        match ty {
            Type::Scalar(scalar) => match scalar.specified_by {
                None => Ok(()), // built in
                Some(url) => {
                    self.out.write_char('\n')?;
                    self.description(Some(scalar.description), "")?;
                    writeln!(self.out, "scalar {} @specifiedBy(url: {})", scalar.scalar, quoted(url))
                }
            },
            Type::Enum(enumeration) => {
                self.out.write_char('\n')?;
                self.description(enumeration.description.as_deref(), "")?;
                writeln!(self.out, "enum {} {{", enumeration.name)?;
                for value in &enumeration.values {
                    self.description(value.description.as_deref(), "  ")?;
                    write!(self.out, "  {}", value.name)?;
                    if let Some(reason) = &value.deprecation {
                        write!(self.out, " @deprecated(reason: {})", quoted(reason))?;
                    }
                    self.out.write_char('\n')?;
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
        let catalog = self.catalog;
        for (index, (field, binding)) in catalog.fields_of(object).enumerate() {
            if index > 0 && !field.arguments.is_empty() {
                self.out.write_char('\n')?;
            }
            self.field(field, binding.searched())?;
        }
        writeln!(self.out, "}}")
    }

    fn field(&mut self, field: &Field, connection: Option<&Connection>) -> fmt::Result {
        self.description(field.description.as_deref(), "  ")?;
        write!(self.out, "  {}", field.name)?;
        self.arguments(&field.arguments, "  ")?;
        write!(self.out, ": {}", field.ty.display(self.catalog))?;
        if let Some(reason) = &field.deprecation {
            write!(self.out, " @deprecated(reason: {})", quoted(reason))?;
        }
        for key in connection.iter().flat_map(|connection| &connection.search_keys) {
            let comparators = key.comparator_names().join("\", \"");
            let (out, name, indexed) = (&mut self.out, &key.name, key.indexed);
            write!(out, "\n    @search(key: \"{name}\", comparators: [\"{comparators}\"], indexed: {indexed})")?;
        }
        self.out.write_char('\n')
    }

    fn arguments(&mut self, arguments: &[Argument], indent: &str) -> fmt::Result {
        if arguments.is_empty() {
            return Ok(());
        }
        if arguments.iter().all(|argument| argument.description.is_none()) {
            self.out.write_char('(')?;
            for (index, argument) in arguments.iter().enumerate() {
                self.out.write_str(if index > 0 { ", " } else { "" })?;
                self.argument(argument)?;
            }
            return self.out.write_char(')');
        }
        self.out.write_str("(\n")?;
        let inner = format!("{indent}  ");
        for argument in arguments {
            self.description(argument.description.as_deref(), &inner)?;
            self.out.write_str(&inner)?;
            self.argument(argument)?;
            self.out.write_char('\n')?;
        }
        write!(self.out, "{indent})")
    }

    fn argument(&mut self, argument: &Argument) -> fmt::Result {
        write!(self.out, "{}: {}", argument.name, argument.ty.display(self.catalog))?;
        argument.default.as_ref().map_or(Ok(()), |default| write!(self.out, " = {default}"))
    }

    fn description(&mut self, description: Option<&str>, indent: &str) -> fmt::Result {
        let Some(description) = description else { return Ok(()) };
        if !description.contains('\n') || !survives_as_block(description) {
            return writeln!(self.out, "{indent}{}", quoted(description));
        }
        writeln!(self.out, "{indent}\"\"\"")?;
        for line in description.replace("\"\"\"", "\\\"\"\"").split('\n') {
            let indent = if line.is_empty() { "" } else { indent };
            writeln!(self.out, "{indent}{line}")?;
        }
        writeln!(self.out, "{indent}\"\"\"")
    }
}

/// A string literal. JSON's escapes are GraphQL's too.
fn quoted(text: &str) -> Value {
    Value::from(text)
}

/// Whether a text survives as a block string. Readers of block strings remove blank lines at both ends and an
/// indentation that all lines share, and block strings cannot contain control characters.
fn survives_as_block(text: &str) -> bool {
    let is_blank = |line: &str| line.chars().all(|c| c == ' ' || c == '\t');
    let begins_at_margin = |line: &str| !line.is_empty() && !line.starts_with([' ', '\t']);
    let mut lines = text.split('\n');
    !text.chars().any(|c| c.is_control() && c != '\n' && c != '\t')
        && lines.clone().any(begins_at_margin)
        && lines.clone().next().is_some_and(|line| !is_blank(line))
        && lines.next_back().is_some_and(|line| !is_blank(line))
}

#[cfg(test)]
mod tests {
    use crate::catalog::Catalog;

    #[test]
    fn the_published_schema_is_sdl_without_bindings() {
        let catalog = Catalog::built_in().unwrap();
        let (schema, types) = catalog.sdl().split_once("\nschema {\n  query: Query\n}\n").unwrap();
        assert!(schema.starts_with("\"\"\"\nOrder management") && schema.ends_with("\n\"\"\""), "{schema}");
        graphql_parser::parse_schema::<&str>(types).unwrap();
        for binding in ["@relation", "@column", "@one", "@many", "@aggregate", "@point", "@sort", "order_header"] {
            assert!(!catalog.sdl().contains(binding), "{binding}");
        }
        insta::assert_snapshot!(catalog.sdl());
    }
}
