//! The keys that tokens are signed with: one file each in a folder of their own, or given as text.
//!
//! A file's name without its ending is the key's id (`kid`). `.pem` holds an Ed25519 private key (PKCS #8), `.hs256` a
//! secret in base64url. Files are never rewritten, so that a look at the folder's time tells whether anything changed.

use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use std::{fmt, fs, process};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jwt_simple::Error as JwtError;
use jwt_simple::algorithms::{
    Ed25519KeyPair, Ed25519PublicKey, EdDSAKeyPairLike, EdDSAPublicKeyLike, HS256Key, MACLike,
};
use jwt_simple::claims::{JWTClaims, NoCustomClaims};
use jwt_simple::common::VerificationOptions;
use jwt_simple::reexports::rand;
use time::OffsetDateTime;
use time::macros::format_description;

use crate::telemetry::emit;
use crate::telemetry::event::Event;

/// The shortest secret, in bytes: as long as the hash that it is used with (RFC 7518, section 3.2).
const SHORTEST_SECRET: usize = 32;

/// How tokens are signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Algorithm {
    /// Ed25519: whoever has the public key can verify.
    EdDsa,
    /// HMAC with SHA-256: whoever can verify can sign, too.
    Hs256,
}

/// Where the keys are.
#[derive(Clone, PartialEq, Eq)]
pub enum Source {
    /// In a folder. It is made with a first key where there is none.
    Folder(PathBuf),
    /// In a text: PEM blocks, or secrets with spaces between. The first signs; all verify.
    Given(String),
}

/// A key. Only its algorithm is ever verified with it, whatever a token asks for.
#[derive(Clone)]
pub struct Key {
    id: String,
    made: SystemTime,
    material: Material,
}

#[derive(Clone)]
enum Material {
    Ed25519(Box<Ed25519KeyPair>, Ed25519PublicKey),
    Hs256(HS256Key),
}

/// Why keys cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// A file or the folder can be neither read nor made.
    #[error("cannot use the keys at {}", .0.display())]
    File(PathBuf, #[source] io::Error),
    /// A file holds something else.
    #[error("{} is not {}", .path.display(), .algorithm.wanted())]
    NotAKey {
        /// The file.
        path: PathBuf,
        /// What its name says that it is.
        algorithm: Algorithm,
    },
    /// The text holds something else.
    #[error("the signing key that was given is not {}", .0.wanted())]
    NotGivenAKey(Algorithm),
    /// There is no such key.
    #[error("there is no key `{id}` in {}; `orderql keys list` names them", .folder.display())]
    Unknown {
        /// The id.
        id: String,
        /// The folder.
        folder: PathBuf,
    },
    /// The key signs.
    #[error("`{0}` is the key that signs; make another with `orderql keys rotate` first")]
    Signs(String),
}

impl Algorithm {
    /// Its name in tokens (`alg`).
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::EdDsa => "EdDSA",
            Self::Hs256 => "HS256",
        }
    }

    const fn ending(self) -> &'static str {
        match self {
            Self::EdDsa => "pem",
            Self::Hs256 => "hs256",
        }
    }

    const fn wanted(self) -> &'static str {
        match self {
            Self::EdDsa => "an Ed25519 private key in PEM, as `openssl genpkey -algorithm ed25519` makes it",
            Self::Hs256 => "a secret of at least 32 bytes in base64url without padding",
        }
    }

    fn of(path: &Path) -> Option<Self> {
        let ending = path.extension()?;
        [Self::EdDsa, Self::Hs256].into_iter().find(|algorithm| ending == algorithm.ending())
    }
}

impl Key {
    /// Its id (`kid`).
    pub fn id(&self) -> &str {
        &self.id
    }

    /// When its file was written.
    pub const fn made(&self) -> SystemTime {
        self.made
    }

    /// What it signs with.
    pub const fn algorithm(&self) -> Algorithm {
        match self.material {
            Material::Ed25519(..) => Algorithm::EdDsa,
            Material::Hs256(_) => Algorithm::Hs256,
        }
    }

    /// The public key as a JWK (RFC 8037); a secret has none.
    pub fn public_jwk(&self) -> Option<String> {
        match &self.material {
            Material::Ed25519(_, public) => Some(public.to_jwk()),
            Material::Hs256(_) => None,
        }
    }

    /// A token with these claims.
    pub fn sign(&self, claims: JWTClaims<NoCustomClaims>) -> Result<String, JwtError> {
        match &self.material {
            Material::Ed25519(pair, _) => pair.sign(claims),
            Material::Hs256(key) => key.authenticate(claims),
        }
    }

    /// The claims of a token that this key signed and that is as expected.
    pub fn verify(&self, token: &str, expected: VerificationOptions) -> Result<JWTClaims<NoCustomClaims>, JwtError> {
        match &self.material {
            Material::Ed25519(_, public) => public.verify_token(token, Some(expected)),
            Material::Hs256(key) => key.verify_token(token, Some(expected)),
        }
    }

    fn parse(id: Option<&str>, made: SystemTime, algorithm: Algorithm, text: &str) -> Option<Self> {
        let (id, material) = match algorithm {
            Algorithm::EdDsa => {
                let pair = Ed25519KeyPair::from_pem(text).ok()?;
                let id = id.map_or_else(|| pair.jwk_thumbprint(), str::to_owned);
                let pair = pair.with_key_id(&id);
                let public = pair.public_key();
                (id, Material::Ed25519(Box::new(pair), public))
            }
            Algorithm::Hs256 => {
                let secret = URL_SAFE_NO_PAD.decode(text.trim()).ok().filter(|it| it.len() >= SHORTEST_SECRET)?;
                let mut key = HS256Key::from_bytes(&secret);
                // A hash of the secret, which is long enough that nobody finds it from that.
                let id = id.map_or_else(|| key.create_key_id().to_owned(), str::to_owned);
                (id.clone(), Material::Hs256(key.with_key_id(&id)))
            }
        };
        Some(Self { id, made, material })
    }
}

