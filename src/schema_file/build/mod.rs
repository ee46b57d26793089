//! Builds a catalog from the definitions of a schema file.
//!
//! - `type_names`: the names and ids of all types
//! - `bindings`: the bindings of fields; `totals`: those of roots that sum up rows
//! - `feeds`: the change feeds that types declare
//! - `connection_types`: connection and edge types and the arguments of connections, which schema files leave out
//! - `totals_types`: the object types, enums and arguments of totals
//! - `introspection_types`: the introspection types, read from a schema file of their own
//! - `key_description`: search keys and sort keys in words

mod bindings;
mod connection_types;
mod feeds;
mod introspection_types;
mod key_description;
mod totals;
mod totals_types;
mod type_names;

use std::collections::HashSet;

use graphql_parser::Pos;

use crate::catalog::Catalog;
use crate::catalog::aggregate::AggregateFunction;
use crate::catalog::binding::{Entity, EntityBinding, FieldBindings, RootBinding};
use crate::catalog::connection::ListIndex;
use crate::catalog::schema::{
    Argument, ArgumentRole, Field, ObjectKind, ObjectType, Scalar, Type, TypeRef, TypeSystem,
};
use crate::schema_file::build::bindings::Bindings;
use crate::schema_file::build::introspection_types::Resolver;
use crate::schema_file::build::type_names::{TotalsPart, TypeNames, TypeOrigin};
use crate::schema_file::compared_columns;
use crate::schema_file::definition::{BindingDefinition, FieldDefinition, QUERY, SchemaDefinition, TypeDefinition};
use crate::schema_file::error::{SchemaError, SchemaErrorKind};
use crate::value::ScalarType;

/// Resolves the definitions of a schema file. Fails at the first reference that cannot be resolved.
pub(super) fn build(schema: &SchemaDefinition) -> Result<Catalog, SchemaError> {
    compared_columns::check(schema)?;
    let read = introspection_types::read()?;
    let names = TypeNames::assign(schema, &read)?;
    let query = names.object(QUERY).ok_or(SchemaError::new(SchemaError::START, SchemaErrorKind::NoQuery))?;
    let bindings = Bindings { schema, names: &names };
    let mut builder = Builder { names: &names, bindings, built: FieldBindings::default() };
    let mut types = names.origins.iter().map(|origin| builder.ty(*origin)).collect::<Result<Vec<_>, _>>()?;
    let Builder { bindings, mut built, .. } = builder;
    let feeds =
        feeds::build(&schema.types, &names, &built.entities, |name| bindings.target(name, Pos::default()).ok())?;
    let resolver = Resolver { ids: &names.ids };
    if let Type::Object(object) = &mut types[query.index()] {
        for (field, binding) in resolver.meta_fields(&read)? {
            let too_many = |_| SchemaError::new(Pos::default(), SchemaErrorKind::TooMany);
            object.add_meta_field(field).map_err(too_many)?;
            built.root.push(binding);
        }
    }
    let directives = resolver.directives(&read)?;
    Ok(Catalog::new(TypeSystem { types, directives, query }, built, feeds).published())
}

struct Builder<'a> {
    names: &'a TypeNames<'a>,
    bindings: Bindings<'a>,
    /// The bindings of the types built so far.
    built: FieldBindings,
}

/// A field's binding, arguments and type.
type BoundField<B> = (B, Vec<Argument>, TypeRef);

impl<'a> Builder<'a> {
    fn ty(&mut self, origin: TypeOrigin<'a>) -> Result<Type, SchemaError> {
        Ok(match origin {
            TypeOrigin::Object(ty) if ty.is_query() => {
                let (object, root) = self.object(ty, ObjectKind::Root, Self::root_field)?;
                self.built.root = root;
                Type::Object(object)
            }
            TypeOrigin::Object(ty) => {
                let Entity { relation, key, .. } = Bindings::entity(ty)?;
                let kind = ObjectKind::Entity(self.bindings.target(&ty.name, ty.position)?);
                let (object, bindings) = self.object(ty, kind, Self::entity_field)?;
                self.built.entities.push(Entity { relation, key, bindings, scopes: self.bindings.scopes(ty) });
                Type::Object(object)
            }
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
            TypeOrigin::Totals(root, part) => self.totals_part(root, part)?,
            TypeOrigin::Enumeration(definition) => Type::Enum(definition.published()),
            TypeOrigin::Scalar(scalar) => Type::Scalar(Scalar {
                scalar,
                description: scalar_description(scalar),
                specified_by: scalar_specification(scalar),
            }),
            TypeOrigin::Introspection(ty) => {
                let (ty, meta_fields) = Resolver { ids: &self.names.ids }.ty(ty)?;
                self.built.introspection.push(meta_fields);
                ty
            }
        })
    }

