//! Tokens: JWTs signed with Ed25519 by a key of this service's own.

use std::{
    collections::HashSet,
    fmt, fs,
    io::{self, Write},
    num::NonZeroUsize,
    os::unix::fs::{OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
    process,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use jwt_simple::{
    JWTError,
    algorithms::{Ed25519KeyPair, Ed25519PublicKey, EdDSAKeyPairLike, EdDSAPublicKeyLike},
    claims::{Claims, NoCustomClaims},
    common::VerificationOptions,
    prelude as jwt,
    reexports::rand,
};
use lru::LruCache;

/// Verified tokens that are remembered. A token is some 300 bytes, so this is a few MiB at the most.
const REMEMBERED: NonZeroUsize = NonZeroUsize::new(8192).unwrap();

/// The longest text that is looked at as a token. Ours are far shorter.
const LONGEST_TOKEN: usize = 4096;

/// How far another server's clock, which shares our key, may run ahead of ours.
const CLOCK_LEEWAY: Duration = Duration::from_secs(5);

/// What the tokens say, and where their key is kept.
#[derive(Debug, Clone)]
pub struct Options {
    /// The `iss` claim; tokens of another issuer are refused.
    pub issuer: String,
    /// The `aud` claim, if tokens carry one; they are refused without it then.
    pub audience: Option<String>,
    /// How long a token is good for.
    pub lifetime: Duration,
    /// The file of the private key (PKCS #8 PEM, Ed25519). Made at first start, readable by its owner only.
    pub key_file: PathBuf,
}

/// Makes and verifies tokens.
pub struct Tokens {
    options: Options,
    key: Ed25519KeyPair,
    public_key: Ed25519PublicKey,
    expectations: VerificationOptions,
    /// Verified tokens: a repeat costs a look-up, not a signature check.
    remembered: Mutex<LruCache<Box<str>, Verified>>,
    clock: fn() -> Duration,
}

#[derive(Clone)]
struct Verified {
    user_id: Arc<str>,
    /// Seconds since 1970 from which on the token is no longer good.
    expires: u64,
}

/// A new token.
#[derive(Clone)]
pub struct Minted {
    /// The token's text.
    pub token: String,
    /// How long it is good for.
    pub expires_in: Duration,
}

/// Why a token is not accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadToken {
    /// It was good once.
    #[error("the token has expired; get a new one")]
    Expired,
    /// It is no token of this service: malformed, altered, signed with another key or algorithm, or made for another
    /// issuer or audience. Which of these is nobody's business.
    #[error("the token is not one of this service's")]
    NotAccepted,
}

/// Why tokens cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    /// The key file can be neither read nor made.
    #[error("cannot use the key file {}", .0.display())]
    KeyFile(PathBuf, #[source] io::Error),
    /// The key file holds something else.
    #[error(
        "{} is not an Ed25519 private key in PEM; make one with `openssl genpkey -algorithm ed25519`, or name a file \
         that does not exist yet and it is made",
        .0.display()
    )]
    NotAKey(PathBuf),
    /// Signing failed.
    #[error("cannot sign a token: {0}")]
    Sign(String),
}

impl Tokens {
    /// Reads the key, or makes one where the file does not exist.
    pub fn open(options: Options) -> Result<Self, TokenError> {
        Self::with_clock(options, || SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default())
    }

    /// The same on another clock, which tells the time since 1970.
    pub fn with_clock(options: Options, clock: fn() -> Duration) -> Result<Self, TokenError> {
        let key = read_or_make_key(&options.key_file)?;
        let expectations = VerificationOptions {
            allowed_issuers: Some(HashSet::from([options.issuer.clone()])),
            allowed_audiences: options.audience.clone().map(|audience| HashSet::from([audience])),
            time_tolerance: Some(CLOCK_LEEWAY.into()),
            max_token_length: Some(LONGEST_TOKEN),
            ..VerificationOptions::default()
        };
        Ok(Self {
            public_key: key.public_key(),
            key,
            expectations,
            remembered: Mutex::new(LruCache::new(REMEMBERED)),
            options,
            clock,
        })
    }

    /// A token that says that its bearer is this user.
    pub fn mint(&self, user_id: &str) -> Result<Minted, TokenError> {
        let now = jwt::Duration::from_secs((self.clock)().as_secs());
        let mut claims =
            Claims::create(self.options.lifetime.into()).with_issuer(&self.options.issuer).with_subject(user_id);
        claims.issued_at = Some(now);
        claims.invalid_before = None;
        claims.expires_at = Some(now + self.options.lifetime.into());
        if let Some(audience) = &self.options.audience {
            claims = claims.with_audience(audience);
        }
        let claims = claims.with_jwt_id(unique_id());
        let token = self.key.sign(claims).map_err(|error| TokenError::Sign(error.to_string()))?;
        Ok(Minted { token, expires_in: self.options.lifetime })
    }

