//! HTTP/2 clients that send and read as slowly as a test wants.

use bytes::Bytes;
use h2::client::{ResponseFuture, SendRequest};
use h2::{RecvStream, SendStream};
use hyper::Response;

use crate::support::http::GRAPHQL_JSON;
use crate::support::server::Server;

/// An HTTP/2 connection on which the server may send so many bytes of each response before the client reads them.
pub async fn connect(server: &Server, window: u32) -> SendRequest<Bytes> {
    let stream = tokio::net::TcpStream::connect(server.address).await.unwrap();
    let mut builder = h2::client::Builder::new();
    let (client, connection) = builder.initial_window_size(window).handshake(stream).await.unwrap();
    tokio::spawn(connection);
    client
}

/// Begins a GraphQL request whose body is still to be sent.
pub async fn begin(client: &SendRequest<Bytes>, server: &Server, token: &str) -> (ResponseFuture, SendStream<Bytes>) {
    let request = hyper::Request::post(format!("http://{}/rest/s1/graphql", server.address))
        .header("authorization", format!("Bearer {token}"))
        .header("content-type", "application/json")
        .header("accept", GRAPHQL_JSON)
        .body(())
        .unwrap();
    client.clone().ready().await.unwrap().send_request(request, false).unwrap()
}

/// Sends a query and returns the response, whose body is unread.
pub async fn ask(client: &SendRequest<Bytes>, server: &Server, token: &str, query: &str) -> Response<RecvStream> {
    let (response, mut sender) = begin(client, server, token).await;
    sender.send_data(serde_json::json!({ "query": query }).to_string().into(), true).unwrap();
    response.await.unwrap()
}

/// Reads the body of a response, and returns its length.
pub async fn read(response: Response<RecvStream>) -> usize {
    let (mut body, mut length) = (response.into_body(), 0);
    while let Some(part) = body.data().await {
        let part = part.unwrap();
        body.flow_control().release_capacity(part.len()).unwrap();
        length += part.len();
    }
    length
}
