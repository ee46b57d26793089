//! The server's own keys, which sign its tokens and verify them.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jwt_simple::Error as JwtError;
use jwt_simple::algorithms::{
    Ed25519KeyPair, Ed25519PublicKey, EdDSAKeyPairLike, EdDSAPublicKeyLike, HS256Key, MACLike,
};
use jwt_simple::claims::{JWTClaims, NoCustomClaims};
use jwt_simple::common::VerificationOptions;
use jwt_simple::reexports::rand;

/// The shortest secret, in bytes: the length of the hash that it is used with (RFC 7518, section 3.2).
const SHORTEST_SECRET: usize = 32;

/// The algorithm that signs tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Algorithm {
    /// Ed25519: the public key verifies.
    EdDsa,
    /// HMAC with SHA-256: the secret that verifies can also sign.
    Hs256,
}

/// A key. Verifies tokens of its own algorithm only, whatever a token's header says.
#[derive(Clone)]
pub(crate) struct SigningKey {
    id: String,
    created: SystemTime,
    pair: KeyPair,
}

#[derive(Clone)]
enum KeyPair {
    Ed25519(Box<Ed25519KeyPair>, Ed25519PublicKey),
    Hs256(HS256Key),
}

/// Why keys cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum KeyError {
    /// A file can be neither read nor created.
    #[error("cannot use the key {}", .0.display())]
    File(PathBuf, #[source] io::Error),
    /// The folder can be neither read nor created.
    #[error("cannot use the key folder {}, which the setting key-folder names", absolute(.0).display())]
    Folder(PathBuf, #[source] io::Error),
    /// Somebody else may add a key.
    #[error("others may write to the key folder {}, and could add a key; chmod it to 700", .0.display())]
    FolderExposed(PathBuf),
    /// Somebody else may read or replace a key.
    #[error("others may read or write the key {}; chmod it to 600", .0.display())]
    KeyExposed(PathBuf),
    /// The folder or a key is somebody else's.
    #[error("the {kind} {} belongs to the user {owner}, and must belong to root or to the user who runs this", .path.display())]
    ForeignOwner {
        /// `key` or `key folder`.
        kind: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The owner's id.
        owner: u32,
    },
    /// The content of a file is not a key.
    #[error("{} is not {wanted}", .path.display())]
    NotAKey {
        /// The file.
        path: PathBuf,
        /// A description of a valid key, by the file's name.
        wanted: &'static str,
    },
    /// The text in the setting is not a key.
    #[error("the signing key that was given is not {0}")]
    NotAKeyText(&'static str),
    /// There is no key with this id.
    #[error("there is no key `{id}` in {}; `orderql keys list` names them", .folder.display())]
    Unknown { id: String, folder: PathBuf },
    /// The key cannot be removed while it signs.
    #[error("`{0}` is the key that signs; make another with `orderql keys rotate` first")]
    Signs(String),
}

/// The path from the root, so that a relative one is found.
fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

impl Algorithm {
    /// All algorithms.
    pub(crate) const ALL: [Self; 2] = [Self::EdDsa, Self::Hs256];

    /// Its name in tokens (`alg`).
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::EdDsa => "EdDSA",
            Self::Hs256 => "HS256",
        }
    }

    /// The extension of its keys' files.
    pub(crate) const fn extension(self) -> &'static str {
        match self {
            Self::EdDsa => "pem",
            Self::Hs256 => "hs256",
        }
    }

    /// A description of a valid key, for error messages.
    pub(crate) const fn wanted(self) -> &'static str {
        match self {
            Self::EdDsa => "an Ed25519 private key in PEM, as `openssl genpkey -algorithm ed25519` makes it",
            Self::Hs256 => "a secret of at least 32 bytes in base64url without padding",
        }
    }

    /// The text of a new random key.
    pub(crate) fn generate(self) -> String {
        match self {
            Self::EdDsa => Ed25519KeyPair::generate().to_pem(),
            Self::Hs256 => URL_SAFE_NO_PAD.encode(rand::random::<[u8; SHORTEST_SECRET]>()) + "\n",
        }
    }
}