    /// The user that the token was made for.
    pub fn verify(&self, token: &str) -> Result<Arc<str>, BadToken> {
        let now = (self.clock)().as_secs();
        if let Some(verified) = self.recall(token) {
            return if now < verified.expires { Ok(verified.user_id) } else { Err(BadToken::Expired) };
        }
        let verified = self.check(token, now)?;
        let user_id = Arc::clone(&verified.user_id);
        self.remembered.lock().unwrap_or_else(PoisonError::into_inner).put(token.into(), verified);
        Ok(user_id)
    }

    fn recall(&self, token: &str) -> Option<Verified> {
        self.remembered.lock().unwrap_or_else(PoisonError::into_inner).get(token).cloned()
    }

    /// Verifies signature and claims. The algorithm is the key's; what the token's header asks for counts for nothing.
    fn check(&self, token: &str, now: u64) -> Result<Verified, BadToken> {
        let mut expectations = self.expectations.clone();
        expectations.artificial_time = Some(jwt::Duration::from_secs(now));
        let claims = self.public_key.verify_token::<NoCustomClaims>(token, Some(expectations)).map_err(|error| {
            match error.downcast_ref::<JWTError>() {
                Some(JWTError::TokenHasExpired) => BadToken::Expired,
                _ => BadToken::NotAccepted,
            }
        })?;
        // The library takes a token without an end for one that is good for ever, and its leeway for both ends.
        let (Some(user_id), Some(expires)) = (claims.subject, claims.expires_at) else {
            return Err(BadToken::NotAccepted);
        };
        let expires = expires.as_secs();
        if now >= expires {
            return Err(BadToken::Expired);
        }
        Ok(Verified { user_id: user_id.into(), expires })
    }
}

impl fmt::Debug for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tokens").field("options", &self.options).finish_non_exhaustive()
    }
}

impl fmt::Debug for Minted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Minted").field("expires_in", &self.expires_in).finish_non_exhaustive()
    }
}

/// A `jti`: 128 random bits.
fn unique_id() -> String {
    format!("{:032x}", rand::random::<u128>())
}

fn read_or_make_key(path: &Path) -> Result<Ed25519KeyPair, TokenError> {
    let at_path = |error| TokenError::KeyFile(path.to_owned(), error);
    let text = match fs::read_to_string(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => make_key_file(path).map_err(at_path)?,
        Err(error) if error.kind() == io::ErrorKind::InvalidData => return Err(TokenError::NotAKey(path.to_owned())),
        outcome => outcome.map_err(at_path)?,
    };
    let mode = fs::metadata(path).map_err(at_path)?.permissions().mode();
    if mode & 0o077 != 0 {
        tracing::warn!(path = %path.display(), "others may read the key that signs tokens; chmod it to 600");
    }
    Ed25519KeyPair::from_pem(&text).map_err(|_| TokenError::NotAKey(path.to_owned()))
}

