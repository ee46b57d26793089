//! The arguments of binding directives, by type.

use graphql_parser::Pos;
use graphql_parser::schema as sdl;

use crate::catalog::normalization::Normalization;
use crate::catalog::prices::{LIST_RANGE, MAX_LIST};
use crate::catalog::totals::TimeUnit;
use crate::schema_file::definition::ColumnPairs;
use crate::schema_file::error::{SchemaError, SchemaErrorKind};
use crate::search::Comparator;

/// The binding directives, `@deprecated`, `@grant` and `@scope`, each with the arguments that it takes.
const DIRECTIVES: [(&str, &[&str]); 18] = [
    ("relation", &["name", "key"]),
    ("part", &["of", "relation", "by", "through", "to", "key"]),
    ("column", &["name"]),
    ("one", &["by", "to"]),
    ("many", &["by", "to", "through", "whereNull", "atMost"]),
    ("aggregate", &["countDistinct", "lowest", "over", "within", "by"]),
    ("changes", &["of"]),
    ("point", &["through"]),
    (
        "search",
        &[
            "key",
            "example",
            "column",
            "compare",
            "indexed",
            "computed",
            "lookup",
            "inOrderOf",
            "include",
            "within",
            "by",
            "of",
            "vocabulary",
            "normalize",
            "language",
            "grant",
        ],
    ),
    ("index", &["keys", "inOrderOf", "include"]),
    ("sort", &["key", "column", "ties"]),
    ("totals", &["of", "currency"]),
    ("group", &["key", "field", "unit"]),
    ("sum", &["key", "field", "times", "money"]),
    ("deprecated", &["reason"]),
    ("value", &["text"]),
    ("grant", &["to"]),
    ("scope", &["name", "by", "through", "to", "optional", "none", "copied", "open"]),
];

/// The arguments of a directive. Methods named `optional_…` return `None` for an argument that is not given; the others
/// fail then. All fail if the value has the wrong type.
pub(super) struct BindingArguments<'d, 't> {
    directive: &'static str,
    position: Pos,
    values: &'d [(String, sdl::Value<'t, String>)],
}

impl<'d, 't> BindingArguments<'d, 't> {
    /// The arguments of a directive with that name, one of [`DIRECTIVES`]. Fails if the directive has an argument that
    /// it does not take.
    pub(super) fn new(name: &'static str, directive: &'d sdl::Directive<'t, String>) -> Result<Self, SchemaError> {
        let allowed = DIRECTIVES.into_iter().find(|(known, _)| *known == name).map_or(&[][..], |(_, allowed)| allowed);
        match directive.arguments.iter().find(|(argument, _)| !allowed.contains(&argument.as_str())) {
            None => Ok(Self { directive: name, position: directive.position, values: &directive.arguments }),
            Some((argument, _)) => {
                let argument = argument.clone();
                let kind = SchemaErrorKind::UnknownArgument { directive: name, argument, allowed };
                Err(SchemaError::new(directive.position, kind))
            }
        }
    }

    pub(super) fn text(&self, argument: &'static str) -> Result<String, SchemaError> {
        self.optional_text(argument)?.ok_or_else(|| self.missing(argument))
    }

    pub(super) fn optional_text(&self, argument: &str) -> Result<Option<String>, SchemaError> {
        match self.value(argument) {
            None => Ok(None),
            Some(sdl::Value::String(text)) => Ok(Some(text.clone())),
            Some(_) => Err(self.bad(argument, "a string")),
        }
    }

    pub(super) fn texts(&self, argument: &'static str) -> Result<Vec<String>, SchemaError> {
        self.optional_texts(argument)?.ok_or_else(|| self.missing(argument))
    }

    /// A list of texts; one alone stands for a list of one, as in GraphQL.
    pub(super) fn one_or_more_texts(&self, argument: &'static str) -> Result<Vec<String>, SchemaError> {
        match self.value(argument) {
            Some(sdl::Value::String(text)) => Ok(vec![text.clone()]),
            _ => self.texts(argument),
        }
    }

