//! Introspection: the selection of `__schema` and `__type` is looked up in the catalog, and is a constant for later stages.

use serde::{Serialize, Serializer};

use crate::catalog::Catalog;
use crate::catalog::meta_field::MetaField;
use crate::catalog::published::introspection::{IntrospectionValue, SchemaElement, resolve_meta_field};

/// A value that is known without the database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Constant<'a> {
    Null,
    Boolean(bool),
    /// A string, or the name of an enum's value.
    Text(&'a str),
    List(Vec<Constant<'a>>),
    /// An object: response keys and values.
    Object(Vec<(&'a str, Constant<'a>)>),
}

/// Writes the constant as JSON.
impl Serialize for Constant<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Boolean(truth) => serializer.serialize_bool(*truth),
            Self::Text(text) => serializer.serialize_str(text),
            Self::List(values) => serializer.collect_seq(values),
            Self::Object(fields) => serializer.collect_map(fields.iter().map(|(key, value)| (key, value))),
        }
    }
}

/// A field that is selected from an introspection type. Its arguments and conditions are decided.
#[derive(Debug)]
pub(super) struct MetaSelection<'a> {
    /// Its key in the response.
    pub(super) key: &'a str,
    pub(super) field: SelectedMetaField<'a>,
}

/// A selected field of an introspection type.
#[derive(Debug)]
pub(super) enum SelectedMetaField<'a> {
    /// `__typename`, and its value.
    TypeName(&'a str),
    /// Another field, with its selection.
    Field { field: MetaField, include_deprecated: bool, selections: Vec<MetaSelection<'a>> },
}

/// The most bytes that introspection adds to one response. Tools select about five times the size of the SDL; three times
/// that is allowed. Without a bound, lists within lists could make a response of any size, and introspection is free.
pub(super) fn max_bytes(catalog: &Catalog) -> usize {
    (catalog.sdl().len() * 16).max(1 << 20)
}

/// The result is larger than [`max_bytes`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TooLarge;

/// Evaluates introspection, and counts the bytes that the results have as JSON.
pub(super) struct Introspector<'a> {
    pub(super) catalog: &'a Catalog,
    /// The bytes that results may still have.
    pub(super) bytes_left: usize,
    /// Whether the error was reported that a result is too large. It is reported once, and nothing is evaluated after it.
    pub(super) is_exhausted: bool,
}

impl<'a> Introspector<'a> {
    /// The selection of an element of the schema.
    pub(super) fn object(
        &mut self,
        element: SchemaElement<'a>,
        selections: &[MetaSelection<'a>],
    ) -> Result<Constant<'a>, TooLarge> {
        if self.is_exhausted {
            return Err(TooLarge);
        }
        let mut fields = Vec::with_capacity(selections.len());
        self.spend("{}".len())?;
        for MetaSelection { key, field } in selections {
            self.spend(key.len() + "\"\":,".len())?;
            let value = match field {
                SelectedMetaField::TypeName(name) => self.text(name)?,
                SelectedMetaField::Field { field, include_deprecated, selections } => {
                    match resolve_meta_field(self.catalog, element, *field, *include_deprecated) {
                        IntrospectionValue::Null => self.null()?,
                        IntrospectionValue::Boolean(truth) => {
                            self.spend("false".len())?;
                            Constant::Boolean(truth)
                        }
                        IntrospectionValue::String(text) => self.text(text)?,
                        IntrospectionValue::Names(names) => {
                            let names = names.iter().map(|name| self.element(|it| it.text(name)));
                            Constant::List(names.collect::<Result<_, _>>()?)
                        }
                        IntrospectionValue::Element(element) => self.object(element, selections)?,
                        IntrospectionValue::List(elements) => {
                            let elements = elements.into_iter();
                            let values = elements.map(|element| self.element(|it| it.object(element, selections)));
                            Constant::List(values.collect::<Result<_, _>>()?)
                        }
                    }
                }
            };
            fields.push((*key, value));
        }
        Ok(Constant::Object(fields))
    }

    pub(super) fn null(&mut self) -> Result<Constant<'a>, TooLarge> {
        self.spend("null".len())?;
        Ok(Constant::Null)
    }

    fn text(&mut self, text: &'a str) -> Result<Constant<'a>, TooLarge> {
        // JSON escapes a character with two or six bytes. Counting six is exact enough.
        let escaped = text.bytes().filter(|byte| matches!(byte, b'"' | b'\\' | ..0x20)).count();
        self.spend(text.len() + 5 * escaped + "\"\"".len())?;
        Ok(Constant::Text(text))
    }

    fn element(
        &mut self,
        element: impl FnOnce(&mut Self) -> Result<Constant<'a>, TooLarge>,
    ) -> Result<Constant<'a>, TooLarge> {
        self.spend("[],".len())?;
        element(self)
    }

    fn spend(&mut self, bytes: usize) -> Result<(), TooLarge> {
        self.bytes_left = self.bytes_left.checked_sub(bytes).ok_or(TooLarge)?;
        Ok(())
    }
}
