//! The schema file as it is written: SDL with binding directives, read but not yet resolved.

use graphql_parser::Pos;
use graphql_parser::schema as sdl;
use thiserror::Error;

use crate::search::Comparator;

/// A schema file that cannot be used, and where.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("{position}: {fault}")]
pub struct SchemaError {
    /// `line:column`.
    pub position: Pos,
    /// What is wrong.
    pub fault: SchemaErrorKind,
}

/// What is wrong with a schema file.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum SchemaErrorKind {
    /// It is no SDL.
    #[error("not a schema document: {0}")]
    Syntax(String),
    /// A kind of definition that has no meaning here.
    #[error("{0} is not taken; a schema has object types, directive definitions and the enum Compare")]
    Unsupported(&'static str),
    /// A field or argument of introspection that nothing answers. A schema file cannot have it.
    #[error("introspection does not know `{0}`")]
    UnknownIntrospection(String),
    /// Two definitions of one name.
    #[error("`{0}` is defined twice")]
    Duplicate(String),
    /// No root.
    #[error("there is no type Query")]
    NoQuery,
    /// A name that nothing has.
    #[error("there is no type `{0}`")]
    UnknownType(String),
    /// A directive where it has no meaning, or without one where it needs it.
    #[error("{0}")]
    Misplaced(&'static str),
    /// A directive's argument is missing.
    #[error("@{directive} needs the argument `{argument}`")]
    MissingArgument {
        /// The directive's name.
        directive: &'static str,
        /// The argument's name.
        argument: &'static str,
    },
    /// An argument that the directive has not: a slip, which would be passed over otherwise.
    #[error("@{directive} has no argument `{argument}`; it takes {}", .allowed.join(", "))]
    UnknownArgument {
        /// The directive's name.
        directive: &'static str,
        /// The argument's name.
        argument: String,
        /// The arguments that it has.
        allowed: &'static [&'static str],
    },
    /// A directive's argument is of another type.
    #[error("@{directive}({argument}:) takes {expected}")]
    BadArgument {
        /// The directive's name.
        directive: &'static str,
        /// The argument's name.
        argument: String,
        /// What it takes.
        expected: &'static str,
    },
    /// Two lists that pair columns differ in length.
    #[error("`by` and `to` name different numbers of columns")]
    UnpairedColumns,
    /// A column that no field of the type shows, so that its scalar type is unknown.
    #[error("no field of `{ty}` has the column `{column}`")]
    UnknownColumn {
        /// The type.
        ty: String,
        /// The column.
        column: String,
    },
    /// A field that does not exist.
    #[error("`{ty}` has no connection `{field}`")]
    UnknownConnection {
        /// The type.
        ty: String,
        /// The field.
        field: String,
    },
    /// A name that GraphQL does not take.
    #[error("`{0}` is no name that can be published: letters, digits and _, no digit first, no __ at the beginning")]
    BadName(String),
    /// Too many types or fields for the catalog's ids.
    #[error("there are more than 65,535 types or fields")]
    TooMany,
}

/// The types of a schema file.
#[derive(Debug)]
pub struct Source {
    /// Every object type, the query root among them, as the file has them.
    pub types: Vec<SourceType>,
}

/// An object type.
#[derive(Debug)]
pub struct SourceType {
    /// Where it stands.
    pub position: Pos,
    /// Its name.
    pub name: String,
    /// What it is.
    pub description: Option<String>,
    /// `@relation`: the relation's name and key columns.
    pub relation: Option<(String, Vec<String>)>,
    /// Its fields.
    pub fields: Vec<SourceField>,
}

/// A field of an object type.
#[derive(Debug)]
pub struct SourceField {
    /// Where it stands.
    pub position: Pos,
    /// Its name.
    pub name: String,
    /// What it holds.
    pub description: Option<String>,
    /// The name of its type, or of its elements' type.
    pub ty: String,
    /// Whether it is a list.
    pub list: bool,
    /// Whether it is never null.
    pub non_null: bool,
    /// Its arguments.
    pub arguments: Vec<SourceArgument>,
    /// `@column`, or the name in snake case.
    pub column: String,
    /// The directive that binds it, if not a column.
    pub binding: Option<SourceBinding>,
    /// Its search keys.
    pub search: Vec<SourceSearch>,
    /// Its sort keys: name and column.
    pub sort: Vec<(String, String)>,
    /// `@deprecated`: what to use instead.
    pub deprecation: Option<String>,
}

/// An argument of a point root.
#[derive(Debug)]
pub struct SourceArgument {
    /// Its name.
    pub name: String,
    /// What it is.
    pub description: Option<String>,
    /// The name of its scalar type.
    pub ty: String,
    /// Whether it has to be given.
    pub non_null: bool,
    /// `@column`, or the name in snake case.
    pub column: String,
}

