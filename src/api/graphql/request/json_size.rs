//! How large JSON would be as values. Counted before any value is made, and without allocating: an empty object of two bytes takes
//! many times as much in memory.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::de::{Deserializer as JsonDeserializer, Read};

/// JSON values in a request: its members, the values in them, and so on. No query needs a hundredth of them, since its variables are
/// scalars and short lists.
pub(crate) const MAX_VALUES: usize = 10_000;

/// Bytes of a value in the list or map around it, with the room that these have for more.
const VALUE: usize = 64;

/// Bytes beside the text of a string, and beside the elements of a list.
const STRING: usize = 32;
const LIST: usize = 64;

/// Bytes of an object's first node, and of a member beside its value.
const OBJECT: usize = 512;
const MEMBER: usize = 160;

/// How large JSON is.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct JsonSize {
    /// Values at all levels.
    pub(crate) values: usize,
    /// Bytes that the values would take in memory at most, about, beside the bytes of their strings.
    pub(crate) memory: usize,
}

impl JsonSize {
    /// The size of a null, a truth value or a number.
    pub(crate) const SCALAR: Self = Self { values: 1, memory: VALUE };

    /// The size of a string.
    pub(crate) const STRING: Self = Self { values: 1, memory: VALUE + STRING };

    /// Measures one JSON value. Fails if the text is anything else.
    pub(crate) fn of(text: &[u8]) -> Result<Self, serde_json::Error> {
        Self::read(JsonDeserializer::from_slice(text))
    }

    /// Measures the value of a member by its text, which is JSON.
    pub(crate) fn of_member(text: &str) -> Result<Self, serde_json::Error> {
        if text.starts_with('"') { Ok(Self::STRING) } else { Self::of(text.as_bytes()) }
    }

    /// Measures an object by its members.
    pub(crate) fn of_object(
        members: impl Iterator<Item = Result<Self, serde_json::Error>>,
    ) -> Result<Self, serde_json::Error> {
        let mut size = Self { values: 1, memory: VALUE + OBJECT };
        for member in members {
            let Self { values, memory } = member?;
            size.add(values, memory + MEMBER);
        }
        Ok(size)
    }

    fn read<'de, R: Read<'de>>(mut json: JsonDeserializer<R>) -> Result<Self, serde_json::Error> {
        let mut size = Self::default();
        Measure(&mut size).deserialize(&mut json)?;
        json.end()?;
        Ok(size)
    }

    fn add(&mut self, values: usize, memory: usize) {
        self.values += values;
        self.memory += memory;
    }
}

/// Adds a value to a size; as a visitor, what is inside of it.
pub(crate) struct Measure<'a>(pub(crate) &'a mut JsonSize);

impl<'de> DeserializeSeed<'de> for Measure<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        self.0.add(1, VALUE);
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Measure<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut is_empty = true;
        while map.next_key_seed(Key)?.is_some() {
            self.0.add(0, if is_empty { OBJECT + MEMBER } else { MEMBER });
            is_empty = false;
            map.next_value_seed(Measure(self.0))?;
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        self.0.add(0, LIST);
        while list.next_element_seed(Measure(self.0))?.is_some() {}
        Ok(())
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<(), E> {
        self.0.add(0, STRING);
        Ok(())
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<(), E> {
        Ok(())
    }
}

/// A member's key, which is checked and not kept.
struct Key;

impl<'de> DeserializeSeed<'de> for Key {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Key {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<(), E> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use serde_json::Value;

    use super::*;

    #[test]
    fn counts_the_values_of_all_levels() {
        for (text, values) in [
            ("1", 1),
            (" -1.5e3 ", 1),
            (r#""[1,2]""#, 1),
            ("[]", 1),
            ("[null, true, {}]", 4),
            (r#"{"a": {"b": [1, "\u00e9"]}, "a": false}"#, 6),
        ] {
            assert_eq!(JsonSize::of(text.as_bytes()).unwrap().values, values, "{text}");
        }
    }

    #[test]
    fn an_object_is_as_large_as_the_object_around_its_members() {
        let members = ["1", "\"a\"", "null", "[]", r#"{"a": [1, "2"]}"#];
        let object = members.iter().enumerate().map(|(key, value)| format!("\"{key}\": {value}"));
        let object = format!("{{{}}}", object.collect::<Vec<_>>().join(","));
        let size = JsonSize::of_object(members.into_iter().map(JsonSize::of_member)).unwrap();
        assert_eq!(size, JsonSize::of(object.as_bytes()).unwrap());
    }

    #[test]
    fn takes_what_can_be_read_as_values_and_nothing_else() {
        let deep = "[".repeat(200);
        for text in ["", "{", "[1,]", "{\"a\"}", "1 2", "\"\\ud800\"", "\"\0\"", "1e999", "{\"\\ud800\": 1}", &deep] {
            let read = serde_json::from_str::<Value>(text).unwrap_err().to_string();
            assert_eq!(JsonSize::of(text.as_bytes()).unwrap_err().to_string(), read, "{text}");
        }
        assert!(JsonSize::of(b"\"\xff\"").is_err());
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn values_take_no_more_memory_than_counted() {
        let resident = || {
            let pages = fs::read_to_string("/proc/self/statm").unwrap();
            pages.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * 4096
        };
        let list = |element: &str, count: usize| format!("[{}]", vec![element; count].join(","));
        let members = |count: usize| {
            let members = (0..count).map(|number| format!("\"{number:05}\":0")).collect::<Vec<_>>();
            format!("{{{}}}", members.join(","))
        };
        for text in [
            list(r#"{"a":1}"#, 100_000),
            list("[0]", 300_000),
            list("{}", 300_000),
            list("\"a\"", 300_000),
            list(r#"{"a":{"b":[""]}}"#, 30_000),
            list(&members(13), 10_000),
            members(100_000),
        ] {
            let size = JsonSize::of(text.as_bytes()).unwrap();
            let before = resident();
            let value: Value = serde_json::from_str(&text).unwrap();
            let grown = resident() - before;
            assert!(grown < size.memory + text.len() + (1 << 20), "{grown} of {size:?}: {}", &text[..40]);
            assert!(!value.is_null());
        }
    }
}
