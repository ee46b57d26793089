//! Signing in: tokens, wrong credentials, lockouts and the audit log.

use std::collections::HashMap;

use argon2::password_hash::PasswordHasher;
use argon2::password_hash::phc::PasswordHash;
use argon2::{Algorithm, Argon2, Params, Version};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use orderql::access::password::Passwords;
use orderql::access::profile::Profile;
use serde_json::{Value, json};

use crate::support::database::{Database, migrated_database};
use crate::support::http::Response;
use crate::support::server::{Server, server_with_users};
use crate::support::users::create_users;

/// A migrated database with the user `demo` only.
async fn database() -> Database {
    let database = migrated_database().await;
    create_users(&mut database.connect().await, &[("demo", Profile::DEFAULT)]).await;
    database
}

fn sign_in(server: &Server, user_id: &str, password: &str) -> Response {
    server.sign_in("/auth/token", user_id, password)
}

/// The parts of a response by which a client could tell two of them apart.
fn distinguishable(mut response: Response) -> (u16, HashMap<String, String>, String) {
    for header in ["date", "x-request-id"] {
        response.headers.remove(header).unwrap();
    }
    (response.status, response.headers, response.body)
}

/// The audit log: for each event its action, its subject and whether it has the client's address.
async fn audit_log(database: &Database) -> Vec<(String, Option<String>, bool)> {
    let select = "SELECT action, subject, address = '127.0.0.1' FROM orderql.audit_event ORDER BY event_id";
    let rows = database.connect().await.query(select, &[]).await.unwrap();
    rows.iter().map(|row| (row.get(0), row.get(1), row.get::<_, Option<bool>>(2) == Some(true))).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn issues_a_token_for_the_right_password_under_every_base_path() {
    let (server, _database) = server_with_users(&[("demo", Profile::DEFAULT)], &[]).await;
    for path in ["/auth/token", "/rest/auth/token", "/rest/s1/auth/token", "/api/auth/token"] {
        let response = server.sign_in(path, "demo", "demo");
        assert_eq!(response.status, 200, "{path}");
        assert_eq!(response.header("cache-control"), Some("no-store"));
        let body = response.json();
        assert_eq!((body["token_type"].as_str(), body["expires_in"].as_u64()), (Some("Bearer"), Some(3600)));
        assert_eq!(body["access_token"].as_str().unwrap().split('.').count(), 3);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_all_wrong_credentials_alike() {
    let users = [("demo", Profile::DEFAULT), ("guest", Profile::DEFAULT)];
    let (server, database) = server_with_users(&users, &[]).await;
    let client = database.connect().await;
    client.execute("UPDATE orderql.user_account SET disabled = true WHERE user_id = 'guest'", &[]).await.unwrap();
    // The account is open until the notification arrives at the server.
    while server.sign_in("/auth/token", "guest", "guest").status == 200 {}
    let wrong = [("demo", "Demo"), ("nobody", "nobody"), ("guest", "guest"), ("' OR 1=1 --", "x"), ("", "")];
    let responses: Vec<_> = wrong.map(|(user, password)| server.sign_in("/auth/token", user, password)).to_vec();
    for response in &responses {
        assert_eq!(response.status, 401);
        assert_eq!(response.header("www-authenticate"), Some("Basic realm=\"orderql\", charset=\"UTF-8\""));
        assert_eq!(response.body, responses[0].body);
    }
    let bare = server.request("POST /auth/token", &[], "");
    assert_eq!((bare.status, bare.code().as_str()), (401, "UNAUTHENTICATED"));
    let log = server.stop();
    assert!(!log.contains("OR 1=1") && !log.contains("nobody"), "the credentials are not logged: {log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn unknown_users_wrong_passwords_and_disabled_accounts_look_alike() {
    let database = database().await;
    database
        .connect()
        .await
        .batch_execute(
            "INSERT INTO orderql.user_account SELECT 'closed', password_hash, true FROM orderql.user_account",
        )
        .await
        .unwrap();
    let server = Server::start(&database, &[]);
    let wrong = distinguishable(sign_in(&server, "demo", "wrong"));
    assert_eq!(wrong.0, 401);
    assert_eq!(distinguishable(sign_in(&server, "nobody", "wrong")), wrong);
    assert_eq!(distinguishable(sign_in(&server, "closed", "demo")), wrong);
    assert_eq!(distinguishable(sign_in(&server, "", "")), wrong);
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_passwords_lock_a_user_id_whether_it_exists_or_not() {
    let database = database().await;
    let server = Server::start(&database, &["--login-attempts", "2"]);
    let mut locked = Vec::new();
    for user_id in ["demo", "nobody"] {
        assert_eq!(sign_in(&server, user_id, "wrong").status, 401);
        assert_eq!(sign_in(&server, user_id, "wrong").status, 401);
        // A locked user id rejects the right password too. Delays double, so even a slow machine meets one in the end.
        let mut response = loop {
            let response = sign_in(&server, user_id, "demo");
            if response.status == 429 {
                break response;
            }
            assert_eq!(sign_in(&server, user_id, "wrong").status, 401);
            assert_eq!(sign_in(&server, user_id, "wrong").status, 401);
        };
        assert_eq!(response.code(), "TOO_MANY_LOGINS");
        let wait = response.json()["errors"][0]["extensions"]["retryAfterMs"].as_u64().unwrap();
        assert_eq!(response.headers.remove("retry-after"), Some(wait.div_ceil(1000).to_string()));
        let delay = format!("\"retryAfterMs\":{wait}");
        assert!(response.body.contains(&delay), "{response:?}");
        response.body = response.body.replace(&delay, "");
        response.headers.remove("content-length");
        locked.push(distinguishable(response));
    }
    assert_eq!(locked[0], locked[1]);

    // The delay ends by itself, and a right password resets the count of failures.
    let response = loop {
        let response = sign_in(&server, "demo", "demo");
        if response.status != 429 {
            break response;
        }
    };
    assert_eq!(response.status, 200);
    assert_eq!(sign_in(&server, "demo", "wrong").status, 401);
    assert_eq!(sign_in(&server, "demo", "demo").status, 200);

    let log = server.stop();
    let rows = audit_log(&database).await;
    for subject in [Some("demo"), None] {
        let count = |action| rows.iter().filter(|row| row.0 == action && row.1.as_deref() == subject).count();
        assert!(count("login.failed") >= 2 && count("login.locked") >= 1, "{rows:?}");
        assert_eq!(count("login.succeeded") >= 2, subject.is_some(), "{rows:?}");
    }
    assert!(rows.iter().all(|row| row.2), "{rows:?}");
    let logged = log.lines().filter(|line| line.contains("\"message\":\"audit\""));
    let logged: Vec<Value> = logged.map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(logged.len(), rows.len());
    let locked = logged.iter().find(|event| event["action"] == "login.locked").unwrap();
    assert_eq!((&locked["subject"], &locked["address"]), (&json!("demo"), &json!("127.0.0.1")));
    assert!(!log.contains("nobody") && !log.contains("wrong\""), "{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_passwords_for_many_accounts_lock_the_address() {
    let database = database().await;
    let server = Server::start(&database, &["--login-attempts", "1", "--trusted-proxies", "127.0.0.1,10.0.0.1"]);
    let from = |address: &str, user_id: &str| {
        let credentials = BASE64_STANDARD.encode(format!("{user_id}:demo"));
        let headers = [format!("Authorization: Basic {credentials}"), format!("X-Forwarded-For: {address}")];
        server.request("POST /auth/token", &headers.each_ref().map(String::as_str), "").status
    };
    let mut guesses = 0;
    while from("192.0.2.1", &format!("nobody {guesses}")) == 401 {
        guesses += 1;
    }
    assert!(guesses >= 10, "an address has ten times the attempts of an account: {guesses}");
    assert_eq!(from("192.0.2.2", "demo"), 200);
    assert_eq!(from("192.0.2.1, 192.0.2.2", "demo"), 200, "the address that the client claims is ignored");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sign_in_replaces_a_hash_of_old_parameters() {
    let database = database().await;
    let weaker = Argon2::new(Algorithm::Argon2id, Version::V0x13, Params::new(64, 1, 1, None).unwrap());
    let old: PasswordHash = weaker.hash_password(b"demo").unwrap();
    let client = database.connect().await;
    client.execute("UPDATE orderql.user_account SET password_hash = $1", &[&old.to_string()]).await.unwrap();
    let server = Server::start(&database, &[]);
    assert_eq!(sign_in(&server, "demo", "wrong").status, 401);
    assert_eq!(sign_in(&server, "demo", "demo").status, 200);
    server.stop();
    let row = client.query_one("SELECT password_hash FROM orderql.user_account", &[]).await.unwrap();
    let new: &str = row.get(0);
    assert!(new.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{new}");
    assert!(Passwords::new(1).unwrap().verify("demo".into(), Some(new.into())).await.unwrap());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sign_in_neither_waits_for_the_audit_log_nor_fails_with_it() {
    let database = database().await;
    let mut client = database.connect().await;
    let server = Server::start(&database, &[]);
    let lock = client.transaction().await.unwrap();
    lock.batch_execute("LOCK TABLE orderql.audit_event").await.unwrap();
    for _ in 0..3 {
        assert_eq!(sign_in(&server, "demo", "demo").status, 200);
    }
    lock.rollback().await.unwrap();
    while audit_log(&database).await.len() < 3 {}
    client.batch_execute("ALTER TABLE orderql.audit_event RENAME TO away").await.unwrap();
    assert_eq!(sign_in(&server, "demo", "demo").status, 200);
    let log = server.stop();
    assert!(log.contains("audit events cannot be stored"), "{log}");
    assert_eq!(log.matches("login.succeeded").count(), 4, "{log}");
}
