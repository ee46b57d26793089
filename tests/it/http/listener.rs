//! The door of a running server, over raw sockets: what hyper leaves to its user, hostile clients, the token operation,
//! the published schema and the probes.

use std::io::Write;

use orderql::access::accounts::{Profile, User, ensure_user};
use orderql::access::password::Passwords;

use crate::support::database::{Database, cluster, fresh_database};
use crate::support::server::{Server, read_answers, read_text};

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

#[tokio::test(flavor = "multi_thread")]
async fn heads_that_a_proxy_could_read_otherwise_are_refused_and_the_connection_closed() {
    let (server, _database) = server(&[]).await;
    let smuggled = "GET /health/live HTTP/1.1\r\nHost: a\r\n\r\n";
    for head in [
        "GET /health/live HTTP/1.1\r\n",
        "GET /health/live HTTP/1.1\r\nHost: a\r\nHost: a\r\n",
        "GET /health/live HTTP/1.1\r\nHost: a b\r\n",
        "GET /health/live HTTP/1.1\r\nHost : a\r\n",
        "POST /auth/token HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n",
        "POST /auth/token HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 4\r\n",
        "POST /auth/token HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n",
        "POST /auth/token HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
        "POST /auth/token HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: identity\r\n",
        "POST /auth/token HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nContent-Length: 5\r\n",
        "POST /auth/token HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n",
        "POST /auth/token HTTP/1.0\r\nTransfer-Encoding: chunked\r\n",
        "GET /health/live\r\n",
        "\0\0\0\0\r\n",
        "\u{16}\u{3}\u{1}\u{2}\0\u{1}\0\u{1}\u{fc}\r\n",
    ] {
        let answers = server.exchange(format!("{head}\r\n0\r\n\r\n{smuggled}"));
        assert_eq!(answers.len(), 1, "{head}: {answers:?}");
        assert_eq!(answers[0].status, 400, "{head}");
    }
    assert_eq!(server.get("/health/live").status, 200, "the server still serves");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conflict_of_length_and_encoding_is_seen_behind_honest_requests_too() {
    let (server, _database) = server(&[]).await;
    let honest = "POST /auth/token HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n";
    let conflict =
        "POST /auth/token HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n";
    let sized = "POST /auth/token HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello";
    let answers = server.exchange([sized, honest, sized, conflict, honest].concat());
    let statuses: Vec<_> = answers.iter().map(|answer| answer.status).collect();
    assert_eq!(statuses, [401, 401, 401, 400]);
    assert_eq!(answers[3].code(), "BAD_REQUEST");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_too_large_is_refused_at_once() {
    let (server, _database) = server(&["--body-limit", "1KiB"]).await;
    // The body never comes, so an answer shows that nobody waited for it.
    let declared = "POST /auth/token HTTP/1.1\r\nHost: a\r\nContent-Length: 18446744073709551613\r\n\r\n";
    let answers = server.exchange(declared);
    assert_eq!((answers[0].status, answers[0].code().as_str()), (413, "PAYLOAD_TOO_LARGE"));
    let expects = "POST /auth/token HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 1025\r\n\r\n";
    assert_eq!(server.exchange(expects)[0].status, 413);

    let target = format!("GET /{} HTTP/1.1\r\nHost: a\r\n\r\n", "x".repeat(10_000));
    assert_eq!(server.ask(&target).status, 414);
    let header = format!("GET /health/live HTTP/1.1\r\nHost: a\r\nX: {}\r\n\r\n", "x".repeat(70_000));
    assert_eq!(server.exchange(header)[0].status, 431);
    // With Host and Connection, a hundred and one more.
    for (others, status) in [(98, 200), (99, 431)] {
        let headers = format!("GET /health/live HTTP/1.1\r\nHost: a\r\n{}\r\n", "X: y\r\n".repeat(others));
        assert_eq!(server.ask(&headers).status, status, "{others}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_is_still_sending_gets_to_read_why_it_is_refused() {
    let (server, _database) = server(&[]).await;
    let mut body = b"POST /auth/token HTTP/1.1\r\nHost: a\r\nContent-Length: 10000000\r\n\r\n".to_vec();
    body.resize(body.len() + 10_000_000, b'x');
    let mut stream = server.connect();
    stream.write_all(&body).unwrap();
    assert_eq!(read_answers(stream)[0].status, 413);
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_that_dribble_are_cut_off() {
    let (server, _database) = server(&["--header-timeout", "200ms", "--idle-timeout", "300ms"]).await;
    // Each says less than a head and waits; the end of its stream shows that the server did not.
    for beginning in ["", "P", "PRI * HTTP/2.0\r\n", "GET /health/live HTTP/1.1\r\nHost: a\r\n", "\r\n"] {
        let mut stream = server.connect();
        stream.write_all(beginning.as_bytes()).unwrap();
        assert!(read_answers(stream).is_empty(), "{beginning:?}");
    }
    // A connection that has served is closed for want of a further request, and for one that never ends.
    for more in ["", "GET /health/live HT"] {
        let mut stream = server.connect();
        stream.write_all(format!("GET /health/live HTTP/1.1\r\nHost: a\r\n\r\n{more}").as_bytes()).unwrap();
        assert_eq!(read_answers(stream).len(), 1, "{more:?}");
    }
    let mut stream = server.connect();
    stream.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0").unwrap();
    let frames = read_text(stream);
    assert!(!frames.is_empty(), "an idle HTTP/2 connection is closed");
}

#[tokio::test(flavor = "multi_thread")]
async fn paths_and_methods_that_are_not_there_are_told_so() {
    let (server, _database) = server(&[]).await;
    let ask = |line: &str| server.ask(&format!("{line} HTTP/1.1\r\nHost: a\r\n\r\n"));
    for line in ["GET /", "GET /rest/s1/graphql/", "POST /%2e%2e/auth/token", "OPTIONS *", "GET /auth/token/x"] {
        let answer = ask(line);
        assert_eq!((answer.status, answer.code().as_str()), (404, "NOT_FOUND"), "{line}");
        assert_eq!(answer.header("x-request-id").map(str::len), Some(16), "{line}");
    }
    for (line, allow) in [
        ("GET /auth/token", "POST, OPTIONS"),
        ("DELETE /api/auth/token", "POST, OPTIONS"),
        ("POST /rest/s1/graphql/sdl", "GET, HEAD, OPTIONS"),
        ("BREW /health/live", "GET, HEAD, OPTIONS"),
    ] {
        let answer = ask(line);
        assert_eq!((answer.status, answer.header("allow")), (405, Some(allow)), "{line}");
    }
    let options = ask("OPTIONS /rest/s1/auth/token");
    assert_eq!((options.status, options.header("allow")), (204, Some("POST, OPTIONS")));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_head_request_has_the_headers_and_no_body() {
    let (server, _database) = server(&[]).await;
    let mut stream = server.connect();
    stream.write_all(b"HEAD /health/live HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").unwrap();
    let text = read_text(stream);
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 200 ") && head.contains("content-length: 17"), "{head}");
    assert_eq!(body, "");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_is_given_for_the_right_password_under_every_base() {
    let (server, _database) = server(&[]).await;
    for path in ["/auth/token", "/rest/auth/token", "/rest/s1/auth/token", "/api/auth/token"] {
        let answer = server.sign_in(path, "demo", "demo");
        assert_eq!(answer.status, 200, "{path}");
        assert_eq!(answer.header("cache-control"), Some("no-store"));
        let body = answer.json();
        assert_eq!((body["token_type"].as_str(), body["expires_in"].as_u64()), (Some("Bearer"), Some(3600)));
        assert_eq!(body["access_token"].as_str().unwrap().split('.').count(), 3);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn whatever_is_wrong_with_the_credentials_the_answer_is_the_same() {
    let (server, database) = server(&[]).await;
    let client = database.connect().await;
    client.execute("UPDATE orderql.user_account SET disabled = true WHERE user_id = 'guest'", &[]).await.unwrap();
    // The notification is on its way; until it has arrived, the account is open.
    while server.sign_in("/auth/token", "guest", "guest").status == 200 {}
    let wrong = [("demo", "Demo"), ("nobody", "nobody"), ("guest", "guest"), ("' OR 1=1 --", "x"), ("", "")];
    let answers: Vec<_> = wrong.map(|(user, password)| server.sign_in("/auth/token", user, password)).to_vec();
    for answer in &answers {
        assert_eq!(answer.status, 401);
        assert_eq!(answer.header("www-authenticate"), Some("Basic realm=\"orderql\", charset=\"UTF-8\""));
        assert_eq!(answer.body, answers[0].body);
    }
    let bare = server.ask("POST /auth/token HTTP/1.1\r\nHost: a\r\n\r\n");
    assert_eq!((bare.status, bare.code().as_str()), (401, "UNAUTHENTICATED"));
    let log = server.stop();
    assert!(!log.contains("OR 1=1") && !log.contains("nobody"), "a stranger's text is not logged: {log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_schema_is_published_with_a_tag() {
    let (server, _database) = server(&[]).await;
    let answer = server.ask("GET /rest/s1/graphql/sdl HTTP/1.1\r\nHost: a\r\n\r\n");
    assert_eq!((answer.status, answer.header("content-type")), (200, Some("text/plain; charset=utf-8")));
    assert_eq!(answer.body, orderql::catalog::Catalog::built_in().unwrap().sdl());
    let tag = answer.header("etag").unwrap();
    let again = format!("GET /rest/s1/graphql/sdl HTTP/1.1\r\nHost: a\r\nIf-None-Match: {tag}\r\n\r\n");
    let unchanged = server.ask(&again);
    assert_eq!((unchanged.status, unchanged.body.as_str(), unchanged.header("etag")), (304, "", Some(tag)));
}

#[tokio::test(flavor = "multi_thread")]
async fn probes_tell_whether_the_database_is_there() {
    let (server, database) = server(&[]).await;
    assert_eq!(server.get("/health/live").json()["status"], "live");
    assert_eq!(server.get("/health/ready").json()["status"], "ready");
    // Nobody may connect to the database any more, and who is connected is cut off.
    let admin = cluster().await.config("postgres");
    let admin = orderql::database::connect::connect(&admin).await.unwrap();
    let name = database.name();
    admin.batch_execute(&format!("ALTER DATABASE {name} ALLOW_CONNECTIONS false")).await.unwrap();
    let cut_off = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1";
    admin.execute(cut_off, &[&name]).await.unwrap();
    while server.get("/health/ready").status == 200 {}
    assert_eq!(server.get("/health/ready").status, 503);
    assert_eq!(server.get("/health/live").status, 200);
    assert_eq!(server.sign_in("/auth/token", "demo", "demo").status, 200, "the accounts last known hold");
    admin.batch_execute(&format!("ALTER DATABASE {name} ALLOW_CONNECTIONS true")).await.unwrap();
    while server.get("/health/ready").status == 503 {}
    assert_eq!(server.get("/health/ready").status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_told_to_stop_closes_what_idles_and_accepts_no_more() {
    let (mut server, _database) = server(&["--grace", "1h", "--idle-timeout", "1h"]).await;
    let mut idle = server.connect();
    idle.write_all(b"GET /health/live HTTP/1.1\r\nHost: a\r\n\r\n").unwrap();
    let silent = server.connect();
    server.get("/health/live");
    server.tell_to_stop();
    assert_eq!(read_answers(idle).len(), 1);
    assert!(read_answers(silent).is_empty());
    let log = server.wait();
    assert!(log.contains("stopping") && !log.contains("cut off"), "{log}");
    assert!(std::net::TcpStream::connect(server.address).is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn beyond_the_connection_limit_clients_wait_for_their_turn() {
    let (server, _database) = server(&["--connection-limit", "1"]).await;
    let mut first = server.connect();
    let mut second = server.connect();
    second.write_all(b"GET /health/live HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").unwrap();
    first.write_all(b"GET /health/ready HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").unwrap();
    assert_eq!(read_answers(first)[0].status, 200);
    assert_eq!(read_answers(second)[0].status, 200);
    let log = server.stop();
    let place = |route: &str| log.find(&format!("\"route\":\"{route}\"")).unwrap();
    assert!(place("ready") < place("live"), "{log}");
}
