//! What rules find, and the list in which they tell it.

use std::fmt;

use crate::error::code::ErrorCode;
use crate::error::diagnostic::{Diagnostic, ErrorExtensions};
use crate::error::graphql_error::{GraphqlError, Location};
use crate::query::validate::merge::MOST_LEVELS;
use crate::query::validate::rules::bounds::{MOST_DIRECTIVES, MOST_FIELDS, MOST_INTROSPECTION_LISTS, MOST_ROOT_FIELDS};

/// The most findings that are kept before they are ordered and cut: a hostile document can have millions.
const MOST_FINDINGS: usize = 200;

/// The longest name that is repeated to its sender, in characters.
const LONGEST_NAME: usize = 80;

/// What the rules have found.
#[derive(Debug, Default)]
pub(super) struct Findings {
    list: Vec<GraphqlError>,
}

impl Findings {
    /// Adds a violation and the places that it is about, the most telling first.
    pub(super) fn add(&mut self, violation: &Violation, places: impl IntoIterator<Item = Location>) {
        if !self.is_full() {
            self.list.push(GraphqlError::new(violation, places));
        }
    }

    /// Whether there is no sense in looking further.
    pub(super) fn is_full(&self) -> bool {
        self.list.len() >= MOST_FINDINGS
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    /// What was found, in the order of the rules.
    pub(super) fn into_refusals(self) -> Vec<GraphqlError> {
        self.list
    }
}

/// A name out of a document, cut where it is too long to repeat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Truncated(String);

impl From<&str> for Truncated {
    fn from(name: &str) -> Self {
        let mut shown: String = name.chars().take(LONGEST_NAME).collect();
        if shown.len() < name.len() {
            shown.push('…');
        }
        Self(shown)
    }
}

impl fmt::Display for Truncated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Names of the schema that may have been meant, the nearest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Suggestions(Vec<String>);

impl FromIterator<String> for Suggestions {
    fn from_iter<I: IntoIterator<Item = String>>(names: I) -> Self {
        Self(names.into_iter().collect())
    }
}

impl<'n> FromIterator<&'n str> for Suggestions {
    fn from_iter<I: IntoIterator<Item = &'n str>>(names: I) -> Self {
        names.into_iter().map(str::to_owned).collect()
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

/// What a document does that it must not. Rules of the specification first, then our own bounds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Violation {
    /// Two operations of one name.
    RepeatedOperation(Truncated),
    /// An operation without a name beside another.
    AnonymousBesideOthers,
    /// A mutation or subscription: the plural of what it is.
    NoSuchRoot(&'static str),
    /// A type that the schema does not have.
    UnknownType { ty: Truncated, meant: Suggestions },
    /// A fragment, perhaps inline, on a type without fields.
    FragmentOnLeaf { fragment: Option<Truncated>, ty: Truncated },
    /// A variable whose type is an object.
    VariableNotInput { variable: Truncated, ty: Truncated },
    /// An object of which nothing is selected.
    NothingSelected { field: Truncated, ty: String, such_as: Option<String> },
    /// A leaf of which something is selected.
    SelectionOfLeaf { field: Truncated, ty: String },
    /// A field that the type does not have.
    UnknownField { field: Truncated, ty: String, meant: Suggestions },
    /// Two fragments of one name.
    RepeatedFragment(Truncated),
    /// A fragment that is spread and not defined.
    UnknownFragment { fragment: Truncated, meant: Suggestions },
    /// A fragment that is defined and not spread.
    UnusedFragment(Truncated),
    /// A fragment, perhaps inline, that can never apply.
    ImpossibleSpread { fragment: Option<Truncated>, ty: String, parent: String },
    /// A fragment that spreads itself, through those named.
    FragmentCycle { fragment: Truncated, through: Vec<Truncated> },
    /// Two variables of one name.
    RepeatedVariable(Truncated),
    /// A variable that is used and not declared.
    UndefinedVariable { variable: Truncated, operation: Option<Truncated> },
    /// A variable that is declared and not used.
    UnusedVariable { variable: Truncated, operation: Option<Truncated> },
    /// A directive that the schema does not have.
    UnknownDirective { directive: Truncated, meant: Suggestions },
    /// A directive where it may not stand.
    MisplacedDirective { directive: Truncated, place: &'static str },
    /// A directive twice at one place.
    RepeatedDirective(Truncated),
    /// An argument that the field or directive does not have, and those that it has.
    UnknownArgument { argument: Truncated, holder: String, meant: Suggestions, allowed: Vec<String> },
    /// An argument twice.
    RepeatedArgument(Truncated),
    /// A required argument that is not given.
    MissingArgument { argument: String, holder: String, ty: String },
    /// A null where none may be.
    WrongNull { of: Truncated, ty: String },
    /// A value that is not of the type that is expected.
    WrongValue { of: Truncated, ty: String, found: String, expected: String, allowed: Vec<String>, meant: Suggestions },
    /// A variable whose type does not fit where it is used.
    VariableMisfit { variable: Truncated, ty: String, expected: String },
    /// Two selections of one response key that are of different fields.
    DifferentFields { key: Truncated, first: Truncated, second: Truncated },
    /// Two selections of one response key that differ in their arguments.
    DifferentArguments { key: Truncated },
    /// A field twice in one input object.
    RepeatedInputField(Truncated),
    /// More root fields than a document may select.
    TooManyRootFields,
    /// More lists of introspection within one another than a document may select.
    TooManyIntrospectionLists,
    /// More directives than may stand at one place.
    TooManyDirectives,
    /// More fields, all fragments spread, than a document may select.
    TooManyFields,
    /// More levels, all fragments spread, than a document may have.
    TooManyLevels,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::RepeatedOperation(name) => write!(f, "There is more than one operation \"{name}\""),
            Self::AnonymousBesideOthers => {
                f.write_str("An operation without a name must be the only one of its document; name it")
            }
            Self::NoSuchRoot(what) => write!(f, "The schema has no {what}; this API answers queries alone"),
            Self::UnknownType { ty, meant } => write!(f, "Unknown type \"{ty}\"{meant}"),
            Self::FragmentOnLeaf { fragment: Some(fragment), ty } => {
                write!(f, "Fragment \"{fragment}\" cannot be on \"{ty}\", which has no fields")
            }
            Self::FragmentOnLeaf { fragment: None, ty } => {
                write!(f, "A fragment cannot be on \"{ty}\", which has no fields")
            }
            Self::VariableNotInput { variable, ty } => {
                write!(f, "Variable \"${variable}\" cannot be of type \"{ty}\", which is no type of inputs")
            }
            Self::NothingSelected { field, ty, such_as } => {
                write!(f, "Field \"{field}\" of type \"{ty}\" needs a selection of its fields")?;
                such_as.as_ref().map_or(Ok(()), |such_as| write!(f, ", such as {field} {{ {such_as} }}"))
            }
            Self::SelectionOfLeaf { field, ty } => {
                write!(f, "Field \"{field}\" of type \"{ty}\" has no fields to select")
            }
            Self::UnknownField { field, ty, meant } => write!(f, "Type \"{ty}\" has no field \"{field}\"{meant}"),
            Self::RepeatedFragment(name) => write!(f, "There is more than one fragment \"{name}\""),
            Self::UnknownFragment { fragment, meant } => write!(f, "Unknown fragment \"{fragment}\"{meant}"),
            Self::UnusedFragment(name) => write!(f, "Fragment \"{name}\" is never used"),
            Self::ImpossibleSpread { fragment: Some(fragment), ty, parent } => {
                write!(f, "Fragment \"{fragment}\" is on \"{ty}\" and cannot be spread in \"{parent}\"")
            }
            Self::ImpossibleSpread { fragment: None, ty, parent } => {
                write!(f, "A fragment on \"{ty}\" cannot be spread in \"{parent}\"")
            }
            Self::FragmentCycle { fragment, through } => {
                write!(f, "Fragment \"{fragment}\" cannot be spread within itself")?;
                for (place, name) in through.iter().enumerate() {
                    write!(f, "{} \"{name}\"", if place == 0 { ", through" } else { "," })?;
                }
                Ok(())
            }
            Self::RepeatedVariable(name) => write!(f, "There is more than one variable \"${name}\""),
            Self::UndefinedVariable { variable, operation: Some(operation) } => {
                write!(f, "Variable \"${variable}\" is not declared by operation \"{operation}\"")
            }
            Self::UndefinedVariable { variable, operation: None } => {
                write!(f, "Variable \"${variable}\" is not declared")
            }
            Self::UnusedVariable { variable, operation: Some(operation) } => {
                write!(f, "Variable \"${variable}\" is never used in operation \"{operation}\"")
            }
            Self::UnusedVariable { variable, operation: None } => write!(f, "Variable \"${variable}\" is never used"),
            Self::UnknownDirective { directive, meant } => write!(f, "Unknown directive \"@{directive}\"{meant}"),
            Self::MisplacedDirective { directive, place } => {
                write!(f, "Directive \"@{directive}\" may not stand on {place}")
            }
            Self::RepeatedDirective(name) => write!(f, "Directive \"@{name}\" may stand here only once"),
            Self::UnknownArgument { argument, holder, meant, allowed } => {
                write!(f, "Unknown argument \"{argument}\" of {holder}{meant}")?;
                match (meant.0.is_empty(), allowed.is_empty()) {
                    (false, _) => Ok(()),
                    (true, true) => f.write_str(", which takes none"),
                    (true, false) => write!(f, "; it takes {}", allowed.join(", ")),
                }
            }
            Self::RepeatedArgument(name) => write!(f, "Argument \"{name}\" is given more than once"),
            Self::MissingArgument { argument, holder, ty } => {
                write!(f, "Argument \"{argument}\" of type \"{ty}\" is required by {holder}")
            }
            Self::WrongNull { of, ty } => write!(f, "\"{of}\" is of type \"{ty}\" and cannot be null"),
            Self::WrongValue { of, ty, found, expected, meant, .. } => {
                write!(f, "\"{of}\" is of type \"{ty}\" and takes {expected}, not {found}{meant}")
            }
            Self::VariableMisfit { variable, ty, expected } => {
                write!(f, "Variable \"${variable}\" of type \"{ty}\" is used where \"{expected}\" is expected")
            }
            Self::DifferentFields { key, first, second } => write!(
                f,
                "\"{key}\" would be both \"{first}\" and \"{second}\" in the response; use different aliases to fetch both"
            ),
            Self::DifferentArguments { key } => {
                write!(f, "\"{key}\" is selected with different arguments; use different aliases to fetch both")
            }
            Self::RepeatedInputField(name) => write!(f, "Input field \"{name}\" is given more than once"),
            Self::TooManyRootFields => {
                write!(f, "A document selects at most {MOST_ROOT_FIELDS} fields from the root; split it")
            }
            Self::TooManyIntrospectionLists => {
                write!(f, "Introspection nests at most {MOST_INTROSPECTION_LISTS} lists; ask for types by name")
            }
            Self::TooManyDirectives => write!(f, "At most {MOST_DIRECTIVES} directives stand at one place"),
            Self::TooManyFields => write!(
                f,
                "A document selects at most {MOST_FIELDS} fields, counting those of a fragment wherever it is spread; split it"
            ),
            Self::TooManyLevels => write!(
                f,
                "A document nests at most {MOST_LEVELS} levels of fields, counting those of a fragment where it is spread; split it"
            ),
        }
    }
}

impl Diagnostic for Violation {
    fn code(&self) -> ErrorCode {
        match self {
            Self::TooManyLevels => ErrorCode::DepthExceeded,
            _ => ErrorCode::GraphqlValidationFailed,
        }
    }

