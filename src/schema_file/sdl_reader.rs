//! Reads a schema file: SDL with binding directives.

use graphql_parser::Pos;
use graphql_parser::schema as sdl;

use crate::catalog::aggregate::AggregateFunction;
use crate::catalog::connection::ListIndex;
use crate::catalog::scoped_relation::Without;
use crate::nearest::nearest;
use crate::schema_file::binding_arguments::BindingArguments;
use crate::schema_file::definition::{
    AggregateDefinition, AggregatedRows, ArgumentDefinition, BindingDefinition, EnumDefinition, FieldDefinition,
    GroupDefinition, IndexDefinition, ManyDefinition, PartDefinition, RelationDefinition, SchemaDefinition,
    ScopeDefinition, ScopedRows, SearchKeyDefinition, SortKeyDefinition, SumDefinition, ThroughDefinition,
    TypeDefinition,
};
use crate::schema_file::error::{SchemaError, SchemaErrorKind};
use crate::search::Comparator;
use crate::value::{Enumeration, ScalarType};

/// The enums of the binding directives' arguments.
pub(super) const DIRECTIVE_ENUMS: [&str; 3] = ["Compare", "Normalization", "TimeUnit"];

/// The default reason of `@deprecated`, as the GraphQL specification has it.
const DEFAULT_DEPRECATION_REASON: &str = "No longer supported";

/// The text search configuration that takes words as they are.
const DEFAULT_LANGUAGE: &str = "simple";

/// Reads a schema file. Fails at the first error that shows without resolving references.
pub(super) fn read(text: &str) -> Result<SchemaDefinition, SchemaError> {
    let document = sdl::parse_schema::<String>(text).map_err(|error| syntax_error(&error.to_string()))?;
    let unsupported = |position, what| Err(SchemaError::new(position, SchemaErrorKind::Unsupported(what)));
    let (mut types, mut enums) = (Vec::new(), Vec::new());
    for definition in &document.definitions {
        match definition {
            sdl::Definition::TypeDefinition(sdl::TypeDefinition::Object(object)) => types.push(object_type(object)?),
            // The definitions of the binding directives themselves, for readers and editors.
            sdl::Definition::DirectiveDefinition(_) => {}
            sdl::Definition::TypeDefinition(sdl::TypeDefinition::Enum(ty))
                if DIRECTIVE_ENUMS.contains(&ty.name.as_str()) => {}
            sdl::Definition::TypeDefinition(sdl::TypeDefinition::Enum(ty)) => enums.push(enumeration(ty)?),
            sdl::Definition::TypeDefinition(other) => {
                return unsupported(type_position(other), "this kind of type");
            }
            sdl::Definition::SchemaDefinition(schema) => return unsupported(schema.position, "a schema definition"),
            sdl::Definition::TypeExtension(_) => return unsupported(SchemaError::START, "a type extension"),
        }
    }
    resolve_scalars(&mut types, &enums);
    Ok(SchemaDefinition { types, enums })
}

/// Gives fields and arguments the scalar types, or enums, that they name.
fn resolve_scalars(types: &mut [TypeDefinition], enums: &[EnumDefinition]) {
    let named = |name: &str| {
        let mut enums = enums.iter().map(|definition| definition.enumeration);
        ScalarType::named(name).or_else(|| enums.find(|one| one.name() == name).map(ScalarType::Enum))
    };
    for field in types.iter_mut().flat_map(|ty| &mut ty.fields) {
        field.scalar = named(&field.ty);
        field.arguments.iter_mut().for_each(|argument| argument.scalar = named(&argument.ty));
    }
}

/// An enum of column values.
fn enumeration(ty: &sdl::EnumType<'_, String>) -> Result<EnumDefinition, SchemaError> {
    check_name(&ty.name, ty.position)?;
    if ScalarType::named(&ty.name).is_some() {
        return Err(SchemaError::new(ty.position, SchemaErrorKind::Duplicate(ty.name.clone())));
    }
    if let Some(directive) = ty.directives.first() {
        return Err(SchemaError::new(directive.position, SchemaErrorKind::NotAnEnumDirective));
    }
    let (mut texts, mut values): (Vec<(String, String)>, _) = (Vec::new(), Vec::new());
    for value in &ty.values {
        check_name(&value.name, value.position)?;
        let (mut text, mut deprecation) = (value.name.clone(), None);
        for directive in &value.directives {
            match directive.name.as_str() {
                "value" => text = BindingArguments::new("value", directive)?.text("text")?,
                "deprecated" => deprecation = Some(deprecated(directive)?),
                _ => return Err(SchemaError::new(directive.position, SchemaErrorKind::NotAnEnumDirective)),
            }
        }
        if texts.iter().any(|(name, other)| *name == value.name || *other == text) {
            let kind = SchemaErrorKind::Duplicate(format!("{}.{}", ty.name, value.name));
            return Err(SchemaError::new(value.position, kind));
        }
        texts.push((value.name.clone(), text));
        values.push((value.description.clone(), deprecation));
    }
    if texts.is_empty() {
        return Err(SchemaError::new(ty.position, SchemaErrorKind::NoValue));
    }
    let enumeration = Enumeration::new(ty.name.clone(), texts);
    Ok(EnumDefinition { position: ty.position, enumeration, description: ty.description.clone(), values })
}

