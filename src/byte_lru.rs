//! A cache that is bounded by bytes: each entry has a weight, and the least recently used entries are evicted first.

use std::borrow::Borrow;
use std::hash::Hash;

use lru::LruCache;

/// A least-recently-used cache whose entries weigh no more than its capacity together.
#[derive(Debug)]
pub(crate) struct ByteLru<K: Hash + Eq, V> {
    entries: LruCache<K, CacheEntry<V>>,
    bytes: usize,
    capacity: usize,
}

#[derive(Debug)]
struct CacheEntry<V> {
    value: V,
    bytes: usize,
}

impl<K: Hash + Eq, V> ByteLru<K, V> {
    /// An empty cache.
    pub(crate) fn new(capacity_bytes: usize) -> Self {
        Self { entries: LruCache::unbounded(), bytes: 0, capacity: capacity_bytes }
    }

    /// The most bytes that its entries may weigh together.
    pub(crate) fn capacity(&self) -> usize {
        self.capacity
    }

    /// The weight of all entries.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// The value of a key, which becomes the most recently used one.
    pub(crate) fn get<Q: Hash + Eq + ?Sized>(&mut self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        self.entries.get(key).map(|entry| &entry.value)
    }

    /// Inserts a value of that weight, or replaces the key's value. One that exceeds the capacity is not inserted: it would
    /// evict all others and then itself.
    pub(crate) fn insert(&mut self, key: K, value: V, bytes: usize) {
        if bytes > self.capacity {
            return;
        }
        self.bytes += bytes;
        if let Some((_, replaced)) = self.entries.push(key, CacheEntry { value, bytes }) {
            self.bytes -= replaced.bytes;
        }
        self.shrink();
    }

    /// Changes the value of a key, which becomes the most recently used one, and sets its weight to what `change` returns.
    /// Returns whether the key has a value.
    pub(crate) fn update<Q: Hash + Eq + ?Sized>(&mut self, key: &Q, change: impl FnOnce(&mut V) -> usize) -> bool
    where
        K: Borrow<Q>,
    {
        let Some(entry) = self.entries.get_mut(key) else { return false };
        let bytes = change(&mut entry.value);
        self.bytes = self.bytes - entry.bytes + bytes;
        entry.bytes = bytes;
        self.shrink();
        true
    }

    /// Removes the least recently used entry and returns its key.
    pub(crate) fn evict(&mut self) -> Option<K> {
        let (key, evicted) = self.entries.pop_lru()?;
        self.bytes -= evicted.bytes;
        Some(key)
    }

    /// Removes a key and its value.
    #[cfg(feature = "server")]
    pub(crate) fn remove<Q: Hash + Eq + ?Sized>(&mut self, key: &Q)
    where
        K: Borrow<Q>,
    {
        if let Some(removed) = self.entries.pop(key) {
            self.bytes -= removed.bytes;
        }
    }

    fn shrink(&mut self) {
        while self.bytes > self.capacity && self.evict().is_some() {}
    }
}

#[cfg(test)]
impl<K: Hash + Eq, V> ByteLru<K, V> {
    /// Its entries, the most recently used first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        self.entries.iter().map(|(key, entry)| (key, &entry.value))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A cache whose values are their weights.
    fn cache(capacity: usize, entries: &[(&'static str, usize)]) -> ByteLru<&'static str, usize> {
        let mut cache = ByteLru::new(capacity);
        for (key, bytes) in entries {
            cache.insert(*key, *bytes, *bytes);
        }
        cache
    }

    fn keys(cache: &ByteLru<&'static str, usize>) -> Vec<&'static str> {
        cache.iter().map(|(key, _)| *key).collect()
    }

    #[test]
    fn evicts_the_least_recently_used_entries_first() {
        let mut cache = cache(10, &[("a", 4), ("b", 4)]);
        assert_eq!(cache.get("a"), Some(&4));
        cache.insert("c", 4, 4);
        assert_eq!(cache.get("b"), None);
        assert_eq!((keys(&cache), cache.bytes()), (vec!["c", "a"], 8));
        cache.insert("d", 9, 9);
        assert_eq!((keys(&cache), cache.bytes()), (vec!["d"], 9));
    }

    #[test]
    fn replaces_a_value_and_its_weight() {
        let mut cache = cache(10, &[("a", 4), ("b", 4), ("a", 6)]);
        assert_eq!(cache.get("a"), Some(&6));
        assert_eq!((keys(&cache), cache.bytes()), (vec!["a", "b"], 10));
        cache.insert("a", 1, 1);
        assert_eq!((keys(&cache), cache.bytes()), (vec!["a", "b"], 5));
    }

    #[test]
    fn does_not_insert_an_entry_above_its_capacity() {
        let cache = cache(10, &[("a", 4), ("b", 11), ("a", 11)]);
        assert_eq!((keys(&cache), cache.bytes()), (vec!["a"], 4));
        assert_eq!(cache.iter().next(), Some((&"a", &4)));
    }

    #[test]
    fn an_entry_that_grows_evicts_the_others_and_then_itself() {
        let mut cache = cache(10, &[("a", 4), ("b", 4)]);
        let grow = |bytes: usize| {
            move |value: &mut usize| {
                *value = bytes;
                bytes
            }
        };
        assert!(cache.update("a", grow(6)));
        assert_eq!((keys(&cache), cache.bytes()), (vec!["a", "b"], 10));
        assert!(cache.update("a", grow(7)));
        assert_eq!((keys(&cache), cache.bytes()), (vec!["a"], 7));
        assert!(cache.update("a", grow(11)));
        assert_eq!((keys(&cache), cache.bytes()), (vec![], 0));
        assert!(!cache.update("a", grow(1)));
    }

    proptest! {
        #[test]
        fn the_weight_is_the_sum_of_the_entries_and_within_the_capacity(
            changes in proptest::collection::vec((0u8..4, 0usize..12, any::<bool>()), 0..100),
        ) {
            let mut cache = ByteLru::new(20);
            for (key, bytes, is_update) in changes {
                if is_update {
                    cache.update(&key, |value| { *value = bytes; bytes });
                } else {
                    cache.insert(key, bytes, bytes);
                }
                prop_assert_eq!(cache.bytes(), cache.iter().map(|(_, bytes)| bytes).sum::<usize>());
                prop_assert!(cache.bytes() <= cache.capacity());
            }
        }
    }
}
