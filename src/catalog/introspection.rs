//! What the schema tells of itself (GraphQL specification, section 4): a [`SchemaElement`] of the schema is asked for a [`MetaField`].

use std::borrow::Cow;

use crate::catalog::Catalog;
use crate::catalog::schema::{Argument, Directive, Field, Type, TypeId, TypeRef};

/// What can be told: a field of the introspection types, or of the root. A name means the same wherever it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MetaField {
    /// `__schema` of the root.
    Schema,
    /// `__type` of the root.
    TypeOfName,
    /// `args`
    Arguments,
    /// `defaultValue`
    DefaultValue,
    /// `deprecationReason`
    DeprecationReason,
    /// `description`
    Description,
    /// `directives`
    Directives,
    /// `enumValues`
    EnumValues,
    /// `fields`
    Fields,
    /// `inputFields`
    InputFields,
    /// `interfaces`
    Interfaces,
    /// `isDeprecated`
    IsDeprecated,
    /// `isOneOf`
    IsOneOf,
    /// `isRepeatable`
    IsRepeatable,
    /// `kind`
    Kind,
    /// `locations`
    Locations,
    /// `mutationType`
    MutationType,
    /// `name`
    Name,
    /// `ofType`
    OfType,
    /// `possibleTypes`
    PossibleTypes,
    /// `queryType`
    QueryType,
    /// `specifiedByURL`
    SpecifiedByUrl,
    /// `subscriptionType`
    SubscriptionType,
    /// `type`
    Type,
    /// `types`
    Types,
}

impl MetaField {
    /// The fact that a field of that name tells.
    pub(super) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "__schema" => Self::Schema,
            "__type" => Self::TypeOfName,
            "args" => Self::Arguments,
            "defaultValue" => Self::DefaultValue,
            "deprecationReason" => Self::DeprecationReason,
            "description" => Self::Description,
            "directives" => Self::Directives,
            "enumValues" => Self::EnumValues,
            "fields" => Self::Fields,
            "inputFields" => Self::InputFields,
            "interfaces" => Self::Interfaces,
            "isDeprecated" => Self::IsDeprecated,
            "isOneOf" => Self::IsOneOf,
            "isRepeatable" => Self::IsRepeatable,
            "kind" => Self::Kind,
            "locations" => Self::Locations,
            "mutationType" => Self::MutationType,
            "name" => Self::Name,
            "ofType" => Self::OfType,
            "possibleTypes" => Self::PossibleTypes,
            "queryType" => Self::QueryType,
            "specifiedByURL" => Self::SpecifiedByUrl,
            "subscriptionType" => Self::SubscriptionType,
            "type" => Self::Type,
            "types" => Self::Types,
            _ => return None,
        })
    }
}

