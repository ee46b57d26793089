//! The violations that validation finds in a document.

use std::fmt;

use serde_json::{Value, json};
use thiserror::Error;

use crate::catalog::name_index::named_elsewhere;
use crate::error::code::ErrorCode;
use crate::error::diagnostic::{Diagnostic, ErrorExtensions};
use crate::error::excerpt::excerpt;
use crate::query::document_limits::{
    MAX_DIRECTIVES, MAX_FIELDS, MAX_INTROSPECTION_LISTS, MAX_LEVELS, MAX_ROOT_FIELDS, MAX_WORK,
};

/// A name from a document, cut to a length fit for an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Truncated(String);

impl From<&str> for Truncated {
    fn from(name: &str) -> Self {
        Self(excerpt(name))
    }
}

impl fmt::Display for Truncated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Names that a misspelt one may mean, the closest first. Its `Display` is the end of an error message.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Suggestions(Vec<String>);

impl From<Vec<&str>> for Suggestions {
    fn from(names: Vec<&str>) -> Self {
        Self(names.into_iter().map(str::to_owned).collect())
    }
}

impl fmt::Display for Suggestions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.split_last() {
            None => Ok(()),
            Some((only, [])) => write!(f, "; did you mean \"{only}\"?"),
            Some((last, others)) => write!(f, "; did you mean \"{}\" or \"{last}\"?", others.join("\", \"")),
        }
    }
}

