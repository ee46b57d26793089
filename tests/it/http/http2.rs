//! HTTP/2 connections with several streams.

use bytes::Bytes;
use h2::client::SendRequest;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::http::pipelining::{order_in, queries_of_all_orders};
use crate::support::database::loaded_database;
use crate::support::server::{Server, server_with_demo_user};
use crate::support::users::{UNLIMITED_PROFILE, create_users};

const ORDER: &str = "{ order(orderId: \"NONE\") { orderName } }";

#[tokio::test(flavor = "multi_thread")]
async fn serves_http2_with_prior_knowledge_and_stops_it_gracefully() {
    let (mut server, _database, _token) = server_with_demo_user(UNLIMITED_PROFILE, &["--grace", "1h"]).await;
    let stream = tokio::net::TcpStream::connect(server.address).await.unwrap();
    let (client, connection) = h2::client::handshake(stream).await.unwrap();
    let connection = tokio::spawn(connection);
    let mut client = client.ready().await.unwrap();
    for (path, status) in [("/health/live", 200), ("/nowhere", 404)] {
        let request = hyper::Request::get(format!("http://{}{path}", server.address)).body(()).unwrap();
        let (response, _) = client.send_request(request, true).unwrap();
        let response = response.await.unwrap();
        assert_eq!(response.status(), status);
        assert_eq!(response.headers()["x-request-id"].len(), 16);
        assert!(!response.headers().contains_key("connection"));
    }
    let request = hyper::Request::post(format!("http://{}/auth/token", server.address));
    let request = request.header("content-length", "10000000").body(()).unwrap();
    let (response, _still_sending) = client.send_request(request, false).unwrap();
    assert_eq!(response.await.unwrap().status(), 413);
    drop(client);
    server.terminate();
    connection.await.unwrap().unwrap();
    server.wait();
}

#[tokio::test(flavor = "multi_thread")]
async fn fifty_streams_of_one_connection_get_their_own_responses() {
    let database = loaded_database().await;
    create_users(&mut database.connect().await, &[("demo", UNLIMITED_PROFILE)]).await;
    let mut server = Server::start(&database, &["--pool-size", "4", "--pool-wait", "1h"]);
    let token = server.token("demo");
    let stream = tokio::net::TcpStream::connect(server.address).await.unwrap();
    let (client, connection) = h2::client::handshake(stream).await.unwrap();
    let connection = tokio::spawn(connection);
    let orders = queries_of_all_orders(&database).await;
    for _ in 0..3 {
        let mut streams = JoinSet::new();
        for (id, query) in &orders[..50] {
            let (id, query) = (id.clone(), query.clone());
            let (client, token, address) = (client.clone(), token.clone(), server.address);
            streams.spawn(async move {
                let uri = format!("http://{address}/rest/s1/graphql");
                assert_eq!(order_in(&send(client, &uri, &token, &query).await), id);
            });
        }
        assert_eq!(streams.join_all().await.len(), 50);
    }
    // Dropping one handle of the connection does not end the others.
    drop(client.clone().ready().await.unwrap());
    drop(client);
    server.terminate();
    connection.await.unwrap().unwrap();
    server.wait();
}

#[tokio::test(flavor = "multi_thread")]
async fn resetting_a_stream_cancels_its_statements_and_no_others() {
    let (server, database, token) = server_with_demo_user(UNLIMITED_PROFILE, &[]).await;
    let mut locker = database.connect().await;
    let lock = locker.transaction().await.unwrap();
    lock.batch_execute("LOCK TABLE order_header").await.unwrap();
    let stream = tokio::net::TcpStream::connect(server.address).await.unwrap();
    let (client, connection) = h2::client::handshake(stream).await.unwrap();
    tokio::spawn(connection);
    let uri = format!("http://{}/rest/s1/graphql", server.address);
    let tasks: Vec<_> = (0..3)
        .map(|_| {
            let (client, uri, token) = (client.clone(), uri.clone(), token.clone());
            tokio::spawn(async move { send(client, &uri, &token, ORDER).await })
        })
        .collect();
    database.wait_for_lock_waits(3).await;
    tasks[0].abort();
    database.wait_for_lock_waits(2).await;
    lock.rollback().await.unwrap();
    let mut answered = 0;
    for task in tasks {
        match task.await {
            Ok(body) => {
                assert_eq!(body["data"], json!({"order": null}));
                answered += 1;
            }
            Err(error) => assert!(error.is_cancelled()),
        }
    }
    assert_eq!(answered, 2);
}

