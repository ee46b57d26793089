//! The text of a schema file.

use std::fmt::{self, Write as _};

use crate::schema_draft::model::{ColumnField, Compared, JoinField, ListBound, Model, RootModel, TypeModel};
use crate::value::{Enumeration, ScalarType};

const HEAD: &str = "\
# A draft of a schema file, made from the tables, keys, indexes and comments of a database. The lines with # say what is left out, why, and
# which index would bring it. Before you serve it, delete what clients must not see, and describe the rest.
";

/// The text of the file.
pub(super) fn write(model: &Model<'_>) -> String {
    let mut text = HEAD.to_owned();
    // Writing to a string cannot fail.
    for reason in &model.left_out {
        let _ = writeln!(text, "# {}", line(reason));
    }
    if !model.types.is_empty() {
        text.push_str("\ntype Query {\n");
        for ty in &model.types {
            text.push_str(&root(ty));
        }
        text.push_str("}\n");
    }
    for ty in &model.types {
        let _ = write!(text, "\n{}", type_block(ty));
    }
    for one in &model.enums {
        let _ = write!(text, "\n{}", enum_block(*one));
    }
    text
}

/// The definition of an enum.
pub(super) fn enum_block(enumeration: Enumeration) -> String {
    let mut text = format!("enum {} {{\n", enumeration.name());
    for (name, label) in enumeration.values() {
        let value = if name == label { String::new() } else { format!(" @value(text: {})", string(label)) };
        let _ = writeln!(text, "  {name}{value}");
    }
    text + "}\n"
}

/// The root fields of a type that the file does not have.
pub(super) fn root(ty: &TypeModel<'_>) -> String {
    let RootModel { lookup, list, is_lookup_known, is_list_known, left_out, .. } = &ty.root;
    let arguments = ty.key.iter().filter_map(|column| ty.column(column));
    let arguments =
        arguments.map(|field| format!("{}: {}!{}", field.name, field.scalar, bound(&field.name, &field.column.name)));
    let mut text = String::new();
    if !is_lookup_known {
        let _ = writeln!(text, "  {lookup}({}): {} @point", arguments.collect::<Vec<_>>().join(", "), ty.name);
    }
    if !is_list_known {
        let _ = writeln!(text, "  {list}: [{}]", ty.name);
        text.push_str(&keys(&ty.root));
        for reason in left_out {
            let _ = writeln!(text, "    # {}", line(&reason.to_string()));
        }
    }
    text
}

/// The search keys and sort keys that the file does not have.
pub(super) fn keys(root: &RootModel<'_>) -> String {
    let mut text = String::new();
    for key in root.search_keys.iter().filter(|key| !key.is_known) {
        let column = if snake_case(&key.name) == key.column { String::new() } else { named(", column", key.column) };
        let _ = writeln!(text, "    @search(key: {}{column}{})", string(&key.name), compared(&key.compared));
    }
    for key in root.sort_keys.iter().filter(|key| !key.is_known) {
        let column =
            if key.name.to_ascii_lowercase() == key.column { String::new() } else { named(", column", key.column) };
        let ties = key.ties.as_ref().map_or_else(String::new, |ties| format!(", ties: {}", ties.at_most));
        if let Some(ListBound { at_most, index: Some(index) }) = &key.ties {
            let limit = format!(
                "{} is null in the order of {} if more than {at_most} rows have one value; an index in its order lifts this limit",
                root.list, key.name
            );
            let _ = writeln!(text, "    # {limit}: {}", line(&index.to_string()));
        }
        let _ = writeln!(text, "    @sort(key: {}{column}{ties})", string(&key.name));
    }
    text
}

/// The arguments of `@search` that depend on the column.
fn compared(compared: &Compared<'_>) -> String {
    match compared {
        Compared::Words { language } => {
            let language = language.map_or_else(String::new, |language| named(", language", language));
            format!(", compare: [MATCHES]{language}")
        }
        Compared::Values { scalar, in_order_of } => {
            let compare = match scalar {
                ScalarType::Id | ScalarType::String | ScalarType::Uuid | ScalarType::Bytes | ScalarType::Enum(_) => "",
                ScalarType::Boolean => ", compare: [EQUALS]",
                _ => ", compare: [EQUALS, IN, RANGE]",
            };
            let orders =
                if in_order_of.is_empty() { String::new() } else { format!(", inOrderOf: {}", strings(in_order_of)) };
            format!("{compare}{orders}")
        }
    }
}

