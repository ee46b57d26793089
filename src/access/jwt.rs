//! Tokens: JWTs that say who their bearer is, signed with a key of our own or of an external issuer.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use jwt_simple::claims::Claims;
use jwt_simple::common::VerificationOptions;
use jwt_simple::reexports::rand;
use jwt_simple::token::Token;
use jwt_simple::{Error as JwtError, JWTError, prelude as jwt};
use serde_json::{Value, json};

use crate::access::external_issuer;
use crate::access::key_set::{KeySet, KeySetError, KeySets, Verified};
use crate::access::keys::{self, Algorithm, Source};

/// The longest text that is looked at as a token. Ours are far shorter; an external issuer may write a user's roles there.
const LONGEST_TOKEN: usize = 8192;

/// What the tokens say, and where their keys are kept.
#[derive(Debug, Clone)]
pub struct Options {
    /// The `iss` claim; tokens of another issuer are refused.
    pub issuer: String,
    /// The `aud` claim, if tokens carry one; they are refused without it then.
    pub audience: Option<String>,
    /// How long a token is good for.
    pub lifetime: Duration,
    /// How far the clock of who made a token may run ahead of ours. The end of a token is exact all the same.
    pub leeway: Duration,
    /// What new keys sign with.
    pub algorithm: Algorithm,
    /// Our keys.
    pub keys: Source,
    /// Whose tokens are accepted beside our own.
    pub external: Option<external_issuer::Options>,
}

/// Makes and verifies tokens.
pub struct Tokens {
    options: Options,
    rings: KeySets,
    clock: fn() -> Duration,
}

/// A new token.
#[derive(Clone)]
pub struct IssuedToken {
    /// The token's text.
    pub token: String,
    /// Its `jti` claim, by which it can be told from others without being shown.
    pub token_id: String,
    /// How long it is good for.
    pub expires_in: Duration,
}

/// Why a token is not accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadToken {
    /// It was good once.
    #[error("the token has expired; get a new one")]
    Expired,
    /// It will be good later, by its claim `nbf` or `iat`.
    #[error("the token is not valid yet")]
    NotYet,
    /// It is no token of this service: malformed, altered, signed with another key or algorithm, or made for another
    /// issuer or audience. Which of these is nobody's business.
    #[error("the token is not one of this service's")]
    NotAccepted,
}

/// Why tokens cannot be made or verified.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    /// The keys cannot be used.
    #[error(transparent)]
    Keys(#[from] KeySetError),
    /// Every key was taken away.
    #[error("there is no key to sign a token with; make one with `orderql keys rotate`")]
    NoKey,
    /// Signing failed.
    #[error("cannot sign a token: {0}")]
    Sign(String),
}

/// Why a token was not verified with these keys.
enum Unverified {
    /// It names a key that is not among them.
    UnknownKey,
    Bad(BadToken),
}

impl Tokens {
    /// Reads the keys, or makes one where there are none.
    pub fn open(options: Options) -> Result<Self, TokenError> {
        Self::with_clock(options, || SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default())
    }

    /// The same on another clock, which tells the time since 1970.
    pub fn with_clock(options: Options, clock: fn() -> Duration) -> Result<Self, TokenError> {
        let rings = KeySets::open(options.keys.clone(), options.algorithm, options.external.clone())?;
        Ok(Self { options, rings, clock })
    }

    /// A token that says that its bearer is this user.
    pub fn mint(&self, user_id: &str) -> Result<IssuedToken, TokenError> {
        self.mint_for(user_id, self.options.lifetime)
    }

    /// The same, good for as long as is said.
    pub fn mint_for(&self, user_id: &str, lifetime: Duration) -> Result<IssuedToken, TokenError> {
        let ring = self.rings.current();
        let key = keys::signing(&ring.own, self.options.algorithm).ok_or(TokenError::NoKey)?;
        let now = jwt::Duration::from_secs((self.clock)().as_secs());
        let mut claims = Claims::create(lifetime.into()).with_issuer(&self.options.issuer).with_subject(user_id);
        claims.issued_at = Some(now);
        claims.invalid_before = None;
        claims.expires_at = Some(now + lifetime.into());
        if let Some(audience) = &self.options.audience {
            claims = claims.with_audience(audience);
        }
        let token_id = unique_id();
        let token = key.sign(claims.with_jwt_id(&token_id)).map_err(|error| TokenError::Sign(error.to_string()))?;
        Ok(IssuedToken { token, token_id, expires_in: lifetime })
    }

