//! Guessing passwords and flooding the login: what the owner of an account notices of it.

use std::io::Write as _;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use orderql::access::profile::Profile;

use crate::support::database::Database;
use crate::support::http::{Response, read_responses};
use crate::support::server::{Server, server_with_users};

/// A server behind a proxy, with the users `demo` and `bulk`. Two wrong passwords lock.
async fn server_behind_proxy() -> (Server, Database) {
    let users = [("demo", Profile::DEFAULT), ("bulk", Profile::DEFAULT)];
    server_with_users(&users, &["--login-attempts", "2", "--trusted-proxies", "127.0.0.1"]).await
}

/// A login from that address.
fn login(server: &Server, address: &str, user_id: &str, password: &str) -> Response {
    let headers = [authorization(user_id, password), format!("X-Forwarded-For: {address}")];
    server.request("POST /auth/token", &headers.each_ref().map(String::as_str), "")
}

fn authorization(user_id: &str, password: &str) -> String {
    format!("Authorization: Basic {}", BASE64_STANDARD.encode(format!("{user_id}:{password}")))
}

/// Sends wrong passwords for the account until the address is refused without a look at the password.
fn guess_until_locked(server: &Server, address: &str, user_id: &str) {
    while login(server, address, user_id, "wrong").status == 401 {}
}

#[tokio::test(flavor = "multi_thread")]
async fn guesses_from_elsewhere_do_not_lock_the_owner_out() {
    let (server, _database) = server_behind_proxy().await;
    // From a new address, while somebody guesses from another.
    guess_until_locked(&server, "192.0.2.1", "demo");
    assert_eq!(login(&server, "192.0.2.1", "demo", "demo").status, 429, "the guesser's address is locked");
    assert_eq!(login(&server, "198.51.100.7", "demo", "demo").status, 200);

    // Many addresses guess together: new addresses have to wait, but not the one that the owner has used.
    let mut guessers = 0;
    while login(&server, &format!("203.0.113.{guessers}"), "demo", "wrong").status == 401 {
        guessers += 1;
        assert!(guessers < 200, "distributed guesses are never slowed down");
    }
    assert!(guessers >= 15, "the account is slowed down after {guessers} guesses");
    assert_eq!(login(&server, "198.51.100.8", "demo", "demo").code(), "TOO_MANY_LOGINS");
    assert_eq!(login(&server, "198.51.100.7", "demo", "demo").status, 200);
    assert_eq!(login(&server, "198.51.100.8", "bulk", "bulk").status, 200, "another account is not affected");
}

/// Some gateways write the client's port into the header, and are themselves one of a network.
#[tokio::test(flavor = "multi_thread")]
async fn a_guesser_behind_a_gateway_that_writes_ports_locks_nobody_else_out() {
    let users = [("demo", Profile::DEFAULT), ("bulk", Profile::DEFAULT)];
    let (server, _database) =
        server_with_users(&users, &["--login-attempts", "2", "--trusted-proxies", "127.0.0.0/8"]).await;
    let mut port = 50_000;
    while login(&server, &format!("203.0.113.9:{port}"), "demo", "wrong").status == 401 {
        port += 1;
    }
    assert_eq!(login(&server, "203.0.113.9:443", "demo", "demo").status, 429);
    for other in ["[2001:db8::7]:443", "203.0.113.10:51234"] {
        assert_eq!(login(&server, other, "bulk", "bulk").status, 200, "{other}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn guesses_from_the_same_address_lock_only_those_who_were_never_there() {
    let (server, _database) = server_behind_proxy().await;
    assert_eq!(login(&server, "192.0.2.1", "demo", "demo").status, 200);
    let mut number = 0;
    while login(&server, "192.0.2.1", &format!("nobody {number}"), "wrong").status == 401 {
        number += 1;
    }
    assert!(number >= 15, "{number}");
    assert_eq!(login(&server, "192.0.2.1", "bulk", "bulk").status, 429);
    assert_eq!(login(&server, "192.0.2.1", "demo", "demo").status, 200);
    assert_eq!(login(&server, "192.0.2.2", "bulk", "bulk").status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flood_of_logins_of_one_account_leaves_places_for_the_others() {
    let users = [("demo", Profile::DEFAULT), ("bulk", Profile::DEFAULT)];
    let (server, _database) =
        server_with_users(&users, &["--password-checks", "1", "--connections-per-address", "400"]).await;
    let request = |user: &str| {
        format!("POST /auth/token HTTP/1.1\r\nHost: a\r\nConnection: close\r\n{}\r\n\r\n", authorization(user, user))
    };
    let flood: Vec<_> = (0..300)
        .map(|_| {
            let mut stream = server.connect();
            stream.write_all(request("bulk").as_bytes()).unwrap();
            stream
        })
        .collect();
    for _ in 0..3 {
        assert_eq!(server.send(request("demo")).status, 200);
    }
    let responses: Vec<_> = flood.into_iter().map(|stream| read_responses(stream).remove(0)).collect();
    let refused: Vec<_> = responses.iter().filter(|response| response.status != 200).collect();
    assert!(refused.len() < responses.len() && !refused.is_empty(), "{} of {}", refused.len(), responses.len());
    for response in refused {
        assert_eq!((response.status, response.code().as_str()), (429, "TOO_MANY_LOGINS"), "{response:?}");
        assert_eq!(response.header("retry-after"), Some("1"));
    }
}
