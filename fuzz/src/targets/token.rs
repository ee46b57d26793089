//! `token`: the first byte chooses what the rest is:
//!
//! - a token: it is accepted only if its signature is the one that the key makes for its header and claims.
//! - a header and claims, separated by a NUL character, which are signed with the server's key: the token is accepted only for
//!   what they say, and what is changed in it, or signed with what is public, is rejected.
//! - the JWK set of an external issuer: none of its keys verifies a token that uses it as a secret.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use ed25519_compact::{KeyPair, Seed};
use orderql::fuzzing::token::{EXTERNAL, ISSUER, LEEWAY, Verifier};
use serde_json::{Value, json};

use crate::support::allocation::{Allowance, within};
use crate::support::input::{choice, texts};

const ALLOWANCE: Allowance = Allowance { per_byte: 500, constant: 200_000 };
/// The moment at which tokens are verified.
const NOW: u64 = 1_800_000_000;
const SECRET: [u8; 32] = *b"a secret of thirty-two bytes....";
const SEED: [u8; 32] = [7; 32];

/// One of the server's two kinds of keys.
struct Server {
    algorithm: &'static str,
    verifier: Verifier,
    key_id: String,
}

thread_local! {
    static SERVERS: [Server; 2] = [false, true].map(|is_secret| {
        let verifier = verifier(is_secret, None).expect("the keys are valid");
        let key_id = verifier.key_ids()[0].to_owned();
        Server { algorithm: if is_secret { "HS256" } else { "EdDSA" }, verifier, key_id }
    });
}

/// Runs the target.
pub fn run(data: &[u8]) {
    let (first, rest) = choice(data);
    SERVERS.with(|servers| match first % 3 {
        0 => servers.iter().for_each(|server| check_token(server, rest)),
        1 => servers.iter().for_each(|server| check_claims(server, rest)),
        _ => check_set(rest),
    });
}

fn verifier(is_secret: bool, jwks: Option<&[u8]>) -> Option<Verifier> {
    let own = if is_secret {
        URL_SAFE_NO_PAD.encode(SECRET)
    } else {
        // PKCS #8, as openssl writes it.
        let prefix = [0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20];
        let key = STANDARD.encode([&prefix[..], &SEED].concat());
        format!("-----BEGIN PRIVATE KEY-----\n{key}\n-----END PRIVATE KEY-----\n")
    };
    Verifier::new(is_secret, &own, jwks)
}

/// The signature that the server's key makes.
fn signature(algorithm: &str, message: &[u8]) -> Vec<u8> {
    if algorithm == "HS256" {
        hmac_sha256::HMAC::mac(message, SECRET).to_vec()
    } else {
        KeyPair::from_seed(Seed::new(SEED)).sk.sign(message, None).to_vec()
    }
}

fn check_token(server: &Server, data: &[u8]) {
    let Ok(token) = str::from_utf8(data) else { return };
    let verified = within(ALLOWANCE, token.len(), || server.verifier.verify(token, NOW));
    if verified.is_some() {
        let (message, found) = token.rsplit_once('.').expect("a token has three parts");
        let expected = URL_SAFE_NO_PAD.encode(signature(server.algorithm, message.as_bytes()));
        assert_eq!(found, expected, "a token that nobody signed is accepted");
    }
}

fn check_claims(server: &Server, data: &[u8]) {
    let Some([header, claims]) = texts(data) else { return };
    // A header is hard to guess: the name stands for the key's id.
    let header = match header {
        "" => json!({ "alg": server.algorithm, "typ": "JWT", "kid": server.key_id }).to_string(),
        header => header.replace("KEY", &server.key_id),
    };
    let message = format!("{}.{}", URL_SAFE_NO_PAD.encode(&header), URL_SAFE_NO_PAD.encode(claims));
    let token = format!("{message}.{}", URL_SAFE_NO_PAD.encode(signature(server.algorithm, message.as_bytes())));
    let verified = within(ALLOWANCE, token.len(), || server.verifier.verify(&token, NOW));
    let Some((user_id, expires_at)) = verified else { return };

    let header: Value = serde_json::from_str(&header).expect("the header of an accepted token is JSON");
    assert_eq!(header["alg"], server.algorithm);
    assert_eq!(header["kid"], server.key_id);
    let claims: Value = serde_json::from_str(claims).expect("the claims of an accepted token are JSON");
    assert_eq!(claims["iss"], ISSUER);
    assert_eq!(claims["sub"], user_id);
    assert!(expires_at > NOW && claims["exp"].as_f64().is_some_and(|seconds| seconds > number(NOW)), "{claims}");
    assert!(claims["nbf"].as_f64().is_none_or(|seconds| seconds <= number(NOW + LEEWAY + 1)), "{claims}");
    // jwt-simple has 32 bits for seconds. A clock close to their end, in 2106, is not one that a server can have.
    if expires_at + LEEWAY < u64::from(u32::MAX) {
        assert_eq!(server.verifier.verify(&token, expires_at), None, "a token is accepted after its end");
    }

    // One character at a time, a part less, and another kind of key.
    let index = data.iter().map(|byte| usize::from(*byte)).sum::<usize>() % token.len();
    let mut changed = token.clone().into_bytes();
    changed[index] = if changed[index] == b'A' { b'B' } else { b'A' };
    let changed = String::from_utf8(changed).expect("tokens are ASCII");
    let none = URL_SAFE_NO_PAD.encode(r#"{"alg":"none","typ":"JWT"}"#);
    let claims = token.split('.').nth(1).unwrap_or_default();
    for other in [&changed, &message, &format!("{message}."), &format!("{none}.{claims}."), &format!("{token} ")] {
        assert_eq!(server.verifier.verify(other, NOW), None, "{other} is accepted");
    }
}

fn check_set(data: &[u8]) {
    let Some(verifier) = verifier(false, Some(data)) else { return };
    let set: Value = serde_json::from_slice(data).expect("a JWK set is JSON");
    let keys = set["keys"].as_array().expect("a JWK set has keys");
    let claims = json!({ "iss": EXTERNAL[0], "aud": EXTERNAL[1], "sub": "eve", "exp": NOW + 60 }).to_string();
    for key in keys.iter().take(4) {
        let header = |algorithm: &str| json!({ "alg": algorithm, "typ": "JWT", "kid": key["kid"] }).to_string();
        for name in ["x", "y", "n", "e", "kid"] {
            let Some(secret) = key[name].as_str() else { continue };
            let bytes = URL_SAFE_NO_PAD.decode(secret).unwrap_or_default();
            for secret in [secret.as_bytes(), &bytes] {
                for algorithm in ["HS256", "EdDSA", "ES256", "RS256"] {
                    let message =
                        [header(algorithm), claims.clone()].map(|part| URL_SAFE_NO_PAD.encode(part)).join(".");
                    let signature = URL_SAFE_NO_PAD.encode(hmac_sha256::HMAC::mac(message.as_bytes(), secret));
                    let token = format!("{message}.{signature}");
                    assert_eq!(verifier.verify(&token, NOW), None, "a public key is a secret");
                }
            }
        }
    }
}

/// A time as JSON numbers are read.
fn number(time: u64) -> f64 {
    f64::from(u32::try_from(time).expect("the times of this target are before 2106"))
}