    /// The user that the token was made for.
    pub fn verify(&self, token: &str) -> Result<Arc<str>, BadToken> {
        let now = (self.clock)().as_secs();
        let mut ring = self.rings.current();
        if let Some(verified) = ring.recall(token) {
            return if now < verified.expires { Ok(verified.user_id) } else { Err(BadToken::Expired) };
        }
        let mut outcome = self.check(&ring, token, now);
        if let Err(Unverified::UnknownKey) = outcome {
            // Another server may have made the key a moment ago.
            let newer = self.rings.looked_at_now();
            if !Arc::ptr_eq(&ring, &newer) {
                ring = newer;
                outcome = self.check(&ring, token, now);
            }
        }
        let verified = outcome.map_err(|why| match why {
            Unverified::UnknownKey => BadToken::NotAccepted,
            Unverified::Bad(why) => why,
        })?;
        let user_id = Arc::clone(&verified.user_id);
        ring.remember(token, verified);
        Ok(user_id)
    }

    /// Our public keys as a JWK set (RFC 7517); secrets are not in it.
    pub fn public_keys(&self) -> Value {
        let ring = self.rings.current();
        let jwks = ring.own.iter().filter_map(|key| serde_json::from_str::<Value>(&key.public_jwk()?).ok());
        json!({ "keys": jwks.collect::<Vec<_>>() })
    }

    /// Verifies signature and claims. The algorithm is the key's, and the key is what the token's header may choose.
    fn check(&self, ring: &KeySet, token: &str, now: u64) -> Result<Verified, Unverified> {
        const NOT_ACCEPTED: Unverified = Unverified::Bad(BadToken::NotAccepted);
        if token.len() > LONGEST_TOKEN {
            return Err(NOT_ACCEPTED);
        }
        let header = Token::decode_metadata(token).map_err(|_| NOT_ACCEPTED)?;
        let own = header.key_id().and_then(|id| ring.key(id));
        let (user_id, expires) = if let Some(key) = own {
            let expected = self.expected(&self.options.issuer, self.options.audience.as_deref(), now);
            let claims = key.verify(token, expected).map_err(|error| Unverified::Bad(reason(&error)))?;
            (claims.subject, claims.expires_at)
        } else {
            let (Some(external), Some(options)) = (&ring.external, &self.options.external) else {
                return Err(Unverified::UnknownKey);
            };
            let expected = self.expected(&options.issuer, Some(&options.audience), now);
            let verified = external.verify(header.key_id(), token, &expected).ok_or(Unverified::UnknownKey)?;
            let claims = verified.map_err(|error| Unverified::Bad(reason(&error)))?;
            let user_id = match options.user_claim.as_str() {
                "sub" => claims.subject,
                name => claims.custom.get(name).and_then(Value::as_str).map(str::to_owned),
            };
            (user_id, claims.expires_at)
        };
        // The library takes a token without an end for one that is good for ever, and its leeway for both ends.
        let (Some(user_id), Some(expires)) = (user_id, expires) else {
            return Err(NOT_ACCEPTED);
        };
        let expires = expires.as_secs();
        if now >= expires {
            return Err(Unverified::Bad(BadToken::Expired));
        }
        Ok(Verified { user_id: user_id.into(), expires })
    }

    fn expected(&self, issuer: &str, audience: Option<&str>, now: u64) -> VerificationOptions {
        VerificationOptions {
            allowed_issuers: Some(HashSet::from([issuer.to_owned()])),
            allowed_audiences: audience.map(|audience| HashSet::from([audience.to_owned()])),
            time_tolerance: Some(self.options.leeway.into()),
            max_token_length: Some(LONGEST_TOKEN),
            artificial_time: Some(jwt::Duration::from_secs(now)),
            ..VerificationOptions::default()
        }
    }
}

/// What may be told of why a token is not accepted.
fn reason(error: &JwtError) -> BadToken {
    match error.downcast_ref::<JWTError>() {
        Some(JWTError::TokenHasExpired) => BadToken::Expired,
        Some(JWTError::TokenNotValidYet | JWTError::ClockDrift) => BadToken::NotYet,
        _ => BadToken::NotAccepted,
    }
}

/// A `jti`: 128 random bits.
fn unique_id() -> String {
    format!("{:032x}", rand::random::<u128>())
}

impl fmt::Debug for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tokens").field("options", &self.options).finish_non_exhaustive()
    }
}

