//! The members of a JSON object as they were sent. Values are only parsed when they are read.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::api::graphql::request::envelope_error::EnvelopeError;
use crate::api::graphql::request::json_size::MAX_VALUES;

/// The number of members up to which they are searched one by one.
const FEW: usize = 8;

/// The texts of an object's values, sorted by their keys. Most objects have a few members. For them, this is quicker than a hash of each
/// key.
#[derive(Debug, Default)]
pub(crate) struct JsonMembers<'a>(Vec<Member<'a>>);

#[derive(Debug)]
struct Member<'a> {
    key: Cow<'a, str>,
    /// Until it is taken out.
    value: Option<&'a RawValue>,
}

impl<'a> JsonMembers<'a> {
    /// The members of an object. Fails if a key is there twice: a proxy might read the other value. Of an object with more than
    /// [`MAX_VALUES`] members, which is too large anyway, some are left out.
    pub(crate) fn of(object: &'a str) -> Result<Self, EnvelopeError> {
        let mut members: Self = serde_json::from_str(object).map_err(EnvelopeError::MalformedBody)?;
        members.0.sort_unstable_by(|one, other| one.key.cmp(&other.key));
        match members.0.windows(2).find(|pair| pair[0].key == pair[1].key) {
            Some(pair) => Err(EnvelopeError::RepeatedKey { key: pair[0].key.clone().into_owned() }),
            None => Ok(members),
        }
    }

    /// The texts of the values that are left.
    pub(crate) fn values(&self) -> impl ExactSizeIterator<Item = &'a str> {
        self.0.iter().map(|member| member.value.map_or("", RawValue::get))
    }

    /// Takes the text of a value out, if it is there.
    pub(crate) fn take(&mut self, key: &str) -> Option<&'a str> {
        // Few keys are compared sooner than searched.
        let place = if self.0.len() <= FEW {
            self.0.iter().position(|member| member.key == key)?
        } else {
            self.0.binary_search_by(|member| (*member.key).cmp(key)).ok()?
        };
        self.0[place].value.take().map(RawValue::get)
    }

    /// Takes all that are left.
    pub(crate) fn take_all(&mut self) -> impl Iterator<Item = (Cow<'a, str>, &'a str)> {
        self.0.drain(..).filter_map(|Member { key, value }| Some((key, value?.get())))
    }
}

/// A member's key, borrowed unless it has an escape sequence.
#[derive(serde::Deserialize)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for JsonMembers<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MembersVisitor)
    }
}

struct MembersVisitor;

impl<'de> Visitor<'de> for MembersVisitor {
    type Value = JsonMembers<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<JsonMembers<'de>, A::Error> {
        let mut members = Vec::new();
        while let Some(Key(key)) = map.next_key()? {
            if members.len() > MAX_VALUES {
                map.next_value::<IgnoredAny>()?;
            } else {
                members.push(Member { key, value: Some(map.next_value()?) });
            }
        }
        Ok(JsonMembers(members))
    }
}