/// The definition of a type.
pub(super) fn type_block(ty: &TypeModel<'_>) -> String {
    let mut text = description("", ty.relation.comment.as_deref());
    let (relation, key) = (string(&ty.relation.path()), strings(&ty.key));
    let _ = writeln!(text, "type {} @relation(name: {relation}, key: {key}) {{", ty.name);
    text.push_str(&new_fields(ty));
    for reason in &ty.left_out {
        let _ = writeln!(text, "  # {}", line(&reason.to_string()));
    }
    text + "}\n"
}

/// The fields that the file does not have.
pub(super) fn new_fields(ty: &TypeModel<'_>) -> String {
    let mut text = String::new();
    for ColumnField { name, scalar, column, .. } in ty.columns.iter().filter(|field| !field.is_known) {
        // A value that no field has would be a null in a field that has none, and make the page of its row null.
        let mark = if column.is_not_null && !column.has_unrepresentable() { "!" } else { "" };
        text.push_str(&description("  ", column.comment.as_deref()));
        let (open, close) = if column.is_array() { ("[", "]") } else { ("", "") };
        let _ = writeln!(text, "  {name}: {open}{scalar}{close}{mark}{}", bound(name, &column.name));
    }
    for JoinField { name, target, is_list, by, to, where_null, bound, .. } in
        ty.joins.iter().filter(|field| !field.is_known)
    {
        let to = if by == to { String::new() } else { format!(", to: {}", strings(to)) };
        let by = strings(by);
        if let Some(column) = where_null {
            let _ = writeln!(text, "  # {name} has no rows with a value in {}: their index has none", line(column));
        }
        let where_null =
            where_null.as_ref().map_or_else(String::new, |column| format!(", {}", named("whereNull", column)));
        let at_most = bound.as_ref().map_or_else(String::new, |bound| format!(", atMost: {}", bound.at_most));
        if let Some(ListBound { at_most, index: Some(index) }) = bound {
            let limit =
                format!("{name} is null if it has more than {at_most} rows; an index in its order lifts this limit");
            let _ = writeln!(text, "  # {limit}: {}", line(&index.to_string()));
        }
        let _ = if *is_list {
            writeln!(text, "  {name}: [{target}] @many(by: {by}{to}{where_null}{at_most})")
        } else {
            writeln!(text, "  {name}: {target} @one(by: {by}{to})")
        };
    }
    text
}

/// The directive of a field whose column has another name.
fn bound(field: &str, column: &str) -> String {
    if snake_case(field) == column { String::new() } else { format!(" @column(name: {})", string(column)) }
}

fn named(argument: &str, value: &str) -> String {
    format!("{argument}: {}", string(value))
}

/// A field's name in snake case: the column of a field without `@column`.
fn snake_case(field: &str) -> String {
    let mut column = String::new();
    for c in field.chars() {
        if c.is_ascii_uppercase() {
            column.push('_');
        }
        column.push(c.to_ascii_lowercase());
    }
    column
}

fn description(indent: &str, comment: Option<&str>) -> String {
    let comment = comment.map(str::trim).filter(|comment| !comment.is_empty());
    comment.map_or_else(String::new, |comment| format!("{indent}{}\n", string(comment)))
}

fn strings(texts: &[String]) -> String {
    format!("[{}]", texts.iter().map(|text| string(text)).collect::<Vec<_>>().join(", "))
}

/// A string literal.
fn string(text: &str) -> String {
    let escaped = fmt::from_fn(|f| {
        text.chars().try_for_each(|c| match c {
            '"' | '\\' => write!(f, "\\{c}"),
            '\n' => f.write_str("\\n"),
            c if c.is_control() => f.write_char(' '),
            c => f.write_char(c),
        })
    });
    format!("\"{escaped}\"")
}

/// A text that is no longer than its line.
fn line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}