/// The directive that binds a field.
#[derive(Debug)]
pub enum SourceBinding {
    /// `@one`
    One {
        /// The parent's columns.
        by: Vec<String>,
        /// The target's.
        to: Vec<String>,
    },
    /// `@many`
    Many {
        /// The parent's columns.
        by: Vec<String>,
        /// The node's.
        to: Vec<String>,
        /// Another relation with the node's columns.
        through: Option<String>,
    },
    /// `@aggregate`
    Aggregate {
        /// The column that is counted.
        count_distinct: String,
        /// The connection beside it whose rows are counted.
        over: String,
    },
    /// `@point`
    Lookup {
        /// Another relation with the target's columns.
        through: Option<String>,
    },
}

/// `@search`
#[derive(Debug)]
pub struct SourceSearch {
    /// The key's name.
    pub key: String,
    /// Its column.
    pub column: String,
    /// What it accepts.
    pub comparators: Vec<Comparator>,
    /// Whether a selective index serves it.
    pub indexed: bool,
    /// The relation and columns of a semi-join.
    pub within: Option<(String, Vec<String>)>,
}

/// What `@deprecated` tells where it gives no reason, as the specification has it.
const NO_REASON: &str = "No longer supported";

/// Reads a schema file.
pub fn read(text: &str) -> Result<Source, SchemaError> {
    let document = sdl::parse_schema::<String>(text)
        .map_err(|error| fail(Pos { line: 1, column: 1 }, SchemaErrorKind::Syntax(error.to_string())))?;
    let mut types = Vec::new();
    for definition in &document.definitions {
        match definition {
            sdl::Definition::TypeDefinition(sdl::TypeDefinition::Object(object)) => types.push(object_type(object)?),
            // The vocabulary itself, written down for readers and editors.
            sdl::Definition::DirectiveDefinition(_) => {}
            sdl::Definition::TypeDefinition(sdl::TypeDefinition::Enum(vocabulary)) if vocabulary.name == "Compare" => {}
            sdl::Definition::TypeDefinition(other) => {
                return Err(fail(type_position(other), SchemaErrorKind::Unsupported("this kind of type")));
            }
            sdl::Definition::SchemaDefinition(schema) => {
                return Err(fail(schema.position, SchemaErrorKind::Unsupported("a schema definition")));
            }
            sdl::Definition::TypeExtension(_) => {
                return Err(fail(Pos { line: 1, column: 1 }, SchemaErrorKind::Unsupported("a type extension")));
            }
        }
    }
    Ok(Source { types })
}

/// Refuses a name that the published schema could not have.
fn published(name: &str, position: Pos) -> Result<(), SchemaError> {
    let is_letter = |c: char| c.is_ascii_alphabetic() || c == '_';
    let is_name = name.starts_with(is_letter) && name.chars().all(|c| is_letter(c) || c.is_ascii_digit());
    if !is_name || name.starts_with("__") || matches!(name, "true" | "false" | "null") {
        return Err(fail(position, SchemaErrorKind::BadName(name.to_owned())));
    }
    Ok(())
}

/// The column that a name in camelCase stands for.
pub fn snake_case(name: &str) -> String {
    let mut column = String::with_capacity(name.len() + 4);
    for c in name.chars() {
        if c.is_ascii_uppercase() {
            column.push('_');
        }
        column.push(c.to_ascii_lowercase());
    }
    column
}

