//! The texts of persisted queries, found by their hashes.
//!
//! Callers with the same grants of the schema find the same texts, and a text takes bytes of the caller who stored it. When the store is
//! full, the caller with the most bytes loses its least recently used text. So a caller who stores many texts evicts its own texts, and a
//! caller with less than an equal share loses none.

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sha2::{Digest, Sha256};

use crate::byte_lru::ByteLru;
use crate::catalog::grant_set::GrantSet;

/// Bytes that a text takes beside its own: its hash, its nodes in two maps and a list, and the allocator's overhead.
const ENTRY_BYTES: usize = 448;

/// The hash of a query's text: SHA-256.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct QueryHash([u8; 32]);

/// How much is stored.
#[derive(Debug, Clone, Copy)]
pub(crate) struct QueryTextOptions {
    /// Bytes that the texts may take together; `None` switches persisted queries off.
    pub capacity: Option<usize>,
    pub(crate) max_text: usize,
}

/// Query texts by their hashes.
#[derive(Debug)]
pub(crate) struct QueryTexts {
    /// `None` if persisted queries are switched off.
    texts: Option<Mutex<StoredTexts>>,
    max_text: usize,
}

#[derive(Debug)]
struct StoredTexts {
    capacity: usize,
    /// The weight of the texts of all callers.
    bytes: usize,
    /// The caller who has stored the text.
    owners: HashMap<QueryHash, Arc<str>>,
    /// The texts of each caller. Each weighs its bytes and [`ENTRY_BYTES`].
    callers: HashMap<Arc<str>, ByteLru<QueryHash, Arc<str>>>,
    /// The callers by what their texts weigh.
    by_bytes: BTreeSet<(usize, Arc<str>)>,
}

impl QueryHash {
    /// The hash of a text.
    pub(crate) fn of(text: &str) -> Self {
        Self(Sha256::digest(text).into())
    }

    /// The hash under which the text is stored for callers who hold these grants of the schema.
    pub(crate) fn among(self, grants: GrantSet) -> Self {
        // A hash of the pair, which takes as few bytes.
        Self(Sha256::new().chain_update(self.0).chain_update(grants.bits().to_be_bytes()).finalize().into())
    }

    /// A hash from its digits; `None` if they are not 64 hexadecimal digits.
    pub(crate) fn parse(hex: &str) -> Option<Self> {
        let digit = |digit: u8| match digit {
            b'0'..=b'9' => Some(digit - b'0'),
            b'a'..=b'f' => Some(digit - b'a' + 10),
            b'A'..=b'F' => Some(digit - b'A' + 10),
            _ => None,
        };
        let (pairs, []) = hex.as_bytes().as_chunks::<2>() else { return None };
        let pairs: &[[u8; 2]; 32] = pairs.try_into().ok()?;
        let mut hash = [0; 32];
        for (byte, [high, low]) in hash.iter_mut().zip(pairs) {
            *byte = digit(*high)? << 4 | digit(*low)?;
        }
        Some(Self(hash))
    }
}

impl fmt::Display for QueryHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl QueryTexts {
    /// An empty store.
    pub(crate) fn new(options: QueryTextOptions) -> Self {
        let texts = options.capacity.map(|capacity| Mutex::new(StoredTexts::new(capacity)));
        Self { texts, max_text: options.max_text }
    }

    /// Whether persisted queries are switched on.
    pub(crate) fn is_enabled(&self) -> bool {
        self.texts.is_some()
    }

    /// Bytes that a text may have.
    pub(crate) fn max_text(&self) -> usize {
        self.max_text
    }

    /// How many texts are stored, and what they weigh.
    pub(crate) fn usage(&self) -> (usize, usize) {
        self.lock().map_or((0, 0), |texts| (texts.owners.len(), texts.bytes))
    }

    /// The text with that hash, if it is stored.
    pub(crate) fn get(&self, hash: &QueryHash) -> Option<Arc<str>> {
        self.lock()?.get(hash)
    }

    /// Stores a text under its hash, for the caller. A text that is stored already stays with the caller who stored it first.
    pub(crate) fn insert(&self, caller: &Arc<str>, hash: QueryHash, text: &str) {
        if let Some(mut texts) = self.lock() {
            texts.insert(caller, hash, text);
        }
    }

    /// Locks the texts. The numbers in them are changed together, without anything between that could panic.
    fn lock(&self) -> Option<MutexGuard<'_, StoredTexts>> {
        self.texts.as_ref().map(|texts| texts.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl StoredTexts {
    fn new(capacity: usize) -> Self {
        Self { capacity, bytes: 0, owners: HashMap::new(), callers: HashMap::new(), by_bytes: BTreeSet::new() }
    }

    fn get(&mut self, hash: &QueryHash) -> Option<Arc<str>> {
        let owner = self.owners.get(hash)?;
        self.callers.get_mut(owner)?.get(hash).cloned()
    }

    fn insert(&mut self, caller: &Arc<str>, hash: QueryHash, text: &str) {
        let weight = text.len() + ENTRY_BYTES;
        if weight > self.capacity || self.get(&hash).is_some() {
            return;
        }
        self.owners.insert(hash, Arc::clone(caller));
        self.change(caller, |texts| texts.insert(hash, text.into(), weight));
        while self.bytes > self.capacity {
            let Some((_, largest)) = self.by_bytes.last().cloned() else { break };
            if let Some(evicted) = self.change(&largest, ByteLru::evict) {
                self.owners.remove(&evicted);
            }
        }
    }

    /// Changes the texts of a caller, and the sums with them.
    fn change<T>(&mut self, caller: &Arc<str>, change: impl FnOnce(&mut ByteLru<QueryHash, Arc<str>>) -> T) -> T {
        // The text to evict is chosen above, for all callers together.
        let texts = self.callers.entry(Arc::clone(caller)).or_insert_with(|| ByteLru::new(usize::MAX));
        let before = texts.bytes();
        let result = change(texts);
        let after = texts.bytes();
        self.by_bytes.remove(&(before, Arc::clone(caller)));
        if after == 0 {
            self.callers.remove(caller);
        } else {
            self.by_bytes.insert((after, Arc::clone(caller)));
        }
        self.bytes = self.bytes - before + after;
        result
    }
}
