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
    let mut body = response.into_body();
    let mut bytes = Vec::new();
    while let Some(part) = body.data().await {
        let part = part.unwrap();
        body.flow_control().release_capacity(part.len()).unwrap();
        bytes.extend_from_slice(&part);
    }
    serde_json::from_slice(&bytes).unwrap()
}
