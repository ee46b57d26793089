//! The gates of the GraphQL endpoint, in their order: token, grant, media types, body.

use std::io::Write;

use orderql::access::accounts::{Profile, User, ensure_user};
use orderql::access::password::Passwords;

use crate::support::database::{Database, fresh_database};
use crate::support::server::{Answer, Server, read_answers, read_text, until};

/// A server on a fresh database with the users `demo`, who may do everything, and `guest`, who may do nothing.
async fn server(flags: &[&str]) -> (Server, Database) {
    let database = fresh_database().await;
    let passwords = Passwords::new(1).unwrap();
    for (user_id, groups) in [("demo", &["API"][..]), ("guest", &[])] {
        let user = User { user_id, password: user_id, groups, profile: Profile::default() };
        ensure_user(&mut database.connect().await, &passwords, &user).await.unwrap();
    }
    (Server::start(&database, flags), database)
}

/// A request's head, up to its last header.
fn head(headers: &[&str]) -> String {
    [&["POST /rest/s1/graphql HTTP/1.1", "Host: a"], headers, &[""]].concat().join("\r\n")
}

fn post(server: &Server, headers: &[&str], body: impl AsRef<[u8]>) -> Answer {
    let body = body.as_ref();
    let head = format!("{}Content-Length: {}\r\nConnection: close\r\n\r\n", head(headers), body.len());
    let mut answers = server.exchange([head.as_bytes(), body].concat());
    assert_eq!(answers.len(), 1, "{answers:?}");
    answers.remove(0)
}

const JSON: &str = "Content-Type: application/json";
const NEWER: &str = "Accept: application/graphql-response+json";