pub(super) fn fail(position: Pos, fault: SchemaErrorKind) -> SchemaError {
    SchemaError { position, fault }
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

fn object_type(object: &sdl::ObjectType<'_, String>) -> Result<SourceType, SchemaError> {
    let mut relation = None;
    for directive in &object.directives {
        let directive = Directive::known(directive, "relation", "only @relation binds a type")?;
        relation = Some((directive.text("name")?, directive.texts("key")?));
    }
    published(&object.name, object.position)?;
    let fields = object.fields.iter().map(field).collect::<Result<_, _>>()?;
    Ok(SourceType {
        position: object.position,
        name: object.name.clone(),
        description: object.description.clone(),
        relation,
        fields,
    })
}

fn field(field: &sdl::Field<'_, String>) -> Result<SourceField, SchemaError> {
    let (ty, list, non_null) = type_name(&field.field_type)
        .ok_or_else(|| fail(field.position, SchemaErrorKind::Misplaced("a list holds named types, and no list")))?;
    let mut read = SourceField {
        position: field.position,
        name: field.name.clone(),
        description: field.description.clone(),
        ty,
        list,
        non_null,
        arguments: field.arguments.iter().map(argument).collect::<Result<_, _>>()?,
        column: snake_case(&field.name),
        binding: None,
        search: Vec::new(),
        sort: Vec::new(),
        deprecation: None,
    };
    published(&field.name, field.position)?;
    for directive in &field.directives {
        let named = |name| Directive::known(directive, name, "");
        let binding = match directive.name.as_str() {
            "column" => {
                read.column = named("column")?.text("name")?;
                continue;
            }
            "search" => {
                read.search.push(search(&named("search")?)?);
                continue;
            }
            "sort" => {
                read.sort.push(sort(&named("sort")?)?);
                continue;
            }
            "deprecated" => {
                let reason = named("deprecated")?.optional_text("reason")?;
                read.deprecation = Some(reason.unwrap_or_else(|| NO_REASON.to_owned()));
                continue;
            }
            "one" => {
                let (by, to) = named("one")?.columns()?;
                SourceBinding::One { by, to }
            }
            "many" => {
                let directive = named("many")?;
                let (by, to) = directive.columns()?;
                SourceBinding::Many { by, to, through: directive.optional_text("through")? }
            }
            "aggregate" => {
                let directive = named("aggregate")?;
                SourceBinding::Aggregate {
                    count_distinct: directive.text("countDistinct")?,
                    over: directive.text("over")?,
                }
            }
            "point" => SourceBinding::Lookup { through: named("point")?.optional_text("through")? },
            _ => {
                return Err(fail(
                    directive.position,
                    SchemaErrorKind::Misplaced("no such binding directive for a field"),
                ));
            }
        };
        if read.binding.replace(binding).is_some() {
            return Err(fail(directive.position, SchemaErrorKind::Misplaced("a field has one binding")));
        }
    }
    Ok(read)
}

fn argument(argument: &sdl::InputValue<'_, String>) -> Result<SourceArgument, SchemaError> {
    published(&argument.name, argument.position)?;
    let (ty, list, non_null) = type_name(&argument.value_type)
        .filter(|(_, list, _)| !list)
        .ok_or_else(|| fail(argument.position, SchemaErrorKind::Misplaced("a point root's argument is a scalar")))?;
    debug_assert!(!list, "filtered above");
    let mut column = snake_case(&argument.name);
    for directive in &argument.directives {
        column = Directive::known(directive, "column", "only @column binds an argument")?.text("name")?;
    }
    Ok(SourceArgument { name: argument.name.clone(), description: argument.description.clone(), ty, non_null, column })
}

fn search(directive: &Directive<'_, '_>) -> Result<SourceSearch, SchemaError> {
    let key = directive.key()?;
    let column = directive.optional_text("column")?.unwrap_or_else(|| snake_case(&key));
    let within = match directive.optional_text("within")? {
        None => None,
        Some(relation) => Some((relation, directive.texts("by")?)),
    };
    Ok(SourceSearch {
        column,
        comparators: directive.comparators()?,
        indexed: directive.boolean("indexed")?.unwrap_or(true),
        within,
        key,
    })
}

fn sort(directive: &Directive<'_, '_>) -> Result<(String, String), SchemaError> {
    let key = directive.key()?;
    let column = directive.optional_text("column")?.unwrap_or_else(|| key.to_ascii_lowercase());
    Ok((key, column))
}

/// The name at a type's core, whether it is a list, and whether it is never null; `None` for lists of lists.
fn type_name(ty: &sdl::Type<'_, String>) -> Option<(String, bool, bool)> {
    match ty {
        sdl::Type::NamedType(name) => Some((name.clone(), false, false)),
        sdl::Type::NonNullType(inner) => type_name(inner).map(|(name, list, _)| (name, list, true)),
        sdl::Type::ListType(inner) => {
            type_name(inner).filter(|(_, list, _)| !list).map(|(name, _, _)| (name, true, false))
        }
    }
}

/// The vocabulary: each directive with its arguments.
const ARGUMENTS: [(&str, &[&str]); 9] = [
    ("relation", &["name", "key"]),
    ("column", &["name"]),
    ("one", &["by", "to"]),
    ("many", &["by", "to", "through"]),
    ("aggregate", &["countDistinct", "over"]),
    ("point", &["through"]),
    ("search", &["key", "column", "compare", "indexed", "within", "by"]),
    ("sort", &["key", "column"]),
    ("deprecated", &["reason"]),
];

/// A directive's arguments, read by type.
struct Directive<'d, 't> {
    name: &'static str,
    position: Pos,
    arguments: &'d [(String, sdl::Value<'t, String>)],
}