    /// What a program needs to mend the document: the names that it used, and those that it may use.
    fn extensions(&self) -> ErrorExtensions {
        let meant = |meant: &Suggestions| ("suggestions", meant.0.clone().into());
        let facts: Vec<(&str, serde_json::Value)> = match self {
            Self::UnknownType { ty, meant: names } => vec![("type", ty.0.clone().into()), meant(names)],
            Self::UnknownField { field, ty, meant: names } => {
                vec![("type", ty.clone().into()), ("field", field.0.clone().into()), meant(names)]
            }
            Self::NothingSelected { field, ty, .. } | Self::SelectionOfLeaf { field, ty } => {
                vec![("type", ty.clone().into()), ("field", field.0.clone().into())]
            }
            Self::UnknownFragment { fragment, meant: names } => {
                vec![("fragment", fragment.0.clone().into()), meant(names)]
            }
            Self::UnknownDirective { directive, meant: names } => {
                vec![("directive", directive.0.clone().into()), meant(names)]
            }
            Self::UnknownArgument { argument, meant: names, allowed, .. } => {
                vec![("argument", argument.0.clone().into()), meant(names), ("allowed", allowed.clone().into())]
            }
            Self::MissingArgument { argument, ty, .. } => {
                vec![("argument", argument.clone().into()), ("expectedType", ty.clone().into())]
            }
            Self::WrongValue { of, ty, allowed, meant: names, .. } => {
                let mut facts = vec![("argument", of.0.clone().into()), ("expectedType", ty.clone().into())];
                if !allowed.is_empty() {
                    facts.extend([meant(names), ("allowed", allowed.clone().into())]);
                }
                facts
            }
            Self::WrongNull { of, ty } => {
                vec![("argument", of.0.clone().into()), ("expectedType", ty.clone().into())]
            }
            Self::VariableMisfit { variable, ty, expected } => vec![
                ("variable", variable.0.clone().into()),
                ("type", ty.clone().into()),
                ("expectedType", expected.clone().into()),
            ],
            Self::UndefinedVariable { variable, .. } | Self::UnusedVariable { variable, .. } => {
                vec![("variable", variable.0.clone().into())]
            }
            Self::TooManyRootFields => vec![("maxRootFields", MOST_ROOT_FIELDS.into())],
            Self::TooManyIntrospectionLists => vec![("maxLists", MOST_INTROSPECTION_LISTS.into())],
            Self::TooManyDirectives => vec![("maxDirectives", MOST_DIRECTIVES.into())],
            Self::TooManyFields => vec![("maxFields", MOST_FIELDS.into())],
            Self::TooManyLevels => vec![("maxLevels", MOST_LEVELS.into())],
            _ => Vec::new(),
        };
        facts.into_iter().map(|(name, fact)| (name.to_owned(), fact)).collect()
    }
}