/// The reason of `@deprecated`.
fn deprecated(directive: &sdl::Directive<'_, String>) -> Result<String, SchemaError> {
    let reason = BindingArguments::new("deprecated", directive)?.optional_text("reason")?;
    Ok(reason.unwrap_or_else(|| DEFAULT_DEPRECATION_REASON.to_owned()))
}

/// The error for a message of the parser, which begins with the position.
fn syntax_error(message: &str) -> SchemaError {
    let located = message.split_once("Parse error at ").and_then(|(_, located)| {
        let (position, message) = located.split_once('\n')?;
        let (line, column) = position.split_once(':')?;
        Some((Pos { line: line.parse().ok()?, column: column.parse().ok()? }, message))
    });
    let (position, message) = located.unwrap_or((SchemaError::START, message));
    SchemaError::new(position, SchemaErrorKind::Syntax(message.trim_end().to_owned()))
}

fn type_position(definition: &sdl::TypeDefinition<'_, String>) -> Pos {
    match definition {
        sdl::TypeDefinition::Scalar(ty) => ty.position,
        sdl::TypeDefinition::Object(ty) => ty.position,
        sdl::TypeDefinition::Interface(ty) => ty.position,
        sdl::TypeDefinition::Union(ty) => ty.position,
        sdl::TypeDefinition::Enum(ty) => ty.position,
        sdl::TypeDefinition::InputObject(ty) => ty.position,
    }
}

fn object_type(object: &sdl::ObjectType<'_, String>) -> Result<TypeDefinition, SchemaError> {
    let (mut relation, mut parts, mut grants, mut scopes) = (None, Vec::new(), Vec::new(), Vec::new());
    for directive in &object.directives {
        match directive.name.as_str() {
            "relation" => {
                let arguments = BindingArguments::new("relation", directive)?;
                relation = Some(RelationDefinition { name: arguments.text("name")?, key: arguments.texts("key")? });
            }
            "part" => parts.push(part(&BindingArguments::new("part", directive)?, directive.position)?),
            "grant" => add_grants(&mut grants, directive)?,
            "scope" => scopes.push(scope(&BindingArguments::new("scope", directive)?, directive.position)?),
            _ => return Err(SchemaError::new(directive.position, SchemaErrorKind::NotATypeDirective)),
        }
    }
    check_name(&object.name, object.position)?;
    if object.fields.is_empty() {
        return Err(SchemaError::new(object.position, SchemaErrorKind::NoField));
    }
    let fields = object.fields.iter().map(field).collect::<Result<_, _>>()?;
    Ok(TypeDefinition {
        position: object.position,
        name: object.name.clone(),
        description: object.description.clone(),
        relation,
        grants,
        scopes,
        parts,
        fields,
    })
}

fn scope(arguments: &BindingArguments<'_, '_>, position: Pos) -> Result<ScopeDefinition, SchemaError> {
    let (through, name) = (arguments.optional_text("through")?, arguments.optional_text("name")?);
    let is_open = arguments.optional_boolean("open")?.unwrap_or(false);
    let is_copied = arguments.optional_boolean("copied")?.unwrap_or(false);
    let is_optional = arguments.optional_boolean("optional")?.unwrap_or(false);
    let none = arguments.optional_text("none")?;
    let is_of_key = arguments.is_without("to") && none.is_none();
    if through.is_none() && (is_optional || !is_of_key) {
        return Err(SchemaError::new(position, SchemaErrorKind::BadScope));
    }
    name.iter().try_for_each(|name| check_name(name, position))?;
    let rows = match (name, through, is_open) {
        (Some(scope), None, false) => {
            ScopedRows::Values { scope, columns: arguments.one_or_more_texts("by")?, is_copied }
        }
        (Some(scope), None, true) if arguments.is_without("by") && !is_copied => ScopedRows::Open { scope },
        (None, Some(ty), false) if !is_copied && (is_optional || is_of_key) => ScopedRows::Through {
            ty,
            by: arguments.one_or_more_texts("by")?,
            to: arguments.optional_texts("to")?.unwrap_or_default(),
            without: is_optional.then_some(Without(none)),
        },
        _ => return Err(SchemaError::new(position, SchemaErrorKind::BadScope)),
    };
    Ok(ScopeDefinition { position, rows })
}

