//! Prints documents, and compares them without their positions. The library needs no printer, so it is here. It writes everything
//! that the tree has, so that reading it again must give the same tree.

use std::fmt::{self, Display, Write as _};

use graphql_parser::Pos;
use graphql_parser::query::{
    Definition, Directive, OperationDefinition, Selection, SelectionSet, Type, TypeCondition, Value, VariableDefinition,
};

type Name<'a> = &'a str;

/// The text of a document, in one line.
pub fn print<'a>(definitions: &[Definition<'a, Name<'a>>]) -> String {
    let mut out = String::new();
    for definition in definitions {
        // Writing to a string cannot fail.
        let _ = write_definition(&mut out, definition);
    }
    out
}

/// The document with all positions at the same place.
pub fn without_positions<'a>(definitions: &[Definition<'a, Name<'a>>]) -> Vec<Definition<'a, Name<'a>>> {
    let mut definitions = definitions.to_vec();
    for definition in &mut definitions {
        match definition {
            Definition::Fragment(fragment) => {
                fragment.position = Pos::default();
                move_directives(&mut fragment.directives);
                move_selections(&mut fragment.selection_set);
            }
            Definition::Operation(OperationDefinition::SelectionSet(set)) => move_selections(set),
            Definition::Operation(OperationDefinition::Query(operation)) => {
                operation.position = Pos::default();
                move_operation(
                    &mut operation.variable_definitions,
                    &mut operation.directives,
                    &mut operation.selection_set,
                );
            }
            Definition::Operation(OperationDefinition::Mutation(operation)) => {
                operation.position = Pos::default();
                move_operation(
                    &mut operation.variable_definitions,
                    &mut operation.directives,
                    &mut operation.selection_set,
                );
            }
            Definition::Operation(OperationDefinition::Subscription(operation)) => {
                operation.position = Pos::default();
                move_operation(
                    &mut operation.variable_definitions,
                    &mut operation.directives,
                    &mut operation.selection_set,
                );
            }
        }
    }
    definitions
}

/// Calls a function with every place that the tree names, and what the text has there.
pub fn visit_positions<'a>(definitions: &[Definition<'a, Name<'a>>], visit: &mut impl FnMut(Pos, &'a str)) {
    for definition in definitions {
        match definition {
            Definition::Fragment(fragment) => {
                visit(fragment.position, "fragment");
                visit_directives(&fragment.directives, visit);
                visit_selections(&fragment.selection_set, visit);
            }
            Definition::Operation(operation) => {
                let Parts { keyword, position, variables, directives, selections, .. } = parts(operation);
                if !keyword.is_empty() {
                    visit(position, keyword);
                }
                for variable in variables {
                    visit(variable.position, "$");
                }
                visit_directives(directives, visit);
                visit_selections(selections, visit);
            }
        }
    }
}

fn visit_selections<'a>(set: &SelectionSet<'a, Name<'a>>, visit: &mut impl FnMut(Pos, &'a str)) {
    if !set.items.is_empty() {
        visit(set.span.0, "{");
        visit(set.span.1, "}");
    }
    for selection in &set.items {
        match selection {
            Selection::Field(field) => {
                visit(field.position, field.alias.unwrap_or(field.name));
                visit_directives(&field.directives, visit);
                visit_selections(&field.selection_set, visit);
            }
            Selection::FragmentSpread(spread) => {
                visit(spread.position, "...");
                visit_directives(&spread.directives, visit);
            }
            Selection::InlineFragment(fragment) => {
                visit(fragment.position, "...");
                visit_directives(&fragment.directives, visit);
                visit_selections(&fragment.selection_set, visit);
            }
        }
    }
}

fn visit_directives<'a>(directives: &[Directive<'a, Name<'a>>], visit: &mut impl FnMut(Pos, &'a str)) {
    for directive in directives {
        visit(directive.position, "@");
    }
}

/// What all operations have.
struct Parts<'t, 'a> {
    /// Empty for a document of a selection set alone.
    keyword: &'static str,
    position: Pos,
    name: Option<Name<'a>>,
    variables: &'t [VariableDefinition<'a, Name<'a>>],
    directives: &'t [Directive<'a, Name<'a>>],
    selections: &'t SelectionSet<'a, Name<'a>>,
}

fn parts<'t, 'a>(operation: &'t OperationDefinition<'a, Name<'a>>) -> Parts<'t, 'a> {
    match operation {
        OperationDefinition::SelectionSet(selections) => {
            Parts { keyword: "", position: selections.span.0, name: None, variables: &[], directives: &[], selections }
        }
        OperationDefinition::Query(query) => Parts {
            keyword: "query",
            position: query.position,
            name: query.name,
            variables: &query.variable_definitions,
            directives: &query.directives,
            selections: &query.selection_set,
        },
        OperationDefinition::Mutation(mutation) => Parts {
            keyword: "mutation",
            position: mutation.position,
            name: mutation.name,
            variables: &mutation.variable_definitions,
            directives: &mutation.directives,
            selections: &mutation.selection_set,
        },
        OperationDefinition::Subscription(subscription) => Parts {
            keyword: "subscription",
            position: subscription.position,
            name: subscription.name,
            variables: &subscription.variable_definitions,
            directives: &subscription.directives,
            selections: &subscription.selection_set,
        },
    }
}

fn move_operation<'a>(
    variables: &mut [VariableDefinition<'a, Name<'a>>],
    directives: &mut [Directive<'a, Name<'a>>],
    selections: &mut SelectionSet<'a, Name<'a>>,
) {
    for variable in variables {
        variable.position = Pos::default();
    }
    move_directives(directives);
    move_selections(selections);
}