impl fmt::Debug for IssuedToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IssuedToken").field("expires_in", &self.expires_in).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;
    use std::path::PathBuf;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::{fs, process};

    use jwt_simple::algorithms::{
        ECDSAP256KeyPairLike, ES256KeyPair, Ed25519KeyPair, Ed25519PublicKey, HS256Key, MACLike,
    };

    use super::*;
    use crate::access::keys::KeyError;

    /// A folder that goes with the test.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("orderql-token-{}-{name}", process::id()));
            fs::create_dir_all(&path).unwrap();
            Self(path)
        }

        fn keys(&self) -> PathBuf {
            self.0.join("keys")
        }

        fn options(&self) -> Options {
            Options {
                issuer: "orderql".into(),
                audience: None,
                lifetime: Duration::from_hours(1),
                leeway: Duration::from_secs(5),
                algorithm: Algorithm::EdDsa,
                keys: Source::Folder(self.keys()),
                external: None,
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
    fn keys_are_their_owners_alone_and_nothing_is_left_beside_them() {
        let folder = Folder::new("mode");
        Tokens::open(folder.options()).unwrap();
        let mode = |path: &PathBuf| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&folder.keys()), 0o700);
        let files: Vec<_> = fs::read_dir(folder.keys()).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert_eq!(files.len(), 1);
        assert_eq!(mode(&files[0]), 0o600);
    }

    #[test]
    fn keys_come_and_go_while_tokens_are_verified() {
        let folder = Folder::new("rotation");
        let tokens = Tokens::open(folder.options()).unwrap();
        let first = tokens.mint("demo").unwrap().token;
        tokens.verify(&first).unwrap();
        for _ in 0..20 {
            let before = keys::read(&folder.keys()).unwrap();
            keys::make(&folder.keys(), Algorithm::EdDsa).unwrap();
            // Another server signs with it at once, and this one has not looked.
            let theirs = Tokens::open(folder.options()).unwrap().mint("demo").unwrap().token;
            assert_eq!(tokens.verify(&theirs).as_deref(), Ok("demo"));
            assert_eq!(tokens.verify(&first).as_deref(), Ok("demo"));
            assert_eq!(keys::read(&folder.keys()).unwrap().len(), before.len() + 1);
        }
        let all = keys::read(&folder.keys()).unwrap();
        let signs = keys::signing(&all, Algorithm::EdDsa).unwrap().id();
        assert!(matches!(keys::retire(&folder.keys(), signs, Algorithm::EdDsa), Err(KeyError::Signs(_))));
        assert!(matches!(keys::retire(&folder.keys(), "x", Algorithm::EdDsa), Err(KeyError::Unknown { .. })));
        keys::retire(&folder.keys(), all[0].id(), Algorithm::EdDsa).unwrap();
        // It was remembered, and is refused at the next look.
        while tokens.verify(&first).is_ok() {}
        assert_eq!(tokens.verify(&first), Err(BadToken::NotAccepted));
        assert_eq!(tokens.public_keys()["keys"].as_array().unwrap().len(), 20);
    }

    #[test]
    fn secrets_sign_where_that_is_set_and_are_never_shown() {
        let folder = Folder::new("secret");
        let before = Tokens::open(folder.options()).unwrap().mint("demo").unwrap().token;
        let options = Options { algorithm: Algorithm::Hs256, ..folder.options() };
        let tokens = Tokens::open(options).unwrap();
        let token = tokens.mint("demo").unwrap().token;
        assert_eq!(Token::decode_metadata(&token).unwrap().algorithm(), "HS256");
        assert_eq!(tokens.verify(&token).as_deref(), Ok("demo"));
        assert_eq!(tokens.verify(&before).as_deref(), Ok("demo"), "the old key still verifies");
        assert_eq!(tokens.public_keys()["keys"].as_array().unwrap().len(), 1);
        assert_eq!(tokens.public_keys()["keys"][0]["alg"], "EdDSA");
    }

    #[test]
    fn keys_that_are_given_need_no_folder() {
        let folder = Folder::new("given");
        let [old, new] = [(); 2].map(|()| Ed25519KeyPair::generate().to_pem());
        let open = |text: String, algorithm| {
            Tokens::open(Options { keys: Source::Given(text), algorithm, ..folder.options() })
        };
        let token = open(old.clone(), Algorithm::EdDsa).unwrap().mint("demo").unwrap().token;
        let both = open(format!("{new}\n{old}"), Algorithm::EdDsa).unwrap();
        assert_eq!(both.verify(&token).as_deref(), Ok("demo"));
        let newer = both.mint("demo").unwrap().token;
        assert_eq!(open(new, Algorithm::EdDsa).unwrap().verify(&newer).as_deref(), Ok("demo"));
        assert!(open(old, Algorithm::EdDsa).unwrap().verify(&newer).is_err());
        let secret = "0123456789abcdef0123456789abcdef0123456789A".to_owned();
        let tokens = open(secret, Algorithm::Hs256).unwrap();
        assert!(tokens.verify(&tokens.mint("demo").unwrap().token).is_ok());
        for wrong in ["", "nonsense", "-----BEGIN PRIVATE KEY-----"] {
            for algorithm in [Algorithm::EdDsa, Algorithm::Hs256] {
                let error = open(wrong.to_owned(), algorithm).unwrap_err().to_string();
                assert!(error.starts_with("the signing key that was given is not"), "{error}");
            }
        }
        assert!(!folder.keys().exists());
    }

    #[test]
    fn an_external_issuers_tokens_name_our_users() {
        let folder = Folder::new("external");
        let file = folder.0.join("jwks.json");
        let (key, other) = (ES256KeyPair::generate().with_key_id("one"), ES256KeyPair::generate().with_key_id("two"));
        let store = |key: &ES256KeyPair| {
            let jwk: Value = serde_json::from_str(&key.public_key().to_jwk()).unwrap();
            // A key of a kind that is not known is left alone.
            fs::write(&file, json!({"keys": [{"kty": "new"}, jwk]}).to_string()).unwrap();
        };
        store(&key);
        let external = external_issuer::Options {
            jwks_file: file.clone(),
            issuer: "https://id.example".into(),
            audience: "orderql".into(),
            user_claim: "login".into(),
        };
        let tokens = Tokens::open(Options { external: Some(external), ..folder.options() }).unwrap();
        let sign = |key: &ES256KeyPair, issuer: &str, audience: &str, login: Value| {
            let claims = Claims::with_custom_claims(json!({ "login": login }), jwt::Duration::from_hours(1));
            key.sign(claims.with_issuer(issuer).with_audience(audience).with_subject("subject")).unwrap()
        };
        let good = sign(&key, "https://id.example", "orderql", json!("demo"));
        assert_eq!(tokens.verify(&good).as_deref(), Ok("demo"));
        for bad in [
            sign(&key, "orderql", "orderql", json!("demo")),
            sign(&key, "https://id.example", "others", json!("demo")),
            sign(&key, "https://id.example", "orderql", json!(7)),
            sign(&other, "https://id.example", "orderql", json!("demo")),
        ] {
            assert_eq!(tokens.verify(&bad), Err(BadToken::NotAccepted));
        }
        assert_eq!(tokens.verify(&tokens.mint("demo").unwrap().token).as_deref(), Ok("demo"), "our own are good, too");
        assert_eq!(tokens.public_keys()["keys"].as_array().unwrap().len(), 1, "only our own are published");
        // The issuer changes its key.
        store(&other);
        while tokens.verify(&good).is_ok() {}
        assert!(tokens.verify(&sign(&other, "https://id.example", "orderql", json!("demo"))).is_ok());
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
        let jwk = ours.public_keys()["keys"][0].clone();
        let public = Ed25519PublicKey::from_jwk(&jwk.to_string()).unwrap();
        for secret in [public.to_bytes(), public.to_pem().into_bytes(), jwk["x"].as_str().unwrap().into()] {
            let confused = HS256Key::from_bytes(&secret).with_key_id(jwk["kid"].as_str().unwrap());
            refused(&confused.authenticate(claims.clone()).unwrap());
        }
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
        let own = keys::read(&folder.keys()).unwrap();
        let sign = |claims| own[0].sign(claims);
        let mut endless = Claims::create(jwt::Duration::from_hours(1)).with_issuer("orderql").with_subject("demo");
        endless.expires_at = None;
        assert_eq!(tokens.verify(&sign(endless).unwrap()), Err(BadToken::NotAccepted));
        let nobodys = Claims::create(jwt::Duration::from_hours(1)).with_issuer("orderql");
        assert_eq!(tokens.verify(&sign(nobodys).unwrap()), Err(BadToken::NotAccepted));
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
        fs::create_dir_all(folder.keys()).unwrap();
        fs::write(folder.keys().join("notes.txt"), "hello").unwrap();
        Tokens::open(folder.options()).unwrap();
        fs::write(folder.keys().join("mine.pem"), "hello").unwrap();
        let error = Tokens::open(folder.options()).unwrap_err().to_string();
        assert!(error.contains("mine.pem is not an Ed25519 private key"), "{error}");
    }

    #[test]
    fn a_token_from_a_clock_ahead_of_ours_is_good_within_the_leeway() {
        static NOW: AtomicU64 = AtomicU64::new(1_800_000_000);
        let folder = Folder::new("ahead");
        let clock = || Duration::from_secs(NOW.load(Ordering::SeqCst));
        let tokens = Tokens::with_clock(folder.options(), clock).unwrap();
        let own = keys::read(&folder.keys()).unwrap();
        let ahead = |issued: u64, begins: u64| {
            let mut claims = Claims::create(jwt::Duration::from_hours(1)).with_issuer("orderql").with_subject("demo");
            claims.issued_at = Some(jwt::Duration::from_secs(1_800_000_000 + issued));
            claims.invalid_before = Some(jwt::Duration::from_secs(1_800_000_000 + begins));
            claims.expires_at = Some(jwt::Duration::from_secs(1_800_010_000));
            tokens.verify(&own[0].sign(claims).unwrap()).map(drop)
        };
        assert_eq!(ahead(5, 5), Ok(()));
        assert_eq!(ahead(6, 0), Err(BadToken::NotYet));
        assert_eq!(ahead(0, 6), Err(BadToken::NotYet));
    }
}
