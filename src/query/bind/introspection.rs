//! Introspection: what is selected from `__schema` and `__type` is looked up in the catalog, so that the rest of the way
//! sees a constant.

use std::borrow::Cow;

use crate::catalog::Catalog;
use crate::catalog::introspection::{IntrospectionValue, SchemaElement, resolve_meta_field};
use crate::catalog::meta_field::MetaField;

/// A value that is known without the database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Constant<'a> {
    /// Null.
    Null,
    /// True or false.
    Boolean(bool),
    /// A string, or the name of an enum's value.
    Text(Cow<'a, str>),
    /// A list.
    List(Vec<Constant<'a>>),
    /// An object: response keys and values.
    Object(Vec<(&'a str, Constant<'a>)>),
}

/// A field that is selected from an introspection type, its arguments and conditions decided.
#[derive(Debug)]
pub(super) struct Asked<'a> {
    /// Its key in the response.
    pub(super) key: &'a str,
    /// What is asked.
    pub(super) question: Question<'a>,
}

/// What is asked of a thing.
#[derive(Debug)]
pub(super) enum Question<'a> {
    /// `__typename`, and the answer.
    TypeName(&'a str),
    /// A fact, and what is selected from it.
    MetaField { fact: MetaField, include_deprecated: bool, asked: Vec<Asked<'a>> },
}

/// The most bytes that introspection answers to one operation: room for all that tools ask for, which is five times the
/// SDL, thrice. Lists within lists could else make an answer of any size, and nobody pays for it.
pub(super) fn most_bytes(catalog: &Catalog) -> usize {
    (catalog.sdl().len() * 16).max(1 << 20)
}

/// More bytes than may be answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TooLarge;

/// Answers questions, and counts the bytes that the answers come to as JSON.
pub(super) struct Introspector<'a> {
    pub(super) catalog: &'a Catalog,
    /// The bytes that may still be answered.
    pub(super) left: usize,
    /// Whether they did not suffice. Then nothing more is told, and once is enough to say so.
    pub(super) is_exhausted: bool,
}

impl<'a> Introspector<'a> {
    /// What a thing tells.
    pub(super) fn object(&mut self, thing: SchemaElement<'a>, asked: &[Asked<'a>]) -> Result<Constant<'a>, TooLarge> {
        if self.is_exhausted {
            return Err(TooLarge);
        }
        let mut fields = Vec::with_capacity(asked.len());
        self.spend("{}".len())?;
        for Asked { key, question } in asked {
            self.spend(key.len() + "\"\":,".len())?;
            let value = match question {
                Question::TypeName(name) => self.text(Cow::Borrowed(name))?,
                Question::MetaField { fact, include_deprecated, asked } => {
                    match resolve_meta_field(self.catalog, thing, *fact, *include_deprecated) {
                        IntrospectionValue::Null => self.null()?,
                        IntrospectionValue::Boolean(truth) => {
                            self.spend("false".len())?;
                            Constant::Boolean(truth)
                        }
                        IntrospectionValue::String(text) => self.text(text)?,
                        IntrospectionValue::Names(names) => {
                            let names = names.iter().map(|name| self.element(|it| it.text(Cow::Borrowed(name))));
                            Constant::List(names.collect::<Result<_, _>>()?)
                        }
                        IntrospectionValue::Element(thing) => self.object(thing, asked)?,
                        IntrospectionValue::List(things) => {
                            let things = things.into_iter().map(|thing| self.element(|it| it.object(thing, asked)));
                            Constant::List(things.collect::<Result<_, _>>()?)
                        }
                    }
                }
            };
            fields.push((*key, value));
        }
        Ok(Constant::Object(fields))
    }

    /// Nothing.
    pub(super) fn null(&mut self) -> Result<Constant<'a>, TooLarge> {
        self.spend("null".len())?;
        Ok(Constant::Null)
    }

    fn text(&mut self, text: Cow<'a, str>) -> Result<Constant<'a>, TooLarge> {
        // What JSON escapes takes up to six bytes; that much exactness is not needed.
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
        self.left = self.left.checked_sub(bytes).ok_or(TooLarge)?;
        Ok(())
    }
}
