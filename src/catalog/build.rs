//! Builds a catalog from the definitions of a schema file.

use fnv::FnvHashMap;
use graphql_parser::Pos;

use crate::catalog::binding::{AggregateFunction, Binding, Entity};
use crate::catalog::build_binding::Bindings;
use crate::catalog::connection_types;
use crate::catalog::definition::{BindingDefinition, FieldDefinition, QUERY, SchemaDefinition, TypeDefinition};
use crate::catalog::error::{SchemaError, SchemaErrorKind};
use crate::catalog::guide;
use crate::catalog::introspection_types::{self, Resolver};
use crate::catalog::schema::{Argument, ArgumentRole, Field, ObjectType, Scalar, Type, TypeRef};
use crate::catalog::sdl_writer;
use crate::catalog::search_window::SearchWindow;
use crate::catalog::type_names::{TypeNames, TypeOrigin};
use crate::catalog::type_system::Catalog;
use crate::value::ScalarType;

/// Resolves the definitions of a schema file. Fails at the first reference that cannot be resolved.
pub(super) fn build(schema: &SchemaDefinition) -> Result<Catalog, SchemaError> {
    let introspection = introspection_types::read()?;
    let names = TypeNames::assign(schema, &introspection)?;
    let query = names.object(QUERY).ok_or(SchemaError::new(SchemaError::START, SchemaErrorKind::NoQuery))?;
    let builder = Builder { names: &names, bindings: Bindings { schema, names: &names } };
    let mut types = names.origins.iter().map(|origin| builder.ty(*origin)).collect::<Result<Vec<_>, _>>()?;
    let resolver = Resolver { ids: &names.ids };
    if let Type::Object(root) = &mut types[query.index()] {
        add_meta_fields(root, resolver.meta_fields(&introspection)?)?;
    }
    let directives = resolver.directives(&introspection)?;
    let own_types = types.len() - introspection.types.len();
    let mut catalog = Catalog {
        types,
        own_types,
        directives,
        by_name: names.ids,
        query,
        description: String::new(),
        sdl: String::new(),
        search_window: SearchWindow::DEFAULT,
    };
    catalog.description = guide::write(&catalog);
    catalog.sdl = sdl_writer::write(&catalog);
    Ok(catalog)
}

struct Builder<'a> {
    names: &'a TypeNames<'a>,
    bindings: Bindings<'a>,
}

impl<'a> Builder<'a> {
    fn ty(&self, origin: TypeOrigin<'a>) -> Result<Type, SchemaError> {
        Ok(match origin {
            TypeOrigin::Object(ty) => Type::Object(self.object(ty)?),
            TypeOrigin::Connection(node) => {
                let is_of_root = self.bindings.is_of_root(node);
                Type::Object(connection_types::connection_type(self.names, node, is_of_root))
            }
            TypeOrigin::Edge(node) => Type::Object(connection_types::edge_type(self.names, node)),
            TypeOrigin::PageInfo => Type::Object(connection_types::page_info(self.names)),
            TypeOrigin::SortEnum { field, .. } => {
                let node = self.bindings.node(&field.ty, field.position)?;
                Type::Enum(connection_types::sort_enum(origin.type_name(), field, node))
            }
            TypeOrigin::Scalar(scalar) => Type::Scalar(Scalar {
                scalar,
                description: scalar_description(scalar),
                specified_by: scalar_specification(scalar),
            }),
            TypeOrigin::Introspection(ty) => Resolver { ids: &self.names.ids }.ty(ty)?,
        })
    }

    fn object(&self, ty: &'a TypeDefinition) -> Result<ObjectType, SchemaError> {
        let entity = match &ty.relation {
            Some(_) => Some(Bindings::entity(ty)?),
            None if ty.is_query() => None,
            None => return Err(SchemaError::new(ty.position, SchemaErrorKind::NoRelation)),
        };
        let fields = ty.fields.iter().map(|field| self.field(ty, field)).collect::<Result<Vec<_>, _>>()?;
        object_type(ty, entity, fields).map_err(|kind| SchemaError::new(ty.position, kind))
    }

    fn field(&self, ty: &'a TypeDefinition, field: &'a FieldDefinition) -> Result<Field, SchemaError> {
        let (binding, arguments, reference) = self.bound_field(ty, field)?;
        let ty = if field.is_non_null { reference.non_null() } else { reference };
        let (name, description) = (field.name.clone(), field.description.clone());
        Ok(Field { name, description, arguments, ty, binding, deprecation: field.deprecation.clone() })
    }

