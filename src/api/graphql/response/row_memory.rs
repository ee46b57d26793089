//! Counts the memory of rows while they arrive, as memory that their request holds.

use crate::execute::row_limits::Memory;
use crate::http::connection::FurtherMemory;

/// Holds this many bytes, in place of the bytes that were held before.
pub(crate) fn hold(memory: &mut FurtherMemory, bytes: usize) -> Memory {
    match memory.resize(bytes) {
        Ok(()) => Memory::Held,
        Err(_) if bytes > memory.largest() => Memory::Above { limit: memory.largest() },
        Err(_) => Memory::Exhausted,
    }
}
