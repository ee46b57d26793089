//! Traces, as a collector receives them over OTLP.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use serde_json::{Value, json};

use crate::support::database::loaded_database;
use crate::support::http::{JSON, bearer};
use crate::support::server::{Server, connection_string};
use crate::support::users::{UNLIMITED_PROFILE, create_users};
use crate::telemetry::access_log::events;

/// A request that the collector received: its head, and its body.
type Export = (String, Value);

/// A collector. It answers the first requests with these statuses, and the others with 200.
fn collector(statuses: &'static [u16]) -> (SocketAddr, Receiver<Export>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (sender, exports) = channel();
    thread::spawn(move || {
        for (number, stream) in listener.incoming().enumerate() {
            let mut stream = BufReader::new(stream.unwrap());
            let mut head = String::new();
            while !head.ends_with("\r\n\r\n") {
                stream.read_line(&mut head).unwrap();
            }
            let length =
                head.to_lowercase().split_once("content-length: ").unwrap().1.split_once('\r').unwrap().0.parse();
            let mut body = vec![0; length.unwrap()];
            stream.read_exact(&mut body).unwrap();
            let status = statuses.get(number).unwrap_or(&200);
            let response = format!("HTTP/1.1 {status} X\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{{}}");
            stream.get_mut().write_all(response.as_bytes()).unwrap();
            let is_wanted = *status == 200;
            if is_wanted && sender.send((head, serde_json::from_slice(&body).unwrap())).is_err() {
                return;
            }
        }
    });
    (address, exports)
}

/// The attributes of a span or of a resource.
fn attributes(of: &Value) -> BTreeMap<String, String> {
    let attributes = of["attributes"].as_array().unwrap().iter().map(|attribute| {
        let value = attribute["value"].as_object().unwrap().values().next().unwrap();
        (attribute["key"].as_str().unwrap().to_owned(), value.as_str().unwrap().to_owned())
    });
    attributes.collect()
}

