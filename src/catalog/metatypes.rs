//! The types, root fields and directives of introspection, read from `grammar/introspection.graphql`: types of the
//! catalog like any other, so that no rule and no fragment needs to know of them.

use std::collections::HashMap;

use graphql_parser::Pos;
use graphql_parser::schema as sdl;

use crate::catalog::binding::Binding;
use crate::catalog::introspection::MetaField;
use crate::catalog::schema::{Argument, ArgumentRole, Directive, EnumType, Field, ObjectType, Type, TypeId, TypeRef};
use crate::catalog::sdl_source::{SchemaError, SchemaErrorKind, fail};

const TEXT: &str = include_str!("../../grammar/introspection.graphql");

/// The file, read but not yet resolved.
#[derive(Debug, Default)]
pub(super) struct Metatypes {
    pub(super) types: Vec<Metatype>,
    root_fields: Vec<sdl::Field<'static, String>>,
    directives: Vec<sdl::DirectiveDefinition<'static, String>>,
}

/// A type of the file.
#[derive(Debug)]
pub(super) enum Metatype {
    Object(sdl::ObjectType<'static, String>),
    Enum(sdl::EnumType<'static, String>),
}

impl Metatype {
    pub(super) fn name(&self) -> &str {
        match self {
            Self::Object(object) => &object.name,
            Self::Enum(enumeration) => &enumeration.name,
        }
    }

    pub(super) fn position(&self) -> Pos {
        match self {
            Self::Object(object) => object.position,
            Self::Enum(enumeration) => enumeration.position,
        }
    }
}

/// Reads the file.
pub(super) fn read() -> Result<Metatypes, SchemaError> {
    let document = sdl::parse_schema::<String>(TEXT)
        .map_err(|error| fail(Pos::default(), SchemaErrorKind::Syntax(error.to_string())))?
        .into_static();
    let mut read = Metatypes::default();
    for definition in document.definitions {
        match definition {
            sdl::Definition::TypeDefinition(sdl::TypeDefinition::Object(object)) => {
                read.types.push(Metatype::Object(object));
            }
            sdl::Definition::TypeDefinition(sdl::TypeDefinition::Enum(enumeration)) => {
                read.types.push(Metatype::Enum(enumeration));
            }
            sdl::Definition::TypeExtension(sdl::TypeExtension::Object(query)) => read.root_fields.extend(query.fields),
            sdl::Definition::DirectiveDefinition(directive) => read.directives.push(directive),
            _ => return Err(fail(Pos::default(), SchemaErrorKind::Unsupported("this definition"))),
        }
    }
    Ok(read)
}

/// Puts ids in the place of names.
pub(super) struct Resolver<'a> {
    pub(super) ids: &'a HashMap<String, TypeId>,
}

impl Resolver<'_> {
    /// A type.
    pub(super) fn ty(&self, metatype: &Metatype) -> Result<Type, SchemaError> {
        Ok(match metatype {
            Metatype::Object(object) => {
                let fields = object.fields.iter().map(|field| self.field(field)).collect::<Result<Vec<_>, _>>()?;
                Type::Object(ObjectType {
                    name: object.name.clone(),
                    description: object.description.clone(),
                    by_name: (0..).zip(&fields).map(|(place, field)| (field.name.clone(), place)).collect(),
                    fields,
                    unlisted: Vec::new(),
                    entity: None,
                })
            }
            Metatype::Enum(enumeration) => Type::Enum(EnumType {
                name: enumeration.name.clone(),
                description: enumeration.description.clone(),
                values: enumeration.values.iter().map(|value| value.name.clone()).collect(),
            }),
        })
    }

    /// The fields of the query root.
    pub(super) fn root_fields(&self, metatypes: &Metatypes) -> Result<Vec<Field>, SchemaError> {
        metatypes.root_fields.iter().map(|field| self.field(field)).collect()
    }

    /// The directives.
    pub(super) fn directives(&self, metatypes: &Metatypes) -> Result<Vec<Directive>, SchemaError> {
        let directive = |directive: &sdl::DirectiveDefinition<'static, String>| {
            let argument = |argument| self.argument(argument, ArgumentRole::OfDirective);
            Ok(Directive {
                name: directive.name.clone(),
                description: directive.description.clone(),
                arguments: directive.arguments.iter().map(argument).collect::<Result<_, _>>()?,
                repeatable: directive.repeatable,
                locations: directive.locations.iter().map(sdl::DirectiveLocation::as_str).collect(),
            })
        };
        metatypes.directives.iter().map(directive).collect()
    }

    fn field(&self, field: &sdl::Field<'static, String>) -> Result<Field, SchemaError> {
        let unknown = |name: &str| fail(field.position, SchemaErrorKind::UnknownIntrospection(name.to_owned()));
        let argument = |argument: &sdl::InputValue<'static, String>| {
            let role = match argument.name.as_str() {
                "includeDeprecated" => ArgumentRole::IncludeDeprecated,
                "name" => ArgumentRole::TypeName,
                other => return Err(unknown(other)),
            };
            self.argument(argument, role)
        };
        Ok(Field {
            name: field.name.clone(),
            description: field.description.clone(),
            arguments: field.arguments.iter().map(argument).collect::<Result<_, _>>()?,
            ty: self.reference(&field.field_type, field.position)?,
            binding: Binding::Introspection(MetaField::named(&field.name).ok_or_else(|| unknown(&field.name))?),
            deprecation: None,
        })
    }

    fn argument(
        &self,
        argument: &sdl::InputValue<'static, String>,
        role: ArgumentRole,
    ) -> Result<Argument, SchemaError> {
        Ok(Argument {
            name: argument.name.clone(),
            description: argument.description.clone(),
            ty: self.reference(&argument.value_type, argument.position)?,
            default: argument.default_value.as_ref().map(ToString::to_string),
            role,
        })
    }

    fn reference(&self, ty: &sdl::Type<'static, String>, position: Pos) -> Result<TypeRef, SchemaError> {
        Ok(match ty {
            sdl::Type::NamedType(name) => {
                let unknown = || fail(position, SchemaErrorKind::UnknownType(name.clone()));
                TypeRef::Named(*self.ids.get(name).ok_or_else(unknown)?)
            }
            sdl::Type::ListType(inner) => TypeRef::List(Box::new(self.reference(inner, position)?)),
            sdl::Type::NonNullType(inner) => self.reference(inner, position)?.non_null(),
        })
    }
}