/// Writes a new key beside its place and links it there, so that nobody ever reads half a key and of two servers that
/// start together both use the one that came first.
fn make_key_file(path: &Path) -> Result<String, io::Error> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        fs::create_dir_all(folder)?;
    }
    let mut draft = path.as_os_str().to_owned();
    draft.push(format!(".{}", process::id()));
    let draft = PathBuf::from(draft);
    let text = Ed25519KeyPair::generate().to_pem();
    let written = fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&draft)
        .and_then(|mut file| file.write_all(text.as_bytes()).and_then(|()| file.sync_all()))
        .and_then(|()| match fs::hard_link(&draft, path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            outcome => outcome,
        });
    let removed = fs::remove_file(&draft);
    written.and(removed)?;
    fs::read_to_string(path)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    /// A folder that goes with the test.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("orderql-token-{}-{name}", process::id()));
            fs::create_dir_all(&path).unwrap();
            Self(path)
        }

        fn options(&self) -> Options {
            Options {
                issuer: "orderql".into(),
                audience: None,
                lifetime: Duration::from_hours(1),
                key_file: self.0.join("keys/token.pem"),
            }
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn a_minted_token_is_verified_by_whoever_has_the_key() {
        let folder = Folder::new("shared");
        let (one, other) = (Tokens::open(folder.options()).unwrap(), Tokens::open(folder.options()).unwrap());
        let token = one.mint("demo").unwrap().token;
        assert_eq!(other.verify(&token).as_deref(), Ok("demo"));
        assert_eq!(other.verify(&token).as_deref(), Ok("demo"));
        assert_ne!(token, one.mint("demo").unwrap().token);
    }

    #[test]
    fn the_key_file_is_its_owners_alone_and_nothing_is_left_beside_it() {
        let folder = Folder::new("mode");
        Tokens::open(folder.options()).unwrap();
        let files: Vec<_> = fs::read_dir(folder.0.join("keys")).unwrap().map(|entry| entry.unwrap()).collect();
        assert_eq!(files.len(), 1);
        assert_eq!(files[0].metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn another_key_issuer_audience_or_algorithm_is_not_accepted() {
        let (folder, elsewhere) = (Folder::new("ours"), Folder::new("theirs"));
        let ours = Tokens::open(folder.options()).unwrap();
        let refused = |token: &str| assert_eq!(ours.verify(token), Err(BadToken::NotAccepted), "{token}");
        refused(&Tokens::open(elsewhere.options()).unwrap().mint("demo").unwrap().token);
        refused(
            &Tokens::open(Options { issuer: "other".into(), ..folder.options() }).unwrap().mint("demo").unwrap().token,
        );
        // {"alg":"none","typ":"JWT"}, and HS256 with the public key as its secret.
        refused("eyJhbGciOiJub25lIiwidHlwIjoiSldUIn0.eyJpc3MiOiJvcmRlcnFsIiwic3ViIjoiZGVtbyIsImV4cCI6OTk5OTk5OTk5OX0.");
        let claims = Claims::create(jwt::Duration::from_hours(1)).with_issuer("orderql").with_subject("demo");
        let confused = jwt::HS256Key::from_bytes(&ours.public_key.to_bytes());
        refused(&jwt::MACLike::authenticate(&confused, claims).unwrap());
        for garbage in ["", ".", "..", "a.b.c", "\u{0}", "eyJhbGciOiJFZERTQSJ9..", &"x".repeat(100_000)] {
            refused(garbage);
        }

        let audience = Options { audience: Some("store".into()), ..folder.options() };
        let tokens = Tokens::open(audience).unwrap();
        assert_eq!(tokens.verify(&ours.mint("demo").unwrap().token), Err(BadToken::NotAccepted));
        assert_eq!(tokens.verify(&tokens.mint("demo").unwrap().token).as_deref(), Ok("demo"));
    }

    #[test]
    fn an_altered_token_is_not_accepted() {
        let folder = Folder::new("altered");
        let tokens = Tokens::open(folder.options()).unwrap();
        let token = tokens.mint("demo").unwrap().token;
        tokens.verify(&token).unwrap();
        for place in 0..token.len() - 1 {
            let mut altered = token.clone().into_bytes();
            altered[place] = if altered[place] == b'A' { b'B' } else { b'A' };
            assert!(tokens.verify(&String::from_utf8(altered).unwrap()).is_err(), "at {place}");
        }
    }

    #[test]
    fn a_token_without_subject_or_end_is_not_accepted() {
        let folder = Folder::new("claims");
        let tokens = Tokens::open(folder.options()).unwrap();
        let mut endless = Claims::create(jwt::Duration::from_hours(1)).with_issuer("orderql").with_subject("demo");
        endless.expires_at = None;
        assert_eq!(tokens.verify(&tokens.key.sign(endless).unwrap()), Err(BadToken::NotAccepted));
        let nobodys = Claims::create(jwt::Duration::from_hours(1)).with_issuer("orderql");
        assert_eq!(tokens.verify(&tokens.key.sign(nobodys).unwrap()), Err(BadToken::NotAccepted));
    }

    #[test]
    fn a_token_ends_on_the_second_remembered_or_not() {
        static NOW: AtomicU64 = AtomicU64::new(1_800_000_000);
        let folder = Folder::new("clock");
        let clock = || Duration::from_secs(NOW.load(Ordering::SeqCst));
        let (tokens, fresh) = (
            Tokens::with_clock(folder.options(), clock).unwrap(),
            Tokens::with_clock(folder.options(), clock).unwrap(),
        );
        let token = tokens.mint("demo").unwrap().token;
        NOW.fetch_add(3599, Ordering::SeqCst);
        assert_eq!(tokens.verify(&token).as_deref(), Ok("demo"));
        NOW.fetch_add(1, Ordering::SeqCst);
        assert_eq!(tokens.verify(&token), Err(BadToken::Expired));
        assert_eq!(fresh.verify(&token), Err(BadToken::Expired));
        NOW.fetch_add(60, Ordering::SeqCst);
        assert_eq!(fresh.verify(&token), Err(BadToken::Expired));
    }

    #[test]
    fn a_file_that_is_no_key_is_named() {
        let folder = Folder::new("nokey");
        let path = folder.0.join("notes.txt");
        fs::write(&path, "hello").unwrap();
        let error = Tokens::open(Options { key_file: path, ..folder.options() }).unwrap_err();
        assert!(error.to_string().contains("notes.txt is not an Ed25519 private key"), "{error}");
    }
}
