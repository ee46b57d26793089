//! The members of a JSON object as they were sent. Values are only parsed when they are read, but for those that have to be strings: these
//! are read at once, because a string that is skipped first is scanned twice.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::api::graphql::request::envelope_error::EnvelopeError;
use crate::api::graphql::request::json_size::{JsonSize, MAX_VALUES, Measure};

/// The number of members up to which they are searched one by one.
const FEW: usize = 8;

/// An object's values, sorted by their keys. Most objects have a few members. For them, this is quicker than a hash of each
/// key.
#[derive(Debug, Default)]
pub(crate) struct JsonMembers<'a>(Vec<Member<'a>>);

#[derive(Debug)]
struct Member<'a> {
    key: Cow<'a, str>,
    /// Until it is taken out.
    value: Option<MemberValue<'a>>,
}

/// The value of a member.
#[derive(Debug)]
pub(crate) enum MemberValue<'a> {
    /// The text of a value of any type.
    Text(&'a RawValue),
    /// The value of a member that has to be a string.
    String(Cow<'a, str>),
    /// The null of such a member.
    Null,
    /// A value of another type of such a member, which is not kept.
    NoString(JsonSize),
}

impl<'a> JsonMembers<'a> {
    /// The members of an object. Fails if a key is there twice: a proxy might read the other value. Of an object with more than
    /// [`MAX_VALUES`] members, which is too large anyway, some are left out.
    pub(crate) fn of(object: &'a str) -> Result<Self, EnvelopeError> {
        Self::with_strings(object, &[])
    }

    /// The members of an object in which the values of these keys have to be strings.
    pub(crate) fn with_strings(object: &'a str, strings: &[&str]) -> Result<Self, EnvelopeError> {
        let mut json = serde_json::Deserializer::from_str(object);
        let members = json.deserialize_map(MembersVisitor { strings });
        let mut members =
            members.and_then(|members| json.end().map(|()| members)).map_err(EnvelopeError::MalformedBody)?;
        members.0.sort_unstable_by(|one, other| one.key.cmp(&other.key));
        match members.0.windows(2).find(|pair| pair[0].key == pair[1].key) {
            Some(pair) => Err(EnvelopeError::RepeatedKey { key: pair[0].key.clone().into_owned() }),
            None => Ok(members),
        }
    }

    /// The size of the object, as long as no value was taken out.
    pub(crate) fn size(&self) -> Result<JsonSize, EnvelopeError> {
        let sizes = self.0.iter().filter_map(|member| member.value.as_ref()).map(|value| match value {
            MemberValue::Text(text) => JsonSize::of_member(text.get()),
            MemberValue::String(_) => Ok(JsonSize::STRING),
            MemberValue::Null => Ok(JsonSize::SCALAR),
            MemberValue::NoString(size) => Ok(*size),
        });
        JsonSize::of_object(sizes).map_err(EnvelopeError::MalformedBody)
    }

    /// Takes the text of a value out, if it is there and need not be a string.
    pub(crate) fn take(&mut self, key: &str) -> Option<&'a str> {
        match self.take_value(key)? {
            MemberValue::Text(text) => Some(text.get()),
            MemberValue::String(_) | MemberValue::Null | MemberValue::NoString(_) => None,
        }
    }

    /// Takes a value out, if it is there.
    pub(crate) fn take_value(&mut self, key: &str) -> Option<MemberValue<'a>> {
        // Few keys are compared sooner than searched.
        let place = if self.0.len() <= FEW {
            self.0.iter().position(|member| member.key == key)?
        } else {
            self.0.binary_search_by(|member| (*member.key).cmp(key)).ok()?
        };
        self.0[place].value.take()
    }

    /// Takes the texts of all that are left and need not be strings.
    pub(crate) fn take_all(&mut self) -> impl Iterator<Item = (Cow<'a, str>, &'a str)> {
        self.0.drain(..).filter_map(|Member { key, value }| match value? {
            MemberValue::Text(text) => Some((key, text.get())),
            MemberValue::String(_) | MemberValue::Null | MemberValue::NoString(_) => None,
        })
    }
}

/// A member's key, borrowed unless it has an escape sequence.
#[derive(serde::Deserialize)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

struct MembersVisitor<'k> {
    /// The keys of values that have to be strings.
    strings: &'k [&'k str],
}

impl<'de> Visitor<'de> for MembersVisitor<'_> {
    type Value = JsonMembers<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<JsonMembers<'de>, A::Error> {
        let mut members = Vec::new();
        while let Some(Key(key)) = map.next_key()? {
            if members.len() > MAX_VALUES {
                map.next_value::<IgnoredAny>()?;
                continue;
            }
            let value = if self.strings.contains(&&*key) {
                map.next_value_seed(StringVisitor)?
            } else {
                MemberValue::Text(map.next_value()?)
            };
            members.push(Member { key, value: Some(value) });
        }
        Ok(JsonMembers(members))
    }
}

/// Reads a value that has to be a string.
struct StringVisitor;

impl<'de> DeserializeSeed<'de> for StringVisitor {
    type Value = MemberValue<'de>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<MemberValue<'de>, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for StringVisitor {
    type Value = MemberValue<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<MemberValue<'de>, E> {
        Ok(MemberValue::String(Cow::Borrowed(text)))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<MemberValue<'de>, E> {
        Ok(MemberValue::String(Cow::Owned(text.to_owned())))
    }

    fn visit_unit<E: Error>(self) -> Result<MemberValue<'de>, E> {
        Ok(MemberValue::Null)
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<MemberValue<'de>, E> {
        Ok(MemberValue::NoString(JsonSize::SCALAR))
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<MemberValue<'de>, E> {
        Ok(MemberValue::NoString(JsonSize::SCALAR))
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<MemberValue<'de>, E> {
        Ok(MemberValue::NoString(JsonSize::SCALAR))
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<MemberValue<'de>, E> {
        Ok(MemberValue::NoString(JsonSize::SCALAR))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<MemberValue<'de>, A::Error> {
        let mut size = JsonSize::SCALAR;
        Measure(&mut size).visit_seq(list)?;
        Ok(MemberValue::NoString(size))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<MemberValue<'de>, A::Error> {
        let mut size = JsonSize::SCALAR;
        Measure(&mut size).visit_map(map)?;
        Ok(MemberValue::NoString(size))
    }
}
