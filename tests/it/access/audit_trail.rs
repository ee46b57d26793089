//! The audit trails: refused logins, keys, and how old rows are removed.

use std::io::BufRead;

use orderql::access::profile::Profile;
use serde_json::{Value, json};

use crate::support::command::{orderql_on, run};
use crate::support::database::{Database, migrated_database};
use crate::support::server::{Server, server_with_users};
use crate::support::users::create_users;

/// Runs a command that must succeed, and returns its output.
fn orderql(database: &Database, arguments: &str) -> Value {
    let result = run(orderql_on(database).args(arguments.split(' ')).arg("--json"), "");
    assert!(result.succeeded, "{arguments}: {}", result.stderr);
    serde_json::from_str(&result.stdout).unwrap()
}

/// For each row of logins, the action and reason, the subject, and how many attempts it stands for.
async fn logins(database: &Database) -> Vec<(String, Option<String>, i64)> {
    let select = "SELECT concat_ws(' ', action, details->>'reason'), subject, coalesce((details->>'count')::bigint, 1)
                  FROM orderql.audit_event WHERE action LIKE 'login.%' ORDER BY event_id";
    let rows = database.connect().await.query(select, &[]).await.unwrap();
    rows.iter().map(|row| (row.get(0), row.get(1), row.get(2))).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn refused_logins_are_recorded_and_a_flood_of_them_takes_few_rows() {
    let flags = ["--login-attempts", "3", "--trusted-proxies", "127.0.0.1"];
    let (server, database) = server_with_users(&[("demo", Profile::DEFAULT)], &flags).await;
    let wrong = ["Authorization: Basic ZGVtbzp3cm9uZw=="];
    let (mut failed, mut locked, mut without) = (0, 0, 0);
    for _ in 0..200 {
        match server.request("POST /auth/token", &wrong, "").status {
            401 => failed += 1,
            429 => locked += 1,
            status => panic!("{status}"),
        }
    }
    // As many addresses as a botnet has.
    for number in 0..300 {
        let address = format!("X-Forwarded-For: 198.51.{}.{}", number / 200, number % 200);
        assert_eq!(server.request("POST /auth/token", &[&address], "").status, 401);
        without += 1;
    }
    server.stop();
    let rows = logins(&database).await;
    let sum = |action: &str, subject: Option<&str>| -> i64 {
        let alike = rows.iter().filter(|row| row.0 == action && row.1.as_deref() == subject);
        alike.map(|row| row.2).sum()
    };
    assert!(failed >= 3 && locked > 100, "{failed} {locked}");
    assert_eq!(sum("login.failed", Some("demo")), failed, "{rows:?}");
    assert_eq!(sum("login.refused locked", Some("demo")), locked, "{rows:?}");
    assert_eq!(sum("login.refused no credentials", None), without, "{rows:?}");
    assert!(sum("login.locked", Some("demo")) >= 1, "{rows:?}");
    // A kind of event has a row at once and one a minute; the test may span two minutes.
    assert!(rows.len() < 230, "{} rows", rows.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn events_wait_while_the_database_is_read_only() {
    let database = migrated_database().await;
    create_users(&mut database.connect().await, &[("demo", Profile::DEFAULT)]).await;
    let (server, mut log) = Server::start_with_unread_log(&database, &["--log", "orderql=debug"]);
    let client = database.connect().await;
    let name = database.name();
    client.batch_execute(&format!("ALTER DATABASE {name} SET default_transaction_read_only = on")).await.unwrap();
    assert_eq!(server.request("POST /auth/token", &["Authorization: Basic ZGVtbzp3cm9uZw=="], "").status, 401);
    let mut line = String::new();
    while !line.contains("audit events cannot be stored") {
        line.clear();
        assert!(log.read_line(&mut line).unwrap() > 0, "the server ended");
    }
    assert!(line.contains("read-only transaction") && line.contains("\"pause\""), "it is tried again: {line}");
    assert_eq!(logins(&database).await, []);
    client.batch_execute("SET default_transaction_read_only = off").await.unwrap();
    client.batch_execute(&format!("ALTER DATABASE {name} RESET default_transaction_read_only")).await.unwrap();
    while logins(&database).await.is_empty() {}
    assert_eq!(logins(&database).await, [("login.failed".to_owned(), Some("demo".to_owned()), 1)]);
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_that_are_created_and_retired_are_recorded() {
    let database = migrated_database().await;
    create_users(&mut database.connect().await, &[("demo", Profile::DEFAULT)]).await;
    let server = Server::start(&database, &[]);
    let folder = server.folder.join("keys").display().to_string();
    let keys = |arguments: &str| orderql(&database, &format!("keys {arguments} --key-folder {folder}"));
    let first = keys("list")[0]["key"].as_str().unwrap().to_owned();
    let second = keys("rotate")["key"].as_str().unwrap().to_owned();
    keys(&format!("retire {first}"));
    let events = orderql(&database, "audit");
    let events = events.as_array().unwrap().iter();
    let events: Vec<_> = events.map(|event| json!([event["action"], event["subject"], event["actor"]])).collect();
    let added = |key: &str, actor: &str| json!(["key.added", key, actor]);
    assert_eq!(events, [added(&second, "cli:ann"), json!(["key.retired", first, "cli:ann"])]);

    // Nothing is changed that cannot be recorded.
    let mut command = orderql_on(&database);
    command.args(["keys", "rotate", "--key-folder", &folder]).env_remove("ORDERQL_DATABASE_URL");
    let result = run(&mut command, "");
    assert!(!result.succeeded && result.stderr.contains("database-url"), "{}", result.stderr);
    assert_eq!(keys("list").as_array().unwrap().len(), 1);
}

/// Adds rows to both trails: of 400 days ago, of 100 days ago and of now.
async fn add_rows(database: &Database) {
    let insert = "
        INSERT INTO orderql.audit_event (at, actor, action)
        SELECT now() - days * interval '1 day', 'test', 'test' FROM unnest(ARRAY[400, 100, 0]) AS days,
               generate_series(1, 1200);
        INSERT INTO orderql.order_update (updated_at, user_id, request, changes)
        SELECT now() - days * interval '1 day', 'test', '{}', '{}' FROM unnest(ARRAY[400, 100, 0]) AS days";
    database.connect().await.batch_execute(insert).await.unwrap();
}

/// The rows of both trails that `add_rows` has added.
async fn rows(database: &Database) -> (i64, i64) {
    let select = "SELECT (SELECT count(*) FROM orderql.audit_event WHERE actor = 'test'),
                         (SELECT count(*) FROM orderql.order_update)";
    let row = database.connect().await.query_one(select, &[]).await.unwrap();
    (row.get(0), row.get(1))
}

#[tokio::test(flavor = "multi_thread")]
async fn old_rows_are_pruned_by_command() {
    let database = migrated_database().await;
    add_rows(&database).await;
    let prune = |arguments: &str| {
        let table = orderql(&database, &format!("audit prune {arguments}"));
        (table[0]["oldRows"].as_i64().unwrap(), table[1]["oldRows"].as_i64().unwrap())
    };
    assert_eq!(prune("--dry-run"), (1200, 1));
    assert_eq!(prune("--dry-run --older-than 30d"), (2400, 2));
    assert_eq!(rows(&database).await, (3600, 3));
    assert_eq!(prune("--older-than 365d"), (1200, 1));
    assert_eq!(rows(&database).await, (2400, 2));
    assert_eq!(prune("--older-than 30d"), (1200, 1));
    assert_eq!(rows(&database).await, (1200, 1));
    let events = orderql(&database, "audit --limit 1");
    assert_eq!((&events[0]["action"], &events[0]["actor"]), (&json!("audit.pruned"), &json!("cli:ann")));
    let details = json!({"olderThanSeconds": 2_592_000, "orderql.audit_event": 1200, "orderql.order_update": 1});
    assert_eq!(events[0]["details"], details);
    let mut command = orderql_on(&database);
    let result = run(command.args(["audit", "prune"]).env("ORDERQL_AUDIT_KEEP", "forever"), "");
    assert!(!result.succeeded && result.stderr.contains("--older-than"), "{}", result.stderr);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_removes_old_rows_by_itself() {
    let database = migrated_database().await;
    add_rows(&database).await;
    let forever = Server::start(&database, &["--audit-keep", "forever"]);
    let server = Server::start(&database, &["--audit-keep", "200d"]);
    while rows(&database).await != (2400, 2) {}
    let log = server.stop();
    assert!(log.contains("old rows of an audit trail were removed"), "{log}");
    assert!(!forever.stop().contains("were removed"));
}