fn move_directives<'a>(directives: &mut [Directive<'a, Name<'a>>]) {
    for directive in directives {
        directive.position = Pos::default();
    }
}

fn move_selections<'a>(set: &mut SelectionSet<'a, Name<'a>>) {
    set.span = (Pos::default(), Pos::default());
    for selection in &mut set.items {
        match selection {
            Selection::Field(field) => {
                field.position = Pos::default();
                move_directives(&mut field.directives);
                move_selections(&mut field.selection_set);
            }
            Selection::FragmentSpread(spread) => {
                spread.position = Pos::default();
                move_directives(&mut spread.directives);
            }
            Selection::InlineFragment(fragment) => {
                fragment.position = Pos::default();
                move_directives(&mut fragment.directives);
                move_selections(&mut fragment.selection_set);
            }
        }
    }
}

fn write_definition<'a>(out: &mut String, definition: &Definition<'a, Name<'a>>) -> fmt::Result {
    match definition {
        Definition::Fragment(fragment) => {
            let TypeCondition::On(ty) = fragment.type_condition;
            write!(out, "fragment {} on {ty}", fragment.name)?;
            write_directives(out, &fragment.directives)?;
            write_selections(out, &fragment.selection_set)
        }
        Definition::Operation(operation) => {
            let Parts { keyword, name, variables, directives, selections, .. } = parts(operation);
            write!(out, " {keyword} {}", name.unwrap_or_default())?;
            for (index, variable) in variables.iter().enumerate() {
                write!(out, "{}${}:", if index == 0 { "(" } else { " " }, variable.name)?;
                write_type(out, &variable.var_type)?;
                if let Some(value) = &variable.default_value {
                    out.push('=');
                    write_value(out, value)?;
                }
            }
            if !variables.is_empty() {
                out.push(')');
            }
            write_directives(out, directives)?;
            write_selections(out, selections)
        }
    }
}

fn write_type<'a>(out: &mut String, ty: &Type<'a, Name<'a>>) -> fmt::Result {
    match ty {
        Type::NamedType(name) => out.write_str(name),
        Type::ListType(inner) => {
            out.push('[');
            write_type(out, inner)?;
            out.write_char(']')
        }
        Type::NonNullType(inner) => {
            write_type(out, inner)?;
            out.write_char('!')
        }
    }
}

fn write_selections<'a>(out: &mut String, set: &SelectionSet<'a, Name<'a>>) -> fmt::Result {
    if set.items.is_empty() {
        return Ok(());
    }
    out.push('{');
    for selection in &set.items {
        match selection {
            Selection::Field(field) => {
                if let Some(alias) = field.alias {
                    write!(out, "{alias}:")?;
                }
                out.push_str(field.name);
                write_arguments(out, &field.arguments)?;
                write_directives(out, &field.directives)?;
                write_selections(out, &field.selection_set)?;
            }
            Selection::FragmentSpread(spread) => {
                write!(out, "...{}", spread.fragment_name)?;
                write_directives(out, &spread.directives)?;
            }
            Selection::InlineFragment(fragment) => {
                out.push_str("...");
                if let Some(TypeCondition::On(ty)) = fragment.type_condition {
                    write!(out, "on {ty}")?;
                }
                write_directives(out, &fragment.directives)?;
                write_selections(out, &fragment.selection_set)?;
            }
        }
        out.push(' ');
    }
    out.write_char('}')
}

fn write_directives<'a>(out: &mut String, directives: &[Directive<'a, Name<'a>>]) -> fmt::Result {
    for directive in directives {
        write!(out, " @{}", directive.name)?;
        write_arguments(out, &directive.arguments)?;
    }
    Ok(())
}

fn write_arguments<'a>(out: &mut String, arguments: &[(Name<'a>, Value<'a, Name<'a>>)]) -> fmt::Result {
    for (index, (name, value)) in arguments.iter().enumerate() {
        write!(out, "{}{name}:", if index == 0 { "(" } else { " " })?;
        write_value(out, value)?;
    }
    out.write_str(if arguments.is_empty() { "" } else { ")" })
}

fn write_value<'a>(out: &mut String, value: &Value<'a, Name<'a>>) -> fmt::Result {
    match value {
        Value::Variable(name) => write!(out, "${name}"),
        Value::Int(number) => write!(out, "{}", number.as_i64().unwrap_or_default()),
        // What exceeds the range of floats is infinite.
        Value::Float(number) if number.is_infinite() => write!(out, "{}1e999", if *number < 0.0 { "-" } else { "" }),
        Value::Float(number) => write!(out, "{number:e}"),
        Value::String(text) => write!(out, "{}", Quoted(text)),
        Value::Boolean(truth) => write!(out, "{truth}"),
        Value::Null => out.write_str("null"),
        Value::Enum(name) => out.write_str(name),
        Value::List(values) => {
            out.push('[');
            for value in values {
                write_value(out, value)?;
                out.push(' ');
            }
            out.write_char(']')
        }
        Value::Object(fields) => {
            out.push('{');
            for (name, value) in fields {
                write!(out, "{name}:")?;
                write_value(out, value)?;
                out.push(' ');
            }
            out.write_char('}')
        }
    }
}

/// A text as a string literal of GraphQL.
struct Quoted<'a>(&'a str);

impl Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('"')?;
        for character in self.0.chars() {
            match character {
                '"' | '\\' => write!(f, "\\{character}")?,
                '\0'..' ' => write!(f, "\\u{:04x}", u32::from(character))?,
                _ => f.write_char(character)?,
            }
        }
        f.write_char('"')
    }
}
