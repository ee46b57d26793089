//! Tokens: invalid ones, the published keys, rotation of keys, and changes by the operator under load.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
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
use orderql::access::profile::Profile;
use serde_json::{Value, json};

use crate::support::command::{self, orderql_on, run};
use crate::support::database::{Database, migrated_database};
use crate::support::http::Response;
use crate::support::server::{Server, wait_until};
use crate::support::signing_key::signing_key;
use crate::support::test_folder::TestFolder;
use crate::support::users::create_users;

const QUERY: &str = r#"{"query":"{ order(orderId: \"NONE\") { orderName } }"}"#;

/// A migrated database with the user `demo`.
async fn database() -> Database {
    let database = migrated_database().await;
    let profile = Profile { bucket_size: Some(1_000_000), ..Profile::DEFAULT };
    create_users(&mut database.connect().await, &[("demo", profile)]).await;
    database
}

/// Sends a query with these `Authorization` headers.
fn query_with(server: &Server, authorizations: &[&str]) -> Response {
    let headers: Vec<_> = authorizations.iter().map(|value| format!("Authorization: {value}")).collect();
    let headers = headers.iter().map(String::as_str).chain(["Content-Type: application/json"]);
    server.request("POST /rest/s1/graphql", &headers.collect::<Vec<_>>(), QUERY)
}

/// Sends a query with a token.
fn query(server: &Server, token: &str) -> Response {
    query_with(server, &[&format!("Bearer {token}")])
}

/// The id of the key that signed a token.
fn key_id(token: &str) -> Value {
    let header = BASE64_URL_SAFE_NO_PAD.decode(token.split('.').next().unwrap()).unwrap();
    serde_json::from_slice::<Value>(&header).unwrap()["kid"].take()
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()
}

/// The claims of a valid token.
fn claims() -> JWTClaims<NoCustomClaims> {
    let mut claims = Claims::create(jwt::Duration::from_hours(1)).with_issuer("orderql").with_subject("demo");
    // A token from the second in which its account was created is not accepted.
    claims.issued_at = Some(jwt::Duration::from_secs(now() + 1));
    claims.invalid_before = None;
    claims.expires_at = Some(jwt::Duration::from_secs(now() + 3600));
    claims.with_audience("store")
}

/// Runs a command with the server's keys. Returns whether it succeeded, its output and its errors.
fn orderql(folder: &Path, database: &Database, arguments: &str) -> (bool, String, String) {
    orderql_with(folder, database, arguments, "")
}

/// The same with a line of standard input.
fn orderql_with(folder: &Path, database: &Database, arguments: &str, input: &str) -> (bool, String, String) {
    let mut command = orderql_on(database);
    let result = run(command.args(arguments.split(' ')).env("ORDERQL_KEY_FOLDER", folder.join("keys")), input);
    (result.succeeded, result.stdout, result.stderr)
}

