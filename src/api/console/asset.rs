//! A file of the console, in the codings that clients accept.
//!
//! It is stored compressed with brotli, which browsers accept over TLS and from the machine itself. For the others it is
//! decompressed at the first request, and compressed with gzip if they accept that; both forms are kept then.

use std::io::{self, Read as _};
use std::sync::OnceLock;

use bytes::Bytes;

use crate::http::coding::Coding;
use crate::http::coding::compress;

/// The size of the decompressor's buffer, in bytes.
const BUFFER: usize = 64 * 1024;

/// A file.
#[derive(Debug)]
pub(crate) struct Asset {
    /// Its name, with a hash of the content.
    pub(crate) name: &'static str,
    /// Its media type.
    pub(crate) media: &'static str,
    /// Its content in brotli.
    pub(super) brotli: &'static [u8],
    plain: OnceLock<Bytes>,
    gzip: OnceLock<Bytes>,
}

impl Asset {
    /// A file whose content is compressed with brotli.
    #[cfg(feature = "console")]
    pub(super) const fn new(name: &'static str, media: &'static str, brotli: &'static [u8]) -> Self {
        Self { name, media, brotli, plain: OnceLock::new(), gzip: OnceLock::new() }
    }

    /// The content in a coding that is there at once.
    pub(crate) fn ready(&self, coding: Option<Coding>) -> Option<Bytes> {
        match coding {
            Some(Coding::Brotli) => Some(Bytes::from_static(self.brotli)),
            Some(Coding::Gzip) => self.gzip.get().cloned(),
            Some(Coding::Zstd) => None,
            None => self.plain.get().cloned(),
        }
    }

    /// The content in a coding. Takes a core for a moment unless it is ready.
    pub(crate) fn content(&self, coding: Option<Coding>) -> io::Result<Bytes> {
        if let Some(content) = self.ready(coding) {
            return Ok(content);
        }
        match coding {
            Some(coding) => {
                let content = compress::encode(&self.plain()?, coding)?;
                Ok(self.gzip.get_or_init(|| content).clone())
            }
            None => self.plain(),
        }
    }

    /// The content.
    pub(super) fn plain(&self) -> io::Result<Bytes> {
        if let Some(plain) = self.plain.get() {
            return Ok(plain.clone());
        }
        let mut content = Vec::new();
        brotli::Decompressor::new(self.brotli, BUFFER).read_to_end(&mut content)?;
        // Two requests at the same time make the same bytes.
        Ok(self.plain.get_or_init(|| content.into()).clone())
    }
}