/// A violation of a rule of the GraphQL specification, or of one of our own limits, which come last.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(super) enum Violation {
    /// Two operations with the same name.
    #[error("There is more than one operation \"{0}\"")]
    DuplicateOperation(Truncated),
    /// An operation without a name, in a document with several.
    #[error("An operation without a name must be the only one of its document; name it")]
    AnonymousOperationNotAlone,
    /// A mutation or subscription: its kind, in the plural.
    #[error("The schema has no {0}; this API answers queries alone: begin with \"query\"")]
    UnsupportedOperation(&'static str),
    /// A type that the schema does not have.
    #[error("Unknown type \"{ty}\"{suggestions}")]
    UnknownType { ty: Truncated, suggestions: Suggestions },
    /// A fragment on a scalar or enum.
    #[error("Fragment \"{fragment}\" cannot be on \"{ty}\", which has no fields")]
    FragmentOnLeaf { fragment: Truncated, ty: Truncated },
    /// An inline fragment on a scalar or enum.
    #[error("A fragment cannot be on \"{ty}\", which has no fields")]
    InlineFragmentOnLeaf { ty: Truncated },
    /// A variable whose type is an object.
    #[error("Variable \"${variable}\" cannot be of type \"{ty}\", which is no type of inputs")]
    VariableNotInput { variable: Truncated, ty: Truncated },
    /// An object without a selection set. The example is a selection that its type has.
    #[error("Field \"{field}\" of type \"{ty}\" needs a selection of its fields{}", such_as(field, .example.as_deref()))]
    MissingSelectionSet { field: Truncated, ty: String, example: Option<String> },
    /// A scalar or enum with a selection set.
    #[error("Field \"{field}\" of type \"{ty}\" has no fields to select")]
    SelectionSetOnLeaf { field: Truncated, ty: String },
    /// A field that the type does not have. The path to one further inside can replace it; `elsewhere` are paths from a root to fields
    /// that it may mean. The fields of the type are listed in the order of their likeness.
    #[error("Type \"{ty}\" has no field \"{field}\"{}{}", mend_field(.instead, .suggestions, .fields), named_elsewhere(.elsewhere))]
    UnknownField {
        field: Truncated,
        ty: String,
        instead: Vec<String>,
        elsewhere: Vec<String>,
        suggestions: Suggestions,
        fields: Vec<String>,
    },
    /// Two fragments with the same name.
    #[error("There is more than one fragment \"{0}\"")]
    DuplicateFragment(Truncated),
    /// A spread of a fragment that the document does not define.
    #[error("Unknown fragment \"{fragment}\"{suggestions}")]
    UnknownFragment { fragment: Truncated, suggestions: Suggestions },
    /// A fragment that no operation spreads.
    #[error("Fragment \"{0}\" is never used")]
    UnusedFragment(Truncated),
    /// A fragment spread that can never apply.
    #[error("Fragment \"{fragment}\" is on \"{ty}\" and cannot be spread in \"{parent}\"")]
    ImpossibleSpread { fragment: Truncated, ty: String, parent: String },
    /// An inline fragment that can never apply.
    #[error("A fragment on \"{ty}\" cannot be spread in \"{parent}\"")]
    ImpossibleInlineFragment { ty: String, parent: String },
    /// A fragment that spreads itself, through the others listed.
    #[error("Fragment \"{fragment}\" cannot be spread within itself{}", list_cycle(.through))]
    FragmentCycle { fragment: Truncated, through: Vec<Truncated> },
    /// Two variables of one operation with the same name.
    #[error("There is more than one variable \"${0}\"")]
    DuplicateVariable(Truncated),
    /// A use of a variable that the operation does not declare, and the type that is expected there, if it is known.
    #[error(
        "Variable \"${variable}\" is not declared{}{}",
        by_operation(" by", .operation.as_ref()),
        declare(variable, .expected.as_deref())
    )]
    UndefinedVariable { variable: Truncated, operation: Option<Truncated>, expected: Option<String> },
    /// A variable that the operation declares and does not use.
    #[error("Variable \"${variable}\" is never used{}", by_operation(" in", .operation.as_ref()))]
    UnusedVariable { variable: Truncated, operation: Option<Truncated> },
    /// A directive that the schema does not have.
    #[error("Unknown directive \"@{directive}\"{suggestions}")]
    UnknownDirective { directive: Truncated, suggestions: Suggestions },
    /// A directive at a location where it is not allowed.
    #[error("Directive \"@{directive}\" may not stand on {location}")]
    MisplacedDirective { directive: Truncated, location: &'static str },
    /// A directive twice at one location.
    #[error("Directive \"@{0}\" may stand here only once")]
    DuplicateDirective(Truncated),
    /// An argument that the field or directive does not have, the arguments that it has, and the search key that the name means without
    /// doubt.
    #[error("Unknown argument \"{argument}\" of {owner}{}", suggest_or_list(.suggestions, .search_key.as_deref(), .allowed))]
    UnknownArgument {
        argument: Truncated,
        owner: String,
        suggestions: Suggestions,
        search_key: Option<String>,
        allowed: Vec<String>,
    },
    /// The same argument twice.
    #[error("Argument \"{0}\" is given more than once")]
    DuplicateArgument(Truncated),
    /// A required argument that is not given.
    #[error("Argument \"{argument}\" of type \"{ty}\" is required by {owner}")]
    MissingArgument { argument: String, owner: String, ty: String },
    /// A connection without a page size, in a document that has other errors.
    #[error("`{0}` needs a page size: add `first:` or `last:`")]
    MissingPageSize(Truncated),
    /// A null for an argument or variable that is non-null.
    #[error("\"{target}\" is of type \"{ty}\" and cannot be null")]
    UnexpectedNull { target: Truncated, ty: String },
    /// A value of another type than an argument or variable has.
    #[error("\"{target}\" is of type \"{ty}\" and takes {expected}, not {found}{suggestions}")]
    WrongValueType {
        target: Truncated,
        ty: String,
        found: String,
        expected: String,
        allowed: Vec<String>,
        suggestions: Suggestions,
    },
    /// A variable of another type than its usage demands.
    #[error("Variable \"${variable}\" of type \"{ty}\" is used where \"{expected}\" is expected")]
    WrongVariableType { variable: Truncated, ty: String, expected: String },
    /// Two selections with the same response key and different fields.
    #[error(
        "\"{key}\" would be both \"{first}\" and \"{second}\" in the response; use different aliases to fetch both"
    )]
    DifferentFields { key: Truncated, first: Truncated, second: Truncated },
    /// Two selections with the same response key and different arguments.
    #[error("\"{key}\" is selected with different arguments; use different aliases to fetch both")]
    DifferentArguments { key: Truncated },
    /// The same field twice in one input object.
    #[error("Input field \"{0}\" is given more than once")]
    DuplicateInputField(Truncated),
    /// More than [`MAX_ROOT_FIELDS`].
    #[error("A document selects at most {} fields from the root; split it", MAX_ROOT_FIELDS)]
    TooManyRootFields,
    /// More than [`MAX_INTROSPECTION_LISTS`].
    #[error("Introspection nests at most {} lists; ask for types by name", MAX_INTROSPECTION_LISTS)]
    TooManyIntrospectionLists,
    /// More than [`MAX_DIRECTIVES`].
    #[error("At most {} directives stand at one place", MAX_DIRECTIVES)]
    TooManyDirectives,
    /// More than [`MAX_FIELDS`].
    #[error(
        "A document selects at most {} fields, counting those of a fragment wherever it is spread; split it",
        MAX_FIELDS
    )]
    TooManyFields,
    /// More than [`MAX_WORK`].
    #[error(
        "Checking the document takes more than {} steps, because its operations share so many fragments; send each \
         operation with its own fragments alone",
        MAX_WORK
    )]
    TooMuchWork,
    /// More than [`MAX_LEVELS`].
    #[error(
        "A document nests at most {} levels of fields, counting those of a fragment where it is spread; split it",
        MAX_LEVELS
    )]
    TooManyLevels,
}

