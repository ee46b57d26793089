//! The outline of a published SDL.

use graphql_parser::schema::{
    Definition, Directive, EnumType, Field, InputValue, ObjectType, Type, TypeDefinition, Value, parse_schema,
};

use crate::outline::{
    Outline, OutlineArgument, OutlineError, OutlineField, OutlineKey, OutlineType, TypeKind, TypeReference,
};

impl Outline {
    /// Reads a published SDL. The text must be one that the service publishes, but any text does no harm.
    pub fn parse(sdl: &str) -> Result<Self, OutlineError> {
        let document = parse_schema::<String>(without_schema_description(sdl))?;
        let types = document.definitions.iter().filter_map(|definition| match definition {
            Definition::TypeDefinition(ty) => Some(ty),
            _ => None,
        });
        Ok(Self::new(types.filter_map(outline_type).collect()))
    }
}

/// The text without the description of its `schema` definition, which the parser does not take.
fn without_schema_description(sdl: &str) -> &str {
    let end = match sdl.strip_prefix("\"\"\"\n") {
        Some(block) => block.find("\n\"\"\"\n").map(|end| &block[end + 5..]),
        None if sdl.starts_with('"') => sdl.split_once('\n').map(|(_, rest)| rest),
        None => None,
    };
    end.unwrap_or(sdl)
}

fn outline_type(ty: &TypeDefinition<'_, String>) -> Option<OutlineType> {
    let (name, kind) = match ty {
        TypeDefinition::Scalar(scalar) => (&scalar.name, TypeKind::Scalar),
        TypeDefinition::Enum(EnumType { name, values, .. }) => {
            (name, TypeKind::Enum(values.iter().map(|value| value.name.clone()).collect()))
        }
        TypeDefinition::Object(ObjectType { name, fields, .. }) => {
            (name, TypeKind::Object(fields.iter().map(field).collect()))
        }
        _ => return None,
    };
    Some(OutlineType { name: name.clone(), kind })
}

fn field(field: &Field<'_, String>) -> OutlineField {
    OutlineField {
        id: 0,
        object: None,
        name: field.name.clone(),
        summary: summary(field.description.as_deref()),
        description: field.description.clone().unwrap_or_default(),
        ty: reference(&field.field_type),
        arguments: field.arguments.iter().map(argument).collect(),
        search_keys: field.directives.iter().filter_map(search_key).collect(),
    }
}

fn argument(argument: &InputValue<'_, String>) -> OutlineArgument {
    OutlineArgument { name: argument.name.clone(), ty: reference(&argument.value_type) }
}

fn search_key(directive: &Directive<'_, String>) -> Option<OutlineKey> {
    let argument = |name: &str| directive.arguments.iter().find(|(other, _)| other == name).map(|(_, value)| value);
    let (Value::String(name), Value::List(comparators)) = (argument("key")?, argument("comparators")?) else {
        return None;
    };
    let is_range = !comparators.contains(&Value::String("equals".to_owned()));
    (directive.name == "search").then(|| OutlineKey { name: name.clone(), is_range })
}

fn reference(ty: &Type<'_, String>) -> TypeReference {
    let mut named = ty;
    loop {
        match named {
            Type::NamedType(name) => return TypeReference { text: ty.to_string(), named: name.clone() },
            Type::ListType(inner) | Type::NonNullType(inner) => named = inner,
        }
    }
}

/// The first sentence of a description, on one line.
fn summary(description: Option<&str>) -> String {
    let text = description.unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ");
    let end = text.find(". ").map_or(text.len(), |end| end + 1);
    text[..end].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::Catalog;

    #[test]
    fn reads_the_built_in_schema() {
        let outline = Outline::parse(Catalog::built_in().unwrap().sdl()).unwrap();
        let orders = outline.roots().iter().find(|root| root.name == "orders").unwrap();
        assert_eq!((orders.ty.text.as_str(), orders.ty.named.as_str()), ("OrderConnection!", "OrderConnection"));
        assert!(orders.argument("sortKey").is_some_and(|argument| argument.ty.named == "OrderSortKey"));
        let key = |name: &str| orders.search_keys.iter().find(|key| key.name == name).unwrap().is_range;
        assert!(!key("statusId") && key("orderDate"));
        assert_eq!(outline.field("Order", "orderName").unwrap().ty.text, "String");
        assert!(outline.fields("OrderSortKey").is_empty() && outline.get("Nothing").is_none());
    }

    #[test]
    fn takes_a_schema_with_a_description_of_one_line_or_none() {
        let types = "schema {\n  query: Query\n}\n\"A root. More.\"\ntype Query { a: Int }\n";
        for sdl in [format!("\"One \\\" line\"\n{types}"), types.to_owned(), format!("\"\"\"\na\n\nb\n\"\"\"\n{types}")]
        {
            let outline = Outline::parse(&sdl).unwrap();
            assert!(outline.get("Query").is_some(), "{sdl}");
        }
        for text in ["", "\"", "\"\"\"\n", "\"\"\"\n\"\"\"\n", "type {", "\u{e9}"] {
            assert!(Outline::parse(text).map_or(true, |outline| outline.roots().is_empty()), "{text}");
        }
    }
}
