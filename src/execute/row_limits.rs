//! The limits of a response's rows, checked while they arrive: a row may have any size, and all of them together may be larger than the
//! server's memory.

use crate::execute::error::ExecuteError;
use crate::execute::response_writer::ResponseWriter;

/// Rows that take no more memory than this need not be counted.
const UNCOUNTED: usize = 64 << 10;

/// Whether memory may be held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Memory {
    /// It is.
    Held,
    /// Other requests hold too much at present.
    Exhausted,
    /// The response can never have that much.
    Above {
        /// The most bytes that can.
        limit: usize,
    },
}

/// Is called with the bytes that rows take. They replace the bytes of the call before.
pub(crate) type MemoryLimit<'a> = dyn FnMut(usize) -> Memory + Send + 'a;

/// The limits of the rows of a response that is written when all of them are there.
pub struct RowLimits<'a> {
    /// Bytes of their values.
    pub bytes: u64,
    /// Their memory.
    pub memory: &'a mut MemoryLimit<'a>,
}

impl RowLimits<'_> {
    /// Fails if the rows that have arrived take too much.
    pub(super) fn check(&mut self, rows: &ResponseWriter) -> Result<(), ExecuteError> {
        if rows.bytes() > self.bytes {
            return Err(too_large(rows, self.bytes));
        }
        if rows.memory() <= UNCOUNTED { Ok(()) } else { hold(self.memory, rows) }
    }
}

/// Holds the memory that rows take.
pub(super) fn hold(memory: &mut MemoryLimit<'_>, rows: &ResponseWriter) -> Result<(), ExecuteError> {
    match memory(rows.memory()) {
        Memory::Held => Ok(()),
        Memory::Exhausted => Err(ExecuteError::OutOfMemory),
        Memory::Above { limit } => Err(too_large(rows, limit as u64)),
    }
}

fn too_large(rows: &ResponseWriter, limit: u64) -> ExecuteError {
    ExecuteError::TooLarge { rows: rows.row_counts().into_iter().max().unwrap_or_default(), bytes: rows.bytes(), limit }
}
