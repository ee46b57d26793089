//! A map with names as keys. Most places in a document have few names, which a linear search finds faster than hashing;
//! a malicious document has thousands.

use std::collections::HashMap;
use std::mem;

/// The most names that are searched linearly.
const MAX_LINEAR: usize = 16;

/// Values by name, in the order of insertion.
pub(super) struct NameMap<'a, V> {
    entries: Vec<(&'a str, V)>,
    /// The indexes of all entries, once there are more than [`MAX_LINEAR`].
    indexes: HashMap<&'a str, usize>,
}

impl<'a, V> NameMap<'a, V> {
    pub(super) fn new() -> Self {
        Self::with_capacity(0)
    }

    pub(super) fn with_capacity(names: usize) -> Self {
        Self { entries: Vec::with_capacity(names), indexes: HashMap::new() }
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn get(&self, name: &str) -> Option<&V> {
        self.index(name).map(|index| &self.entries[index].1)
    }

    pub(super) fn get_mut(&mut self, name: &str) -> Option<&mut V> {
        self.index(name).map(|index| &mut self.entries[index].1)
    }

    /// The value of that name. Inserts the result of `make` if there is none.
    pub(super) fn get_or_insert_with(&mut self, name: &'a str, make: impl FnOnce() -> V) -> &mut V {
        let index = self.index(name).unwrap_or_else(|| self.push(name, make()));
        &mut self.entries[index].1
    }

    /// Sets the value of that name and returns the previous one.
    pub(super) fn insert(&mut self, name: &'a str, value: V) -> Option<V> {
        if let Some(index) = self.index(name) {
            return Some(mem::replace(&mut self.entries[index].1, value));
        }
        self.push(name, value);
        None
    }

    fn index(&self, name: &str) -> Option<usize> {
        if self.entries.len() <= MAX_LINEAR {
            self.entries.iter().position(|(known, _)| *known == name)
        } else {
            self.indexes.get(name).copied()
        }
    }

    fn push(&mut self, name: &'a str, value: V) -> usize {
        self.entries.push((name, value));
        if self.entries.len() > MAX_LINEAR {
            let indexed = self.indexes.len();
            self.indexes.extend(self.entries[indexed..].iter().map(|(name, _)| *name).zip(indexed..));
        }
        self.entries.len() - 1
    }
}

impl<'a, V> FromIterator<(&'a str, V)> for NameMap<'a, V> {
    fn from_iter<I: IntoIterator<Item = (&'a str, V)>>(pairs: I) -> Self {
        let mut map = Self::new();
        for (name, value) in pairs {
            map.insert(name, value);
        }
        map
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_few_names_and_many() {
        let names: Vec<_> = (0..3 * MAX_LINEAR).map(|number| format!("n{number}")).collect();
        let mut map = NameMap::new();
        for (number, name) in names.iter().enumerate() {
            assert_eq!(map.get(name), None);
            assert_eq!(map.insert(name, number), None);
            for (number, name) in names[..=number].iter().enumerate() {
                assert_eq!(map.get(name), Some(&number));
                assert_eq!(*map.get_or_insert_with(name, || unreachable!()), number);
                assert_eq!(map.insert(name, number), Some(number));
            }
        }
        assert_eq!(map.len(), names.len());
    }
}