    pub(super) fn optional_texts(&self, argument: &str) -> Result<Option<Vec<String>>, SchemaError> {
        let element = |value: &sdl::Value<'t, String>| match value {
            sdl::Value::String(text) => Some(text.clone()),
            _ => None,
        };
        match self.value(argument) {
            None => Ok(None),
            Some(sdl::Value::List(values)) if !values.is_empty() => {
                let texts = values.iter().map(element).collect::<Option<Vec<_>>>();
                texts.map(Some).ok_or_else(|| self.bad(argument, "a list of strings"))
            }
            Some(_) => Err(self.bad(argument, "a list of strings, not empty")),
        }
    }

    pub(super) fn is_without(&self, argument: &str) -> bool {
        self.value(argument).is_none()
    }

    pub(super) fn optional_boolean(&self, argument: &str) -> Result<Option<bool>, SchemaError> {
        match self.value(argument) {
            None => Ok(None),
            Some(sdl::Value::Boolean(value)) => Ok(Some(*value)),
            Some(_) => Err(self.bad(argument, "true or false")),
        }
    }

    /// A number of rows that are sorted at most.
    pub(super) fn optional_rows(&self, argument: &str) -> Result<Option<u32>, SchemaError> {
        let Some(value) = self.value(argument) else { return Ok(None) };
        let rows = if let sdl::Value::Int(rows) = value { rows.as_i64() } else { None };
        let rows = rows.and_then(|rows| u32::try_from(rows).ok()).filter(|rows| (1..=MAX_LIST).contains(rows));
        rows.map(Some).ok_or_else(|| self.bad(argument, LIST_RANGE))
    }

    /// `by` and `to`, which pair columns. `to` defaults to `by`.
    pub(super) fn column_pairs(&self) -> Result<ColumnPairs, SchemaError> {
        let by = self.texts("by")?;
        let to = self.optional_texts("to")?.unwrap_or_else(|| by.clone());
        if by.len() != to.len() {
            return Err(SchemaError::new(self.position, SchemaErrorKind::UnpairedColumns));
        }
        Ok(ColumnPairs { by, to })
    }

    /// `compare`; defaults to `[EQUALS, IN]`.
    pub(super) fn comparators(&self) -> Result<Vec<Comparator>, SchemaError> {
        let expected = "a list of EQUALS, IN, RANGE, or [MATCHES]";
        let Some(value) = self.value("compare") else { return Ok(vec![Comparator::Equals, Comparator::In]) };
        let sdl::Value::List(values) = value else { return Err(self.bad("compare", expected)) };
        let mut comparators = Vec::new();
        for value in values {
            let named: &[Comparator] = match value {
                sdl::Value::Enum(name) if name == "EQUALS" => &[Comparator::Equals],
                sdl::Value::Enum(name) if name == "IN" => &[Comparator::In],
                sdl::Value::Enum(name) if name == "MATCHES" => &[Comparator::Matches],
                sdl::Value::Enum(name) if name == "RANGE" => {
                    &[Comparator::Greater, Comparator::GreaterOrEqual, Comparator::Less, Comparator::LessOrEqual]
                }
                _ => return Err(self.bad("compare", expected)),
            };
            comparators.extend_from_slice(named);
        }
        Ok(comparators)
    }

    /// `normalize`, which is a name.
    pub(super) fn normalization(&self) -> Result<Option<Normalization>, SchemaError> {
        match self.value("normalize") {
            None => Ok(None),
            Some(value) => {
                let named = if let sdl::Value::Enum(name) = value { Normalization::named(name) } else { None };
                named.map(Some).ok_or_else(|| self.bad("normalize", "LOWER_CASE or LAST_DIGITS"))
            }
        }
    }

    /// `unit`, which is a name.
    pub(super) fn unit(&self) -> Result<Option<TimeUnit>, SchemaError> {
        match self.value("unit") {
            None => Ok(None),
            Some(value) => {
                let named = if let sdl::Value::Enum(name) = value { TimeUnit::named(name) } else { None };
                named.map(Some).ok_or_else(|| self.bad("unit", "DAY, WEEK or MONTH"))
            }
        }
    }

    fn value(&self, argument: &str) -> Option<&sdl::Value<'t, String>> {
        self.values.iter().find(|(name, _)| *name == argument).map(|(_, value)| value)
    }

    fn missing(&self, argument: &'static str) -> SchemaError {
        SchemaError::new(self.position, SchemaErrorKind::MissingArgument { directive: self.directive, argument })
    }

    fn bad(&self, argument: &str, expected: &'static str) -> SchemaError {
        let argument = argument.to_owned();
        let kind = SchemaErrorKind::BadArgument { directive: self.directive, argument, expected };
        SchemaError::new(self.position, kind)
    }
}
