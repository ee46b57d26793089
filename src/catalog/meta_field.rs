//! The fields of GraphQL's introspection types, by name.

/// A field of an introspection type. Fields of the same name mean the same in every type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MetaField {
    Arguments,
    DefaultValue,
    DeprecationReason,
    Description,
    Directives,
    EnumValues,
    Fields,
    InputFields,
    Interfaces,
    IsDeprecated,
    IsOneOf,
    IsRepeatable,
    Kind,
    Locations,
    MutationType,
    Name,
    OfType,
    PossibleTypes,
    QueryType,
    SpecifiedByUrl,
    SubscriptionType,
    Type,
    Types,
}

impl MetaField {
    /// The field of that name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Some(match name {
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