/// Every key of the folder, the one that was made last at the end; keys that come with one copy go by their ids. Files
/// that are no keys by their names are left alone. None where there is no folder.
pub fn read(folder: &Path) -> Result<Vec<Key>, KeyError> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        outcome => outcome.map_err(|error| KeyError::File(folder.to_owned(), error))?,
    };
    let mut keys = Vec::new();
    for entry in entries {
        let path = entry.map_err(|error| KeyError::File(folder.to_owned(), error))?.path();
        let (Some(algorithm), Some(id)) = (Algorithm::of(&path), path.file_stem().and_then(|stem| stem.to_str()))
        else {
            continue;
        };
        if id.starts_with('.') {
            continue;
        }
        match read_file(&path, id, algorithm) {
            // It was retired just now.
            Err(KeyError::File(_, error)) if error.kind() == io::ErrorKind::NotFound => {}
            outcome => keys.push(outcome?),
        }
    }
    keys.sort_by(|one, other| (one.made, &one.id).cmp(&(other.made, &other.id)));
    Ok(keys)
}

/// The keys of a text; the one that signs at the end.
pub fn given(text: &str, algorithm: Algorithm) -> Result<Vec<Key>, KeyError> {
    // Public keys, which some tools write beside the private ones, are left out.
    const BEGIN: &str = "-----BEGIN PRIVATE KEY-----";
    let parts: Vec<String> = match algorithm {
        Algorithm::EdDsa => text.split(BEGIN).skip(1).map(|rest| format!("{BEGIN}{rest}")).collect(),
        Algorithm::Hs256 => text.split_whitespace().map(str::to_owned).collect(),
    };
    let read = |part: &String| Key::parse(None, SystemTime::UNIX_EPOCH, algorithm, part);
    let keys: Option<Vec<Key>> = parts.iter().rev().map(read).collect();
    keys.filter(|keys| !keys.is_empty()).ok_or(KeyError::NotGivenAKey(algorithm))
}

/// Makes a key in the folder; its id. It appears whole: nobody ever reads half a key.
pub fn make(folder: &Path, algorithm: Algorithm) -> Result<String, KeyError> {
    let at = |path: &Path| {
        let path = path.to_owned();
        |error| KeyError::File(path, error)
    };
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(at(folder))?;
    let text = match algorithm {
        Algorithm::EdDsa => Ed25519KeyPair::generate().to_pem(),
        Algorithm::Hs256 => URL_SAFE_NO_PAD.encode(rand::random::<[u8; SHORTEST_SECRET]>()) + "\n",
    };
    let id = new_id();
    let path = folder.join(format!("{id}.{}", algorithm.ending()));
    let draft = folder.join(format!(".{id}.{}", process::id()));
    let written = fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&draft)
        .and_then(|mut file| file.write_all(text.as_bytes()).and_then(|()| file.sync_all()))
        .and_then(|()| fs::rename(&draft, &path));
    if written.is_err() {
        // Nothing half made is left, if there is anything.
        let _ = fs::remove_file(&draft);
    }
    written.map_err(at(&path))?;
    Ok(id)
}

/// Removes a key: tokens that it signed are no longer good. The one that signs must be replaced first.
pub fn retire(folder: &Path, id: &str, algorithm: Algorithm) -> Result<(), KeyError> {
    let keys = read(folder)?;
    let Some(key) = keys.iter().find(|key| key.id == id) else {
        return Err(KeyError::Unknown { id: id.to_owned(), folder: folder.to_owned() });
    };
    if signing(&keys, algorithm).is_some_and(|signing| signing.id == id) {
        return Err(KeyError::Signs(id.to_owned()));
    }
    let path = folder.join(format!("{id}.{}", key.algorithm().ending()));
    fs::remove_file(&path).map_err(|error| KeyError::File(path, error))
}

/// The key that signs: the last one of the algorithm, or of any where it has none.
pub fn signing(keys: &[Key], algorithm: Algorithm) -> Option<&Key> {
    keys.iter().rfind(|key| key.algorithm() == algorithm).or(keys.last())
}

fn read_file(path: &Path, id: &str, algorithm: Algorithm) -> Result<Key, KeyError> {
    let at_path = |error| KeyError::File(path.to_owned(), error);
    let not_a_key = || KeyError::NotAKey { path: path.to_owned(), algorithm };
    let text = match fs::read_to_string(path) {
        Err(error) if error.kind() == io::ErrorKind::InvalidData => return Err(not_a_key()),
        outcome => outcome.map_err(at_path)?,
    };
    let about = fs::metadata(path).map_err(at_path)?;
    if about.permissions().mode() & 0o077 != 0 {
        emit(&Event::KeyFileExposed { path });
    }
    let made = about.modified().map_err(at_path)?;
    Key::parse(Some(id), made, algorithm, &text).ok_or_else(not_a_key)
}

/// The time and some randomness: ids tell their order, and two that are made at once differ.
fn new_id() -> String {
    let form = format_description!("[year][month][day]T[hour][minute][second]Z");
    let now = OffsetDateTime::now_utc().format(form).unwrap_or_default();
    format!("{now}-{:08x}", rand::random::<u32>())
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Key").field("id", &self.id).field("algorithm", &self.algorithm()).finish_non_exhaustive()
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Folder(folder) => f.debug_tuple("Folder").field(folder).finish(),
            Self::Given(_) => f.write_str("Given"),
        }
    }
}