impl<'d, 't> Directive<'d, 't> {
    fn known(
        directive: &'d sdl::Directive<'t, String>,
        name: &'static str,
        otherwise: &'static str,
    ) -> Result<Self, SchemaError> {
        if directive.name != name {
            return Err(fail(directive.position, SchemaErrorKind::Misplaced(otherwise)));
        }
        let allowed = ARGUMENTS.iter().find(|(known, _)| *known == name).map_or(&[][..], |(_, allowed)| *allowed);
        match directive.arguments.iter().find(|(argument, _)| !allowed.contains(&argument.as_str())) {
            None => Ok(Self { name, position: directive.position, arguments: &directive.arguments }),
            Some((argument, _)) => {
                let argument = argument.clone();
                Err(fail(directive.position, SchemaErrorKind::UnknownArgument { directive: name, argument, allowed }))
            }
        }
    }

    fn value(&self, argument: &str) -> Option<&sdl::Value<'t, String>> {
        self.arguments.iter().find(|(name, _)| *name == argument).map(|(_, value)| value)
    }

    fn optional_text(&self, argument: &str) -> Result<Option<String>, SchemaError> {
        match self.value(argument) {
            None => Ok(None),
            Some(sdl::Value::String(text)) => Ok(Some(text.clone())),
            Some(_) => Err(self.bad(argument, "a string")),
        }
    }

    fn text(&self, argument: &'static str) -> Result<String, SchemaError> {
        self.optional_text(argument)?.ok_or_else(|| self.missing(argument))
    }

    fn optional_texts(&self, argument: &str) -> Result<Option<Vec<String>>, SchemaError> {
        let element = |value: &sdl::Value<'t, String>| match value {
            sdl::Value::String(text) => Some(text.clone()),
            _ => None,
        };
        match self.value(argument) {
            None => Ok(None),
            Some(sdl::Value::List(values)) if !values.is_empty() => {
                let texts = values.iter().map(element).collect::<Option<Vec<_>>>();
                texts.map(Some).ok_or_else(|| self.bad(argument, "a list of strings"))
            }
            Some(_) => Err(self.bad(argument, "a list of strings, not empty")),
        }
    }

    fn texts(&self, argument: &'static str) -> Result<Vec<String>, SchemaError> {
        self.optional_texts(argument)?.ok_or_else(|| self.missing(argument))
    }

    /// `key`: a name that is published.
    fn key(&self) -> Result<String, SchemaError> {
        let key = self.text("key")?;
        published(&key, self.position)?;
        Ok(key)
    }

    fn boolean(&self, argument: &str) -> Result<Option<bool>, SchemaError> {
        match self.value(argument) {
            None => Ok(None),
            Some(sdl::Value::Boolean(truth)) => Ok(Some(*truth)),
            Some(_) => Err(self.bad(argument, "true or false")),
        }
    }

    /// `by` and `to`, as long as each other.
    fn columns(&self) -> Result<(Vec<String>, Vec<String>), SchemaError> {
        let by = self.texts("by")?;
        let to = self.optional_texts("to")?.unwrap_or_else(|| by.clone());
        if by.len() != to.len() {
            return Err(fail(self.position, SchemaErrorKind::UnpairedColumns));
        }
        Ok((by, to))
    }

    fn comparators(&self) -> Result<Vec<Comparator>, SchemaError> {
        let expected = "a list of EQUALS, IN, RANGE";
        let Some(value) = self.value("compare") else { return Ok(vec![Comparator::Equals, Comparator::In]) };
        let sdl::Value::List(values) = value else { return Err(self.bad("compare", expected)) };
        let mut comparators = Vec::new();
        for value in values {
            let named: &[Comparator] = match value {
                sdl::Value::Enum(name) if name == "EQUALS" => &[Comparator::Equals],
                sdl::Value::Enum(name) if name == "IN" => &[Comparator::In],
                sdl::Value::Enum(name) if name == "RANGE" => {
                    &[Comparator::Greater, Comparator::GreaterOrEqual, Comparator::Less, Comparator::LessOrEqual]
                }
                _ => return Err(self.bad("compare", expected)),
            };
            comparators.extend_from_slice(named);
        }
        Ok(comparators)
    }

    fn missing(&self, argument: &'static str) -> SchemaError {
        fail(self.position, SchemaErrorKind::MissingArgument { directive: self.name, argument })
    }

    fn bad(&self, argument: &str, expected: &'static str) -> SchemaError {
        let argument = argument.to_owned();
        fail(self.position, SchemaErrorKind::BadArgument { directive: self.name, argument, expected })
    }
}
