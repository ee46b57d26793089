//! The protocol over HTTP.

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Stdio};

use serde_json::{Value, json};

use crate::agents::client::{PROTOCOL, called, initialize};
use crate::agents::tools::demo_server;
use crate::support::command::orderql;
use crate::support::http::{Response, read_responses};
use crate::support::server::Server;

/// The program, listening. Dropping it ends it.
pub struct Listening {
    program: Child,
    pub address: SocketAddr,
}

impl Listening {
    pub fn start(server: &Server, arguments: &[&str]) -> Self {
        let mut command = orderql();
        command
            .args(["mcp", "--listen", "127.0.0.1:0", "--url", &format!("http://{}", server.address)])
            .args(arguments);
        // Not the caller of any request.
        command.env("ORDERQL_TOKEN", "wrong");
        let mut program = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(program.stderr.take().unwrap()).read_line(&mut line).unwrap();
        let address =
            line.trim().strip_prefix("orderql mcp: listening on http://").unwrap().strip_suffix("/mcp").unwrap();
        Self { address: address.parse().unwrap(), program }
    }

    fn send(&self, path: &str, headers: &[&str], body: &Value) -> Response {
        self.send_as(PROTOCOL, path, headers, body)
    }

    /// Sends a request of a client that speaks a revision, or names none.
    fn send_as(&self, revision: &str, path: &str, headers: &[&str], body: &Value) -> Response {
        let named = if revision.is_empty() { String::new() } else { format!("MCP-Protocol-Version: {revision}\r\n") };
        let mut stream = TcpStream::connect(self.address).unwrap();
        let body = body.to_string();
        let mut head = format!(
            "POST {path} HTTP/1.1\r\nConnection: close\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\n{named}Content-Length: {}\r\n",
            body.len()
        );
        let has_host = headers.iter().any(|header| header.starts_with("Host:"));
        let host = format!("Host: {}", self.address);
        for header in headers.iter().copied().chain((!has_host).then_some(host.as_str())) {
            let _ = write!(head, "{header}\r\n");
        }
        stream.write_all(format!("{head}\r\n{body}").as_bytes()).unwrap();
        read_responses(stream).remove(0)
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        let _ = self.program.kill();
        let _ = self.program.wait();
    }
}

fn request(method: &str, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": 5, "method": method, "params": params })
}

#[tokio::test(flavor = "multi_thread")]
async fn each_request_is_its_own_callers() {
    let (server, _database, token) = demo_server().await;
    let listening = Listening::start(&server, &[]);
    let (good, bad) = (format!("Authorization: Bearer {token}"), "Authorization: Bearer wrong");
    let begun = listening.send("/mcp", &[&good], &initialize());
    assert_eq!((begun.status, begun.header("mcp-session-id")), (200, None));
    assert_eq!(begun.json()["result"]["serverInfo"]["name"], "orderql");
    let tools = listening.send("/mcp", &[&good], &request("tools/list", &json!({})));
    assert_eq!(tools.json()["result"]["tools"].as_array().unwrap().len(), 6);
    let query = "{ order(orderId: \"ORDER_SPLIT\") { statusId } }";
    let run = request("tools/call", &json!({ "name": "run_query", "arguments": { "query": query } }));
    let answered = called(&listening.send("/mcp", &[&good], &run).json()["result"]);
    assert_eq!(answered.content["data"]["order"]["statusId"], "ORDER_APPROVED");
    for headers in [&[bad][..], &[]] {
        let refused = listening.send("/mcp", headers, &run);
        assert_eq!((refused.status, refused.header("www-authenticate")), (401, Some("Bearer")));
    }
    assert_eq!(listening.send("/", &[&good], &run).status, 404);
}

