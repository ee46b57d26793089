//! The types, meta-fields and directives of introspection, read from `grammar/introspection.graphql`. They are types of
//! the catalog like any other, so validation rules and fragments need no special case for them.

use std::collections::HashMap;

use graphql_parser::Pos;
use graphql_parser::schema as sdl;

use crate::catalog::binding::RootBinding;
use crate::catalog::ids::TypeId;
use crate::catalog::meta_field::MetaField;
use crate::catalog::schema::{
    Argument, ArgumentRole, Directive, EnumType, EnumValue, Field, ObjectKind, ObjectType, Type, TypeRef,
};
use crate::schema_file::error::{SchemaError, SchemaErrorKind};

const TEXT: &str = include_str!("../../../grammar/introspection.graphql");

/// The introspection schema, with references to types still unresolved.
#[derive(Debug, Default)]
pub(super) struct IntrospectionTypes {
    pub(super) types: Vec<IntrospectionType>,
    meta_fields: Vec<sdl::Field<'static, String>>,
    directives: Vec<sdl::DirectiveDefinition<'static, String>>,
}

/// The definition of an introspection type.
#[derive(Debug)]
pub(super) enum IntrospectionType {
    Object(sdl::ObjectType<'static, String>),
    Enum(sdl::EnumType<'static, String>),
}

impl IntrospectionType {
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

/// Reads the introspection schema.
pub(super) fn read() -> Result<IntrospectionTypes, SchemaError> {
    let document = sdl::parse_schema::<String>(TEXT)
        .map_err(|error| SchemaError::new(Pos::default(), SchemaErrorKind::Syntax(error.to_string())))?
        .into_static();
    let mut read = IntrospectionTypes::default();
    for definition in document.definitions {
        match definition {
            sdl::Definition::TypeDefinition(sdl::TypeDefinition::Object(object)) => {
                read.types.push(IntrospectionType::Object(object));
            }
            sdl::Definition::TypeDefinition(sdl::TypeDefinition::Enum(enumeration)) => {
                read.types.push(IntrospectionType::Enum(enumeration));
            }
            sdl::Definition::TypeExtension(sdl::TypeExtension::Object(query)) => read.meta_fields.extend(query.fields),
            sdl::Definition::DirectiveDefinition(directive) => read.directives.push(directive),
            _ => return Err(SchemaError::new(Pos::default(), SchemaErrorKind::Unsupported("this definition"))),
        }
    }
    Ok(read)
}

/// The field, or an argument of it, has a name that introspection does not have.
fn unknown(field: &sdl::Field<'static, String>, name: &str) -> SchemaError {
    SchemaError::new(field.position, SchemaErrorKind::UnknownIntrospection(name.to_owned()))
}

/// Resolves names of types to ids.
pub(super) struct Resolver<'a> {
    pub(super) ids: &'a HashMap<String, TypeId>,
}

impl Resolver<'_> {
    /// An introspection type, and what its fields are.
    pub(super) fn ty(&self, definition: &IntrospectionType) -> Result<(Type, Vec<MetaField>), SchemaError> {
        Ok(match definition {
            IntrospectionType::Object(object) => {
                let fields = object.fields.iter().map(|field| {
                    let meta_field = MetaField::named(&field.name).ok_or_else(|| unknown(field, &field.name))?;
                    Ok((self.field(field)?, meta_field))
                });
                let (fields, meta_fields) = fields.collect::<Result<Vec<_>, SchemaError>>()?.into_iter().unzip();
                let (name, description) = (object.name.clone(), object.description.clone());
                (Type::Object(ObjectType::new(name, description, ObjectKind::Introspection, fields)), meta_fields)
            }
            IntrospectionType::Enum(enumeration) => {
                let ty = Type::Enum(EnumType {
                    name: enumeration.name.clone(),
                    description: enumeration.description.clone(),
                    values: enumeration
                        .values
                        .iter()
                        .map(|value| EnumValue {
                            name: value.name.clone(),
                            description: value.description.clone(),
                            deprecation: None,
                        })
                        .collect(),
                });
                (ty, Vec::new())
            }
        })
    }

    /// `__schema` and `__type` of the query root.
    pub(super) fn meta_fields(&self, types: &IntrospectionTypes) -> Result<Vec<(Field, RootBinding)>, SchemaError> {
        let field = |field: &sdl::Field<'static, String>| {
            let binding = match field.name.as_str() {
                "__schema" => RootBinding::Schema,
                "__type" => RootBinding::TypeByName,
                other => return Err(unknown(field, other)),
            };
            Ok((self.field(field)?, binding))
        };
        types.meta_fields.iter().map(field).collect()
    }

    pub(super) fn directives(&self, types: &IntrospectionTypes) -> Result<Vec<Directive>, SchemaError> {
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
        types.directives.iter().map(directive).collect()
    }

    fn field(&self, field: &sdl::Field<'static, String>) -> Result<Field, SchemaError> {
        let argument = |argument: &sdl::InputValue<'static, String>| {
            let role = match argument.name.as_str() {
                "includeDeprecated" => ArgumentRole::IncludeDeprecated,
                "name" => ArgumentRole::TypeName,
                other => return Err(unknown(field, other)),
            };
            self.argument(argument, role)
        };
        Ok(Field {
            name: field.name.clone(),
            description: field.description.clone(),
            arguments: field.arguments.iter().map(argument).collect::<Result<_, _>>()?,
            ty: self.type_ref(&field.field_type, field.position)?,
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
            ty: self.type_ref(&argument.value_type, argument.position)?,
            default: argument.default_value.as_ref().map(ToString::to_string),
            role,
        })
    }

    fn type_ref(&self, ty: &sdl::Type<'static, String>, position: Pos) -> Result<TypeRef, SchemaError> {
        Ok(match ty {
            sdl::Type::NamedType(name) => {
                let unknown = || SchemaError::new(position, SchemaErrorKind::UnknownType(name.clone()));
                TypeRef::Named(*self.ids.get(name).ok_or_else(unknown)?)
            }
            sdl::Type::ListType(inner) => TypeRef::List(Box::new(self.type_ref(inner, position)?)),
            sdl::Type::NonNullType(inner) => self.type_ref(inner, position)?.non_null(),
        })
    }
}
