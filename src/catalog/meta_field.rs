//! The fields of GraphQL's introspection types, by name.

/// A field of an introspection type. Fields of the same name mean the same in every type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MetaField {
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
    /// The field of that name.
    pub(super) fn named(name: &str) -> Option<Self> {
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
