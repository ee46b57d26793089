//! Issues tokens and verifies them.

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use jwt_simple::claims::Claims;
use jwt_simple::prelude as jwt;
use jwt_simple::reexports::rand;
use serde_json::{Value, json};

use crate::access::tokens::error::{BadToken, TokenError, TokenFault};
use crate::access::tokens::external_issuer::ExternalIssuer;
use crate::access::tokens::key_access::absolute;
use crate::access::tokens::key_folder;
use crate::access::tokens::key_set::{KeySetError, VerifiedToken};
use crate::access::tokens::key_watcher::KeyWatcher;
use crate::access::tokens::options::{KeySource, TokenOptions};
use crate::access::tokens::signing_key::signing;
use crate::access::tokens::verify::verify;

/// Issues tokens and verifies them.
pub(crate) struct Tokens {
    options: TokenOptions,
    keys: KeyWatcher,
    /// Returns the time since 1970.
    clock: fn() -> Duration,
}

/// A new token.
#[derive(Clone)]
pub(crate) struct IssuedToken {
    /// The token's text.
    pub(crate) token: String,
    /// Its `jti` claim, which identifies it in the audit trail without disclosing it.
    pub(crate) token_id: String,
    /// How long it is valid.
    pub(crate) expires_in: Duration,
}

impl Tokens {
    /// Fails if the external issuer's keys cannot be read. Creates none.
    pub(crate) fn check(options: &TokenOptions) -> Result<(), TokenError> {
        options.external.as_ref().map(ExternalIssuer::read).transpose().map_err(KeySetError::from)?;
        Ok(())
    }

    /// Reads the keys, or creates one if the folder has none of the algorithm.
    pub(crate) fn open(options: TokenOptions) -> Result<Self, TokenError> {
        Self::with_clock(options, system_time)
    }

    /// Reads the keys. Fails if the folder has none of the algorithm: a key that no server uses signs tokens that none
    /// accepts.
    pub(crate) fn open_existing(options: TokenOptions) -> Result<Self, TokenError> {
        match missing_key(&options)? {
            Some(folder) => {
                let (algorithm, folder) = (options.algorithm.as_str(), absolute(folder));
                Err(TokenError::NoKeyIn { algorithm, folder })
            }
            None => Self::read(options, system_time),
        }
    }

    /// Like [`Self::open`] with another clock, which returns the time since 1970.
    fn with_clock(options: TokenOptions, clock: fn() -> Duration) -> Result<Self, TokenError> {
        if let Some(folder) = missing_key(&options)? {
            // A server that cannot read its external issuer's keys does not start, and leaves no key behind.
            Self::check(&options)?;
            key_folder::create(folder, options.algorithm).map_err(KeySetError::Own)?;
        }
        Self::read(options, clock)
    }

    fn read(options: TokenOptions, clock: fn() -> Duration) -> Result<Self, TokenError> {
        let keys = KeyWatcher::open(options.keys.clone(), options.algorithm, options.external.clone())?;
        Ok(Self { options, keys, clock })
    }

    /// Issues a token for the user. The account accepts tokens from a second on.
    pub(crate) fn issue(&self, user_id: &str, tokens_from: u64) -> Result<IssuedToken, TokenError> {
        self.issue_with_lifetime(user_id, tokens_from, self.options.lifetime)
    }

    /// Issues a token for the user that is valid for this time.
    pub(crate) fn issue_with_lifetime(
        &self,
        user_id: &str,
        tokens_from: u64,
        lifetime: Duration,
    ) -> Result<IssuedToken, TokenError> {
        let keys = self.keys.current();
        let key = signing(&keys.own, self.options.algorithm).ok_or(TokenError::NoKey)?;
        // In the second of the account's creation, or if the database's clock is ahead, the token is dated a little later. The
        // leeway is for that.
        let now = jwt::Duration::from_secs((self.clock)().as_secs().max(tokens_from));
        let mut claims = Claims::create(lifetime.into()).with_issuer(&self.options.issuer).with_subject(user_id);
        claims.issued_at = Some(now);
        claims.invalid_before = None;
        claims.expires_at = Some(now + lifetime.into());
        if let Some(audience) = &self.options.audience {
            claims = claims.with_audience(audience);
        }
        let token_id = unique_id();
        let token = key.sign(claims.with_jwt_id(&token_id)).map_err(|error| TokenError::Sign(error.into()))?;
        Ok(IssuedToken { token, token_id, expires_in: lifetime })
    }

