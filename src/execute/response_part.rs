//! The part of a response that is being written, and the objects that are open in it.

/// The part of a response that is being written.
pub(super) struct ResponsePart<'o> {
    /// The bytes of the part, after others that come before `data`.
    pub(super) out: &'o mut Vec<u8>,
    /// The index in `out` of an offset in `data` is the offset plus this.
    pub(super) base: usize,
}

impl ResponsePart<'_> {
    /// The offset in `data` of the next byte.
    pub(super) fn offset(&self) -> usize {
        self.out.len().wrapping_sub(self.base)
    }
}

/// An open object. If a non-null field inside it has no value, the nearest nullable one becomes null.
#[derive(Debug, Clone, Copy)]
pub(super) struct OpenObject {
    /// Whether its type is non-null, so that a null propagates to the object around it.
    pub(super) non_null: bool,
    /// The offset of its first byte in `data`.
    pub(super) start: usize,
    /// The position of the op after it.
    pub(super) end: usize,
    /// The number of frames around it.
    pub(super) frames: usize,
}