impl SigningKey {
    /// Parses a key's text. `None` if it is not a key of the algorithm. Without an `id` the key is named by its hash.
    pub(crate) fn parse(id: Option<&str>, created: SystemTime, algorithm: Algorithm, text: &str) -> Option<Self> {
        let (id, pair) = match algorithm {
            Algorithm::EdDsa => {
                let pair = Ed25519KeyPair::from_pem(text).ok()?;
                let id = id.map_or_else(|| pair.jwk_thumbprint(), str::to_owned);
                let pair = pair.with_key_id(&id);
                let public = pair.public_key();
                (id, KeyPair::Ed25519(Box::new(pair), public))
            }
            Algorithm::Hs256 => {
                let secret = URL_SAFE_NO_PAD.decode(text.trim()).ok().filter(|it| it.len() >= SHORTEST_SECRET)?;
                let mut key = HS256Key::from_bytes(&secret);
                // The id is public. The secret is too long to be found from its hash.
                let id = id.map_or_else(|| key.create_key_id().to_owned(), str::to_owned);
                (id.clone(), KeyPair::Hs256(key.with_key_id(&id)))
            }
        };
        Some(Self { id, created, pair })
    }

    /// Its id (`kid`).
    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// When its file was written.
    pub(crate) const fn created(&self) -> SystemTime {
        self.created
    }

    /// The algorithm that it signs with.
    pub(crate) const fn algorithm(&self) -> Algorithm {
        match self.pair {
            KeyPair::Ed25519(..) => Algorithm::EdDsa,
            KeyPair::Hs256(_) => Algorithm::Hs256,
        }
    }

    /// The public key as a JWK (RFC 8037); `None` for a secret.
    pub(crate) fn public_jwk(&self) -> Option<String> {
        match &self.pair {
            KeyPair::Ed25519(_, public) => Some(public.to_jwk()),
            KeyPair::Hs256(_) => None,
        }
    }

    /// Signs a token with these claims.
    pub(crate) fn sign(&self, claims: JWTClaims<NoCustomClaims>) -> Result<String, JwtError> {
        match &self.pair {
            KeyPair::Ed25519(pair, _) => pair.sign(claims),
            KeyPair::Hs256(key) => key.authenticate(claims),
        }
    }

    /// The claims of a token. Fails if this key did not sign it, or if the claims are not as expected.
    pub(crate) fn verify(
        &self,
        token: &str,
        expected: VerificationOptions,
    ) -> Result<JWTClaims<NoCustomClaims>, JwtError> {
        match &self.pair {
            KeyPair::Ed25519(_, public) => public.verify_token(token, Some(expected)),
            KeyPair::Hs256(key) => key.verify_token(token, Some(expected)),
        }
    }
}

/// Parses the keys of a text. The one that signs is the last of the result.
pub(crate) fn parse_text(text: &str, algorithm: Algorithm) -> Result<Vec<SigningKey>, KeyError> {
    // Leaves out public keys, which some tools write beside the private ones.
    const BEGIN: &str = "-----BEGIN PRIVATE KEY-----";
    let parts: Vec<String> = match algorithm {
        Algorithm::EdDsa => text.split(BEGIN).skip(1).map(|rest| format!("{BEGIN}{rest}")).collect(),
        Algorithm::Hs256 => text.split_whitespace().map(str::to_owned).collect(),
    };
    let parse = |part: &String| SigningKey::parse(None, SystemTime::UNIX_EPOCH, algorithm, part);
    let keys: Option<Vec<SigningKey>> = parts.iter().rev().map(parse).collect();
    keys.filter(|keys| !keys.is_empty()).ok_or(KeyError::NotAKeyText(algorithm.wanted()))
}

/// The key that signs: the last one of the algorithm.
pub(crate) fn signing(keys: &[SigningKey], algorithm: Algorithm) -> Option<&SigningKey> {
    keys.iter().rfind(|key| key.algorithm() == algorithm)
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SigningKey").field("id", &self.id).field("algorithm", &self.algorithm()).finish_non_exhaustive()
    }
}