    /// The claims of the token, if it is valid. Whether it is new enough depends on the user's account.
    pub(crate) fn verify(&self, token: &str) -> Result<VerifiedToken, BadToken> {
        let now = (self.clock)().as_secs();
        let mut keys = self.keys.current();
        if let Some(verified) = keys.cached(token) {
            return if now < verified.expires_at { Ok(verified) } else { Err(BadToken::Expired) };
        }
        let mut verified = verify(token, &keys, &self.options, now);
        if let Err(BadToken::NotAccepted(TokenFault::Key)) = verified {
            // Another server may have created the key a moment ago.
            let newer = self.keys.checked_now();
            if !Arc::ptr_eq(&keys, &newer) {
                keys = newer;
                verified = verify(token, &keys, &self.options, now);
            }
        }
        let verified = verified?;
        keys.cache(token, verified.clone());
        Ok(verified)
    }

    /// Whether the keys could be read when they were read last.
    pub(crate) fn can_read_keys(&self) -> bool {
        self.keys.is_readable()
    }

    /// Whether a key of this id is in force, by the present files of the key folder.
    pub(crate) fn accepts_key(&self, id: &str) -> bool {
        self.keys.checked_now().own_key(id).is_some()
    }

    /// The server's public keys as a JWK set (RFC 7517). Contains no secrets.
    pub(crate) fn public_keys(&self) -> Value {
        let keys = self.keys.current();
        let jwks = keys.own.iter().filter_map(|key| serde_json::from_str::<Value>(&key.public_jwk()?).ok());
        json!({ "keys": jwks.collect::<Vec<_>>() })
    }
}

/// The folder, if it has no key of the algorithm.
fn missing_key(options: &TokenOptions) -> Result<Option<&Path>, KeySetError> {
    let KeySource::Folder(folder) = &options.keys else { return Ok(None) };
    let has_key = signing(&key_folder::read(folder)?, options.algorithm).is_some();
    Ok((!has_key).then_some(folder))
}