    /// A field's binding, arguments and type.
    fn bound_field(
        &self,
        ty: &'a TypeDefinition,
        field: &'a FieldDefinition,
    ) -> Result<(Binding, Vec<Argument>, TypeRef), SchemaError> {
        let Self { names, bindings } = self;
        let error = |kind| SchemaError::new(field.position, kind);
        let is_root = ty.is_query();
        let is_collection = is_root && field.is_list;
        if !is_collection && !field.search_keys.is_empty() || !field.is_list && !field.sort_keys.is_empty() {
            return Err(error(SchemaErrorKind::SearchOutsideCollection));
        }
        Ok(match &field.binding {
            None if is_collection => {
                let connection = bindings.collection(field)?;
                let arguments = connection_types::collection_arguments(names, ty, field, &connection.search_keys);
                (Binding::Connection(connection), arguments, self.connection_ref(field)?)
            }
            Some(BindingDefinition::Lookup { through }) if is_root && !field.is_list => {
                let lookup = bindings.lookup(field, through.as_deref())?;
                let arguments = self.lookup_arguments(field)?;
                let reference = TypeRef::Named(lookup.target);
                (Binding::Lookup(lookup), arguments, reference)
            }
            Some(BindingDefinition::Many { by, to, through }) if !is_root && field.is_list => {
                let connection = Binding::Connection(bindings.nested(ty, field, by, to, through.as_deref())?);
                (connection, connection_types::nested_arguments(names, ty, field), self.connection_ref(field)?)
            }
            Some(BindingDefinition::One { by, to }) if !is_root && !field.is_list => {
                let one = bindings.one(ty, field, by, to)?;
                let reference = TypeRef::Named(one.target);
                (Binding::One(one), Vec::new(), reference)
            }
            Some(BindingDefinition::Aggregate { function, column, rows }) if !is_root && !field.is_list => {
                let aggregate = bindings.aggregate(ty, field, *function, column, rows)?;
                // A count is never null, and the lowest of no values is.
                let is_count = *function == AggregateFunction::CountDistinct;
                if (is_count && aggregate.scalar != ScalarType::Int) || (!is_count && field.is_non_null) {
                    return Err(error(SchemaErrorKind::WrongBinding));
                }
                let reference = TypeRef::Named(names.scalar(aggregate.scalar));
                (Binding::Aggregate(aggregate), Vec::new(), reference)
            }
            None if !is_root && !field.is_list && names.object(&field.ty).is_none() => {
                let column = Bindings::column(field)?;
                let reference = TypeRef::Named(names.scalar(column.scalar));
                (Binding::Column(column), Vec::new(), reference)
            }
            _ => return Err(error(SchemaErrorKind::WrongBinding)),
        })
    }

    fn connection_ref(&self, field: &FieldDefinition) -> Result<TypeRef, SchemaError> {
        self.bindings.node(&field.ty, field.position)?;
        Ok(TypeRef::Named(self.names.connection(&field.ty)).non_null())
    }

    fn lookup_arguments(&self, field: &FieldDefinition) -> Result<Vec<Argument>, SchemaError> {
        let mut arguments = Vec::with_capacity(field.arguments.len());
        for (index, argument) in field.arguments.iter().enumerate() {
            let scalar = Bindings::scalar(&argument.ty, field.position)?;
            let reference = TypeRef::Named(self.names.scalar(scalar));
            arguments.push(Argument {
                name: argument.name.clone(),
                description: argument.description.clone(),
                ty: if argument.is_non_null { reference.non_null() } else { reference },
                default: None,
                role: ArgumentRole::Key(index),
            });
        }
        Ok(arguments)
    }
}

fn object_type(
    definition: &TypeDefinition,
    entity: Option<Entity>,
    fields: Vec<Field>,
) -> Result<ObjectType, SchemaErrorKind> {
    let name = definition.name.clone();
    let mut by_name = FnvHashMap::default();
    for (index, field) in fields.iter().enumerate() {
        let index = u16::try_from(index).map_err(|_| SchemaErrorKind::TooMany)?;
        if by_name.insert(field.name.clone(), index).is_some() {
            return Err(SchemaErrorKind::Duplicate(format!("{name}.{}", field.name)));
        }
    }
    let description = definition.description.clone();
    Ok(ObjectType { name, description, fields, entity, meta_fields: Vec::new(), by_name })
}

fn add_meta_fields(object: &mut ObjectType, fields: Vec<Field>) -> Result<(), SchemaError> {
    for field in fields {
        let index = u16::try_from(object.fields.len() + object.meta_fields.len());
        let index = index.map_err(|_| SchemaError::new(Pos::default(), SchemaErrorKind::TooMany))?;
        object.by_name.insert(field.name.clone(), index);
        object.meta_fields.push(field);
    }
    Ok(())
}

/// What the values of a scalar mean, and how they are written.
fn scalar_description(scalar: ScalarType) -> &'static str {
    match scalar {
        ScalarType::Id => {
            "A raw key of the database as a string, such as \"10000\". Where an argument takes one, a whole number of at most 64 \
             bits is accepted too."
        }
        ScalarType::String => "Text in Unicode.",
        ScalarType::Int => "A whole number of 32 bits with a sign.",
        ScalarType::Decimal => {
            "Money or a quantity: an exact decimal number as a string, such as \"129.00\", with the scale that the database \
             stores. Parse it with a decimal library, never as a float."
        }
        ScalarType::DateTime => {
            "A moment in UTC as an ISO-8601 string with a trailing Z, such as \"2026-05-14T09:32:00Z\"; fractions of a second \
             only where they are not zero. Search strings also take a date, such as 2026-05-14, for its midnight in UTC."
        }
        ScalarType::Boolean => "True or false.",
    }
}

/// The URL of a custom scalar's specification.
fn scalar_specification(scalar: ScalarType) -> Option<&'static str> {
    match scalar {
        // Responses use a profile of it: UTC, with a Z.
        ScalarType::DateTime => Some("https://www.rfc-editor.org/rfc/rfc3339"),
        // The form of the text; GraphQL has no such scalar.
        ScalarType::Decimal => Some("https://www.w3.org/TR/xmlschema11-2/#decimal"),
        ScalarType::Id | ScalarType::String | ScalarType::Int | ScalarType::Boolean => None,
    }
}