    /// A type of a root's totals.
    fn totals_part(&self, root: &'a FieldDefinition, part: TotalsPart) -> Result<Type, SchemaError> {
        let built = self.bindings.totals(root)?;
        let ty = match part {
            TotalsPart::Totals => Type::Object(totals_types::totals_type(self.names, root, built.of)),
            TotalsPart::Group => Type::Object(totals_types::group_type(self.names, root, &built)),
            TotalsPart::Keys => Type::Enum(totals_types::key_enum(root, &built)),
            TotalsPart::Order => Type::Enum(totals_types::order_enum(root, &built)),
        };
        let names = match &ty {
            Type::Object(object) => object.fields.iter().map(|field| field.name.as_str()).collect(),
            Type::Enum(enumeration) => enumeration.names().collect(),
            Type::Scalar(_) => Vec::new(),
        };
        let duplicate = names.iter().enumerate().find(|(index, name)| names[..*index].contains(name));
        match duplicate {
            None => Ok(ty),
            Some((_, name)) => {
                let kind = SchemaErrorKind::Duplicate(format!("{}: {name}", root.name));
                Err(SchemaError::new(root.position, kind))
            }
        }
    }

    /// An object type, and what its fields are bound to.
    fn object<B>(
        &self,
        definition: &'a TypeDefinition,
        kind: ObjectKind,
        bind: fn(&Self, &'a TypeDefinition, &'a FieldDefinition) -> Result<BoundField<B>, SchemaError>,
    ) -> Result<(ObjectType, Vec<B>), SchemaError> {
        let (mut fields, mut bindings) = (Vec::new(), Vec::new());
        for field in &definition.fields {
            let (binding, arguments, reference) = bind(self, definition, field)?;
            let ty = if field.is_non_null { reference.non_null() } else { reference };
            let (name, description) = (field.name.clone(), field.description.clone());
            fields.push(Field { name, description, arguments, ty, deprecation: field.deprecation.clone() });
            bindings.push(binding);
        }
        check_names(definition).map_err(|kind| SchemaError::new(definition.position, kind))?;
        let (name, description) = (definition.name.clone(), definition.description.clone());
        Ok((ObjectType::new(name, description, kind, fields), bindings))
    }

    fn root_field(
        &self,
        ty: &'a TypeDefinition,
        field: &'a FieldDefinition,
    ) -> Result<BoundField<RootBinding>, SchemaError> {
        let Self { names, bindings, .. } = self;
        check_keys(field, field.is_list)?;
        Ok(match &field.binding {
            None if field.is_list => {
                let connection = bindings.collection(field)?;
                let arguments = connection_types::collection_arguments(names, ty, field, &connection);
                let reference = self.sorted_connection_ref(field, ListIndex::Order)?;
                (RootBinding::Connection(connection), arguments, reference)
            }
            Some(BindingDefinition::Changes { of }) if field.is_list => {
                let changes = bindings.changes(field, of)?;
                let arguments = connection_types::changes_arguments(names);
                (RootBinding::Changes(changes), arguments, self.connection_ref(field)?)
            }
            Some(BindingDefinition::Totals { .. }) if field.is_list => {
                let built = bindings.totals(field)?;
                let arguments = totals_types::arguments(names, field, &built);
                let reference = TypeRef::Named(names.totals(&field.name, TotalsPart::Totals)).non_null();
                (RootBinding::Totals(built.totals), arguments, reference)
            }
            Some(BindingDefinition::Lookup { through }) if !field.is_list => {
                let lookup = bindings.lookup(field, through.as_deref())?;
                let arguments = self.lookup_arguments(field)?;
                let reference = TypeRef::Named(lookup.target.ty());
                (RootBinding::Lookup(lookup), arguments, reference)
            }
            _ => return Err(SchemaError::new(field.position, SchemaErrorKind::WrongBinding)),
        })
    }