#[tokio::test(flavor = "multi_thread")]
async fn a_token_is_asked_for_before_anything_else() {
    let (server, _database) = server(&[]).await;
    let altered = format!("Authorization: Bearer {}x", server.token("demo"));
    for headers in [
        &[][..],
        &["Authorization: Bearer"],
        &["Authorization: Bearer a.b.c"],
        &["Authorization: Basic ZGVtbzpkZW1v"],
        &[altered.as_str()],
        &["Accept: text/html", "Content-Type: text/plain"],
    ] {
        let answer = post(&server, headers, "garbage");
        assert_eq!((answer.status, answer.code().as_str()), (401, "UNAUTHENTICATED"), "{headers:?}");
        assert!(answer.header("www-authenticate").unwrap().starts_with("Bearer realm="), "{headers:?}");
    }
    let log = server.stop();
    assert!(!log.contains("garbage") && !log.contains("a.b.c") && !log.contains("ZGVtbzpkZW1v"), "{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_grant_counts_from_the_moment_the_database_tells_of_it() {
    let (server, database) = server(&[]).await;
    let token = format!("Authorization: Bearer {}", server.token("guest"));
    let status = || post(&server, &[&token, JSON], "garbage").status;
    let refused = post(&server, &[&token], "garbage");
    assert_eq!((refused.status, refused.code().as_str()), (403, "FORBIDDEN"));
    let client = database.connect().await;
    client.execute("INSERT INTO orderql.group_member VALUES ('API', 'guest')", &[]).await.unwrap();
    while status() == 403 {}
    assert_eq!(status(), 400);
    client.execute("DELETE FROM orderql.artifact_grant WHERE artifact_group_id = 'GRAPHQL'", &[]).await.unwrap();
    while status() == 400 {}
    assert_eq!(status(), 403);
    client.execute("DELETE FROM orderql.user_account WHERE user_id = 'guest'", &[]).await.unwrap();
    while status() == 403 {}
    assert_eq!(status(), 401, "a token is worth no more than its account");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_is_no_request_is_refused_in_either_form() {
    let (server, _database) = server(&[]).await;
    let token = format!("Authorization: Bearer {}", server.token("demo"));
    for body in [&b""[..], b"{", b"[]", b"{\"query\": 1}", b"\xff\xfe", b"{\"query\": \"\0\"}", b"\0", b"null"] {
        for accept in ["Accept: */*", NEWER] {
            let answer = post(&server, &[&token, JSON, accept], body);
            assert_eq!((answer.status, answer.code().as_str()), (400, "BAD_USER_INPUT"), "{body:?}");
            assert_eq!(answer.json().get("data").is_some(), accept != NEWER);
        }
    }
    let deep = "[".repeat(500_000);
    assert_eq!(post(&server, &[&token, JSON], deep).status, 400);
    assert_eq!(post(&server, &[&token, JSON], "x".repeat((1 << 20) + 1)).status, 413);
    for content_type in ["Content-Type: text/plain", "Content-Type: application/json; charset=latin1", "X: y"] {
        assert_eq!(post(&server, &[&token, content_type], "{}").status, 415, "{content_type}");
    }
    assert_eq!(post(&server, &[&token, JSON, "Content-Encoding: gzip"], "{}").status, 415);
    assert_eq!(post(&server, &[&token, JSON, "Accept: text/html"], "{}").status, 406);
}

#[tokio::test(flavor = "multi_thread")]
async fn bodies_that_grow_beyond_the_limit_or_never_end_are_refused() {
    let (server, _database) = server(&["--body-timeout", "200ms", "--body-limit", "1KiB"]).await;
    let token = format!("Authorization: Bearer {}", server.token("demo"));
    let begin = |framing: &str| format!("{}{framing}\r\n\r\n", head(&[&token, JSON]));
    let chunk = format!("400\r\n{}\r\n", "x".repeat(0x400));
    for (request, status) in [
        (begin("Content-Length: 10") + "{", 408),
        (begin("Transfer-Encoding: chunked") + "1\r\n{\r\n", 408),
        (begin("Transfer-Encoding: chunked") + &chunk + &chunk, 413),
        (begin("Transfer-Encoding: chunked") + "zz\r\n", 400),
    ] {
        let answers = server.exchange(&request);
        assert_eq!(answers.len(), 1, "{request}");
        assert_eq!(answers[0].status, status, "{request}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_in_the_making_is_finished_after_the_server_is_told_to_stop() {
    let (mut server, _database) = server(&["--grace", "1h"]).await;
    let token = format!("Authorization: Bearer {}", server.token("demo"));
    let mut busy = server.connect();
    // The server asks for the rest of the body once it is in the midst of reading it.
    let begin = format!("{}Expect: 100-continue\r\nContent-Length: 2\r\n\r\n", head(&[&token, JSON]));
    busy.write_all(begin.as_bytes()).unwrap();
    until(&busy, "HTTP/1.1 100 Continue\r\n\r\n");
    let mut idle = server.connect();
    idle.write_all(b"GET /health/live HTTP/1.1\r\nHost: a\r\n\r\n").unwrap();
    until(&idle, "\"live\"}");
    server.tell_to_stop();
    assert_eq!(read_text(idle), "", "an idle connection is closed");
    busy.write_all(b"{}").unwrap();
    let answers = read_answers(busy);
    assert_eq!(answers[0].status, 400);
    let log = server.wait();
    assert!(!log.contains("cut off"), "{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn http2_with_prior_knowledge_is_served_and_stopped_in_order() {
    let (mut server, _database) = server(&["--grace", "1h"]).await;
    let stream = tokio::net::TcpStream::connect(server.address).await.unwrap();
    let (client, connection) = h2::client::handshake(stream).await.unwrap();
    let connection = tokio::spawn(connection);
    let mut client = client.ready().await.unwrap();
    for (path, status) in [("/health/live", 200), ("/nowhere", 404)] {
        let request = hyper::Request::get(format!("http://{}{path}", server.address)).body(()).unwrap();
        let (answer, _) = client.send_request(request, true).unwrap();
        let answer = answer.await.unwrap();
        assert_eq!(answer.status(), status);
        assert_eq!(answer.headers()["x-request-id"].len(), 16);
        assert!(!answer.headers().contains_key("connection"));
    }
    let request = hyper::Request::post(format!("http://{}/auth/token", server.address));
    let request = request.header("content-length", "10000000").body(()).unwrap();
    let (answer, _still_sending) = client.send_request(request, false).unwrap();
    assert_eq!(answer.await.unwrap().status(), 413);
    drop(client);
    server.tell_to_stop();
    connection.await.unwrap().unwrap();
    server.wait();
}

#[tokio::test(flavor = "multi_thread")]
async fn making_a_user_twice_changes_nothing_and_mends_what_is_otherwise() {
    let database = fresh_database().await;
    let mut client = database.connect().await;
    let passwords = Passwords::new(1).unwrap();
    let profile = Profile { bucket_size: Some(7), ..Profile::default() };
    let user = User { user_id: "bulk", password: "bulk", groups: &["API"], profile };
    let stored = "SELECT a::text, p::text, m::text FROM orderql.user_account a
                  JOIN orderql.user_profile p USING (user_id) JOIN orderql.group_member m USING (user_id)";
    let mut seen = Vec::new();
    for change in ["", "", "UPDATE orderql.user_profile SET bucket_size = 8, max_depth = 3"] {
        client.batch_execute(change).await.unwrap();
        ensure_user(&mut client, &passwords, &user).await.unwrap();
        let row = client.query_one(stored, &[]).await.unwrap();
        seen.push([0, 1, 2].map(|column| row.get::<_, String>(column)));
    }
    assert!(seen.iter().all(|row| row == &seen[0]), "{seen:?}");
    client.batch_execute("UPDATE orderql.user_account SET disabled = true").await.unwrap();
    ensure_user(&mut client, &passwords, &User { password: "other", ..user }).await.unwrap();
    let account = client.query_one("SELECT password_hash, disabled FROM orderql.user_account", &[]).await.unwrap();
    let hash: &str = account.get(0);
    assert!(passwords.verify("other".into(), Some(hash.into())).await.unwrap());
    assert!(!account.get::<_, bool>(1));
}