fn part(arguments: &BindingArguments<'_, '_>, position: Pos) -> Result<PartDefinition, SchemaError> {
    let (to, key) = (arguments.optional_text("to")?, arguments.optional_text("key")?);
    let through = match arguments.optional_text("through")? {
        Some(relation) => Some(ThroughDefinition { relation, to, key }),
        None if to.is_none() && key.is_none() => None,
        None => return Err(SchemaError::new(position, SchemaErrorKind::PartWithoutThrough)),
    };
    let (of, by) = (arguments.text("of")?, arguments.text("by")?);
    Ok(PartDefinition { position, of, relation: arguments.optional_text("relation")?, by, through })
}

fn field(field: &sdl::Field<'_, String>) -> Result<FieldDefinition, SchemaError> {
    let NamedType { name: ty, is_list, is_element_non_null, is_non_null } =
        named_type(&field.field_type).ok_or_else(|| SchemaError::new(field.position, SchemaErrorKind::NestedList))?;
    let mut definition = FieldDefinition {
        position: field.position,
        name: field.name.clone(),
        description: field.description.clone(),
        ty,
        scalar: None,
        is_list,
        is_element_non_null,
        is_non_null,
        arguments: field.arguments.iter().map(argument).collect::<Result<_, _>>()?,
        column: snake_case(&field.name),
        binding: None,
        search_keys: Vec::new(),
        indexes: Vec::new(),
        sort_keys: Vec::new(),
        groups: Vec::new(),
        sums: Vec::new(),
        deprecation: None,
        grants: Vec::new(),
    };
    check_name(&field.name, field.position)?;
    for directive in &field.directives {
        field_directive(&mut definition, directive)?;
    }
    Ok(definition)
}

/// The directives of fields.
const FIELD_DIRECTIVES: [&str; 14] = [
    "column",
    "search",
    "index",
    "sort",
    "group",
    "sum",
    "deprecated",
    "grant",
    "one",
    "many",
    "aggregate",
    "point",
    "totals",
    "changes",
];

fn field_directive(field: &mut FieldDefinition, directive: &sdl::Directive<'_, String>) -> Result<(), SchemaError> {
    let Some(binding) = binding_directive(directive)? else { return declaration(field, directive) };
    match field.binding.replace(binding) {
        None => Ok(()),
        Some(_) => Err(SchemaError::new(directive.position, SchemaErrorKind::SeveralBindings)),
    }
}

/// A directive that declares something of a field beside its binding.
fn declaration(field: &mut FieldDefinition, directive: &sdl::Directive<'_, String>) -> Result<(), SchemaError> {
    let arguments = |name| BindingArguments::new(name, directive);
    match directive.name.as_str() {
        "column" => field.column = arguments("column")?.text("name")?,
        "search" => field.search_keys.push(search_key(&arguments("search")?, directive.position)?),
        "index" => {
            let arguments = arguments("index")?;
            let (keys, in_order_of) =
                (arguments.texts("keys")?, arguments.optional_texts("inOrderOf")?.unwrap_or_default());
            let include = arguments.optional_texts("include")?.unwrap_or_default();
            field.indexes.push(IndexDefinition { keys, in_order_of, include });
        }
        "sort" => field.sort_keys.push(sort_key(&arguments("sort")?, directive.position)?),
        "group" => field.groups.push(group(&arguments("group")?, directive.position)?),
        "sum" => field.sums.push(sum(&arguments("sum")?, directive.position)?),
        "deprecated" => field.deprecation = Some(deprecated(directive)?),
        "grant" => add_grants(&mut field.grants, directive)?,
        other => {
            let kind = SchemaErrorKind::NotAFieldDirective { nearest: nearest(other, FIELD_DIRECTIVES) };
            return Err(SchemaError::new(directive.position, kind));
        }
    }
    Ok(())
}

