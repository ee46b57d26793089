//! Sealed bytes: who holds them cannot read or change them without the secret. The same bytes are sealed the same way, unless their head has a
//! nonce: AES-SIV (RFC 5297).

use std::fmt;

use aes_siv::KeyInit;
use aes_siv::siv::{Aes128Siv, IV_SIZE};

/// How many bytes longer sealed bytes are.
pub(crate) const TAG: usize = IV_SIZE;

/// Bytes that the servers of one database have in common, and nobody else.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Secret([u8; 32]);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

impl Secret {
    /// The secret that these bytes are; `None` if they are no 32.
    pub fn new(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }

    /// Seals the bytes after a head of this length. The head stays readable, and cannot be changed either.
    pub(crate) fn seal(self, bytes: &mut Vec<u8>, head: usize) {
        let mut content = bytes.split_off(head.min(bytes.len()));
        // Fails with more than a hundred heads alone.
        if let Ok(tag) = self.cipher().encrypt_inout_detached([&bytes], content.as_mut_slice().into()) {
            bytes.extend_from_slice(&tag);
            bytes.append(&mut content);
        }
    }

    /// The content of bytes that follow a head of this length; `None` if they and the head were not sealed with this secret.
    pub fn open(self, bytes: &[u8], head: usize) -> Option<Vec<u8>> {
        let (head, sealed) = bytes.split_at_checked(head)?;
        let (tag, content) = sealed.split_first_chunk::<IV_SIZE>()?;
        let mut content = content.to_vec();
        self.cipher().decrypt_inout_detached([head], content.as_mut_slice().into(), &(*tag).into()).ok()?;
        Some(content)
    }

    fn cipher(self) -> Aes128Siv {
        Aes128Siv::new(&self.0.into())
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
            assert_eq!((&bytes[..4], bytes.len()), (&b"head"[..], 4 + IV_SIZE + content.len()));
            assert_eq!(secret.open(&bytes, 4).as_deref(), Some(content));
            assert_eq!(Secret([8; 32]).open(&bytes, 4), None);
            for index in 0..bytes.len() {
                let mut changed = bytes.clone();
                changed[index] ^= 1;
                assert_eq!(secret.open(&changed, 4), None);
            }
        }
        assert_eq!(secret.open(b"short", 4), None);
        assert_eq!(secret.open(b"short", 6), None);
    }

    #[test]
    fn the_content_cannot_be_seen() {
        let mut bytes = [b'a'; 64].to_vec();
        Secret([7; 32]).seal(&mut bytes, 0);
        assert!(!bytes.windows(2).any(|pair| pair == b"aa"), "{bytes:?}");
        assert_eq!(format!("{:?}", Secret([7; 32])), "Secret");
    }
}
