//! What is known by name. Most places of a document have few names, which are found sooner by looking at each than by
//! hashing; a hostile one has thousands.

use std::collections::HashMap;
use std::mem;

/// The most names that are looked at one by one.
const FEW: usize = 16;

/// Values by name.
pub(super) struct ByName<'a, V> {
    list: Vec<(&'a str, V)>,
    /// The places of all names in the list, once there are more than [`FEW`].
    places: HashMap<&'a str, usize>,
}

impl<'a, V> ByName<'a, V> {
    /// Nothing yet.
    pub(super) fn new() -> Self {
        Self::with_capacity(0)
    }

    /// Nothing yet, and room for so many names.
    pub(super) fn with_capacity(names: usize) -> Self {
        Self { list: Vec::with_capacity(names), places: HashMap::new() }
    }

    /// How many names there are.
    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    /// The value of that name.
    pub(super) fn get(&self, name: &str) -> Option<&V> {
        self.place(name).map(|place| &self.list[place].1)
    }

    /// The value of that name, to be changed.
    pub(super) fn get_mut(&mut self, name: &str) -> Option<&mut V> {
        self.place(name).map(|place| &mut self.list[place].1)
    }

    /// The value of that name, which is made where there is none.
    pub(super) fn entry(&mut self, name: &'a str, make: impl FnOnce() -> V) -> &mut V {
        let place = self.place(name).unwrap_or_else(|| self.add(name, make()));
        &mut self.list[place].1
    }

    /// Sets the value of that name; returns the one that it had.
    pub(super) fn insert(&mut self, name: &'a str, value: V) -> Option<V> {
        if let Some(place) = self.place(name) {
            return Some(mem::replace(&mut self.list[place].1, value));
        }
        self.add(name, value);
        None
    }

    fn place(&self, name: &str) -> Option<usize> {
        if self.list.len() <= FEW {
            self.list.iter().position(|(known, _)| *known == name)
        } else {
            self.places.get(name).copied()
        }
    }

    fn add(&mut self, name: &'a str, value: V) -> usize {
        self.list.push((name, value));
        if self.list.len() > FEW {
            let placed = self.places.len();
            self.places.extend(self.list[placed..].iter().map(|(name, _)| *name).zip(placed..));
        }
        self.list.len() - 1
    }
}

impl<'a, V> FromIterator<(&'a str, V)> for ByName<'a, V> {
    fn from_iter<I: IntoIterator<Item = (&'a str, V)>>(pairs: I) -> Self {
        let mut known = Self::new();
        for (name, value) in pairs {
            known.insert(name, value);
        }
        known
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_names_and_many_are_found_alike() {
        let names: Vec<_> = (0..3 * FEW).map(|number| format!("n{number}")).collect();
        let mut known = ByName::new();
        for (number, name) in names.iter().enumerate() {
            assert_eq!(known.get(name), None);
            assert_eq!(known.insert(name, number), None);
            for (number, name) in names[..=number].iter().enumerate() {
                assert_eq!(known.get(name), Some(&number));
                assert_eq!(*known.entry(name, || unreachable!()), number);
                assert_eq!(known.insert(name, number), Some(number));
            }
        }
        assert_eq!(known.len(), names.len());
    }
}