    fn entity_field(
        &self,
        ty: &'a TypeDefinition,
        field: &'a FieldDefinition,
    ) -> Result<BoundField<EntityBinding>, SchemaError> {
        let Self { names, bindings, .. } = self;
        let wrong = || SchemaError::new(field.position, SchemaErrorKind::WrongBinding);
        check_keys(field, false)?;
        Ok(match &field.binding {
            Some(BindingDefinition::Many(many)) if field.is_list => {
                let connection = bindings.nested(ty, field, many)?;
                let arguments = connection_types::nested_arguments(names, ty, field);
                let reference = self.sorted_connection_ref(field, many.found_by)?;
                (EntityBinding::Connection(connection), arguments, reference)
            }
            Some(BindingDefinition::One(pairs)) if !field.is_list => {
                let one = bindings.one(ty, field, pairs)?;
                let reference = TypeRef::Named(one.target.ty());
                (EntityBinding::One(one), Vec::new(), reference)
            }
            Some(BindingDefinition::Aggregate(definition)) if !field.is_list => {
                let aggregate = bindings.aggregate(ty, field, definition)?;
                // A count is never null, and the lowest of no values is.
                let is_count = definition.function == AggregateFunction::CountDistinct;
                if (is_count && aggregate.scalar != ScalarType::Int) || (!is_count && field.is_non_null) {
                    return Err(wrong());
                }
                let reference = TypeRef::Named(names.scalar(aggregate.scalar));
                (EntityBinding::Aggregate(aggregate), Vec::new(), reference)
            }
            None if !field.is_list && names.object(&field.ty).is_none() => {
                let column = Bindings::column(field)?;
                let reference = TypeRef::Named(names.scalar(column.scalar));
                (EntityBinding::Column(column), Vec::new(), reference)
            }
            None if names.object(&field.ty).is_none() => {
                let column = Bindings::column(field)?.of_list();
                let element = TypeRef::Named(names.scalar(column.scalar));
                let element = if field.is_element_non_null { element.non_null() } else { element };
                (EntityBinding::Column(column), Vec::new(), TypeRef::List(Box::new(element)))
            }
            _ => return Err(wrong()),
        })
    }

    /// The type of a connection with sort keys. It is null if too many rows would have to be sorted.
    fn sorted_connection_ref(&self, field: &FieldDefinition, found_by: ListIndex) -> Result<TypeRef, SchemaError> {
        let has_ties = field.sort_keys.iter().any(|key| key.ties.is_some());
        let error = match (found_by, has_ties) {
            (ListIndex::Order, false) => return self.connection_ref(field),
            (ListIndex::Parent { .. }, true) => SchemaErrorKind::NeedlessTies,
            (ListIndex::Parent { .. }, false) if field.is_non_null => SchemaErrorKind::NonNullBoundedList,
            (ListIndex::Order, true) if field.is_non_null => SchemaErrorKind::NonNullTies,
            _ => return Ok(TypeRef::Named(self.names.connection(&field.ty))),
        };
        Err(SchemaError::new(field.position, error))
    }

    fn connection_ref(&self, field: &FieldDefinition) -> Result<TypeRef, SchemaError> {
        self.bindings.node(&field.ty, field.position)?;
        Ok(TypeRef::Named(self.names.connection(&field.ty)).non_null())
    }

