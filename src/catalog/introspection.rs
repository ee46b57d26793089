//! What the schema tells of itself (GraphQL specification, section 4): a [`Thing`] of the schema is asked for a [`Fact`].

use std::borrow::Cow;

use crate::catalog::Catalog;
use crate::catalog::schema::{Argument, Directive, Field, Type, TypeId, TypeRef};

/// What can be told: a field of the introspection types, or of the root. A name means the same wherever it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fact {
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

impl Fact {
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
pub enum Thing<'a> {
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
pub enum Told<'a> {
    /// Nothing: null.
    Nothing,
    /// Whether it is so.
    Truth(bool),
    /// A text, or the name of an enum's value.
    Text(Cow<'a, str>),
    /// Names of an enum's values.
    Names(&'a [&'static str]),
    /// Something that tells more.
    Thing(Thing<'a>),
    /// Several of them.
    Things(Vec<Thing<'a>>),
}

/// Asks a thing for a fact. Whoever never tells it (the rules let nobody ask) tells nothing.
pub fn ask<'a>(catalog: &'a Catalog, thing: Thing<'a>, fact: Fact, include_deprecated: bool) -> Told<'a> {
    match thing {
        Thing::Schema => schema(catalog, fact),
        Thing::Type(id) => named_type(catalog, id, fact, include_deprecated),
        Thing::Wrapper(wrapper) => wrapping_type(wrapper, fact),
        Thing::Field(field) => match fact {
            Fact::Name => text(&field.name),
            Fact::Description => field.description_with_search().map_or(Told::Nothing, Told::Text),
            Fact::Arguments => Told::Things(field.arguments.iter().map(Thing::Argument).collect()),
            Fact::Type => Told::Thing(type_thing(&field.ty)),
            Fact::IsDeprecated => Told::Truth(field.deprecation.is_some()),
            Fact::DeprecationReason => optional(field.deprecation.as_deref()),
            _ => Told::Nothing,
        },
        Thing::Argument(argument) => match fact {
            Fact::Name => text(&argument.name),
            Fact::Description => optional(argument.description.as_deref()),
            Fact::Type => Told::Thing(type_thing(&argument.ty)),
            Fact::DefaultValue => optional(argument.default.as_deref()),
            Fact::IsDeprecated => Told::Truth(false),
            _ => Told::Nothing,
        },
        Thing::EnumValue(name) => match fact {
            Fact::Name => text(name),
            Fact::IsDeprecated => Told::Truth(false),
            _ => Told::Nothing,
        },
        Thing::Directive(directive) => match fact {
            Fact::Name => text(&directive.name),
            Fact::Description => optional(directive.description.as_deref()),
            Fact::Arguments => Told::Things(directive.arguments.iter().map(Thing::Argument).collect()),
            Fact::IsRepeatable => Told::Truth(directive.repeatable),
            Fact::Locations => Told::Names(&directive.locations),
            Fact::IsDeprecated => Told::Truth(false),
            _ => Told::Nothing,
        },
    }
}

fn schema(catalog: &Catalog, fact: Fact) -> Told<'_> {
    match fact {
        Fact::Types => Told::Things(catalog.type_ids().map(Thing::Type).collect()),
        Fact::QueryType => Told::Thing(Thing::Type(catalog.query())),
        Fact::Directives => Told::Things(catalog.directives().iter().map(Thing::Directive).collect()),
        _ => Told::Nothing,
    }
}

fn named_type(catalog: &Catalog, id: TypeId, fact: Fact, include_deprecated: bool) -> Told<'_> {
    let ty = catalog.get(id);
    match (fact, ty) {
        (Fact::Kind, Type::Scalar(_)) => text("SCALAR"),
        (Fact::Kind, Type::Enum(_)) => text("ENUM"),
        (Fact::Kind, Type::Object(_)) => text("OBJECT"),
        (Fact::Name, _) => text(ty.name()),
        (Fact::Description, Type::Scalar(scalar)) => optional(scalar.description),
        (Fact::Description, Type::Enum(enumeration)) => optional(enumeration.description.as_deref()),
        (Fact::Description, Type::Object(object)) => optional(object.description.as_deref()),
        (Fact::SpecifiedByUrl, Type::Scalar(scalar)) => optional(scalar.specified_by),
        (Fact::Fields, Type::Object(object)) => {
            let fields = object.fields.iter().filter(|field| include_deprecated || field.deprecation.is_none());
            Told::Things(fields.map(Thing::Field).collect())
        }
        (Fact::Interfaces, Type::Object(_)) => Told::Things(Vec::new()),
        (Fact::EnumValues, Type::Enum(enumeration)) => {
            Told::Things(enumeration.values.iter().map(|name| Thing::EnumValue(name)).collect())
        }
        _ => Told::Nothing,
    }
}

fn wrapping_type(wrapper: &TypeRef, fact: Fact) -> Told<'_> {
    match (fact, wrapper) {
        (Fact::Kind, TypeRef::List(_)) => text("LIST"),
        (Fact::Kind, TypeRef::NonNull(_)) => text("NON_NULL"),
        (Fact::OfType, TypeRef::List(inner) | TypeRef::NonNull(inner)) => Told::Thing(type_thing(inner)),
        _ => Told::Nothing,
    }
}

fn type_thing(ty: &TypeRef) -> Thing<'_> {
    match ty {
        TypeRef::Named(id) => Thing::Type(*id),
        TypeRef::List(_) | TypeRef::NonNull(_) => Thing::Wrapper(ty),
    }
}

fn text(text: &str) -> Told<'_> {
    Told::Text(Cow::Borrowed(text))
}

fn optional(told: Option<&str>) -> Told<'_> {
    told.map_or(Told::Nothing, text)
}
