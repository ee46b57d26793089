//! The published schema's text, as requests need it.

use std::hash::{DefaultHasher, Hasher};
use std::sync::OnceLock;

use bytes::Bytes;

use crate::http::coding::Coding;
use crate::http::coding::compress;

/// The schema's text and its `ETag`. Each compressed form is made at its first request and then stored: requests need no
/// token, so they must be cheap.
#[derive(Debug)]
pub(crate) struct SdlDocument {
    pub text: Bytes,
    /// The strong tag, with its quotes.
    pub tag: String,
    compressed: [OnceLock<Bytes>; Coding::ALL.len()],
}

impl SdlDocument {
    /// The published text.
    pub(crate) fn new(text: String) -> Self {
        // The hasher's keys are fixed, so all instances with the same schema have the same tag.
        let mut hasher = DefaultHasher::new();
        hasher.write(text.as_bytes());
        let tag = format!("\"{:016x}\"", hasher.finish());
        Self { text: text.into(), tag, compressed: Default::default() }
    }

    /// The text in the coding; `None` if compressing fails.
    pub(crate) fn compressed(&self, coding: Coding) -> Option<&Bytes> {
        let cell = self.compressed.get(coding as usize)?;
        if cell.get().is_none() {
            // Two requests at the same time make the same bytes.
            let _ = cell.set(compress::encode(&self.text, coding).ok()?);
        }
        cell.get()
    }
}