/// The time since 1970.
fn system_time() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
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
        ECDSAP256KeyPairLike, ES256KeyPair, Ed25519KeyPair, Ed25519PublicKey, EdDSAKeyPairLike, HS256Key, MACLike,
    };

    use jwt_simple::token::Token;

    use super::*;
    use crate::access::tokens::options::ExternalIssuerOptions;
    use crate::access::tokens::signing_key::{Algorithm, KeyError};

    /// A folder, which is removed at the test's end.
    struct Folder(PathBuf);

    impl Tokens {
        /// The user that the token was issued for.
        fn user(&self, token: &str) -> Result<Arc<str>, BadToken> {
            self.verify(token).map(|verified| verified.user_id)
        }
    }

    impl Folder {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("orderql-token-{}-{name}", process::id()));
            fs::create_dir_all(&path).unwrap();
            Self(path)
        }

        fn keys(&self) -> PathBuf {
            self.0.join("keys")
        }

        fn options(&self) -> TokenOptions {
            TokenOptions {
                issuer: "orderql".into(),
                audience: None,
                lifetime: Duration::from_hours(1),
                leeway: Duration::from_secs(5),
                algorithm: Algorithm::EdDsa,
                keys: KeySource::Folder(self.keys()),
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
    fn servers_that_share_a_key_accept_each_others_tokens() {
        let folder = Folder::new("shared");
        let (one, other) = (Tokens::open(folder.options()).unwrap(), Tokens::open(folder.options()).unwrap());
        let token = one.issue("demo", 0).unwrap().token;
        assert_eq!(other.user(&token).as_deref(), Ok("demo"));
        assert_eq!(other.user(&token).as_deref(), Ok("demo"));
        assert_ne!(token, one.issue("demo", 0).unwrap().token);
    }

    #[test]
    fn only_their_owner_may_read_keys_and_no_draft_is_left() {
        let folder = Folder::new("mode");
        Tokens::open(folder.options()).unwrap();
        let mode = |path: &PathBuf| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&folder.keys()), 0o700);
        let files: Vec<_> = fs::read_dir(folder.keys()).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert_eq!(files.len(), 1);
        assert_eq!(mode(&files[0]), 0o600);
    }

    #[test]
    fn keys_are_created_and_retired_while_tokens_are_verified() {
        let folder = Folder::new("rotation");
        let tokens = Tokens::open(folder.options()).unwrap();
        let first = tokens.issue("demo", 0).unwrap().token;
        tokens.user(&first).unwrap();
        for _ in 0..20 {
            let before = key_folder::read(&folder.keys()).unwrap();
            key_folder::create(&folder.keys(), Algorithm::EdDsa).unwrap();
            // Another server signs with it before this one has checked the folder.
            let theirs = Tokens::open(folder.options()).unwrap().issue("demo", 0).unwrap().token;
            assert_eq!(tokens.user(&theirs).as_deref(), Ok("demo"));
            assert_eq!(tokens.user(&first).as_deref(), Ok("demo"));
            assert_eq!(key_folder::read(&folder.keys()).unwrap().len(), before.len() + 1);
        }
        let all = key_folder::read(&folder.keys()).unwrap();
        let signs = signing(&all, Algorithm::EdDsa).unwrap().id();
        assert!(matches!(key_folder::retire(&folder.keys(), signs, Algorithm::EdDsa), Err(KeyError::Signs(_))));
        assert!(matches!(key_folder::retire(&folder.keys(), "x", Algorithm::EdDsa), Err(KeyError::Unknown { .. })));
        key_folder::retire(&folder.keys(), all[0].id(), Algorithm::EdDsa).unwrap();
        // It is in the cache until the next check of the folder.
        while tokens.user(&first).is_ok() {}
        assert_eq!(tokens.user(&first), Err(BadToken::NotAccepted(TokenFault::Key)));
        assert_eq!(tokens.public_keys()["keys"].as_array().unwrap().len(), 20);
    }

    #[test]
    fn secrets_sign_with_hs256_and_are_never_published() {
        let folder = Folder::new("secret");
        let ed25519 = Tokens::open(folder.options()).unwrap();
        let before = ed25519.issue("demo", 0).unwrap().token;
        let options = TokenOptions { algorithm: Algorithm::Hs256, ..folder.options() };
        let tokens = Tokens::open(options).unwrap();
        let token = tokens.issue("demo", 0).unwrap().token;
        assert_eq!(Token::decode_metadata(&token).unwrap().algorithm(), "HS256");
        assert_eq!(tokens.user(&token).as_deref(), Ok("demo"));
        assert_eq!(tokens.public_keys(), json!({"keys": []}));
        for (tokens, other) in [(tokens, before), (ed25519, token)] {
            assert_eq!(
                tokens.user(&other),
                Err(BadToken::NotAccepted(TokenFault::Key)),
                "another algorithm than the configured one"
            );
        }
    }

    #[test]
    fn keys_in_a_text_need_no_folder() {
        let folder = Folder::new("given");
        let [old, new] = [(); 2].map(|()| Ed25519KeyPair::generate().to_pem());
        let open = |text: String, algorithm| {
            Tokens::open(TokenOptions { keys: KeySource::Text(text), algorithm, ..folder.options() })
        };
        let token = open(old.clone(), Algorithm::EdDsa).unwrap().issue("demo", 0).unwrap().token;
        let both = open(format!("{new}\n{old}"), Algorithm::EdDsa).unwrap();
        assert_eq!(both.user(&token).as_deref(), Ok("demo"));
        let newer = both.issue("demo", 0).unwrap().token;
        assert_eq!(open(new, Algorithm::EdDsa).unwrap().user(&newer).as_deref(), Ok("demo"));
        assert!(open(old, Algorithm::EdDsa).unwrap().user(&newer).is_err());
        let secret = "0123456789abcdef0123456789abcdef0123456789A".to_owned();
        let tokens = open(secret, Algorithm::Hs256).unwrap();
        assert!(tokens.user(&tokens.issue("demo", 0).unwrap().token).is_ok());
        for wrong in ["", "nonsense", "-----BEGIN PRIVATE KEY-----"] {
            for algorithm in [Algorithm::EdDsa, Algorithm::Hs256] {
                let error = open(wrong.to_owned(), algorithm).unwrap_err().to_string();
                assert!(error.starts_with("the signing key that was given is not"), "{error}");
            }
        }
        assert!(!folder.keys().exists());
    }

    #[test]
    fn tokens_of_an_external_issuer_are_accepted() {
        let folder = Folder::new("external");
        let file = folder.0.join("jwks.json");
        let (key, other) = (ES256KeyPair::generate().with_key_id("one"), ES256KeyPair::generate().with_key_id("two"));
        let store = |key: &ES256KeyPair| {
            let jwk: Value = serde_json::from_str(&key.public_key().to_jwk()).unwrap();
            // A key of an unknown type is ignored.
            fs::write(&file, json!({"keys": [{"kty": "new"}, jwk]}).to_string()).unwrap();
        };
        store(&key);
        let external = ExternalIssuerOptions {
            jwks_file: file.clone(),
            issuer: "https://id.example".into(),
            audience: "orderql".into(),
            user_claim: "login".into(),
        };
        let tokens = Tokens::open(TokenOptions { external: Some(external), ..folder.options() }).unwrap();
        let sign = |key: &ES256KeyPair, issuer: &str, audience: &str, login: Value| {
            let claims = Claims::with_custom_claims(json!({ "login": login }), jwt::Duration::from_hours(1));
            key.sign(claims.with_issuer(issuer).with_audience(audience).with_subject("subject")).unwrap()
        };
        let good = sign(&key, "https://id.example", "orderql", json!("demo"));
        assert_eq!(tokens.user(&good).as_deref(), Ok("demo"));
        for (bad, fault) in [
            (sign(&key, "orderql", "orderql", json!("demo")), TokenFault::Issuer),
            (sign(&key, "https://id.example", "others", json!("demo")), TokenFault::Audience),
            (sign(&key, "https://id.example", "orderql", json!(7)), TokenFault::User),
            (sign(&other, "https://id.example", "orderql", json!("demo")), TokenFault::Key),
        ] {
            assert_eq!(tokens.user(&bad), Err(BadToken::NotAccepted(fault)));
        }
        assert_eq!(
            tokens.user(&tokens.issue("demo", 0).unwrap().token).as_deref(),
            Ok("demo"),
            "the server's own tokens are accepted, too"
        );
        assert_eq!(
            tokens.public_keys()["keys"].as_array().unwrap().len(),
            1,
            "only the server's own keys are published"
        );
        // The issuer replaces its key.
        store(&other);
        while tokens.user(&good).is_ok() {}
        assert!(tokens.user(&sign(&other, "https://id.example", "orderql", json!("demo"))).is_ok());
    }

    #[test]
    fn a_token_that_names_no_key_is_tried_with_each() {
        let folder = Folder::new("nameless");
        let file = folder.0.join("jwks.json");
        let (one, other) = (ES256KeyPair::generate(), ES256KeyPair::generate());
        let mut third = Ed25519KeyPair::generate();
        let jwks = [one.public_key().to_jwk(), other.public_key().to_jwk(), third.public_key().to_jwk()];
        let jwks = jwks.map(|jwk| serde_json::from_str::<Value>(&jwk).unwrap());
        fs::write(&file, json!({ "keys": jwks }).to_string()).unwrap();
        let external = ExternalIssuerOptions {
            jwks_file: file,
            issuer: "https://id.example".into(),
            audience: "orderql".into(),
            user_claim: "sub".into(),
        };
        let tokens = Tokens::open(TokenOptions { external: Some(external), ..folder.options() }).unwrap();
        let claims = |audience: &str| {
            let claims = Claims::create(jwt::Duration::from_hours(1)).with_issuer("https://id.example");
            claims.with_audience(audience).with_subject("demo")
        };
        for token in [one.sign(claims("orderql")), other.sign(claims("orderql")), third.sign(claims("orderql"))] {
            let token = token.unwrap();
            assert_eq!(Token::decode_metadata(&token).unwrap().key_id(), None);
            assert_eq!(tokens.user(&token).as_deref(), Ok("demo"));
        }
        let secret = HS256Key::generate();
        let mut expired = claims("orderql");
        expired.expires_at = Some(jwt::Duration::from_secs(1));
        for (bad, reason) in [
            (one.sign(claims("others")).unwrap(), BadToken::NotAccepted(TokenFault::Audience)),
            (other.sign(expired).unwrap(), BadToken::Expired),
            (ES256KeyPair::generate().sign(claims("orderql")).unwrap(), BadToken::NotAccepted(TokenFault::Signature)),
            (secret.authenticate(claims("orderql")).unwrap(), BadToken::NotAccepted(TokenFault::Algorithm)),
        ] {
            assert_eq!(tokens.user(&bad), Err(reason));
        }
        third = third.with_key_id("other");
        let named = third.sign(claims("orderql")).unwrap();
        assert_eq!(tokens.user(&named), Err(BadToken::NotAccepted(TokenFault::Key)));
    }

    #[test]
    fn rejects_another_key_issuer_audience_or_algorithm() {
        let (folder, elsewhere) = (Folder::new("ours"), Folder::new("theirs"));
        let ours = Tokens::open(folder.options()).unwrap();
        let rejects = |token: &str| assert!(matches!(ours.user(token), Err(BadToken::NotAccepted(_))), "{token}");
        rejects(&Tokens::open(elsewhere.options()).unwrap().issue("demo", 0).unwrap().token);
        rejects(
            &Tokens::open(TokenOptions { issuer: "other".into(), ..folder.options() })
                .unwrap()
                .issue("demo", 0)
                .unwrap()
                .token,
        );
        // {"alg":"none","typ":"JWT"}, and HS256 with the public key as its secret.
        rejects("eyJhbGciOiJub25lIiwidHlwIjoiSldUIn0.eyJpc3MiOiJvcmRlcnFsIiwic3ViIjoiZGVtbyIsImV4cCI6OTk5OTk5OTk5OX0.");
        let claims = Claims::create(jwt::Duration::from_hours(1)).with_issuer("orderql").with_subject("demo");
        let jwk = ours.public_keys()["keys"][0].clone();
        let public = Ed25519PublicKey::from_jwk(&jwk.to_string()).unwrap();
        for secret in [public.to_bytes(), public.to_pem().into_bytes(), jwk["x"].as_str().unwrap().into()] {
            let confused = HS256Key::from_bytes(&secret).with_key_id(jwk["kid"].as_str().unwrap());
            rejects(&confused.authenticate(claims.clone()).unwrap());
        }
        for garbage in ["", ".", "..", "a.b.c", "\u{0}", "eyJhbGciOiJFZERTQSJ9..", &"x".repeat(100_000)] {
            rejects(garbage);
        }

        let audience = TokenOptions { audience: Some("store".into()), ..folder.options() };
        let tokens = Tokens::open(audience).unwrap();
        let elsewhere = Err(BadToken::NotAccepted(TokenFault::Audience));
        assert_eq!(tokens.user(&ours.issue("demo", 0).unwrap().token), elsewhere);
        assert_eq!(tokens.user(&tokens.issue("demo", 0).unwrap().token).as_deref(), Ok("demo"));
    }

    #[test]
    fn rejects_an_altered_token() {
        let folder = Folder::new("altered");
        let tokens = Tokens::open(folder.options()).unwrap();
        let token = tokens.issue("demo", 0).unwrap().token;
        tokens.user(&token).unwrap();
        for index in 0..token.len() - 1 {
            let mut altered = token.clone().into_bytes();
            altered[index] = if altered[index] == b'A' { b'B' } else { b'A' };
            assert!(tokens.user(&String::from_utf8(altered).unwrap()).is_err(), "at {index}");
        }
    }

    #[test]
    fn rejects_a_token_without_subject_or_expiry() {
        let folder = Folder::new("claims");
        let tokens = Tokens::open(folder.options()).unwrap();
        let own = key_folder::read(&folder.keys()).unwrap();
        let sign = |claims| own[0].sign(claims);
        let mut without_expiry =
            Claims::create(jwt::Duration::from_hours(1)).with_issuer("orderql").with_subject("demo");
        without_expiry.expires_at = None;
        assert_eq!(tokens.user(&sign(without_expiry).unwrap()), Err(BadToken::NotAccepted(TokenFault::Expiry)));
        let without_subject = Claims::create(jwt::Duration::from_hours(1)).with_issuer("orderql");
        assert_eq!(tokens.user(&sign(without_subject).unwrap()), Err(BadToken::NotAccepted(TokenFault::User)));
    }

    #[test]
    fn a_token_expires_on_the_second_cached_or_not() {
        static NOW: AtomicU64 = AtomicU64::new(1_800_000_000);
        let folder = Folder::new("clock");
        let clock = || Duration::from_secs(NOW.load(Ordering::SeqCst));
        let (tokens, fresh) = (
            Tokens::with_clock(folder.options(), clock).unwrap(),
            Tokens::with_clock(folder.options(), clock).unwrap(),
        );
        let token = tokens.issue("demo", 0).unwrap().token;
        NOW.fetch_add(3599, Ordering::SeqCst);
        assert_eq!(tokens.user(&token).as_deref(), Ok("demo"));
        NOW.fetch_add(1, Ordering::SeqCst);
        assert_eq!(tokens.user(&token), Err(BadToken::Expired));
        assert_eq!(fresh.user(&token), Err(BadToken::Expired));
        NOW.fetch_add(60, Ordering::SeqCst);
        assert_eq!(fresh.user(&token), Err(BadToken::Expired));
    }

    #[test]
    fn a_token_is_dated_no_earlier_than_its_account_accepts_tokens() {
        let folder = Folder::new("dated");
        let tokens = Tokens::with_clock(folder.options(), || Duration::from_hours(500_000)).unwrap();
        for (tokens_from, issued_at) in
            [(0, 1_800_000_000), (1_800_000_000, 1_800_000_000), (1_800_000_003, 1_800_000_003)]
        {
            let token = tokens.issue("demo", tokens_from).unwrap().token;
            assert_eq!(tokens.verify(&token).unwrap().issued_at, issued_at);
        }
    }

    #[test]
    fn an_unreadable_key_file_is_named() {
        let folder = Folder::new("nokey");
        fs::create_dir_all(folder.keys()).unwrap();
        fs::write(folder.keys().join("notes.txt"), "hello").unwrap();
        Tokens::open(folder.options()).unwrap();
        fs::write(folder.keys().join("mine.pem"), "hello").unwrap();
        fs::set_permissions(folder.keys().join("mine.pem"), fs::Permissions::from_mode(0o600)).unwrap();
        let error = Tokens::open(folder.options()).unwrap_err().to_string();
        assert!(error.contains("mine.pem is not an Ed25519 private key"), "{error}");
    }

    #[test]
    fn accepts_a_token_from_a_clock_ahead_within_the_leeway() {
        static NOW: AtomicU64 = AtomicU64::new(1_800_000_000);
        let folder = Folder::new("ahead");
        let clock = || Duration::from_secs(NOW.load(Ordering::SeqCst));
        let tokens = Tokens::with_clock(folder.options(), clock).unwrap();
        let own = key_folder::read(&folder.keys()).unwrap();
        let ahead = |issued: u64, begins: u64| {
            let mut claims = Claims::create(jwt::Duration::from_hours(1)).with_issuer("orderql").with_subject("demo");
            claims.issued_at = Some(jwt::Duration::from_secs(1_800_000_000 + issued));
            claims.invalid_before = Some(jwt::Duration::from_secs(1_800_000_000 + begins));
            claims.expires_at = Some(jwt::Duration::from_secs(1_800_010_000));
            tokens.user(&own[0].sign(claims).unwrap()).map(drop)
        };
        assert_eq!(ahead(5, 5), Ok(()));
        assert_eq!(ahead(6, 0), Err(BadToken::NotYet));
        assert_eq!(ahead(0, 6), Err(BadToken::NotYet));
    }
}
