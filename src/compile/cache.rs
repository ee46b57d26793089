//! Valid operations by their text. What is bounded is about the memory that they take, not their number or the length of
//! their texts: a short text can have many selections when it spreads its fragments often.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::byte_lru::ByteLru;
use crate::compile::cached_operation::CachedOperation;

/// The cache of operations. The texts that were least recently used are evicted first.
#[derive(Debug)]
pub(super) struct OperationCache {
    capacity: usize,
    texts: Mutex<Texts>,
}

/// The operations of each text that requests have chosen.
type Texts = ByteLru<String, Vec<NamedOperation>>;

/// An operation of a text.
#[derive(Debug)]
struct NamedOperation {
    /// The view of the schema that it is valid for.
    view: u64,
    /// The name by which requests choose it.
    name: Option<String>,
    operation: Arc<CachedOperation>,
    /// The bytes of the operation with its plans.
    bytes: usize,
}

/// The key of an operation.
#[derive(Debug, Clone, Copy)]
pub(super) struct OperationKey<'a> {
    /// The callers' view of the schema.
    pub(super) view: u64,
    pub(super) text: &'a str,
    /// The name that the request gives.
    pub(super) name: Option<&'a str>,
}

impl NamedOperation {
    fn is_chosen_by(&self, key: OperationKey<'_>) -> bool {
        self.view == key.view && self.name.as_deref() == key.name
    }
}

impl OperationCache {
    /// An empty cache that takes about this many bytes at most.
    pub(super) fn new(capacity_bytes: usize) -> Self {
        Self { capacity: capacity_bytes, texts: Mutex::new(Texts::new(capacity_bytes)) }
    }

    /// About how many bytes it takes at most.
    pub(super) fn capacity(&self) -> usize {
        self.capacity
    }

    /// The operation that a request chooses.
    pub(super) fn get(&self, key: OperationKey<'_>) -> Option<Arc<CachedOperation>> {
        let mut texts = self.texts();
        let operation = texts.get(key.text)?.iter().find(|operation| operation.is_chosen_by(key))?;
        Some(Arc::clone(&operation.operation))
    }

    /// Inserts an operation, unless it is there already or does not fit.
    pub(super) fn insert(&self, key: OperationKey<'_>, operation: Arc<CachedOperation>) {
        let OperationKey { view, text, name } = key;
        let bytes = operation.bytes();
        let operation = NamedOperation { view, name: name.map(str::to_owned), operation, bytes };
        let mut texts = self.texts();
        if text.len() + bytes > texts.capacity() {
            return;
        }
        let mut new = Some(operation);
        let add = |operations: &mut Vec<NamedOperation>| {
            // Another request may have inserted it in the meantime.
            if !operations.iter().any(|operation| operation.is_chosen_by(key)) {
                operations.extend(new.take());
            }
            text_bytes(text, operations)
        };
        if !texts.update(text, add)
            && let Some(operation) = new
        {
            texts.insert(text.to_owned(), vec![operation], text.len() + bytes);
        }
    }

    /// Sets what an operation takes now. Does nothing if it was evicted in the meantime.
    pub(super) fn update_bytes(&self, key: OperationKey<'_>, bytes: usize) {
        self.texts().update(key.text, |operations| {
            for operation in operations.iter_mut().filter(|operation| operation.is_chosen_by(key)) {
                operation.bytes = bytes;
            }
            text_bytes(key.text, operations)
        });
    }

    /// The weight of all texts, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.texts().bytes()
    }

    /// A panic elsewhere cannot leave the texts inconsistent.
    fn texts(&self) -> MutexGuard<'_, Texts> {
        self.texts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The weight of a text with its operations.
fn text_bytes(text: &str, operations: &[NamedOperation]) -> usize {
    text.len() + operations.iter().map(|operation| operation.bytes).sum::<usize>()
}

#[cfg(test)]
impl OperationCache {
    /// Each text, and what each of its operations takes.
    pub(super) fn contents(&self) -> Vec<(String, Vec<usize>)> {
        let bytes = |operations: &Vec<NamedOperation>| operations.iter().map(|operation| operation.bytes).collect();
        self.texts().iter().map(|(text, operations)| (text.clone(), bytes(operations))).collect()
    }
}