/// The head of a request with a body, and a byte of that.
fn begun(token: &str) -> String {
    format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nContent-Length: 1000\r\n\r\n{{"
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_is_checked_before_the_body_arrives() {
    let (server, _database, _token) = demo_server().await;
    let listening = Listening::start(&server, &[]);
    let mut stream = TcpStream::connect(listening.address).unwrap();
    stream.write_all(begun("wrong").as_bytes()).unwrap();
    let mut status = [0; 12];
    stream.read_exact(&mut status).unwrap();
    assert_eq!(&status, b"HTTP/1.1 401");
}

/// Clients that send a head and one byte hold no place for ever.
#[tokio::test(flavor = "multi_thread")]
async fn slow_clients_make_room_for_others() {
    let (server, _database, token) = demo_server().await;
    let listening = Listening::start(&server, &["--trusted-proxy", "127.0.0.0/8"]);
    let slow: Vec<_> = (0..300)
        .map(|_| {
            let mut stream = TcpStream::connect(listening.address).unwrap();
            stream.write_all(begun(&token).as_bytes()).unwrap();
            stream
        })
        .collect();
    let authorization = format!("Authorization: Bearer {token}");
    let tools = listening.send("/mcp", &[&authorization], &request("tools/list", &json!({})));
    assert_eq!(tools.status, 200);
    drop(slow);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_tool_does_ends_when_its_client_goes() {
    let (server, database, token) = demo_server().await;
    let listening = Listening::start(&server, &[]);
    let mut other = database.connect().await;
    let lock = other.transaction().await.unwrap();
    lock.batch_execute("LOCK TABLE order_header").await.unwrap();
    let query = "{ order(orderId: \"ORDER_SPLIT\") { statusId } }";
    let body = request("tools/call", &json!({ "name": "run_query", "arguments": { "query": query } })).to_string();
    let mut stream = TcpStream::connect(listening.address).unwrap();
    let head = begun(&token).replace("Content-Length: 1000", &format!("Content-Length: {}", body.len()));
    stream.write_all((head.trim_end_matches('{').to_owned() + &body).as_bytes()).unwrap();
    database.wait_for_lock_waits(1).await;
    drop(stream);
    database.wait_for_lock_waits(0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn web_pages_and_other_hosts_may_not_call_unless_they_are_named() {
    let (server, _database, token) = demo_server().await;
    let authorization = format!("Authorization: Bearer {token}");
    let list = request("tools/list", &json!({}));
    let status = |listening: &Listening, header: &str| listening.send("/mcp", &[&authorization, header], &list).status;
    let closed = Listening::start(&server, &[]);
    for header in
        ["Origin: https://evil.example", "Origin: http://localhost:3000", "Origin: null", "Host: evil.example"]
    {
        assert_eq!(status(&closed, header), 403, "{header}");
    }
    let arguments = ["--origin", "https://chat.example:443", "--host", "mcp.example"];
    let open = Listening::start(&server, &arguments);
    assert_eq!(status(&open, "Origin: https://chat.example"), 200);
    assert_eq!(status(&open, "Host: mcp.example"), 200);
    assert_eq!(status(&open, "Origin: https://chat.example.evil.example"), 403);
    assert_eq!(status(&open, "Host: evil.example"), 403);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_ends_when_its_responses_are_large() {
    let (server, database, token) = demo_server().await;
    let notes = "
        INSERT INTO note_data (note_id, note_info) SELECT 'LARGE' || n, repeat('x', 2000) FROM generate_series(1, 90) AS n;
        INSERT INTO order_header_note (order_id, note_id) SELECT 'ORDER_SPLIT', 'LARGE' || n FROM generate_series(1, 90) AS n";
    database.connect().await.batch_execute(notes).await.unwrap();
    let listening = Listening::start(&server, &[]);
    let query = "{ order(orderId: \"ORDER_SPLIT\") { notes(first: 100) { edges { node { noteInfo } } } } }";
    let run = |id: u32| {
        let arguments = json!({ "query": query, "maxBytes": 10_000_000 });
        json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": { "name": "run_query", "arguments": arguments } })
    };
    let batch: Vec<_> = (1..=32).map(run).collect();
    let good = format!("Authorization: Bearer {token}");
    let answered = listening.send_as("2025-03-26", "/mcp", &[&good], &json!(batch)).json();
    let answered = answered.as_array().unwrap();
    let is_rejected =
        |response: &Value| response["error"]["message"].as_str().is_some_and(|text| text.contains("too large"));
    let rejected = answered.iter().filter(|response| is_rejected(response)).count();
    assert!(answered.len() == 32 && !is_rejected(&answered[0]), "{}", answered[0]);
    assert!((1..32).contains(&rejected), "{rejected} of responses of {} bytes", answered[0].to_string().len());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_is_answered_as_the_revision_of_the_client_says() {
    let (server, _database, token) = demo_server().await;
    let listening = Listening::start(&server, &[]);
    let good = format!("Authorization: Bearer {token}");
    let run = |id: u32, query: &str| {
        let params = json!({ "name": "run_query", "arguments": { "query": query } });
        json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })
    };
    let notification = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let batch = json!([
        run(1, "{ order(orderId: \"ORDER_SPLIT\") { statusId } }"),
        notification,
        { "jsonrpc": "2.0", "id": 2, "method": "tools/list" },
        initialize(),
    ]);
    for revision in ["2025-03-26", ""] {
        let answered = listening.send_as(revision, "/mcp", &[&good], &batch);
        assert_eq!(
            (answered.status, answered.header("content-type")),
            (200, Some("application/json")),
            "{}",
            answered.body
        );
        let responses = answered.json();
        let [run, tools, refused] = responses.as_array().unwrap().as_slice() else { panic!("{responses}") };
        assert_eq!((&run["id"], &tools["id"], &refused["id"]), (&json!(1), &json!(2), &json!(0)));
        assert_eq!(called(&run["result"]).content["data"]["order"]["statusId"], "ORDER_APPROVED");
        assert_eq!(tools["result"]["tools"].as_array().unwrap().len(), 6);
        assert_eq!(refused["error"]["message"], "`initialize` cannot be in a batch");
    }
    let accepted = listening.send_as("2025-03-26", "/mcp", &[&good], &json!([notification]));
    assert_eq!((accepted.status, accepted.body.as_str()), (202, ""));
    let rejected = listening.send_as("2025-06-18", "/mcp", &[&good], &batch);
    assert_eq!(rejected.status, 400, "{}", rejected.body);
    let error = &rejected.json()["error"];
    assert_eq!(error["code"], -32600);
    assert!(
        error["message"].as_str().unwrap().contains("revision 2025-06-18 of the protocol has no batches"),
        "{error}"
    );
    let unauthorized = listening.send_as("2025-03-26", "/mcp", &[], &batch);
    assert_eq!(unauthorized.status, 401);
}