/// What tells facts: an object of one of the introspection types.
#[derive(Debug, Clone, Copy)]
pub enum SchemaElement<'a> {
    /// The schema.
    Schema,
    /// A type with a name.
    Type(TypeId),
    /// A list or non-null type.
    Wrapper(&'a TypeRef),
    /// A field.
    Field(&'a Field),
    /// An argument of a field or directive.
    Argument(&'a Argument),
    /// A value of an enum.
    EnumValue(&'a str),
    /// A directive.
    Directive(&'a Directive),
}

/// What is told.
#[derive(Debug)]
pub enum IntrospectionValue<'a> {
    /// Nothing: null.
    Nothing,
    /// Whether it is so.
    Truth(bool),
    /// A text, or the name of an enum's value.
    Text(Cow<'a, str>),
    /// Names of an enum's values.
    Names(&'a [&'static str]),
    /// Something that tells more.
    SchemaElement(SchemaElement<'a>),
    /// Several of them.
    Things(Vec<SchemaElement<'a>>),
}

/// Asks a thing for a fact. Whoever never tells it (the rules let nobody ask) tells nothing.
pub fn ask<'a>(
    catalog: &'a Catalog,
    thing: SchemaElement<'a>,
    fact: MetaField,
    include_deprecated: bool,
) -> IntrospectionValue<'a> {
    match thing {
        SchemaElement::Schema => schema(catalog, fact),
        SchemaElement::Type(id) => named_type(catalog, id, fact, include_deprecated),
        SchemaElement::Wrapper(wrapper) => wrapping_type(wrapper, fact),
        SchemaElement::Field(field) => match fact {
            MetaField::Name => text(&field.name),
            MetaField::Description => {
                field.description_with_search().map_or(IntrospectionValue::Nothing, IntrospectionValue::Text)
            }
            MetaField::Arguments => {
                IntrospectionValue::Things(field.arguments.iter().map(SchemaElement::Argument).collect())
            }
            MetaField::Type => IntrospectionValue::SchemaElement(type_thing(&field.ty)),
            MetaField::IsDeprecated => IntrospectionValue::Truth(field.deprecation.is_some()),
            MetaField::DeprecationReason => optional(field.deprecation.as_deref()),
            _ => IntrospectionValue::Nothing,
        },
        SchemaElement::Argument(argument) => match fact {
            MetaField::Name => text(&argument.name),
            MetaField::Description => optional(argument.description.as_deref()),
            MetaField::Type => IntrospectionValue::SchemaElement(type_thing(&argument.ty)),
            MetaField::DefaultValue => optional(argument.default.as_deref()),
            MetaField::IsDeprecated => IntrospectionValue::Truth(false),
            _ => IntrospectionValue::Nothing,
        },
        SchemaElement::EnumValue(name) => match fact {
            MetaField::Name => text(name),
            MetaField::IsDeprecated => IntrospectionValue::Truth(false),
            _ => IntrospectionValue::Nothing,
        },
        SchemaElement::Directive(directive) => match fact {
            MetaField::Name => text(&directive.name),
            MetaField::Description => optional(directive.description.as_deref()),
            MetaField::Arguments => {
                IntrospectionValue::Things(directive.arguments.iter().map(SchemaElement::Argument).collect())
            }
            MetaField::IsRepeatable => IntrospectionValue::Truth(directive.repeatable),
            MetaField::Locations => IntrospectionValue::Names(&directive.locations),
            MetaField::IsDeprecated => IntrospectionValue::Truth(false),
            _ => IntrospectionValue::Nothing,
        },
    }
}

fn schema(catalog: &Catalog, fact: MetaField) -> IntrospectionValue<'_> {
    match fact {
        MetaField::Types => IntrospectionValue::Things(catalog.type_ids().map(SchemaElement::Type).collect()),
        MetaField::QueryType => IntrospectionValue::SchemaElement(SchemaElement::Type(catalog.query())),
        MetaField::Directives => {
            IntrospectionValue::Things(catalog.directives().iter().map(SchemaElement::Directive).collect())
        }
        _ => IntrospectionValue::Nothing,
    }
}

fn named_type(catalog: &Catalog, id: TypeId, fact: MetaField, include_deprecated: bool) -> IntrospectionValue<'_> {
    let ty = catalog.get(id);
    match (fact, ty) {
        (MetaField::Kind, Type::Scalar(_)) => text("SCALAR"),
        (MetaField::Kind, Type::Enum(_)) => text("ENUM"),
        (MetaField::Kind, Type::Object(_)) => text("OBJECT"),
        (MetaField::Name, _) => text(ty.name()),
        (MetaField::Description, Type::Scalar(scalar)) => optional(scalar.description),
        (MetaField::Description, Type::Enum(enumeration)) => optional(enumeration.description.as_deref()),
        (MetaField::Description, Type::Object(object)) => optional(object.description.as_deref()),
        (MetaField::SpecifiedByUrl, Type::Scalar(scalar)) => optional(scalar.specified_by),
        (MetaField::Fields, Type::Object(object)) => {
            let fields = object.fields.iter().filter(|field| include_deprecated || field.deprecation.is_none());
            IntrospectionValue::Things(fields.map(SchemaElement::Field).collect())
        }
        (MetaField::Interfaces, Type::Object(_)) => IntrospectionValue::Things(Vec::new()),
        (MetaField::EnumValues, Type::Enum(enumeration)) => {
            IntrospectionValue::Things(enumeration.values.iter().map(|name| SchemaElement::EnumValue(name)).collect())
        }
        _ => IntrospectionValue::Nothing,
    }
}

fn wrapping_type(wrapper: &TypeRef, fact: MetaField) -> IntrospectionValue<'_> {
    match (fact, wrapper) {
        (MetaField::Kind, TypeRef::List(_)) => text("LIST"),
        (MetaField::Kind, TypeRef::NonNull(_)) => text("NON_NULL"),
        (MetaField::OfType, TypeRef::List(inner) | TypeRef::NonNull(inner)) => {
            IntrospectionValue::SchemaElement(type_thing(inner))
        }
        _ => IntrospectionValue::Nothing,
    }
}

fn type_thing(ty: &TypeRef) -> SchemaElement<'_> {
    match ty {
        TypeRef::Named(id) => SchemaElement::Type(*id),
        TypeRef::List(_) | TypeRef::NonNull(_) => SchemaElement::Wrapper(ty),
    }
}

fn text(text: &str) -> IntrospectionValue<'_> {
    IntrospectionValue::Text(Cow::Borrowed(text))
}

fn optional(told: Option<&str>) -> IntrospectionValue<'_> {
    told.map_or(IntrospectionValue::Nothing, text)
}
