//! The members of a JSON object as they were sent. Values that nobody reads are never made.

use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::api::graphql::envelope_error::EnvelopeError;

/// The texts of an object's values by its keys.
#[derive(Debug, Default)]
pub(super) struct JsonMembers<'a> {
    values: HashMap<Cow<'a, str>, &'a RawValue>,
    /// A key that is there twice.
    repeated: Option<Cow<'a, str>>,
}

impl<'a> JsonMembers<'a> {
    /// The members of an object. Fails if a key is there twice: a proxy might read the other value.
    pub(super) fn of(object: &'a [u8]) -> Result<Self, EnvelopeError> {
        let members: Self = serde_json::from_slice(object).map_err(EnvelopeError::MalformedBody)?;
        match members.repeated {
            Some(key) => Err(EnvelopeError::RepeatedKey { key: key.into_owned() }),
            None => Ok(members),
        }
    }

    /// Takes the text of a value out, if it is there.
    pub(super) fn take(&mut self, key: &str) -> Option<&'a str> {
        self.values.remove(key).map(RawValue::get)
    }

    /// Takes all that are left.
    pub(super) fn take_all(&mut self) -> impl Iterator<Item = (Cow<'a, str>, &'a str)> {
        self.values.drain().map(|(key, value)| (key, value.get()))
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
        let mut members = JsonMembers::default();
        while let Some((Key(key), value)) = map.next_entry()? {
            match members.values.entry(key) {
                Entry::Occupied(first) => {
                    members.repeated.get_or_insert_with(|| first.key().clone());
                }
                Entry::Vacant(place) => {
                    place.insert(value);
                }
            }
        }
        Ok(members)
    }
}
