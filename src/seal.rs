//! Sealed bytes: who holds them cannot read or change them without the secret. The same bytes are sealed the same way, so that a row has one
//! cursor.
//!
//! The first bytes are a keyed hash of the content, which checks it and begins the key stream (a synthetic initialization vector, as in
//! RFC 5297, with hashes in place of a block cipher).

use std::fmt;

use sha2::{Digest, Sha256};

/// Bytes of a keyed hash that are kept.
const HASH: usize = 16;

/// Bytes that the servers of one database have in common, and nobody else.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Secret([u8; 32]);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

/// What a hash is for. No two have an input in common.
#[derive(Clone, Copy)]
enum Purpose {
    Inner = 0,
    Check = 1,
    Stream = 2,
}

impl Secret {
    /// The secret that these bytes are; `None` if they are no 32.
    pub fn new(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }

    /// Seals what follows a position in place.
    pub(crate) fn seal(self, bytes: &mut Vec<u8>, from: usize) {
        let hash = self.check(bytes.get(from..).unwrap_or_default());
        self.apply(&hash, bytes.get_mut(from..).unwrap_or_default());
        bytes.splice(from..from, hash);
    }

    /// The content of sealed bytes; `None` if they were not sealed with this secret.
    pub fn open(self, sealed: &[u8]) -> Option<Vec<u8>> {
        let (hash, content) = sealed.split_first_chunk::<HASH>()?;
        let mut content = content.to_vec();
        self.apply(hash, &mut content);
        (self.check(&content) == *hash).then_some(content)
    }

    fn check(self, content: &[u8]) -> [u8; HASH] {
        let outer = self.hash(Purpose::Check, &[&self.hash(Purpose::Inner, &[content])]);
        outer.first_chunk().copied().unwrap_or_default()
    }

    /// Adds the key stream, or takes it away.
    fn apply(self, hash: &[u8; HASH], bytes: &mut [u8]) {
        for (number, block) in (0_u32..).zip(bytes.chunks_mut(32)) {
            let stream = self.hash(Purpose::Stream, &[hash, &number.to_be_bytes()]);
            block.iter_mut().zip(stream).for_each(|(byte, key)| *byte ^= key);
        }
    }

    fn hash(self, purpose: Purpose, parts: &[&[u8]]) -> [u8; 32] {
        let start = Sha256::new().chain_update(self.0).chain_update([purpose as u8]);
        parts.iter().fold(start, Digest::chain_update).finalize().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opens_what_it_sealed_and_nothing_else() {
        let secret = Secret([7; 32]);
        for content in [&b""[..], b"x", &[0; 100]] {
            let mut bytes = [b"head", content].concat();
            secret.seal(&mut bytes, 4);
            assert_eq!((&bytes[..4], bytes.len()), (&b"head"[..], 4 + HASH + content.len()));
            assert_eq!(secret.open(&bytes[4..]).as_deref(), Some(content));
            assert_eq!(Secret([8; 32]).open(&bytes[4..]), None);
            for index in 4..bytes.len() {
                let mut changed = bytes.clone();
                changed[index] ^= 1;
                assert_eq!(secret.open(&changed[4..]), None);
            }
        }
        assert_eq!(secret.open(b"short"), None);
    }

    #[test]
    fn the_content_cannot_be_seen() {
        let mut bytes = [b'a'; 64].to_vec();
        Secret([7; 32]).seal(&mut bytes, 0);
        assert!(!bytes.windows(2).any(|pair| pair == b"aa"), "{bytes:?}");
        assert_eq!(format!("{:?}", Secret([7; 32])), "Secret");
    }
}
