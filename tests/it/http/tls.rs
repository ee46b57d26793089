//! TLS for clients.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::PathBuf;

use rustls::pki_types::ServerName;
use tokio_rustls::TlsConnector;

use crate::support::authority::Authority;
use crate::support::command::{orderql, run};
use crate::support::database::{Database, migrated_database};
use crate::support::http::{JSON, graphql_request, read_to_end};
use crate::support::server::Server;
use crate::support::test_folder::TestFolder;
use crate::support::users::{UNLIMITED_PROFILE, create_users};

const LIVE: &str = "GET /health/live HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";

/// A server with a certificate for `api.example`.
struct Encrypted {
    server: Server,
    authority: Authority,
    _folder: TestFolder,
    database: Database,
}

/// The flags that name the files of a certificate, and the files.
fn certificate(folder: &TestFolder) -> ([String; 4], PathBuf, PathBuf) {
    let [certificate, key] = ["server.crt", "server.key"].map(|name| folder.path().join(name));
    let text = |path: &PathBuf| path.display().to_string();
    (["--tls-cert".to_owned(), text(&certificate), "--tls-key".to_owned(), text(&key)], certificate, key)
}

impl Encrypted {
    async fn start(name: &str, flags: &[&str]) -> Self {
        let database = migrated_database().await;
        create_users(&mut database.connect().await, &[("demo", UNLIMITED_PROFILE)]).await;
        let folder = TestFolder::create(&format!("tls-{name}"));
        let authority = Authority::new("authority");
        let (tls, certificate, key) = certificate(&folder);
        authority.write("api.example", &certificate, &key);
        let flags: Vec<_> = tls.iter().map(String::as_str).chain(flags.iter().copied()).collect();
        Self { server: Server::start(&database, &flags), authority, _folder: folder, database }
    }

    /// Sends a request on a connection of its own, and returns the response.
    fn send(&self, request: &str) -> String {
        exchange(&self.authority, self.server.connect(), request)
    }
}

/// Sends a request, after which the server closes the connection, and returns the response.
fn exchange(authority: &Authority, stream: TcpStream, request: &str) -> String {
    let mut stream = authority.connect("api.example", stream);
    stream.write_all(request.as_bytes()).unwrap();
    let mut response = String::new();
    // Fails unless the server ends the connection as TLS prescribes.
    stream.read_to_string(&mut response).unwrap();
    response
}

