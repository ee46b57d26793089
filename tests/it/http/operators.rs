//! The operators' listener.

use std::fs;
use std::io::Write as _;
use std::net::TcpStream;

use orderql::config::settings::SETTINGS;
use orderql::database::connection::connect::connect;
use serde_json::{Value, json};

use crate::support::cluster::cluster;
use crate::support::database::migrated_database;
use crate::support::http::read_responses;
use crate::support::server::{Server, connection_string, wait_until};

const FLAGS: [&str; 4] = ["--admin-listen", "127.0.0.1:0", "--console", "off"];

/// A part's status, or all of them.
fn statuses(ready: &Value) -> Vec<(&str, &str)> {
    let parts = ready["parts"].as_object().unwrap();
    parts.iter().map(|(name, part)| (name.as_str(), part["status"].as_str().unwrap())).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn only_operators_have_metrics_and_settings_and_see_the_parts() {
    let database = migrated_database().await;
    let server = Server::start(&database, &FLAGS);
    for path in ["/metrics", "/config"] {
        assert_eq!(server.get(path).status, 404, "{path}");
        assert_eq!(server.get_as_operator(path).status, 200, "{path}");
    }
    let metrics = server.get_as_operator("/metrics");
    assert_eq!(metrics.header("content-type"), Some("application/openmetrics-text; version=1.0.0; charset=utf-8"));
    let older = server.as_operator("GET /metrics", &["Accept: text/plain;version=0.0.4", "Connection: close"], "");
    assert_eq!(older.header("content-type"), Some("text/plain; version=0.0.4; charset=utf-8"));
    assert!(
        older.body.contains("# TYPE orderql_errors_total counter\n") && !older.body.contains("# EOF"),
        "{}",
        older.body
    );
    for path in ["/auth/token", "/rest/s1/graphql", "/api/updateOrder", "/.well-known/jwks.json"] {
        assert_eq!(server.get_as_operator(path).status, 404, "{path}");
    }
    assert_eq!(server.get_as_operator("/health/live").json(), json!({"status": "live"}));
    assert_eq!(server.get("/health/ready").json(), json!({"status": "ready"}));
    let ready = server.get_as_operator("/health/ready");
    let ready = ready.json();
    assert_eq!(ready["status"], "ready");
    let all_ok = [("accounts", "ok"), ("database", "ok"), ("keys", "ok"), ("pool", "ok"), ("schema", "ok")];
    assert_eq!(statuses(&ready), all_ok);

    // A key that cannot be read leaves the last ones in force, so the server stays ready.
    let key = server.folder.join("keys/broken.pem");
    fs::write(&key, "no key").unwrap();
    let keys = || {
        // A token of an unknown key makes the server look at the keys at once.
        server.request(
            "POST /rest/s1/graphql",
            &["Authorization: Bearer eyJhbGciOiJFZERTQSIsImtpZCI6IngifQ.e30.AA"],
            "{}",
        );
        let ready = server.get_as_operator("/health/ready");
        assert_eq!(ready.status, 200);
        ready.json()["parts"]["keys"].clone()
    };
    wait_until(|| keys()["status"] != "ok");
    assert_eq!(
        keys(),
        json!({"status": "degraded", "reason": "the keys cannot be read; those read last are in force"})
    );
    fs::remove_file(&key).unwrap();
    wait_until(|| keys()["status"] == "ok");

    // Without its database it is not ready, and says which parts that concerns.
    let admin = connect(&cluster().await.config("postgres")).await.unwrap();
    let name = database.name();
    admin.batch_execute(&format!("ALTER DATABASE {name} ALLOW_CONNECTIONS false")).await.unwrap();
    let terminate = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1";
    admin.execute(terminate, &[&name]).await.unwrap();
    wait_until(|| server.get("/health/ready").status != 200);
    let reason = "the database cannot be reached";
    assert_eq!(server.get("/health/ready").json(), json!({"status": "not ready", "reason": reason}));
    let ready = server.get_as_operator("/health/ready");
    assert_eq!(ready.status, 503);
    let ready = ready.json();
    assert_eq!(statuses(&ready)[..2], [("accounts", "degraded"), ("database", "failed")]);
    assert_eq!(ready["parts"]["database"]["reason"], reason);
    let metrics = server.metrics();
    assert_eq!([metrics.get("orderql_ready"), metrics.get(r#"orderql_part_ok{part="database"}"#)], [0, 0]);
    admin.batch_execute(&format!("ALTER DATABASE {name} ALLOW_CONNECTIONS true")).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn settings_are_not_shown_under_names_that_anybody_may_register() {
    let database = migrated_database().await;
    let server = Server::start(&database, &FLAGS);
    let ask = |path: &str, host: &str| {
        let mut stream = TcpStream::connect(server.admin_address.unwrap()).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").unwrap();
        read_responses(stream).remove(0)
    };
    for (host, status) in [("localhost:9464", 200), ("127.0.0.1", 200), ("[::1]:9464", 200), ("evil.example", 400)] {
        assert_eq!(ask("/config", host).status, status, "{host}");
        // Whoever knows the address knows that the server is there.
        assert_eq!(ask("/metrics", host).status, 200, "{host}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn settings_are_shown_with_their_origin_and_secrets_are_not() {
    let database = migrated_database().await;
    let address = format!("{} password=geheim", connection_string(&database.config()));
    let secret = "Z2VoZWltZ2VoZWltZ2VoZWltZ2VoZWltZ2VoZWltZ2VoZWltZ2VoZWltZ2VoZWlt";
    let flags =
        ["--admin-listen", "127.0.0.1:0", "--token-algorithm", "HS256", "--signing-key", secret, "--max-depth", "7"];
    let store = "redis://:geheim@127.0.0.1:1/0";
    let addresses = ["--replica-urls", &address, "--listen-url", &address, "--bucket-url", store];
    let server = Server::start_on(&address, &[&flags[..], &addresses].concat());
    let response = server.get_as_operator("/config");
    assert!(!response.body.contains("geheim") && !response.body.contains("Z2VoZWlt"), "{}", response.body);
    let shown = response.json();
    assert_eq!(shown.as_object().unwrap().len(), SETTINGS.len());
    for setting in SETTINGS {
        let shown = &shown[setting.name];
        assert!(shown["origin"].is_string(), "{}", setting.name);
        if setting.secret {
            assert_eq!((shown.get("value"), &shown["isSecret"]), (None, &json!(true)), "{}", setting.name);
        }
    }
    assert_eq!(shown["max-depth"]["value"], "7");
    assert_eq!(shown["max-cost"], json!({"value": "1000", "origin": "the default"}));
}