fn such_as(field: &Truncated, example: Option<&str>) -> impl fmt::Display {
    fmt::from_fn(move |f| match example {
        Some(example) => write!(f, ", such as {field} {{ {example} }}"),
        None => Ok(()),
    })
}

/// How many fields of a type a message lists.
const LISTED_IN_MESSAGE: usize = 10;

fn mend_field(instead: &[String], suggestions: &Suggestions, fields: &[String]) -> impl fmt::Display {
    fmt::from_fn(move |f| match instead.split_last() {
        Some((last, way)) => {
            f.write_str("; write ")?;
            way.iter().try_for_each(|name| write!(f, "{name} {{ "))?;
            f.write_str(last)?;
            way.iter().try_for_each(|_| f.write_str(" }"))
        }
        None if suggestions.0.is_empty() => {
            let more = if fields.len() > LISTED_IN_MESSAGE { " and others" } else { "" };
            let listed: Vec<_> = fields.iter().take(LISTED_IN_MESSAGE).map(String::as_str).collect();
            write!(f, "; it has {}{more}", listed.join(", "))
        }
        None => write!(f, "{suggestions}"),
    })
}

fn declare(variable: &Truncated, expected: Option<&str>) -> impl fmt::Display {
    fmt::from_fn(move |f| match expected {
        Some(expected) => write!(f, "; declare it as ${variable}: {expected}"),
        None => Ok(()),
    })
}

fn list_cycle(names: &[Truncated]) -> impl fmt::Display {
    fmt::from_fn(move |f| {
        for (index, name) in names.iter().enumerate() {
            write!(f, "{} \"{name}\"", if index == 0 { ", through" } else { "," })?;
        }
        Ok(())
    })
}

fn by_operation(preposition: &str, operation: Option<&Truncated>) -> impl fmt::Display {
    fmt::from_fn(move |f| match operation {
        Some(operation) => write!(f, "{preposition} operation \"{operation}\""),
        None => Ok(()),
    })
}

fn suggest_or_list(suggestions: &Suggestions, search_key: Option<&str>, allowed: &[String]) -> impl fmt::Display {
    fmt::from_fn(move |f| match (suggestions.0.is_empty(), search_key, allowed.is_empty()) {
        (false, ..) => write!(f, "{suggestions}"),
        (true, Some(key), _) => write!(f, "; write query: \"{key}:…\""),
        (true, None, true) => f.write_str(", which takes none"),
        (true, None, false) => write!(f, "; it takes {}", allowed.join(", ")),
    })
}

impl Diagnostic for Violation {
    fn code(&self) -> ErrorCode {
        match self {
            Self::TooManyLevels => ErrorCode::DepthExceeded,
            Self::MissingPageSize(_) => ErrorCode::FirstRequired,
            _ => ErrorCode::GraphqlValidationFailed,
        }
    }