#[tokio::test(flavor = "multi_thread")]
async fn serves_both_protocols_over_tls_and_no_others() {
    let encrypted = Encrypted::start("protocols", &["--log", "orderql=debug"]).await;
    let sign_in =
        "POST /auth/token HTTP/1.1\r\nHost: a\r\nAuthorization: Basic ZGVtbzpkZW1v\r\nConnection: close\r\n\r\n";
    let signed_in = encrypted.send(sign_in);
    let body: serde_json::Value = serde_json::from_str(signed_in.split_once("\r\n\r\n").unwrap().1).unwrap();
    let token = body["access_token"].as_str().unwrap();
    // A body that arrives in several records.
    let query = format!("{{ order(orderId: \"NONE\") {{ orderId }} }} #{}", "x".repeat(40_000));
    let response = encrypted.send(&graphql_request(token, JSON, &query));
    assert!(response.contains(r#""data":{"order":null}"#), "{response}");
    // A request that is rejected before its body was read.
    let large = "POST /auth/token HTTP/1.1\r\nHost: a\r\nContent-Length: 9000000\r\nConnection: close\r\n\r\n";
    assert!(encrypted.send(&(large.to_owned() + &"x".repeat(100_000))).starts_with("HTTP/1.1 413 "));

    let stream = tokio::net::TcpStream::connect(encrypted.server.address).await.unwrap();
    let connector = TlsConnector::from(encrypted.authority.client(&["h2", "http/1.1"]));
    let stream = connector.connect(ServerName::try_from("api.example").unwrap(), stream).await.unwrap();
    assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"h2"[..]));
    let (client, connection) = h2::client::handshake(stream).await.unwrap();
    tokio::spawn(connection);
    let request = hyper::Request::get("https://api.example/health/live").body(()).unwrap();
    let (response, _) = client.ready().await.unwrap().send_request(request, true).unwrap();
    assert_eq!(response.await.unwrap().status(), 200);

    // Clients that trust another authority, or do not speak TLS.
    let other = Authority::new("other authority");
    let refused = other.connect("api.example", encrypted.server.connect()).write_all(LIVE.as_bytes()).unwrap_err();
    assert!(refused.to_string().contains("UnknownIssuer"), "{refused}");
    let mut plain = encrypted.server.connect();
    plain.write_all(LIVE.as_bytes()).unwrap();
    assert!(!read_to_end(plain).contains("HTTP"));
    let log = encrypted.server.stop();
    assert!(log.contains("a client did not complete TLS") && !log.contains("panicked"), "{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_that_do_not_complete_the_handshake_keep_nobody_out() {
    let encrypted = Encrypted::start("strangers", &["--connection-limit", "2", "--header-timeout", "1h"]).await;
    let silent = [encrypted.server.connect(), encrypted.server.connect()];
    // The one that has been silent longest makes room.
    assert!(encrypted.send(LIVE).starts_with("HTTP/1.1 200 "));
    let [first, second] = silent;
    assert_eq!(read_to_end(first), "");
    // A server that stops waits for no handshake.
    encrypted.server.terminate();
    assert_eq!(read_to_end(second), "");
    let log = encrypted.server.stop();
    assert!(!log.contains("cut off"), "{log}");

    let encrypted = Encrypted::start("slow", &["--header-timeout", "200ms"]).await;
    let mut slow = encrypted.server.connect();
    // The beginning of a handshake.
    slow.write_all(&[22, 3, 1]).unwrap();
    assert_eq!(read_to_end(slow), "");
}

#[tokio::test(flavor = "multi_thread")]
async fn says_why_a_certificate_cannot_be_used_before_anything_is_made() {
    let folder = TestFolder::create("tls-errors");
    let (flags, certificate, key) = certificate(&folder);
    let authority = Authority::new("authority");
    authority.write("api.example", &certificate, &key);
    let (other_certificate, other_key) = (folder.path().join("other.crt"), folder.path().join("other.key"));
    authority.write("api.example", &other_certificate, &other_key);
    let keys = folder.path().join("keys");
    let serve = |flags: &[String]| {
        let mut command = orderql();
        command.args(["serve", "--listen", "127.0.0.1:0", "--database-url", "host=/nowhere user=a", "--key-folder"]);
        run(command.arg(&keys).args(flags), "").stderr
    };
    let wrong = [flags[0].clone(), flags[1].clone(), flags[2].clone(), other_key.display().to_string()];
    std::fs::write(folder.path().join("empty"), "").unwrap();
    let empty = [flags[0].clone(), folder.path().join("empty").display().to_string()];
    let empty = [&empty[..], &flags[2..]].concat();
    for (flags, expected) in [
        (&flags[..2], "tls-cert and tls-key belong together"),
        (&flags[2..], "tls-cert and tls-key belong together"),
        (&wrong[..], "cannot be used"),
        (&empty[..], "has no certificate in PEM format"),
        (&["--tls-cert".into(), "/nowhere".into(), flags[2].clone(), flags[3].clone()][..], "/nowhere cannot be read"),
    ] {
        let error = serve(flags);
        assert!(error.contains(expected), "{flags:?}: {error}");
    }
    let mode = |mode| std::os::unix::fs::PermissionsExt::from_mode(mode);
    std::fs::set_permissions(&key, mode(0o644)).unwrap();
    assert!(serve(&flags).contains("chmod 600"));
    assert!(!keys.exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_metric_says_when_the_certificate_expires() {
    let encrypted = Encrypted::start("expiry", &["--admin-listen", "127.0.0.1:0"]).await;
    let metrics = encrypted.server.metrics();
    assert!(metrics.samples["orderql_certificate_days"] > 1.0, "{:?}", metrics.samples["orderql_certificate_days"]);
    let clear = Server::start(&encrypted.database, &["--admin-listen", "127.0.0.1:0"]);
    assert!(!clear.metrics().samples.contains_key("orderql_certificate_days"));
}
