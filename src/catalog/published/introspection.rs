//! Introspection (GraphQL specification, section 4): resolves a [`MetaField`] of a [`SchemaElement`].

use crate::catalog::ids::TypeId;
use crate::catalog::meta_field::MetaField;
use crate::catalog::schema::{Argument, Directive, EnumValue, Field, Type, TypeRef};
use crate::catalog::type_system::Catalog;

/// An object of one of the introspection types.
#[derive(Debug, Clone, Copy)]
pub(crate) enum SchemaElement<'a> {
    Schema,
    /// A `__Type` with a name.
    Type(TypeId),
    /// A `__Type` that is a list of this type.
    List(&'a TypeRef),
    /// A `__Type` that is this type without null.
    NonNull(&'a TypeRef),
    Field(&'a Field),
    /// An `__InputValue`: an argument of a field or directive.
    Argument(&'a Argument),
    EnumValue(&'a EnumValue),
    Directive(&'a Directive),
}

/// The value of a [`MetaField`].
#[derive(Debug)]
pub(crate) enum IntrospectionValue<'a> {
    Null,
    /// True or false.
    Boolean(bool),
    /// A string, or the name of an enum value.
    String(&'a str),
    /// A list of enum values, by name.
    Names(&'a [&'static str]),
    /// An object.
    Element(SchemaElement<'a>),
    /// A list of objects.
    List(Vec<SchemaElement<'a>>),
}

/// The value of a field of an element.
pub(crate) fn resolve_meta_field<'a>(
    catalog: &'a Catalog,
    element: SchemaElement<'a>,
    field: MetaField,
    include_deprecated: bool,
) -> IntrospectionValue<'a> {
    use IntrospectionValue::{Boolean, Element, List, Names, Null, String};
    let optional = |text: &'a Option<std::string::String>| text.as_deref().map_or(Null, String);
    let arguments = |arguments: &'a [Argument]| List(arguments.iter().map(SchemaElement::Argument).collect());
    match (element, field) {
        (SchemaElement::Schema, MetaField::Description) => String(catalog.description()),
        (SchemaElement::Schema, MetaField::Types) => List(catalog.type_ids().map(SchemaElement::Type).collect()),
        (SchemaElement::Schema, MetaField::QueryType) => Element(SchemaElement::Type(catalog.query())),
        (SchemaElement::Schema, MetaField::Directives) => {
            List(catalog.directives().iter().map(SchemaElement::Directive).collect())
        }
        (SchemaElement::Type(id), _) => type_field(catalog.get(id), field, include_deprecated),
        (SchemaElement::List(_), MetaField::Kind) => String("LIST"),
        (SchemaElement::NonNull(_), MetaField::Kind) => String("NON_NULL"),
        (SchemaElement::List(inner) | SchemaElement::NonNull(inner), MetaField::OfType) => Element(inner.into()),
        (SchemaElement::Field(field), MetaField::Name) => String(&field.name),
        (SchemaElement::Field(field), MetaField::Description) => optional(&field.description),
        (SchemaElement::Field(field), MetaField::Arguments) => arguments(&field.arguments),
        (SchemaElement::Field(field), MetaField::Type) => Element((&field.ty).into()),
        (SchemaElement::Field(field), MetaField::IsDeprecated) => Boolean(field.deprecation.is_some()),
        (SchemaElement::Field(field), MetaField::DeprecationReason) => optional(&field.deprecation),
        (SchemaElement::Argument(argument), MetaField::Name) => String(&argument.name),
        (SchemaElement::Argument(argument), MetaField::Description) => optional(&argument.description),
        (SchemaElement::Argument(argument), MetaField::Type) => Element((&argument.ty).into()),
        (SchemaElement::Argument(argument), MetaField::DefaultValue) => optional(&argument.default),
        (SchemaElement::EnumValue(value), MetaField::Name) => String(&value.name),
        (SchemaElement::EnumValue(value), MetaField::Description) => optional(&value.description),
        (SchemaElement::EnumValue(value), MetaField::IsDeprecated) => Boolean(value.deprecation.is_some()),
        (SchemaElement::EnumValue(value), MetaField::DeprecationReason) => optional(&value.deprecation),
        (SchemaElement::Directive(directive), MetaField::Name) => String(&directive.name),
        (SchemaElement::Directive(directive), MetaField::Description) => optional(&directive.description),
        (SchemaElement::Directive(directive), MetaField::Arguments) => arguments(&directive.arguments),
        (SchemaElement::Directive(directive), MetaField::IsRepeatable) => Boolean(directive.repeatable),
        (SchemaElement::Directive(directive), MetaField::Locations) => Names(&directive.locations),
        // Only fields and values of enums can be deprecated.
        (_, MetaField::IsDeprecated) => Boolean(false),
        // The schema has no mutations and subscriptions. Other fields have no value here, such as the name of a list, or are none
        // of the element's type, which validation rejects.
        _ => Null,
    }
}

/// The value of a field of a `__Type` with a name. The schema has no abstract types and no input objects.
fn type_field(ty: &Type, field: MetaField, include_deprecated: bool) -> IntrospectionValue<'_> {
    use IntrospectionValue::{List, Null, String};
    match (ty, field) {
        (_, MetaField::Name) => String(ty.name()),
        (_, MetaField::Description) => ty.description().map_or(Null, String),
        (Type::Scalar(_), MetaField::Kind) => String("SCALAR"),
        (Type::Scalar(scalar), MetaField::SpecifiedByUrl) => scalar.specified_by.map_or(Null, String),
        (Type::Enum(_), MetaField::Kind) => String("ENUM"),
        (Type::Enum(ty), MetaField::EnumValues) => {
            let values = ty.values.iter().filter(|value| include_deprecated || value.deprecation.is_none());
            List(values.map(SchemaElement::EnumValue).collect())
        }
        (Type::Object(_), MetaField::Kind) => String("OBJECT"),
        (Type::Object(_), MetaField::Interfaces) => List(Vec::new()),
        (Type::Object(object), MetaField::Fields) => {
            let fields = object.fields.iter().filter(|field| include_deprecated || field.deprecation.is_none());
            List(fields.map(SchemaElement::Field).collect())
        }
        _ => Null,
    }
}

impl<'a> From<&'a TypeRef> for SchemaElement<'a> {
    fn from(ty: &'a TypeRef) -> Self {
        match ty {
            TypeRef::Named(id) => Self::Type(*id),
            TypeRef::List(inner) => Self::List(inner),
            TypeRef::NonNull(inner) => Self::NonNull(inner),
        }
    }
}
