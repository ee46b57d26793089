//! Tokens over HTTP: every fault gets its answer, keys come and go under load, and what an operator changes counts at once.

use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};
use std::{fs, thread};

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use jwt_simple::algorithms::{
    Ed25519KeyPair, Ed25519PublicKey, EdDSAKeyPairLike, EdDSAPublicKeyLike, HS256Key, MACLike,
};
use jwt_simple::claims::{Claims, JWTClaims, NoCustomClaims};
use jwt_simple::prelude as jwt;
use orderql::access::accounts::{Profile, User, ensure_user};
use orderql::access::password::Passwords;
use serde_json::{Value, json};

use crate::support::database::{Database, fresh_database};
use crate::support::server::{Answer, Server, connection_string};

const QUERY: &str = r#"{"query":"{ order(orderId: \"NONE\") { orderName } }"}"#;

/// A fresh database with `demo`, who may do everything.
async fn database() -> Database {
    let database = fresh_database().await;
    let profile = Profile { bucket_size: Some(1_000_000), ..Profile::DEFAULT };
    let user = User { user_id: "demo", password: "demo", groups: &["API"], profile };
    ensure_user(&mut database.connect().await, &Passwords::new(1).unwrap(), &user).await.unwrap();
    database
}

/// Asks with these `Authorization` headers.
fn ask_with(server: &Server, authorizations: &[&str]) -> Answer {
    let headers = authorizations.iter().map(|value| format!("Authorization: {value}\r\n")).collect::<Vec<_>>().concat();
    let request = format!(
        "POST /rest/s1/graphql HTTP/1.1\r\nHost: a\r\n{headers}Content-Type: application/json\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n{QUERY}",
        QUERY.len()
    );
    let mut answers = server.exchange(request);
    assert_eq!(answers.len(), 1, "{answers:?}");
    answers.remove(0)
}

fn ask(server: &Server, token: &str) -> Answer {
    ask_with(server, &[&format!("Bearer {token}")])
}

/// The server's signing key, with its id.
fn key_of(server: &Server) -> (String, Ed25519KeyPair) {
    let files: Vec<_> = fs::read_dir(server.folder.join("keys")).unwrap().map(|file| file.unwrap().path()).collect();
    let [file] = files.as_slice() else { panic!("{files:?}") };
    let id = file.file_stem().unwrap().to_str().unwrap().to_owned();
    let key = Ed25519KeyPair::from_pem(&fs::read_to_string(file).unwrap()).unwrap().with_key_id(&id);
    (id, key)
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()
}

/// Claims of a good token, to be spoilt.
fn claims() -> JWTClaims<NoCustomClaims> {
    let mut claims = Claims::create(jwt::Duration::from_hours(1)).with_issuer("orderql").with_subject("demo");
    claims.issued_at = Some(jwt::Duration::from_secs(now()));
    claims.invalid_before = None;
    claims.expires_at = Some(jwt::Duration::from_secs(now() + 3600));
    claims.with_audience("store")
}

/// Runs a command on the server's keys.
fn orderql(folder: &Path, database: &Database, arguments: &str) -> (bool, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_orderql"))
        .args(arguments.split(' '))
        .env("ORDERQL_KEY_FOLDER", folder.join("keys"))
        .env("ORDERQL_DATABASE_URL", connection_string(&database.config()))
        .env("SUDO_USER", "ann")
        .output()
        .unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.success(), text(output.stdout), text(output.stderr))
}

