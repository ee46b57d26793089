//! Callers over HTTP: signing in, lock-outs, the audit trail, profiles, and buckets under many connections.

use std::collections::HashMap;
use std::sync::Arc;
use std::thread;

use argon2::password_hash::PasswordHasher;
use argon2::password_hash::phc::PasswordHash;
use argon2::{Algorithm, Argon2, Params, Version};
use orderql::access::accounts::{Profile, User, ensure_user};
use orderql::access::password::Passwords;
use serde_json::{Value, json};

use crate::support::database::{Database, fresh_database};
use crate::support::server::{Answer, Server};

const ORDER: &str = "{ order(orderId: \"NONE\") { orderName statusId grandTotal } }";
const NEWER: &str = "application/graphql-response+json";

/// A fresh database with the user `demo`, who has the profile and may do everything.
async fn database(profile: Profile) -> Database {
    let database = fresh_database().await;
    let user = User { user_id: "demo", password: "demo", groups: &["API"], profile };
    ensure_user(&mut database.connect().await, &Passwords::new(1).unwrap(), &user).await.unwrap();
    database
}

fn request(token: &str, query: &str) -> String {
    let body = json!({ "query": query }).to_string();
    let head = format!(
        "POST /rest/s1/graphql HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\n\
         Accept: {NEWER}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    head + &body
}

fn ask(server: &Server, token: &str, query: &str) -> Answer {
    let mut answers = server.exchange(request(token, query));
    assert_eq!(answers.len(), 1, "{answers:?}");
    answers.remove(0)
}

fn sign_in(server: &Server, user_id: &str, password: &str) -> Answer {
    server.sign_in("/auth/token", user_id, password)
}

fn throttle_status(answer: &Answer) -> Value {
    answer.json()["extensions"]["cost"]["throttleStatus"].clone()
}

/// What a client can tell answers apart by.
fn told(mut answer: Answer) -> (u16, HashMap<String, String>, String) {
    for its_own in ["date", "x-request-id"] {
        answer.headers.remove(its_own).unwrap();
    }
    (answer.status, answer.headers, answer.body)
}

/// The trail as rows of action, subject and whether there is an address.
async fn trail(database: &Database) -> Vec<(String, Option<String>, bool)> {
    let select = "SELECT action, subject, address = '127.0.0.1' FROM orderql.audit_event ORDER BY event_id";
    let rows = database.connect().await.query(select, &[]).await.unwrap();
    rows.iter().map(|row| (row.get(0), row.get(1), row.get::<_, Option<bool>>(2) == Some(true))).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn unknown_wrong_and_disabled_are_told_alike() {
    let database = database(Profile::DEFAULT).await;
    database
        .connect()
        .await
        .batch_execute(
            "INSERT INTO orderql.user_account SELECT 'closed', password_hash, true FROM orderql.user_account",
        )
        .await
        .unwrap();
    let server = Server::start(&database, &[]);
    let wrong = told(sign_in(&server, "demo", "wrong"));
    assert_eq!(wrong.0, 401);
    assert_eq!(told(sign_in(&server, "nobody", "wrong")), wrong);
    assert_eq!(told(sign_in(&server, "closed", "demo")), wrong);
    assert_eq!(told(sign_in(&server, "", "")), wrong);
}

#[tokio::test(flavor = "multi_thread")]
async fn guessing_locks_an_account_for_a_while_whether_there_is_one_or_not() {
    let database = database(Profile::DEFAULT).await;
    let server = Server::start(&database, &["--login-attempts", "2"]);
    let mut locked = Vec::new();
    for user_id in ["demo", "nobody"] {
        assert_eq!(sign_in(&server, user_id, "wrong").status, 401);
        assert_eq!(sign_in(&server, user_id, "wrong").status, 401);
        // The right password is not looked at either. Delays double, so that one is met in the end on the slowest machine.
        let mut answer = loop {
            let answer = sign_in(&server, user_id, "demo");
            if answer.status == 429 {
                break answer;
            }
            assert_eq!(sign_in(&server, user_id, "wrong").status, 401);
            assert_eq!(sign_in(&server, user_id, "wrong").status, 401);
        };
        assert_eq!(answer.code(), "TOO_MANY_LOGINS");
        let wait = answer.json()["errors"][0]["extensions"]["retryAfterMs"].as_u64().unwrap();
        assert_eq!(answer.headers.remove("retry-after"), Some(wait.div_ceil(1000).to_string()));
        let shown = format!("\"retryAfterMs\":{wait}");
        assert!(answer.body.contains(&shown), "{answer:?}");
        answer.body = answer.body.replace(&shown, "");
        answer.headers.remove("content-length");
        locked.push(told(answer));
    }
    assert_eq!(locked[0], locked[1]);

    // The delay ends by itself, and a right password lets the account start anew.
    let answer = loop {
        let answer = sign_in(&server, "demo", "demo");
        if answer.status != 429 {
            break answer;
        }
    };
    assert_eq!(answer.status, 200);
    assert_eq!(sign_in(&server, "demo", "wrong").status, 401);
    assert_eq!(sign_in(&server, "demo", "demo").status, 200);

    let log = server.stop();
    let rows = trail(&database).await;
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
async fn an_address_that_guesses_at_many_accounts_is_locked_and_others_are_not() {
    let database = database(Profile::DEFAULT).await;
    let server = Server::start(&database, &["--login-attempts", "1", "--trusted-proxies", "127.0.0.1,10.0.0.1"]);
    let from = |address: &str, user_id: &str| {
        let credentials = base64::Engine::encode(&base64::prelude::BASE64_STANDARD, format!("{user_id}:demo"));
        let head = format!(
            "POST /auth/token HTTP/1.1\r\nHost: a\r\nAuthorization: Basic {credentials}\r\nX-Forwarded-For: {address}\r\n\r\n"
        );
        server.ask(&head).status
    };
    let mut guesses = 0;
    while from("192.0.2.1", &format!("nobody {guesses}")) == 401 {
        guesses += 1;
    }
    assert!(guesses >= 10, "ten times as many as an account has: {guesses}");
    assert_eq!(from("192.0.2.2", "demo"), 200);
    assert_eq!(from("192.0.2.1, 192.0.2.2", "demo"), 200, "what the client claims does not count");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hash_of_old_parameters_is_replaced_at_the_next_login() {
    let database = database(Profile::DEFAULT).await;
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
async fn a_login_waits_for_no_trail_and_fails_by_none() {
    let database = database(Profile::DEFAULT).await;
    let mut client = database.connect().await;
    let server = Server::start(&database, &[]);
    let lock = client.transaction().await.unwrap();
    lock.batch_execute("LOCK TABLE orderql.audit_event").await.unwrap();
    for _ in 0..3 {
        assert_eq!(sign_in(&server, "demo", "demo").status, 200);
    }
    lock.rollback().await.unwrap();
    while trail(&database).await.len() < 3 {}
    client.batch_execute("ALTER TABLE orderql.audit_event RENAME TO away").await.unwrap();
    assert_eq!(sign_in(&server, "demo", "demo").status, 200);
    let log = server.stop();
    assert!(log.contains("audit events cannot be stored"), "{log}");
    assert_eq!(log.matches("login.succeeded").count(), 4, "{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn no_more_of_a_callers_queries_run_at_the_same_time_than_may() {
    let profile = Profile { concurrent_queries: Some(1), bucket_size: Some(10), ..Profile::DEFAULT };
    let database = database(profile).await;
    let server = Server::start(&database, &["--restore-rate", "0"]);
    let token = server.token("demo");
    let mut client = database.connect().await;
    let lock = client.transaction().await.unwrap();
    lock.batch_execute("LOCK TABLE order_header").await.unwrap();
    let server = Arc::new(server);
    let first = tokio::task::spawn_blocking({
        let (server, token) = (Arc::clone(&server), token.clone());
        move || ask(&server, &token, ORDER)
    });
    let admin = database.connect().await;
    let waiting =
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
    while admin.query_one(waiting, &[]).await.unwrap().get::<_, i64>(0) == 0 {}

    let refused = ask(&server, &token, ORDER);
    assert_eq!((refused.status, refused.code().as_str()), (429, "THROTTLED"));
    assert_eq!(refused.header("retry-after"), Some("1"));
    let extensions = &refused.json()["errors"][0]["extensions"];
    assert_eq!(
        extensions,
        &json!({"code": "THROTTLED", "estimatedCost": 4, "maxConcurrentQueries": 1, "retryAfterMs": 1000})
    );
    assert_eq!(throttle_status(&refused)["currentlyAvailable"], 6, "only the first is paid");
    lock.rollback().await.unwrap();
    assert_eq!(first.await.unwrap().status, 200);
    assert_eq!(throttle_status(&ask(&server, &token, ORDER))["currentlyAvailable"], 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_profile_is_what_the_caller_is_held_to_and_is_told() {
    let profile = Profile {
        max_cost: Some(20),
        max_page_size: Some(3),
        max_depth: Some(2),
        bucket_size: Some(50),
        restore_rate: Some(1_000_000),
        ..Profile::DEFAULT
    };
    let database = database(profile).await;
    let server = Server::start(&database, &[]);
    let token = server.token("demo");
    let facts = |query: &str| ask(&server, &token, query).json()["errors"][0]["extensions"].clone();
    let page = facts("{ orders(first: 4) { edges { node { orderId } } } }");
    assert_eq!((&page["code"], &page["maxFirst"]), (&json!("FIRST_TOO_LARGE"), &json!(3)));
    let deep = facts(
        "{ orders(first: 1) { edges { node { orderItems(first: 1) { edges { node { product { productId } } } } } } } }",
    );
    assert_eq!((&deep["code"], &deep["maxDepth"]), (&json!("DEPTH_EXCEEDED"), &json!(2)), "{deep}");
    let dear = facts(
        "{ orders(first: 3) { edges { node { orderId orderName statusId grandTotal currencyUomId orderDate } } } }",
    );
    assert_eq!((&dear["code"], &dear["maxCost"]), (&json!("COST_EXCEEDED"), &json!(20)), "{dear}");
    let status = throttle_status(&ask(&server, &token, ORDER));
    assert_eq!((&status["maximumAvailable"], &status["restoreRate"]), (&json!(50), &json!(1_000_000)));
}

#[tokio::test(flavor = "multi_thread")]
async fn many_connections_never_spend_more_than_there_is() {
    let profile = Profile { bucket_size: Some(1001), ..Profile::DEFAULT };
    let database = database(profile).await;
    let server = Server::start(&database, &["--restore-rate", "0", "--concurrent-queries", "1000"]);
    let token = server.token("demo");
    let queries = [
        ORDER,
        "{ order(orderId: \"NONE\") { orderName } }",
        "{ orders(first: 3) { edges { node { orderId statusId } } } }",
    ];
    let outcomes: Vec<Answer> = thread::scope(|scope| {
        let workers: Vec<_> = (0..16)
            .map(|worker| {
                let (server, token) = (&server, &token);
                scope.spawn(move || (0..20).map(|n| ask(server, token, queries[(worker + n) % 3])).collect::<Vec<_>>())
            })
            .collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    });
    let (mut paid, mut refused, mut lowest) = (0, 0, 1001);
    for answer in &outcomes {
        let body = answer.json();
        let cost = body["extensions"]["cost"]["requestedQueryCost"].as_u64().unwrap();
        let left = throttle_status(answer)["currentlyAvailable"].as_u64().unwrap();
        match answer.status {
            200 => {
                paid += cost;
                lowest = lowest.min(left);
            }
            429 => {
                assert!(left < cost, "{body}");
                refused += 1;
            }
            _ => panic!("{answer:?}"),
        }
    }
    assert!(paid <= 1001 && refused > 0, "{paid}, {refused} refused");
    assert_eq!(lowest, 1001 - paid, "what is left is what was not paid");
    let log = server.stop();
    let costs = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()?["cost"].as_u64());
    assert_eq!(costs.sum::<u64>(), paid);
}