#[tokio::test(flavor = "multi_thread")]
async fn rejects_invalid_tokens_with_the_standard_challenge() {
    let database = database().await;
    let server = Server::start(&database, &["--audience", "store"]);
    let (id, key) = signing_key(&server);
    let good = server.token("demo");
    assert_eq!(query(&server, &good).status, 200);
    assert_eq!(query(&server, &key.sign(claims()).unwrap()).status, 200, "the unchanged claims are valid");

    let changed = |change: fn(&mut JWTClaims<NoCustomClaims>)| {
        let mut claims = claims();
        change(&mut claims);
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
        let other = changed(|claims| claims.subject = Some("root".into()));
        format!("{}.{}.{}", parts[0], other.split('.').nth(1).unwrap(), parts[2])
    };
    for (name, token, message) in [
        ("expired", changed(|c| c.expires_at = Some(jwt::Duration::from_secs(now()))), "the token has expired"),
        ("long expired", changed(|c| c.expires_at = Some(jwt::Duration::from_secs(1))), "the token has expired"),
        ("not yet", changed(|c| c.invalid_before = Some(jwt::Duration::from_secs(now() + 60))), "not valid yet"),
        ("made later", changed(|c| c.issued_at = Some(jwt::Duration::from_secs(now() + 60))), "not valid yet"),
        ("endless", changed(|c| c.expires_at = None), "not one of this service's"),
        ("nobody's", changed(|c| c.subject = None), "not one of this service's"),
        ("wrong issuer", changed(|c| c.issuer = Some("other".into())), "not one of this service's"),
        ("no issuer", changed(|c| c.issuer = None), "not one of this service's"),
        ("no audience", changed(|c| c.audiences = None), "not one of this service's"),
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
        ("an unknown user's", changed(|c| c.subject = Some("nobody".into())), "account is closed"),
    ] {
        let response = query(&server, &token);
        assert_eq!((response.status, response.code().as_str()), (401, "UNAUTHENTICATED"), "{name}: {response:?}");
        let challenge = response.header("www-authenticate").unwrap();
        assert!(challenge.starts_with("Bearer realm=\"orderql\", error=\"invalid_token\", "), "{name}: {challenge}");
        assert!(challenge.contains(message), "{name}: {challenge}");
        assert!(response.json()["errors"][0]["message"].as_str().unwrap().contains(message), "{name}");
        assert_eq!(response.json()["data"], Value::Null);
    }
    let log = server.stop();
    assert!(!log.contains(&good), "{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn rejects_invalid_authorization_headers_with_the_standard_challenge() {
    let database = database().await;
    let server = Server::start(&database, &[]);
    let good = server.token("demo");
    let bearer = format!("Bearer {good}");
    for scheme in ["bearer", "BEARER", "Bearer "] {
        assert_eq!(query_with(&server, &[&format!("{scheme} {good}")]).status, 200, "{scheme}");
    }
    let nothing = query_with(&server, &[]);
    assert_eq!((nothing.status, nothing.header("www-authenticate")), (401, Some("Bearer realm=\"orderql\"")));
    for headers in
        [&[bearer.as_str(), &bearer][..], &[&bearer, "Basic ZGVtbzpkZW1v"], &["Bearer"], &[&good], &["Basic x"]]
    {
        let response = query_with(&server, headers);
        assert_eq!((response.status, response.code().as_str()), (401, "UNAUTHENTICATED"), "{headers:?}");
        let challenge = response.header("www-authenticate").unwrap();
        assert!(challenge.contains("error=\"invalid_request\""), "{headers:?}: {challenge}");
    }
    // The server rejects a head of this size without reading the token.
    let response = query(&server, &"x".repeat(100_000));
    assert_eq!(response.status, 431);
    assert_eq!(query(&server, &good).status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_published_keys_verify_tokens_and_follow_a_rotation() {
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
        let response = server.get("/.well-known/jwks.json");
        assert_eq!((response.status, response.header("cache-control")), (200, Some("public, max-age=60")));
        response.json()
    };
    let first = server.token("demo");
    assert_eq!(verifies(&first, &published()), 1);
    assert_eq!(published()["keys"][0]["kid"], signing_key(&server).0);
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
async fn the_command_line_issues_tokens_and_manages_keys() {
    let database = database().await;
    let server = Server::start(&database, &[]);
    let run = |arguments: &str| orderql(&server.folder, &database, arguments);
    let (made, token, _) = run("token demo --lifetime 30d");
    assert!(made);
    assert_eq!(query(&server, token.trim()).status, 200);
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

    let old = signing_key(&server).0;
    assert!(run(&format!("keys retire {old}")).2.contains("is the key that signs"));
    assert!(run("keys retire nothing").2.contains("there is no key `nothing`"));
    let (_, out, _) = run("keys rotate");
    assert!(out.ends_with(" signs from now on\n"), "{out}");
    let (_, listed, _) = run("keys list --json");
    let listed: Value = serde_json::from_str(&listed).unwrap();
    assert_eq!((&listed[0]["key"], &listed[0]["signs"]), (&json!(old), &json!(false)));
    assert_eq!((&listed[1]["algorithm"], &listed[1]["signs"]), (&json!("EdDSA"), &json!(true)));
    assert_eq!(run(&format!("keys retire {old}")).1, format!("{old} is retired\n"));
    while query(&server, token.trim()).header("www-authenticate").unwrap().contains("account is closed") {}
    assert!(run("user enable demo").0);
    assert_eq!(query(&server, token.trim()).status, 401, "its key is retired");
    let output = command::orderql().args(["keys", "list"]).env("ORDERQL_SIGNING_KEY", "x").output();
    assert!(String::from_utf8(output.unwrap().stderr).unwrap().contains("given by the setting signing-key"));
}

/// Counts of responses while an operator changes users and keys.
#[derive(Default)]
struct Counts {
    succeeded: AtomicU64,
    failed: AtomicU64,
    stop: AtomicBool,
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_by_the_operator_under_load_fail_no_other_request() {
    let database = database().await;
    create_users(&mut database.connect().await, &[("ann", Profile::DEFAULT)]).await;
    let server = Server::start(&database, &["--restore-rate", "1000000"]);
    let other = Server::start(&database, &["--key-folder", server.folder.join("keys").to_str().unwrap()]);
    let run = |arguments: &str| {
        let (succeeded, out, error) = orderql(&server.folder, &database, arguments);
        assert!(succeeded, "{arguments}: {error}");
        out
    };
    let ann = server.token("ann");
    let counts = Counts::default();
    thread::scope(|scope| {
        for worker in 0..3 {
            let (server, other, counts) = (&server, &other, &counts);
            scope.spawn(move || {
                // One client keeps its first token. The others use new tokens, signed by either server.
                let mut token = server.token("demo");
                let mut sent = 0;
                while !counts.stop.load(Ordering::SeqCst) {
                    if worker > 0 && sent % 5 == 0 {
                        token = if sent % 2 == 0 { server.token("demo") } else { other.token("demo") };
                    }
                    sent += 1;
                    let responses = [query(server, &token), query(other, &token)];
                    let good =
                        responses.iter().all(|response| response.status == 200 && response.json()["errors"].is_null());
                    if good { &counts.succeeded } else { &counts.failed }.fetch_add(1, Ordering::SeqCst);
                }
            });
        }
        let wait_for_ten_more = || {
            let before = counts.succeeded.load(Ordering::SeqCst);
            while counts.succeeded.load(Ordering::SeqCst) < before + 10 && counts.failed.load(Ordering::SeqCst) == 0 {
                thread::yield_now();
            }
        };
        wait_for_ten_more();
        for _ in 0..5 {
            run("keys rotate");
            wait_for_ten_more();
        }
        // The changes affect Ann only.
        assert_eq!(query(&server, &ann).status, 200);
        run("profile set ann --max-cost 1");
        while query(&server, &ann).code() != "COST_EXCEEDED" {}
        run("profile unset ann");
        while query(&server, &ann).code() == "COST_EXCEEDED" {}
        run("user disable ann");
        while query(&server, &ann).status != 401 {}
        run("user enable ann");
        while query(&server, &ann).status == 401 {}
        run("group leave API ann");
        while query(&server, &ann).status != 403 {}
        run("group join API ann");
        while query(&server, &ann).status == 403 {}
        assert_eq!(query(&server, &ann).status, 200);
        wait_for_ten_more();
        counts.stop.store(true, Ordering::SeqCst);
    });
    assert_eq!(counts.failed.load(Ordering::SeqCst), 0);
    assert!(counts.succeeded.load(Ordering::SeqCst) >= 70);

    // Retiring all keys but the last one invalidates the tokens that they signed.
    let listed: Value = serde_json::from_str(&run("keys list --json")).unwrap();
    let signing = listed.as_array().unwrap().iter().find(|key| key["signs"] == true).unwrap();
    let last = loop {
        // A server signs with the newest key as soon as it has read the key folder again.
        let token = server.token("demo");
        if key_id(&token) == signing["key"] {
            break token;
        }
    };
    for key in listed.as_array().unwrap().iter().filter(|key| key["signs"] == false) {
        run(&format!("keys retire {}", key["key"].as_str().unwrap()));
    }
    while query(&server, &ann).status != 401 {}
    while query(&other, &ann).status != 401 {}
    assert_eq!((query(&server, &last).status, query(&other, &last).status), (200, 200));
}

/// The flags of an external issuer, whose key is in the folder, and that key.
fn external_issuer(folder: &Path) -> ([String; 6], Ed25519KeyPair) {
    let key = Ed25519KeyPair::generate().with_key_id("theirs");
    let file = folder.join("jwks.json");
    let jwk: Value = serde_json::from_str(&key.public_key().to_jwk()).unwrap();
    fs::write(&file, json!({"keys": [jwk]}).to_string()).unwrap();
    let flags =
        ["--external-jwks", file.to_str().unwrap(), "--external-issuer", "theirs", "--external-audience", "orders"];
    (flags.map(str::to_owned), key)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_retired_key_is_rejected_while_an_external_issuers_keys_cannot_be_read() {
    let database = database().await;
    let folder = TestFolder::create("external-issuer");
    let (flags, _) = external_issuer(folder.path());
    let flags: Vec<_> = ["--admin-listen", "0"].into_iter().chain(flags.iter().map(String::as_str)).collect();
    let server = Server::start(&database, &flags);
    let run = |arguments: &str| orderql(&server.folder, &database, arguments);
    let token = server.token("demo");
    let old = signing_key(&server).0;
    assert_eq!(query(&server, &token).status, 200);
    assert!(run("keys rotate").0);
    fs::write(folder.path().join("jwks.json"), "").unwrap();
    assert_eq!(run(&format!("keys retire {old}")).1, format!("{old} is retired\n"));
    // The command has waited for the server.
    assert_eq!(query(&server, &token).status, 401);
    assert_eq!(query(&server, &server.token("demo")).status, 200);
    let keys = server.get_as_operator("/health/ready").json()["parts"]["keys"].take();
    assert_ne!(keys["status"], "ok", "{keys}");
    external_issuer(folder.path());
    wait_until(|| {
        query(&server, &server.token("demo"));
        server.get_as_operator("/health/ready").json()["parts"]["keys"]["status"] == "ok"
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn retiring_a_key_fails_if_a_server_does_not_say_that_it_rejects_it() {
    let database = database().await;
    let server = Server::start(&database, &[]);
    let run = |arguments: &str| orderql(&server.folder, &database, arguments);
    let old = signing_key(&server).0;
    assert!(run("keys rotate").0);
    // A server with a copy of the folder, and so with the key.
    let copy = TestFolder::create("copied-keys");
    let keys = fs::read_dir(server.folder.join("keys")).unwrap().map(|file| file.unwrap().path());
    for key in keys {
        fs::copy(&key, copy.path().join(key.file_name().unwrap())).unwrap();
    }
    fs::set_permissions(copy.path(), fs::Permissions::from_mode(0o700)).unwrap();
    let other = Server::start(&database, &["--key-folder", copy.path().to_str().unwrap()]);
    let (succeeded, out, error) = run(&format!("keys retire {old}"));
    assert!(!succeeded && out.is_empty(), "{out}");
    assert!(error.contains(&format!("{old} is removed from the folder")), "{error}");
    assert!(error.contains("1 of 2 running servers still accept its tokens"), "{error}");
    other.stop();

    // One that cannot be asked.
    let second = signing_key_ids(&server).pop().unwrap();
    assert!(run("keys rotate").0);
    server.signal("-STOP");
    let (succeeded, _, error) = run(&format!("keys retire {second}"));
    server.signal("-CONT");
    assert!(!succeeded && error.contains("1 of 1 running servers did not say"), "{error}");
}

/// The ids of the keys in the server's folder, the newest last.
fn signing_key_ids(server: &Server) -> Vec<String> {
    let files = fs::read_dir(server.folder.join("keys")).unwrap().map(|file| file.unwrap().path());
    let mut ids: Vec<_> = files.map(|file| file.file_stem().unwrap().to_str().unwrap().to_owned()).collect();
    ids.sort();
    ids
}

/// The status of a query with a token, and why it is not accepted.
fn status(server: &Server, token: &str) -> (u16, String) {
    let response = query(server, token);
    (response.status, response.header("www-authenticate").unwrap_or_default().to_owned())
}

/// The claims of a token.
fn claims_of(token: &str) -> Value {
    let claims = BASE64_URL_SAFE_NO_PAD.decode(token.split('.').nth(1).unwrap()).unwrap();
    serde_json::from_slice(&claims).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_of_a_removed_user_is_not_one_of_a_new_user_of_that_name() {
    let database = database().await;
    create_users(&mut database.connect().await, &[("ann", Profile::DEFAULT)]).await;
    let folder = TestFolder::create("removed-user");
    let (flags, key) = external_issuer(folder.path());
    let server = Server::start(&database, &flags.each_ref().map(String::as_str));
    let run = |arguments: &str| {
        let (succeeded, out, error) = orderql_with(&server.folder, &database, arguments, "secret\n");
        assert!(succeeded, "{arguments}: {error}");
        out.trim().to_owned()
    };
    let sign = |issued_at: Option<u64>| {
        let mut claims = Claims::create(jwt::Duration::from_hours(1)).with_issuer("theirs").with_subject("ann");
        claims.issued_at = issued_at.map(jwt::Duration::from_secs);
        claims.invalid_before = None;
        key.sign(claims.with_audience("orders")).unwrap()
    };
    let tokens = [server.token("ann"), run("token ann"), sign(Some(now() + 1))];
    for token in &tokens {
        assert_eq!(status(&server, token), (200, String::new()));
    }
    assert_eq!(status(&server, &sign(None)).0, 401, "nobody knows how old it is");
    run("user remove ann");
    for token in &tokens {
        wait_until(|| status(&server, token).1.contains("account is closed"));
    }
    // The external issuer's token is dated a second ahead.
    let newest = tokens.iter().map(|token| claims_of(token)["iat"].as_u64().unwrap()).max().unwrap();
    wait_until(|| now() >= newest);
    run("user add ann --group API");
    for token in &tokens {
        wait_until(|| !status(&server, token).1.contains("account is closed"));
        let (status, challenge) = status(&server, token);
        assert!(status == 401 && challenge.contains("older than its account"), "{status} {challenge}");
    }
    // Also in the second of the creation.
    let issued = server.sign_in("/auth/token", "ann", "secret").json()["access_token"].take();
    for token in [&run("token ann"), issued.as_str().unwrap()] {
        assert_eq!(status(&server, token), (200, String::new()));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_password_ends_older_tokens_only_where_that_is_set() {
    let database = database().await;
    let server = Server::start(&database, &["--revoke-on-password-change", "on"]);
    let keys = server.folder.join("keys");
    let other = Server::start(&database, &["--key-folder", keys.to_str().unwrap()]);
    let run = |arguments: &str| {
        let (succeeded, _, error) = orderql_with(&server.folder, &database, arguments, "secret\n");
        assert!(succeeded, "{arguments}: {error}");
    };
    let token = server.token("demo");
    // Other changes of the account end no token.
    for (change, expected) in [("user disable demo", 401), ("user enable demo", 200)] {
        run(change);
        wait_until(|| [&server, &other].iter().all(|server| query(server, &token).status == expected));
    }
    // The token may be dated a second ahead.
    wait_until(|| now() >= claims_of(&token)["iat"].as_u64().unwrap());
    run("user passwd demo");
    wait_until(|| status(&server, &token).1.contains("older than its account or the account's password"));
    wait_until(|| other.sign_in("/auth/token", "demo", "secret").status == 200);
    assert_eq!(query(&other, &token).status, 200);
    let newer = server.sign_in("/auth/token", "demo", "secret").json();
    assert_eq!(query(&server, newer["access_token"].as_str().unwrap()).status, 200);
}