/// The binding that a directive is; `None` if it is another one.
fn binding_directive(directive: &sdl::Directive<'_, String>) -> Result<Option<BindingDefinition>, SchemaError> {
    let arguments = |name| BindingArguments::new(name, directive);
    Ok(Some(match directive.name.as_str() {
        "one" => BindingDefinition::One(arguments("one")?.column_pairs()?),
        "many" => {
            let arguments = arguments("many")?;
            let pairs = arguments.column_pairs()?;
            let found_by =
                arguments.optional_rows("atMost")?.map_or(ListIndex::Order, |at_most| ListIndex::Parent { at_most });
            let through = arguments.optional_text("through")?;
            let where_null = arguments.optional_text("whereNull")?;
            BindingDefinition::Many(ManyDefinition { pairs, through, where_null, found_by })
        }
        "aggregate" => {
            let arguments = arguments("aggregate")?;
            let (function, column) = match arguments.optional_text("lowest")? {
                Some(column) => (AggregateFunction::Lowest, column),
                None => (AggregateFunction::CountDistinct, arguments.text("countDistinct")?),
            };
            let rows = match arguments.optional_text("within")? {
                Some(relation) => AggregatedRows::Relation(relation, arguments.texts("by")?),
                None => AggregatedRows::Connection(arguments.text("over")?),
            };
            BindingDefinition::Aggregate(AggregateDefinition { function, column, rows })
        }
        "changes" => BindingDefinition::Changes { of: arguments("changes")?.text("of")? },
        "point" => BindingDefinition::Lookup { through: arguments("point")?.optional_text("through")? },
        "totals" => {
            let arguments = arguments("totals")?;
            BindingDefinition::Totals { of: arguments.text("of")?, currency: arguments.optional_text("currency")? }
        }
        _ => return Ok(None),
    }))
}

fn argument(argument: &sdl::InputValue<'_, String>) -> Result<ArgumentDefinition, SchemaError> {
    check_name(&argument.name, argument.position)?;
    let ty = named_type(&argument.value_type)
        .filter(|ty| !ty.is_list)
        .ok_or_else(|| SchemaError::new(argument.position, SchemaErrorKind::ListArgument))?;
    let mut column = snake_case(&argument.name);
    for directive in &argument.directives {
        if directive.name != "column" {
            return Err(SchemaError::new(directive.position, SchemaErrorKind::NotAnArgumentDirective));
        }
        column = BindingArguments::new("column", directive)?.text("name")?;
    }
    Ok(ArgumentDefinition {
        name: argument.name.clone(),
        description: argument.description.clone(),
        ty: ty.name,
        scalar: None,
        is_non_null: ty.is_non_null,
        column,
    })
}

fn search_key(arguments: &BindingArguments<'_, '_>, position: Pos) -> Result<SearchKeyDefinition, SchemaError> {
    let name = arguments.text("key")?;
    check_name(&name, position)?;
    let column = arguments.optional_text("column")?.unwrap_or_else(|| snake_case(&name));
    let within = match arguments.optional_text("within")? {
        None => None,
        Some(relation) => Some((relation, arguments.texts("by")?)),
    };
    let of = arguments.optional_text("of")?;
    if of.is_some() && within.is_none() {
        return Err(SchemaError::new(position, SchemaErrorKind::BadSearchedType(name)));
    }
    let indexed = arguments.optional_boolean("indexed")?;
    let in_order_of = arguments.optional_texts("inOrderOf")?.unwrap_or_default();
    let comparators = arguments.comparators()?;
    let language = language(arguments, &comparators).map_err(|bad| {
        bad.unwrap_or_else(|| SchemaError::new(position, SchemaErrorKind::BadTextSearch(name.clone())))
    })?;
    let lookup = arguments.optional_boolean("lookup")?.unwrap_or(indexed != Some(false) || !in_order_of.is_empty());
    let include = arguments.optional_texts("include")?.unwrap_or_default();
    let computed = arguments.optional_boolean("computed")?.unwrap_or(false);
    let vocabulary = arguments.optional_text("vocabulary")?;
    let normalization = arguments.normalization()?;
    let example = arguments.optional_text("example")?;
    let grants = arguments.optional_texts("grant")?.unwrap_or_default();
    grants.iter().try_for_each(|name| check_name(name, position))?;
    Ok(SearchKeyDefinition {
        name,
        example,
        column,
        comparators,
        indexed,
        computed,
        lookup,
        in_order_of,
        include,
        within,
        of,
        vocabulary,
        normalization,
        language,
        grants,
    })
}

