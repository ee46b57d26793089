//! Delays after wrong passwords, which hold on all servers.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use orderql::access::profile::Profile;

use crate::shared_store::Nodes;
use crate::support::http::Response;
use crate::support::server::Server;
use crate::support::store_server::StoreServer;

const ATTEMPTS: &[&str] = &["--login-attempts", "4"];

/// A login from that address.
fn login(server: &Server, address: &str, user_id: &str, password: &str) -> Response {
    let credentials = BASE64_STANDARD.encode(format!("{user_id}:{password}"));
    let headers = [format!("Authorization: Basic {credentials}"), format!("X-Forwarded-For: {address}")];
    server.request("POST /auth/token", &headers.each_ref().map(String::as_str), "")
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_passwords_lock_on_all_servers_together_and_right_ones_are_known_to_all() {
    let Some(mut store) = StoreServer::start() else { return };
    let nodes = Nodes::start(Profile::DEFAULT, &store.url(), &[ATTEMPTS, ATTEMPTS]).await;
    let [first, second] = &*nodes.servers else { unreachable!() };
    // Each server would allow as many.
    let guess = |count: usize| login([first, second][count % 2], "192.0.2.1", "demo", "wrong").status;
    assert_eq!([guess(0), guess(1), guess(2), guess(3)], [401; 4]);
    for locked in [first, second].map(|server| login(server, "192.0.2.1", "demo", "demo")) {
        assert_eq!((locked.status, locked.code().as_str()), (429, "TOO_MANY_LOGINS"), "{locked:?}");
    }
    assert_eq!(login(second, "192.0.2.2", "bulk", "bulk").status, 200);
    // A right password clears the count for all of them.
    for round in 0..3 {
        let servers = if round % 2 == 0 { [first, second] } else { [second, first] };
        for _ in 0..3 {
            assert_eq!(login(servers[0], "192.0.2.3", "bulk", "wrong").status, 401);
        }
        assert_eq!(login(servers[1], "192.0.2.3", "bulk", "bulk").status, 200);
    }
    // An address that the account has used at one server is known at the other: guesses from elsewhere lock new ones only.
    assert_eq!(login(first, "198.51.100.7", "demo", "demo").status, 200);
    let mut guessers = 0;
    while login([first, second][guessers % 2], &format!("203.0.113.{guessers}"), "demo", "wrong").status == 401 {
        guessers += 1;
        assert!(guessers < 100, "distributed guesses are never slowed down");
    }
    assert!((30..=41).contains(&guessers), "{guessers}");
    assert_eq!(login(first, "198.51.100.8", "demo", "demo").status, 429);
    assert_eq!(login(second, "198.51.100.7", "demo", "demo").status, 200);

    // Whatever is in the store, logins work.
    let keys = store.command(&["KEYS", "orderql:{login}:*"]);
    for (at, key) in keys.lines().enumerate() {
        let text = ["x", "-1 5", "99999999999999999999 99999999999999999999"][at % 3];
        store.command(&["SET", key, text]);
    }
    assert_eq!(login(second, "198.51.100.7", "demo", "demo").status, 200);
    assert_eq!(login(first, "192.0.2.1", "demo", "demo").status, 200);
    // Without it each server counts for itself, and knows what it has seen.
    store.kill();
    let mut guesses = 0;
    while login(first, "192.0.2.9", "bulk", "wrong").status == 401 {
        guesses += 1;
    }
    assert_eq!(guesses, 4);
    assert_eq!(login(second, "198.51.100.7", "demo", "demo").status, 200);
}