/// The spans of the trace, from as many exports as it takes to have `count`.
fn receive(exports: &Receiver<Export>, trace: &str, count: usize) -> (Vec<Value>, Vec<Export>) {
    let (mut spans, mut received) = (Vec::new(), Vec::new());
    while spans.len() < count {
        let (head, body) = exports.recv().unwrap();
        let all = body["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array().unwrap();
        spans.extend(all.iter().filter(|span| span["traceId"] == trace).cloned());
        received.push((head, body));
    }
    (spans, received)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_collector_receives_the_spans_of_requests() {
    // The collector is busy at first.
    let (address, exports) = collector(&[503]);
    let database = loaded_database().await;
    create_users(&mut database.connect().await, &[("demo", UNLIMITED_PROFILE)]).await;
    let endpoint = format!("http://{address}");
    let variables = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint.as_str()),
        ("OTEL_EXPORTER_OTLP_HEADERS", "x-key=secret%20key"),
        ("OTEL_BSP_SCHEDULE_DELAY", "10"),
        ("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment=test"),
    ];
    let server = Server::start_with_variables(&connection_string(&database.config()), &[], &variables);
    let token = server.token("demo");
    let query = "query Traced($q: String) { orders(first: 3, query: $q) \
                 { edges { node { orderId shipGroups(first: 2) { edges { node { shipGroupSeqId } } } } } } }";
    let body = json!({ "query": query, "variables": { "q": "statusId:GEHEIM,ORDER_APPROVED" } }).to_string();
    let (trace, unwanted) = ("0af7651916cd43dd8448eb211c80319c", "1af7651916cd43dd8448eb211c80319c");
    let send = |trace: &str, flags: &str| {
        let parent = format!("traceparent: 00-{trace}-b7ad6b7169203331-{flags}");
        let headers = [&bearer(&token), "Content-Type: application/json", &format!("Accept: {JSON}"), &parent];
        server.request("POST /rest/s1/graphql", &headers, &body)
    };
    assert_eq!(send(unwanted, "00").code(), "");
    let response = send(trace, "01");
    assert_eq!(response.code(), "");
    let (spans, received) = receive(&exports, trace, 7);

    let names: Vec<_> = spans.iter().map(|span| span["name"].as_str().unwrap()).collect();
    assert_eq!(
        names,
        ["POST /rest/s1/graphql", "compile", "wait for admission", "wait for connection", "SELECT", "SELECT", "write",]
    );
    assert_eq!(spans[0]["parentSpanId"], "b7ad6b7169203331");
    assert!(spans[1..].iter().all(|span| span["parentSpanId"] == spans[0]["spanId"]), "{spans:#?}");
    assert_eq!(spans.iter().map(|span| &span["kind"]).collect::<Vec<_>>(), [2, 1, 1, 1, 3, 3, 1]);
    let times = |span: &Value| {
        ["startTimeUnixNano", "endTimeUnixNano"].map(|name| span[name].as_str().unwrap().parse::<u64>().unwrap())
    };
    let [start, end] = times(&spans[0]);
    assert!(spans.iter().map(times).all(|[from, to]| start <= from && from <= to && to <= end), "{spans:#?}");
    let request = attributes(&spans[0]);
    for (name, value) in [
        ("http.request.method", "POST"),
        ("http.route", "/rest/s1/graphql"),
        ("http.response.status_code", "200"),
        ("graphql.operation.name", "Traced"),
        ("client.address", "127.0.0.1"),
        ("orderql.request_id", response.header("x-request-id").unwrap()),
        ("http.response.body.size", &response.body.len().to_string()),
    ] {
        assert_eq!(request[name], value, "{name}");
    }
    let orders = response.json()["data"]["orders"]["edges"].as_array().unwrap().len();
    let statement = attributes(&spans[4]);
    assert_eq!(statement["db.response.returned_rows"], orders.to_string());
    assert_eq!(
        (statement["db.operation.name"].as_str(), statement["db.system.name"].as_str()),
        ("SELECT", "postgresql")
    );

    let text = format!("{received:?}");
    assert!(!text.contains(unwanted) && !text.contains("GEHEIM") && !text.contains("shipGroupSeqId"), "{text}");
    let (head, body) = &received[0];
    assert!(head.starts_with("POST /v1/traces HTTP/1.1\r\n"), "{head}");
    let head = head.to_lowercase();
    assert!(head.contains("x-key: secret key\r\n") && head.contains("content-type: application/json\r\n"), "{head}");
    let resource = attributes(&body["resourceSpans"][0]["resource"]);
    assert_eq!((resource["service.name"].as_str(), resource["deployment.environment"].as_str()), ("orderql", "test"));

    // A request without a trace gets one, which the log has, and which is sent before the server ends.
    let id = server.get("/nowhere").header("x-request-id").unwrap().to_owned();
    let log = server.stop();
    let logged = events(&log, "request").into_iter().find(|event| event["request_id"] == id.as_str()).unwrap();
    let (spans, _) = receive(&exports, logged["trace_id"].as_str().unwrap(), 1);
    assert_eq!((spans[0].get("parentSpanId"), &spans[0]["name"]), (None, &json!("GET")));
    assert_eq!(attributes(&spans[0])["error.type"], "NOT_FOUND");
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_are_answered_while_the_collector_is_away_and_without_one_there_are_no_traces() {
    let database = loaded_database().await;
    let address = connection_string(&database.config());
    // A port that nobody listens on.
    let away = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let endpoint = format!("http://{away}");
    let variables = [("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint.as_str()), ("OTEL_BSP_SCHEDULE_DELAY", "1")];
    let server = Server::start_with_variables(&address, &["--admin-listen", "0"], &variables);
    assert_eq!(server.get("/health/live").status, 200);
    server.wait_for_metrics(|metrics| metrics.get("orderql_traces_dropped_total") >= 1);
    assert!(server.stop().contains("traces were dropped"));

    let wrong = [("OTEL_EXPORTER_OTLP_ENDPOINT", "https://collector.example")];
    let server = Server::start_with_variables(&address, &[], &wrong);
    server.get("/health/live");
    let log = server.stop();
    assert!(log.contains("OTEL_EXPORTER_OTLP_ENDPOINT is"), "{log}");
    assert!(events(&log, "request").iter().all(|event| event.get("trace_id").is_none()), "{log}");
}