/// A response that leaves while the client is sending would reset the stream.
#[tokio::test(flavor = "multi_thread")]
async fn a_response_before_the_body_waits_for_it_and_ends_its_stream() {
    let (server, _database, token) = server_with_demo_user(UNLIMITED_PROFILE, &[]).await;
    let stream = tokio::net::TcpStream::connect(server.address).await.unwrap();
    let (client, connection) = h2::client::handshake(stream).await.unwrap();
    tokio::spawn(connection);
    for (path, header, status) in [
        ("/rest/s1/graphql", ("accept", "*/*".to_owned()), 401),
        ("/rest/s1/graphql", ("authorization", format!("Bearer {token}")), 415),
        ("/nowhere", ("accept", "*/*".to_owned()), 404),
        ("/health/live", ("accept", "*/*".to_owned()), 405),
    ] {
        let request = hyper::Request::post(format!("http://{}{path}", server.address)).header(header.0, header.1);
        let mut client = client.clone().ready().await.unwrap();
        let (response, mut sender) = client.send_request(request.body(()).unwrap(), false).unwrap();
        sender.send_data(Bytes::from_static(&[b' '; 10_000]), false).unwrap();
        let mut ping = client.clone().ready().await.unwrap();
        // Another response of the same connection shows that the server had the time.
        let alive = hyper::Request::get(format!("http://{}/health/live", server.address)).body(()).unwrap();
        assert_eq!(ping.send_request(alive, true).unwrap().0.await.unwrap().status(), 200);
        // Fails if the stream was reset.
        sender.send_data(Bytes::from_static(&[b' '; 10_000]), true).unwrap();
        let response = response.await.unwrap();
        assert_eq!(response.status(), status, "{path}");
        assert!(!read(response.into_body()).await.is_empty(), "{path}");
    }
}

/// The client of Debian 12, which loses a response whose stream is reset.
#[tokio::test(flavor = "multi_thread")]
async fn curl_and_node_see_every_early_response() {
    let (server, _database, _token) = server_with_demo_user(UNLIMITED_PROFILE, &[]).await;
    let url = format!("http://{}/rest/s1/graphql", server.address);
    let body = format!("{{\"query\": \"{}\"}}", " ".repeat(60_000));
    let mut clients = vec![(
        "curl",
        vec!["--http2-prior-knowledge", "-sS", "-o", "/dev/null", "-w", "%{http_code}", "-d", &body, &url],
    )];
    let script = "const client = require('http2').connect(new URL(process.argv[1]).origin);
        const stream = client.request({ ':method': 'POST', ':path': new URL(process.argv[1]).pathname });
        stream.on('response', (headers) => process.stdout.write(String(headers[':status'])));
        stream.on('error', (error) => process.stdout.write(error.message)).on('close', () => client.close());
        stream.resume(); stream.end(process.argv[2]);";
    clients.push(("node", vec!["-e", script, &url, &body]));
    for (program, arguments) in clients {
        for _ in 0..10 {
            let Ok(output) = std::process::Command::new(program).args(&arguments).output() else { break };
            let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
            assert_eq!(text, "401", "{program}");
        }
    }
}

/// The bytes of a response's body.
async fn read(mut body: h2::RecvStream) -> Vec<u8> {
    let mut bytes = Vec::new();
    while let Some(part) = body.data().await {
        let part = part.unwrap();
        body.flow_control().release_capacity(part.len()).unwrap();
        bytes.extend_from_slice(&part);
    }
    bytes
}

/// Sends a query on a new stream and returns the body of the response.
async fn send(client: SendRequest<Bytes>, uri: &str, token: &str, query: &str) -> Value {
    let mut client = client.ready().await.unwrap();
    let request = hyper::Request::post(uri)
        .header("authorization", format!("Bearer {token}"))
        .header("content-type", "application/json")
        .body(())
        .unwrap();
    let (response, mut sender) = client.send_request(request, false).unwrap();
    sender.send_data(json!({ "query": query }).to_string().into(), true).unwrap();
    let response = response.await.unwrap();
    assert_eq!(response.status(), 200);
    serde_json::from_slice(&read(response.into_body()).await).unwrap()
}