#[tokio::test(flavor = "multi_thread")]
async fn every_faulty_token_is_refused_as_the_standard_says() {
    let database = database().await;
    let server = Server::start(&database, &["--audience", "store"]);
    let (id, key) = key_of(&server);
    let good = server.token("demo");
    assert_eq!(ask(&server, &good).status, 200);
    assert_eq!(ask(&server, &key.sign(claims()).unwrap()).status, 200, "the claims are good until they are spoilt");

    let spoilt = |spoil: fn(&mut JWTClaims<NoCustomClaims>)| {
        let mut claims = claims();
        spoil(&mut claims);
        key.sign(claims).unwrap()
    };
    let public = key.public_key();
    let confused = |secret: &[u8]| HS256Key::from_bytes(secret).with_key_id(&id).authenticate(claims()).unwrap();
    let body = good.split('.').nth(1).unwrap();
    let none = |alg: &str| {
        let head = BASE64_URL_SAFE_NO_PAD.encode(json!({"alg": alg, "typ": "JWT", "kid": id}).to_string());
        format!("{head}.{body}.")
    };
    let foreign = Ed25519KeyPair::generate();
    let swapped = {
        let parts: Vec<_> = good.split('.').collect();
        let other = spoilt(|claims| claims.subject = Some("root".into()));
        format!("{}.{}.{}", parts[0], other.split('.').nth(1).unwrap(), parts[2])
    };
    for (fault, token, told) in [
        ("expired", spoilt(|c| c.expires_at = Some(jwt::Duration::from_secs(now()))), "the token has expired"),
        ("long expired", spoilt(|c| c.expires_at = Some(jwt::Duration::from_secs(1))), "the token has expired"),
        ("not yet", spoilt(|c| c.invalid_before = Some(jwt::Duration::from_secs(now() + 60))), "not valid yet"),
        ("made later", spoilt(|c| c.issued_at = Some(jwt::Duration::from_secs(now() + 60))), "not valid yet"),
        ("endless", spoilt(|c| c.expires_at = None), "not one of this service's"),
        ("nobody's", spoilt(|c| c.subject = None), "not one of this service's"),
        ("wrong issuer", spoilt(|c| c.issuer = Some("other".into())), "not one of this service's"),
        ("no issuer", spoilt(|c| c.issuer = None), "not one of this service's"),
        ("no audience", spoilt(|c| c.audiences = None), "not one of this service's"),
        ("wrong audience", key.sign(claims().with_audience("others")).unwrap(), "not one of this service's"),
        ("wrong key", foreign.clone().with_key_id(&id).sign(claims()).unwrap(), "not one of this service's"),
        ("unknown key", foreign.clone().with_key_id("other").sign(claims()).unwrap(), "not one of this service's"),
        ("no key named", foreign.sign(claims()).unwrap(), "not one of this service's"),
        ("a path for a key", foreign.clone().with_key_id("../keys/x").sign(claims()).unwrap(), "not one of"),
        ("alg none", none("none"), "not one of this service's"),
        ("alg None", none("None"), "not one of this service's"),
        ("alg HS256 without a signature", none("HS256"), "not one of this service's"),
        ("HS256 with the public key", confused(&public.to_bytes()), "not one of this service's"),
        ("HS256 with the public key in PEM", confused(public.to_pem().as_bytes()), "not one of this service's"),
        ("HS256 with the public key in DER", confused(&public.to_der()), "not one of this service's"),
        ("other claims", swapped, "not one of this service's"),
        ("truncated", good[..good.len() - 5].to_owned(), "not one of this service's"),
        ("without its signature", good.rsplit_once('.').unwrap().0.to_owned(), "not one of this service's"),
        ("too long", format!("{good}{}", "A".repeat(10_000)), "not one of this service's"),
        ("an unknown user's", spoilt(|c| c.subject = Some("nobody".into())), "account is closed"),
    ] {
        let answer = ask(&server, &token);
        assert_eq!((answer.status, answer.code().as_str()), (401, "UNAUTHENTICATED"), "{fault}: {answer:?}");
        let challenge = answer.header("www-authenticate").unwrap();
        assert!(challenge.starts_with("Bearer realm=\"orderql\", error=\"invalid_token\", "), "{fault}: {challenge}");
        assert!(challenge.contains(told), "{fault}: {challenge}");
        assert!(answer.json()["errors"][0]["message"].as_str().unwrap().contains(told), "{fault}");
        assert_eq!(answer.json()["data"], Value::Null);
    }
    let log = server.stop();
    assert!(!log.contains(&good), "{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn headers_that_hold_no_token_are_refused_as_the_standard_says() {
    let database = database().await;
    let server = Server::start(&database, &[]);
    let good = server.token("demo");
    let bearer = format!("Bearer {good}");
    for scheme in ["bearer", "BEARER", "Bearer "] {
        assert_eq!(ask_with(&server, &[&format!("{scheme} {good}")]).status, 200, "{scheme}");
    }
    let nothing = ask_with(&server, &[]);
    assert_eq!((nothing.status, nothing.header("www-authenticate")), (401, Some("Bearer realm=\"orderql\"")));
    for headers in
        [&[bearer.as_str(), &bearer][..], &[&bearer, "Basic ZGVtbzpkZW1v"], &["Bearer"], &[&good], &["Basic x"]]
    {
        let answer = ask_with(&server, headers);
        assert_eq!((answer.status, answer.code().as_str()), (401, "UNAUTHENTICATED"), "{headers:?}");
        let challenge = answer.header("www-authenticate").unwrap();
        assert!(challenge.contains("error=\"invalid_request\""), "{headers:?}: {challenge}");
    }
    // A head of this size is refused before anything in it is read.
    let answer = ask(&server, &"x".repeat(100_000));
    assert_eq!(answer.status, 431);
    assert_eq!(ask(&server, &good).status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_published_keys_verify_tokens_and_follow_rotation() {
    let database = database().await;
    let server = Server::start(&database, &[]);
    let verifies = |token: &str, keys: &Value| {
        let keys = keys["keys"].as_array().unwrap();
        let verified = |key: &&Value| {
            assert!(key.get("d").is_none(), "{key}");
            let public = Ed25519PublicKey::from_jwk(&key.to_string()).unwrap();
            public.verify_token::<NoCustomClaims>(token, None).is_ok()
        };
        keys.iter().filter(verified).count()
    };
    let published = || {
        let answer = server.get("/.well-known/jwks.json");
        assert_eq!((answer.status, answer.header("cache-control")), (200, Some("public, max-age=60")));
        answer.json()
    };
    let first = server.token("demo");
    assert_eq!(verifies(&first, &published()), 1);
    assert_eq!(published()["keys"][0]["kid"], key_of(&server).0);
    let run = |arguments: &str| orderql(&server.folder, &database, arguments);
    let (rotated, out, _) = run("keys rotate --json");
    assert!(rotated);
    let new = serde_json::from_str::<Value>(&out).unwrap()["key"].as_str().unwrap().to_owned();
    while published()["keys"].as_array().unwrap().len() == 1 {}
    let second = server.token("demo");
    assert_eq!((verifies(&first, &published()), verifies(&second, &published())), (1, 1));
    assert!(published()["keys"].as_array().unwrap().iter().any(|key| key["kid"] == new));
}

#[tokio::test(flavor = "multi_thread")]
async fn tokens_are_minted_on_the_command_line_and_keys_ruled() {
    let database = database().await;
    let server = Server::start(&database, &[]);
    let run = |arguments: &str| orderql(&server.folder, &database, arguments);
    let (made, token, _) = run("token demo --lifetime 30d");
    assert!(made);
    assert_eq!(ask(&server, token.trim()).status, 200);
    let claims = token.split('.').nth(1).unwrap();
    let claims: Value = serde_json::from_slice(&BASE64_URL_SAFE_NO_PAD.decode(claims).unwrap()).unwrap();
    assert_eq!(claims["exp"].as_u64().unwrap() - claims["iat"].as_u64().unwrap(), 30 * 24 * 60 * 60);
    let (_, out, _) = run("token demo --json");
    let out: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((&out["token_type"], &out["expires_in"]), (&json!("Bearer"), &json!(3600)));
    let (_, events, _) = run("audit --json");
    let events: Value = serde_json::from_str(&events).unwrap();
    let expected = json!({"tokenId": claims["jti"], "seconds": 2_592_000});
    assert_eq!((&events[0]["action"], &events[0]["details"]), (&json!("token.minted"), &expected));
    assert_eq!((&events[0]["subject"], &events[0]["actor"]), (&json!("demo"), &json!("cli:ann")));
    assert!(run("token dmeo").2.contains("there is no user `dmeo`; did you mean `demo`?"));
    assert!(run("user disable demo").0);
    assert!(run("token demo").2.contains("demo is disabled"));

    let old = key_of(&server).0;
    assert!(run(&format!("keys retire {old}")).2.contains("is the key that signs"));
    assert!(run("keys retire nothing").2.contains("there is no key `nothing`"));
    let (_, told, _) = run("keys rotate");
    assert!(told.ends_with(" signs from now on\n"), "{told}");
    let (_, listed, _) = run("keys list --json");
    let listed: Value = serde_json::from_str(&listed).unwrap();
    assert_eq!((&listed[0]["key"], &listed[0]["signs"]), (&json!(old), &json!(false)));
    assert_eq!((&listed[1]["algorithm"], &listed[1]["signs"]), (&json!("EdDSA"), &json!(true)));
    assert_eq!(run(&format!("keys retire {old}")).1, format!("{old} is retired\n"));
    while ask(&server, token.trim()).header("www-authenticate").unwrap().contains("account is closed") {}
    assert!(run("user enable demo").0);
    assert_eq!(ask(&server, token.trim()).status, 401, "its key is gone");
    let output =
        Command::new(env!("CARGO_BIN_EXE_orderql")).args(["keys", "list"]).env("ORDERQL_SIGNING_KEY", "x").output();
    assert!(String::from_utf8(output.unwrap().stderr).unwrap().contains("given by the setting signing-key"));
}

/// What clients saw while an operator worked.
#[derive(Default)]
struct Seen {
    served: AtomicU64,
    wrong: AtomicU64,
    stop: AtomicBool,
}

#[tokio::test(flavor = "multi_thread")]
async fn what_an_operator_does_under_load_costs_nobody_an_answer() {
    let database = database().await;
    let passwords = Passwords::new(1).unwrap();
    let user = User { user_id: "ann", password: "ann", groups: &["API"], profile: Profile::DEFAULT };
    ensure_user(&mut database.connect().await, &passwords, &user).await.unwrap();
    let server = Server::start(&database, &["--restore-rate", "1000000"]);
    let other = Server::start(&database, &["--key-folder", server.folder.join("keys").to_str().unwrap()]);
    let run = |arguments: &str| {
        let (succeeded, out, error) = orderql(&server.folder, &database, arguments);
        assert!(succeeded, "{arguments}: {error}");
        out
    };
    let ann = server.token("ann");
    let seen = Seen::default();
    thread::scope(|scope| {
        for worker in 0..3 {
            let (server, other, seen) = (&server, &other, &seen);
            scope.spawn(move || {
                // One asks with a token of its first minute, the others with new ones, signed by either server.
                let mut token = server.token("demo");
                let mut asked = 0;
                while !seen.stop.load(Ordering::SeqCst) {
                    if worker > 0 && asked % 5 == 0 {
                        token = if asked % 2 == 0 { server.token("demo") } else { other.token("demo") };
                    }
                    asked += 1;
                    let answers = [ask(server, &token), ask(other, &token)];
                    let good = answers.iter().all(|answer| answer.status == 200 && answer.json()["errors"].is_null());
                    if good { &seen.served } else { &seen.wrong }.fetch_add(1, Ordering::SeqCst);
                }
            });
        }
        let meanwhile = || {
            let before = seen.served.load(Ordering::SeqCst);
            while seen.served.load(Ordering::SeqCst) < before + 10 && seen.wrong.load(Ordering::SeqCst) == 0 {
                thread::yield_now();
            }
        };
        meanwhile();
        for _ in 0..5 {
            run("keys rotate");
            meanwhile();
        }
        // Ann is worked on, and the others notice nothing.
        assert_eq!(ask(&server, &ann).status, 200);
        run("profile set ann --max-cost 1");
        while ask(&server, &ann).code() != "COST_EXCEEDED" {}
        run("profile unset ann");
        while ask(&server, &ann).code() == "COST_EXCEEDED" {}
        run("user disable ann");
        while ask(&server, &ann).status != 401 {}
        run("user enable ann");
        while ask(&server, &ann).status == 401 {}
        run("group leave API ann");
        while ask(&server, &ann).status != 403 {}
        run("group join API ann");
        while ask(&server, &ann).status == 403 {}
        assert_eq!(ask(&server, &ann).status, 200);
        meanwhile();
        seen.stop.store(true, Ordering::SeqCst);
    });
    assert_eq!(seen.wrong.load(Ordering::SeqCst), 0);
    assert!(seen.served.load(Ordering::SeqCst) >= 70);

    // Every key but the last is retired, and with them what they signed.
    let listed: Value = serde_json::from_str(&run("keys list --json")).unwrap();
    let last = server.token("demo");
    for key in listed.as_array().unwrap().iter().filter(|key| key["signs"] == false) {
        run(&format!("keys retire {}", key["key"].as_str().unwrap()));
    }
    while ask(&server, &ann).status != 401 {}
    while ask(&other, &ann).status != 401 {}
    assert_eq!((ask(&server, &last).status, ask(&other, &last).status), (200, 200));
}