    fn lookup_arguments(&self, field: &FieldDefinition) -> Result<Vec<Argument>, SchemaError> {
        let mut arguments = Vec::with_capacity(field.arguments.len());
        for (index, argument) in field.arguments.iter().enumerate() {
            let scalar = Bindings::argument_scalar(argument, field.position)?;
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

/// Fails if a field that is not a collection has search keys, one that is not a connection sort keys, or one that is no totals root
/// group keys or sums.
fn check_keys(field: &FieldDefinition, is_collection: bool) -> Result<(), SchemaError> {
    let is_totals = matches!(field.binding, Some(BindingDefinition::Totals { .. }));
    let is_derived = is_totals || matches!(field.binding, Some(BindingDefinition::Changes { .. }));
    if !(is_collection && !is_derived || field.search_keys.is_empty() && field.indexes.is_empty())
        || !field.is_list && !field.sort_keys.is_empty()
        || is_derived && !field.sort_keys.is_empty()
        || !(is_totals || field.groups.is_empty() && field.sums.is_empty())
    {
        return Err(SchemaError::new(field.position, SchemaErrorKind::SearchOutsideCollection));
    }
    Ok(())
}

/// Fails if two fields have one name, or there are too many for the ids of fields.
fn check_names(definition: &TypeDefinition) -> Result<(), SchemaErrorKind> {
    let mut names = HashSet::new();
    match definition.fields.iter().find(|field| !names.insert(&field.name)) {
        Some(field) => Err(SchemaErrorKind::Duplicate(format!("{}.{}", definition.name, field.name))),
        None => u16::try_from(names.len() + 1).map(drop).map_err(|_| SchemaErrorKind::TooMany),
    }
}

/// The meaning of a scalar's values, and their form.
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
        // Described by its definition.
        ScalarType::Enum(_) => "",
        ScalarType::Float => "A finite floating-point number. Money is never one.",
        ScalarType::BigInt => {
            "A whole number of 64 bits with a sign, as a string, such as \"9007199254740993\", since JSON's numbers lose digits in \
             many languages. Where an argument takes one, a number is accepted too."
        }
        ScalarType::Date => "A day as an ISO-8601 string, such as \"2026-05-14\"; years beyond 0 to 9999 have a sign.",
        ScalarType::Time => {
            "A time of day without an offset as an ISO-8601 string, such as \"09:32:00\", from \"00:00:00\" to \"24:00:00\"; \
             fractions of a second only where they are not zero."
        }
        ScalarType::Interval => {
            "A span of time as an ISO-8601 duration, such as \"P1Y2M3DT4H5M6.5S\", each of whose numbers can be negative. Searches \
             and orders count a month as 30 days and a day as 24 hours."
        }
        ScalarType::Uuid => {
            "A UUID as a string of 36 characters in lower case, such as \"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11\"."
        }
        ScalarType::Bytes => "Bytes as a string in base64, such as \"AP8=\".",
        ScalarType::Json => "Any JSON value, as the database has it.",
    }
}

/// The URL of a custom scalar's specification.
fn scalar_specification(scalar: ScalarType) -> Option<&'static str> {
    match scalar {
        // Responses use a profile of it: UTC, with a Z.
        ScalarType::DateTime => Some("https://www.rfc-editor.org/rfc/rfc3339"),
        // The form of the text; GraphQL has no such scalar.
        ScalarType::Decimal => Some("https://www.w3.org/TR/xmlschema11-2/#decimal"),
        // A full-date of it.
        ScalarType::Date => Some("https://www.rfc-editor.org/rfc/rfc3339#section-5.6"),
        ScalarType::Time => Some("https://www.w3.org/TR/xmlschema11-2/#time"),
        ScalarType::Interval => Some("https://www.rfc-editor.org/rfc/rfc3339#appendix-A"),
        ScalarType::BigInt => Some("https://www.w3.org/TR/xmlschema11-2/#long"),
        ScalarType::Uuid => Some("https://www.rfc-editor.org/rfc/rfc9562"),
        ScalarType::Bytes => Some("https://www.rfc-editor.org/rfc/rfc4648#section-4"),
        ScalarType::Json => Some("https://www.rfc-editor.org/rfc/rfc8259"),
        ScalarType::Id
        | ScalarType::String
        | ScalarType::Int
        | ScalarType::Boolean
        | ScalarType::Float
        | ScalarType::Enum(_) => None,
    }
}