/// The text search configuration of a key that searches text; `None` of other keys. Fails without an error of its own if an argument is
/// for the other kind of key.
fn language(
    arguments: &BindingArguments<'_, '_>,
    comparators: &[Comparator],
) -> Result<Option<String>, Option<SchemaError>> {
    let language = arguments.optional_text("language")?;
    if !comparators.contains(&Comparator::Matches) {
        return if language.is_none() { Ok(None) } else { Err(None) };
    }
    let others = ["indexed", "lookup", "inOrderOf", "include", "within", "by", "of", "vocabulary", "normalize"];
    if comparators.len() > 1 || others.iter().any(|other| !arguments.is_without(other)) {
        return Err(None);
    }
    Ok(Some(language.unwrap_or_else(|| DEFAULT_LANGUAGE.to_owned())))
}

/// Adds the grants that a directive `@grant` names. A definition has one such directive at most.
fn add_grants(grants: &mut Vec<String>, directive: &sdl::Directive<'_, String>) -> Result<(), SchemaError> {
    if !grants.is_empty() {
        return Err(SchemaError::new(directive.position, SchemaErrorKind::Duplicate("@grant".to_owned())));
    }
    *grants = BindingArguments::new("grant", directive)?.texts("to")?;
    grants.iter().try_for_each(|name| check_name(name, directive.position))
}

fn sort_key(arguments: &BindingArguments<'_, '_>, position: Pos) -> Result<SortKeyDefinition, SchemaError> {
    let name = arguments.text("key")?;
    check_name(&name, position)?;
    let column = arguments.optional_text("column")?.unwrap_or_else(|| name.to_ascii_lowercase());
    Ok(SortKeyDefinition { name, column, ties: arguments.optional_rows("ties")? })
}

fn group(arguments: &BindingArguments<'_, '_>, position: Pos) -> Result<GroupDefinition, SchemaError> {
    let name = arguments.text("key")?;
    check_name(&name, position)?;
    let path = arguments.optional_text("field")?.unwrap_or_else(|| name.clone());
    Ok(GroupDefinition { path, unit: arguments.unit()?, name })
}

fn sum(arguments: &BindingArguments<'_, '_>, position: Pos) -> Result<SumDefinition, SchemaError> {
    let name = arguments.text("key")?;
    check_name(&name, position)?;
    let path = arguments.optional_text("field")?.unwrap_or_else(|| name.clone());
    let times = arguments.optional_text("times")?;
    let is_money = arguments.optional_boolean("money")?.unwrap_or(false);
    Ok(SumDefinition { name, path, times, is_money })
}

/// Fails unless the name is a GraphQL name that a schema may define.
fn check_name(name: &str, position: Pos) -> Result<(), SchemaError> {
    let is_letter = |c: char| c.is_ascii_alphabetic() || c == '_';
    let is_name = name.starts_with(is_letter) && name.chars().all(|c| is_letter(c) || c.is_ascii_digit());
    if !is_name || name.starts_with("__") || matches!(name, "true" | "false" | "null") {
        return Err(SchemaError::new(position, SchemaErrorKind::BadName(name.to_owned())));
    }
    Ok(())
}

/// A named type, or a list of it.
struct NamedType {
    name: String,
    is_list: bool,
    is_element_non_null: bool,
    /// Whether the outermost type is non-null.
    is_non_null: bool,
}

/// The named type of a reference; `None` for lists of lists.
fn named_type(ty: &sdl::Type<'_, String>) -> Option<NamedType> {
    match ty {
        sdl::Type::NamedType(name) => {
            Some(NamedType { name: name.clone(), is_list: false, is_element_non_null: false, is_non_null: false })
        }
        sdl::Type::NonNullType(inner) => named_type(inner).map(|ty| NamedType { is_non_null: true, ..ty }),
        sdl::Type::ListType(inner) => {
            let element = named_type(inner).filter(|ty| !ty.is_list)?;
            Some(NamedType { is_list: true, is_element_non_null: element.is_non_null, is_non_null: false, ..element })
        }
    }
}

/// The column name for a name in camelCase.
pub(super) fn snake_case(name: &str) -> String {
    let mut column = String::with_capacity(name.len() + 4);
    for c in name.chars() {
        if c.is_ascii_uppercase() {
            column.push('_');
        }
        column.push(c.to_ascii_lowercase());
    }
    column
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_enum_cannot_be_called_like_a_scalar() {
        let error = read("type Query { thing: Thing }\nenum Date { FIRST }").unwrap_err();
        assert_eq!(error.to_string(), "2:1: `Date` is defined twice");
    }

    #[test]
    fn a_type_needs_a_field() {
        let error =
            read("type Query { thing: Thing }\ntype Thing @relation(name: \"thing\", key: [\"id\"])").unwrap_err();
        assert_eq!(error.to_string(), "2:1: a type needs a field");
    }
}