    #[allow(clippy::too_many_lines, reason = "an arm for each violation")]
    fn extensions(&self) -> ErrorExtensions {
        let extensions: Vec<(&str, Value)> = match self {
            Self::UnknownType { ty, suggestions } => vec![("type", json!(ty.0)), suggestions.extension()],
            Self::UnknownField { field, ty, instead, elsewhere, suggestions, fields } => {
                let mut extensions = vec![
                    ("type", json!(ty)),
                    ("field", json!(field.0)),
                    suggestions.extension(),
                    ("fields", json!(fields)),
                ];
                extensions.extend((!instead.is_empty()).then(|| ("instead", json!(instead))));
                extensions.extend((!elsewhere.is_empty()).then(|| ("elsewhere", json!(elsewhere))));
                extensions
            }
            Self::MissingSelectionSet { field, ty, example } => {
                let mut extensions = vec![("type", json!(ty)), ("field", json!(field.0))];
                extensions.extend(example.as_ref().map(|example| ("example", json!(format!("{{ {example} }}")))));
                extensions
            }
            Self::SelectionSetOnLeaf { field, ty } => vec![("type", json!(ty)), ("field", json!(field.0))],
            Self::UnsupportedOperation(_) => vec![("allowed", json!(["query"]))],
            Self::UnknownFragment { fragment, suggestions } => {
                vec![("fragment", json!(fragment.0)), suggestions.extension()]
            }
            Self::UnknownDirective { directive, suggestions } => {
                vec![("directive", json!(directive.0)), suggestions.extension()]
            }
            Self::UnknownArgument { argument, suggestions, search_key, allowed, .. } => {
                let mut extensions =
                    vec![("argument", json!(argument.0)), suggestions.extension(), ("allowed", json!(allowed))];
                extensions.extend(search_key.as_ref().map(|key| ("searchKey", json!(key))));
                extensions
            }
            Self::MissingPageSize(field) => vec![("field", json!(field.0))],
            Self::MissingArgument { argument, ty, .. } => {
                vec![("argument", json!(argument)), ("expectedType", json!(ty))]
            }
            Self::WrongValueType { target, ty, found, allowed, suggestions, .. } => {
                let mut extensions =
                    vec![("argument", json!(target.0)), ("expectedType", json!(ty)), ("found", json!(found))];
                if !allowed.is_empty() {
                    extensions.extend([suggestions.extension(), ("allowed", json!(allowed))]);
                }
                extensions
            }
            Self::UnexpectedNull { target, ty } => vec![("argument", json!(target.0)), ("expectedType", json!(ty))],
            Self::WrongVariableType { variable, ty, expected } => {
                vec![("variable", json!(variable.0)), ("type", json!(ty)), ("expectedType", json!(expected))]
            }
            Self::UndefinedVariable { variable, expected, .. } => {
                let mut extensions = vec![("variable", json!(variable.0))];
                extensions.extend(expected.as_ref().map(|expected| ("expectedType", json!(expected))));
                extensions
            }
            Self::UnusedVariable { variable, .. } => vec![("variable", json!(variable.0))],
            Self::TooManyRootFields => vec![("maxRootFields", json!(MAX_ROOT_FIELDS))],
            Self::TooManyIntrospectionLists => vec![("maxLists", json!(MAX_INTROSPECTION_LISTS))],
            Self::TooManyDirectives => vec![("maxDirectives", json!(MAX_DIRECTIVES))],
            Self::TooManyFields => vec![("maxFields", json!(MAX_FIELDS))],
            Self::TooMuchWork => vec![("maxWork", json!(MAX_WORK))],
            Self::TooManyLevels => vec![("maxLevels", json!(MAX_LEVELS))],
            Self::DuplicateOperation(_)
            | Self::AnonymousOperationNotAlone
            | Self::FragmentOnLeaf { .. }
            | Self::InlineFragmentOnLeaf { .. }
            | Self::VariableNotInput { .. }
            | Self::DuplicateFragment(_)
            | Self::UnusedFragment(_)
            | Self::ImpossibleSpread { .. }
            | Self::ImpossibleInlineFragment { .. }
            | Self::FragmentCycle { .. }
            | Self::DuplicateVariable(_)
            | Self::MisplacedDirective { .. }
            | Self::DuplicateDirective(_)
            | Self::DuplicateArgument(_)
            | Self::DifferentFields { .. }
            | Self::DifferentArguments { .. }
            | Self::DuplicateInputField(_) => Vec::new(),
        };
        extensions.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }
}

impl Suggestions {
    fn extension(&self) -> (&'static str, Value) {
        ("suggestions", json!(self.0))
    }
}
