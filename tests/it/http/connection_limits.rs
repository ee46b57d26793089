//! Too many connections: which of them make room for others.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};

use tokio::net::TcpSocket;

use crate::support::http::{JSON, graphql_request, read_responses, read_to_end, read_until};
use crate::support::server::server_with_demo_user;
use crate::support::users::UNLIMITED_PROFILE;

const ORDER: &str = "{ order(orderId: \"NONE\") { orderName } }";
const LIVE: &[u8] = b"GET /health/live HTTP/1.1\r\nHost: a\r\n\r\n";
const LAST_LIVE: &[u8] = b"GET /health/live HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";

/// Sends a request and reads its response. The connection stays open.
fn use_once(mut stream: &TcpStream) {
    stream.write_all(LIVE).unwrap();
    read_until(stream, "\"live\"}");
}

/// Uses a connection so often that the server knows by the end that the one used before is idle: it sends a response a moment
/// before it knows that.
fn use_often(stream: &TcpStream) {
    for _ in 0..20 {
        use_once(stream);
    }
}

/// A connection from that address of this machine.
async fn connect_from(address: &str, server: SocketAddr) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind(format!("{address}:0").parse().unwrap()).unwrap();
    let stream = socket.connect(server).await.unwrap().into_std().unwrap();
    stream.set_nonblocking(false).unwrap();
    stream
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_connection_takes_the_place_of_the_one_that_was_idle_longest() {
    let (server, _database, _token) = server_with_demo_user(UNLIMITED_PROFILE, &["--connection-limit", "2"]).await;
    let [first, second] = [server.connect(), server.connect()];
    use_once(&second);
    use_once(&first);
    use_often(&second);
    let third = server.connect();
    use_once(&third);
    assert_eq!(read_to_end(first), "", "it is closed");
    use_once(&second);
    use_often(&third);
    let silent = server.connect();
    assert_eq!(read_to_end(second), "");
    use_once(&server.connect());
    assert_eq!(read_to_end(third), "");
    use_once(&silent);
    assert!(server.stop().contains("too many connections"));
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_in_flight_keep_their_places_and_operators_have_their_own() {
    let flags = ["--connection-limit", "1", "--admin-listen", "127.0.0.1:0"];
    let (mut server, database, token) = server_with_demo_user(UNLIMITED_PROFILE, &flags).await;
    let mut client = database.connect().await;
    let lock = client.transaction().await.unwrap();
    lock.batch_execute("LOCK TABLE order_header").await.unwrap();
    let mut running = server.connect();
    running.write_all(graphql_request(&token, JSON, ORDER).as_bytes()).unwrap();
    database.wait_for_lock_waits(1).await;
    let mut waiting = server.connect();
    waiting.write_all(LAST_LIVE).unwrap();

    let public = std::mem::replace(&mut server.address, server.admin_address.unwrap());
    for (path, status) in [("/health/live", 200), ("/health/ready", 200), ("/api/updateOrder", 404)] {
        assert_eq!(server.get(path).status, status, "{path}");
    }
    let idle: Vec<_> = (0..100).map(|_| server.connect()).collect();
    assert_eq!(server.get("/health/live").status, 200, "idle connections make room");
    drop(idle);
    server.address = public;

    database.wait_for_lock_waits(1).await;
    lock.rollback().await.unwrap();
    assert_eq!(read_responses(running)[0].json()["data"]["order"], serde_json::Value::Null);
    assert_eq!(read_responses(waiting)[0].status, 200);
    let log = server.stop();
    let position = |route: &str| log.rfind(&format!("\"route\":\"{route}\"")).unwrap();
    assert!(position("graphql") < position("live"), "{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn one_address_cannot_take_the_places_of_others() {
    let flags = ["--connections-per-address", "2", "--trusted-proxies", "127.0.0.3"];
    let (server, database, token) = server_with_demo_user(UNLIMITED_PROFILE, &flags).await;
    let mut client = database.connect().await;
    let lock = client.transaction().await.unwrap();
    lock.batch_execute("LOCK TABLE order_header").await.unwrap();
    let running = [server.connect(), server.connect()];
    for mut stream in &running {
        stream.write_all(graphql_request(&token, JSON, ORDER).as_bytes()).unwrap();
    }
    database.wait_for_lock_waits(2).await;
    let mut refused = server.connect();
    let _ = refused.write_all(LIVE);
    assert!(!matches!(refused.read(&mut [0; 1]), Ok(1..)));
    let other = connect_from("127.0.0.2", server.address).await;
    use_once(&other);
    let mut proxied = Vec::new();
    for _ in 0..5 {
        proxied.push(connect_from("127.0.0.3", server.address).await);
    }
    proxied.iter().for_each(use_once);
    proxied.iter().for_each(use_once);
    use_once(&other);

    lock.rollback().await.unwrap();
    for stream in running {
        assert_eq!(read_responses(stream).len(), 1);
    }
    let [first, second] = [server.connect(), server.connect()];
    use_once(&second);
    use_once(&server.connect());
    assert_eq!(read_to_end(first), "", "an idle connection of the same address makes room");
    drop(second);
}
