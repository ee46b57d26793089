//! Introspection (GraphQL specification, section 4): resolves a [`MetaField`] of a [`SchemaElement`].

use crate::catalog::ids::TypeId;
use crate::catalog::meta_field::MetaField;
use crate::catalog::schema::{Argument, Directive, EnumValue, Field, ObjectType, Type, TypeRef};
use crate::catalog::type_system::Catalog;

/// An object of one of the introspection types.
#[derive(Debug, Clone, Copy)]
pub(crate) enum SchemaElement<'a> {
    /// A `__Schema`.
    Schema,
    /// A `__Type` with a name.
    Type(TypeId),
    /// A `__Type` that is a list or non-null type.
    Wrapper(&'a TypeRef),
    /// A `__Field`.
    Field(&'a Field),
    /// An `__InputValue`: an argument of a field or directive.
    Argument(&'a Argument),
    /// An `__EnumValue`.
    EnumValue(&'a EnumValue),
    /// A `__Directive`.
    Directive(&'a Directive),
}

/// The value of a [`MetaField`].
#[derive(Debug)]
pub(crate) enum IntrospectionValue<'a> {
    /// Null.
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

/// The value of a field of an element. Null where the field has no value, and for fields that the element's type does
/// not declare, which validation rejects.
pub(crate) fn resolve_meta_field<'a>(
    catalog: &'a Catalog,
    element: SchemaElement<'a>,
    field: MetaField,
    include_deprecated: bool,
) -> IntrospectionValue<'a> {
    use IntrospectionValue::{Boolean, Element, List, Names};
    let value = match field {
        MetaField::Name => element.name(catalog).map(string),
        MetaField::Description => element.description(catalog).map(string),
        MetaField::Kind => element.kind(catalog).map(string),
        MetaField::SpecifiedByUrl => element.specified_by(catalog).map(string),
        MetaField::Fields => element.object(catalog).map(|object| {
            let fields = object.fields.iter().filter(|field| include_deprecated || field.deprecation.is_none());
            List(fields.map(SchemaElement::Field).collect())
        }),
        MetaField::Interfaces => element.object(catalog).map(|_| List(Vec::new())),
        MetaField::EnumValues => {
            element.enum_values(catalog).map(|values| List(values.iter().map(SchemaElement::EnumValue).collect()))
        }
        MetaField::OfType => element.wrapped().map(Element),
        MetaField::Type => element.declared_type().map(Element),
        MetaField::Arguments => {
            element.arguments().map(|arguments| List(arguments.iter().map(SchemaElement::Argument).collect()))
        }
        MetaField::DefaultValue => element.default_value().map(string),
        MetaField::IsDeprecated => element.is_deprecated().map(Boolean),
        MetaField::DeprecationReason => element.deprecation_reason().map(string),
        MetaField::IsRepeatable => element.directive().map(|directive| Boolean(directive.repeatable)),
        MetaField::Locations => element.directive().map(|directive| Names(&directive.locations)),
        MetaField::Types => element.is_schema().then(|| List(catalog.type_ids().map(SchemaElement::Type).collect())),
        MetaField::QueryType => element.is_schema().then(|| Element(SchemaElement::Type(catalog.query()))),
        MetaField::Directives => {
            let directives = || catalog.directives().iter().map(SchemaElement::Directive).collect();
            element.is_schema().then(|| List(directives()))
        }
        // The schema has no mutations, subscriptions, abstract types or input objects.
        MetaField::MutationType
        | MetaField::SubscriptionType
        | MetaField::PossibleTypes
        | MetaField::InputFields
        | MetaField::IsOneOf => None,
    };
    value.unwrap_or(IntrospectionValue::Null)
}

fn string(text: &str) -> IntrospectionValue<'_> {
    IntrospectionValue::String(text)
}

impl<'a> SchemaElement<'a> {
    fn is_schema(self) -> bool {
        matches!(self, Self::Schema)
    }

    fn name(self, catalog: &'a Catalog) -> Option<&'a str> {
        match self {
            Self::Type(id) => Some(catalog.get(id).name()),
            Self::Field(field) => Some(&field.name),
            Self::Argument(argument) => Some(&argument.name),
            Self::EnumValue(value) => Some(&value.name),
            Self::Directive(directive) => Some(&directive.name),
            Self::Schema | Self::Wrapper(_) => None,
        }
    }

    fn description(self, catalog: &'a Catalog) -> Option<&'a str> {
        match self {
            Self::Schema => Some(catalog.description()),
            Self::Field(field) => field.description.as_deref(),
            Self::Type(id) => catalog.get(id).description(),
            Self::Argument(argument) => argument.description.as_deref(),
            Self::EnumValue(value) => value.description.as_deref(),
            Self::Directive(directive) => directive.description.as_deref(),
            Self::Wrapper(_) => None,
        }
    }

    fn kind(self, catalog: &Catalog) -> Option<&'static str> {
        match self {
            Self::Type(id) => Some(match catalog.get(id) {
                Type::Scalar(_) => "SCALAR",
                Type::Enum(_) => "ENUM",
                Type::Object(_) => "OBJECT",
            }),
            Self::Wrapper(TypeRef::List(_)) => Some("LIST"),
            Self::Wrapper(TypeRef::NonNull(_)) => Some("NON_NULL"),
            Self::Wrapper(TypeRef::Named(_))
            | Self::Schema
            | Self::Field(_)
            | Self::Argument(_)
            | Self::EnumValue(_)
            | Self::Directive(_) => None,
        }
    }

    fn named_type(self, catalog: &'a Catalog) -> Option<&'a Type> {
        if let Self::Type(id) = self { Some(catalog.get(id)) } else { None }
    }

    fn object(self, catalog: &'a Catalog) -> Option<&'a ObjectType> {
        self.named_type(catalog)?.as_object()
    }

    fn enum_values(self, catalog: &'a Catalog) -> Option<&'a [EnumValue]> {
        match self.named_type(catalog)? {
            Type::Enum(ty) => Some(&ty.values),
            Type::Scalar(_) | Type::Object(_) => None,
        }
    }

    fn specified_by(self, catalog: &Catalog) -> Option<&'static str> {
        match self.named_type(catalog)? {
            Type::Scalar(ty) => ty.specified_by,
            Type::Enum(_) | Type::Object(_) => None,
        }
    }

    fn wrapped(self) -> Option<Self> {
        match self {
            Self::Wrapper(TypeRef::List(inner) | TypeRef::NonNull(inner)) => Some(Self::of_type(inner)),
            Self::Wrapper(TypeRef::Named(_))
            | Self::Schema
            | Self::Type(_)
            | Self::Field(_)
            | Self::Argument(_)
            | Self::EnumValue(_)
            | Self::Directive(_) => None,
        }
    }

    fn declared_type(self) -> Option<Self> {
        match self {
            Self::Field(field) => Some(Self::of_type(&field.ty)),
            Self::Argument(argument) => Some(Self::of_type(&argument.ty)),
            Self::Schema | Self::Type(_) | Self::Wrapper(_) | Self::EnumValue(_) | Self::Directive(_) => None,
        }
    }

    fn of_type(ty: &'a TypeRef) -> Self {
        match ty {
            TypeRef::Named(id) => Self::Type(*id),
            TypeRef::List(_) | TypeRef::NonNull(_) => Self::Wrapper(ty),
        }
    }

    fn arguments(self) -> Option<&'a [Argument]> {
        match self {
            Self::Field(field) => Some(&field.arguments),
            Self::Directive(directive) => Some(&directive.arguments),
            Self::Schema | Self::Type(_) | Self::Wrapper(_) | Self::Argument(_) | Self::EnumValue(_) => None,
        }
    }

    fn default_value(self) -> Option<&'a str> {
        if let Self::Argument(argument) = self { argument.default.as_deref() } else { None }
    }

    /// Only fields can be deprecated.
    fn is_deprecated(self) -> Option<bool> {
        match self {
            Self::Field(field) => Some(field.deprecation.is_some()),
            Self::Argument(_) | Self::EnumValue(_) | Self::Directive(_) => Some(false),
            Self::Schema | Self::Type(_) | Self::Wrapper(_) => None,
        }
    }

    fn deprecation_reason(self) -> Option<&'a str> {
        if let Self::Field(field) = self { field.deprecation.as_deref() } else { None }
    }

    fn directive(self) -> Option<&'a Directive> {
        if let Self::Directive(directive) = self { Some(directive) } else { None }
    }
}
