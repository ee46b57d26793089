//! The texts that the connections of a pool have prepared, bounded by the memory that their plans take on the server.

use std::sync::{Arc, Mutex, PoisonError};

use deadpool_postgres::Object;

use crate::byte_lru::ByteLru;

/// Bytes that the plan of a statement takes on the server for each byte of its text, about: a plan of eight steps has some 5 kB of text
/// and takes 0.65 MB.
const PLAN_BYTES: usize = 128;

/// Bytes that the plans of one connection may take, about.
pub(super) const MAX_PLANS: usize = 64 << 20;

/// Bytes that the plan of a statement takes on the server, about.
pub(super) fn plan_bytes(sql: &str) -> usize {
    sql.len() * PLAN_BYTES
}

/// The texts that the connections of a pool have prepared. Queries repeat, and a flood of new ones must not fill the server's memory.
#[derive(Debug, Clone)]
pub(in crate::database) struct StatementTexts(Arc<Mutex<ByteLru<Box<str>, ()>>>);

impl StatementTexts {
    pub(in crate::database) fn new() -> Self {
        // The bound is kept below, since evicted statements have to be closed.
        Self(Arc::new(Mutex::new(ByteLru::new(usize::MAX))))
    }

    /// Adds a text that a connection has prepared. Every connection of its pool closes the statements that have to go.
    pub(in crate::database) fn insert(&self, sql: &str, connection: &Object) {
        let bytes = plan_bytes(sql);
        let mut evicted = Vec::new();
        {
            let mut texts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if texts.get(sql).is_some() {
                return;
            }
            while texts.bytes() + bytes > MAX_PLANS
                && let Some(text) = texts.evict()
            {
                evicted.push(text);
            }
            texts.insert(sql.into(), (), bytes);
        }
        if let Some(pool) = Object::pool(connection) {
            for text in evicted {
                pool.manager().statement_caches.remove(&text, &[]);
            }
        }
    }
}
