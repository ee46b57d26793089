//! Traces, as a collector receives them over OTLP.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::KeyValue;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::trace::v1::Span;
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use prost::Message as _;
use serde_json::json;
use tokio_postgres::config::Host;

use crate::support::authority::Authority;
use crate::support::database::loaded_database;
use crate::support::http::{JSON, bearer};
use crate::support::server::{Server, connection_string};
use crate::support::test_folder::TestFolder;
use crate::support::users::{UNLIMITED_PROFILE, create_users};
use crate::telemetry::access_log::events;

/// A request that the collector received: its head, and its body.
type Export = (String, ExportTraceServiceRequest);

/// A collector. It answers the first requests with these statuses, and the others with 200. With an authority it serves as
/// `localhost`, over TLS.
fn collector(statuses: &'static [u16], authority: Option<Authority>) -> (SocketAddr, Receiver<Export>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (sender, exports) = channel();
    thread::spawn(move || {
        for (number, stream) in listener.incoming().enumerate() {
            let (stream, status) = (stream.unwrap(), *statuses.get(number).unwrap_or(&200));
            match &authority {
                Some(authority) => serve(authority.accept("localhost", stream), status, &sender),
                None => serve(stream, status, &sender),
            }
        }
    });
    (address, exports)
}

fn serve(stream: impl Read + Write, status: u16, exports: &Sender<Export>) {
    let mut stream = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if stream.read_line(&mut head).unwrap_or_default() == 0 {
            // A client that does not trust the collector.
            return;
        }
    }
    let length = head.to_lowercase().split_once("content-length: ").unwrap().1.split_once('\r').unwrap().0.parse();
    let mut body = vec![0; length.unwrap()];
    stream.read_exact(&mut body).unwrap();
    let response = format!("HTTP/1.1 {status} X\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    stream.get_mut().write_all(response.as_bytes()).unwrap();
    stream.get_mut().flush().unwrap();
    if status == 200 {
        // The test may be over.
        let _ = exports.send((head, ExportTraceServiceRequest::decode(&body[..]).unwrap()));
    }
}

/// The attributes of a span or of a resource.
fn attributes(of: &[KeyValue]) -> BTreeMap<&str, String> {
    let text = |attribute: &KeyValue| match attribute.value.as_ref().and_then(|value| value.value.as_ref()) {
        Some(Value::StringValue(text)) => text.clone(),
        Some(Value::IntValue(number)) => number.to_string(),
        other => panic!("{other:?}"),
    };
    of.iter().map(|attribute| (attribute.key.as_str(), text(attribute))).collect()
}

fn hex(id: &[u8]) -> String {
    id.iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"))
}

/// The spans of the trace in order of their beginnings, from as many exports as it takes to have `count`.
fn receive(exports: &Receiver<Export>, trace: &str, count: usize) -> (Vec<Span>, Vec<Export>) {
    let (mut spans, mut received) = (Vec::new(), Vec::new());
    while spans.len() < count {
        let export = exports.recv().unwrap();
        let all = &export.1.resource_spans[0].scope_spans[0].spans;
        spans.extend(all.iter().filter(|span| hex(&span.trace_id) == trace).cloned());
        received.push(export);
    }
    spans.sort_by_key(|span| span.start_time_unix_nano);
    (spans, received)
}

/// The spans of a query.
const STAGES: [&str; 6] = [
    "POST /rest/s1/graphql",
    "compile",
    "wait for admission",
    "wait for connection",
    "SELECT orders orders.shipGroups",
    "write",
];

#[tokio::test(flavor = "multi_thread")]
async fn a_collector_receives_the_spans_of_requests() {
    // The collector is busy at first.
    let (address, exports) = collector(&[503], None);
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
    let (spans, received) = receive(&exports, trace, 6);

    let names: Vec<_> = spans.iter().map(|span| span.name.as_str()).collect();
    assert_eq!(names, STAGES);
    assert_eq!(hex(&spans[0].parent_span_id), "b7ad6b7169203331");
    assert!(spans[1..].iter().all(|span| span.parent_span_id == spans[0].span_id), "{spans:#?}");
    let stage = SpanKind::Internal;
    let kinds = [SpanKind::Server, stage, stage, stage, SpanKind::Client, stage];
    assert_eq!(spans.iter().map(Span::kind).collect::<Vec<_>>(), kinds);
    let times = |span: &Span| [span.start_time_unix_nano, span.end_time_unix_nano];
    let [start, end] = times(&spans[0]);
    assert!(spans.iter().map(times).all(|[from, to]| start <= from && from <= to && to <= end), "{spans:#?}");
    let request = attributes(&spans[0].attributes);
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
    let body = response.json();
    let orders = body["data"]["orders"]["edges"].as_array().unwrap();
    let groups = |order: &serde_json::Value| order["node"]["shipGroups"]["edges"].as_array().unwrap().len();
    let rows = orders.len() + orders.iter().map(groups).sum::<usize>();
    let statement = attributes(&spans[4].attributes);
    assert_eq!(statement["db.response.returned_rows"], rows.to_string());
    assert_eq!(statement["db.query.summary"], "SELECT orders orders.shipGroups");
    let resource = received[0].1.resource_spans[0].resource.as_ref().unwrap();
    assert_eq!(attributes(&resource.attributes)["service.version"], env!("CARGO_PKG_VERSION"));
    assert_eq!((&*statement["db.operation.name"], &*statement["db.system.name"]), ("SELECT", "postgresql"));
    assert_eq!(statement["db.collection.name"], "order_header");
    let config = database.config();
    let Host::Unix(folder) = &config.get_hosts()[0] else { panic!("{config:?}") };
    let socket = folder.join(format!(".s.PGSQL.{}", config.get_ports()[0]));
    assert_eq!(statement["server.address"], socket.display().to_string());

    // Each page of an export is a part of its request, and has parts of its own.
    let export = "2af7651916cd43dd8448eb211c80319c";
    let parent = format!("traceparent: 00-{export}-b7ad6b7169203331-01");
    let headers = [&bearer(&token), "Content-Type: application/json", "Accept: application/x-ndjson", &parent];
    let body = json!({ "query": "{ orders(first: 5) { edges { node { orderId } } } }" }).to_string();
    let lines = server.request("POST /rest/s1/graphql", &headers, &body);
    let count = (lines.body.lines().filter(|line| line.contains("orderId")).count() / 5 + 1).min(20);
    assert!(count > 1, "{}", lines.body);
    // Of the first page, and of the request: waiting for a connection, and the request.
    let (spans, _) = receive(&exports, export, 5 * count + 2);
    assert_eq!(spans.len(), 5 * count + 2, "{spans:#?}");
    let pages: Vec<_> = spans.iter().filter(|span| span.name == "page").collect();
    assert!(pages.iter().all(|page| page.parent_span_id == spans[0].span_id) && pages.len() == count, "{spans:#?}");
    for page in pages {
        let parts = spans.iter().filter(|span| span.parent_span_id == page.span_id);
        let parts: Vec<_> =
            parts.map(|span| span.name.as_str()).filter(|name| *name != "wait for connection").collect();
        assert_eq!(parts, ["compile", "wait for admission", "SELECT orders", "write"]);
    }

    let text = format!("{received:?}");
    assert!(!text.contains("GEHEIM") && !text.contains("shipGroupSeqId"), "{text}");
    let sent = received.iter().flat_map(|(_, body)| &body.resource_spans[0].scope_spans[0].spans);
    assert!(sent.map(|span| hex(&span.trace_id)).all(|sent| sent != unwanted), "{text}");
    let (head, body) = &received[0];
    assert!(head.starts_with("POST /v1/traces HTTP/1.1\r\n"), "{head}");
    let head = head.to_lowercase();
    assert!(
        head.contains("x-key: secret key\r\n") && head.contains("content-type: application/x-protobuf\r\n"),
        "{head}"
    );
    let resource = attributes(&body.resource_spans[0].resource.as_ref().unwrap().attributes);
    assert_eq!((&*resource["service.name"], &*resource["deployment.environment"]), ("orderql", "test"));

    // A request without a trace gets one, which the log has, and which is sent before the server ends.
    let id = server.get("/nowhere").header("x-request-id").unwrap().to_owned();
    let log = server.stop();
    let logged = events(&log, "request").into_iter().find(|event| event["request_id"] == id.as_str()).unwrap();
    let (spans, _) = receive(&exports, logged["trace_id"].as_str().unwrap(), 1);
    assert_eq!((spans[0].parent_span_id.as_slice(), spans[0].name.as_str()), (&[][..], "GET"));
    assert_eq!(attributes(&spans[0].attributes)["error.type"], "NOT_FOUND");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_encrypted_collector_is_verified() {
    let database = loaded_database().await;
    let folder = TestFolder::create("traces");
    let file = folder.path().join("authority.pem");
    let authority = Authority::new("authority");
    fs::write(&file, authority.pem()).unwrap();
    let (address, exports) = collector(&[], Some(authority));
    let endpoint = format!("https://localhost:{}/traces", address.port());
    let flags = ["--admin-listen", "0"];
    let start = |authority: &str| {
        let variables = [
            ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", endpoint.as_str()),
            ("OTEL_EXPORTER_OTLP_CERTIFICATE", authority),
            ("OTEL_BSP_SCHEDULE_DELAY", "1"),
            ("OTEL_SERVICE_NAME", "orders"),
            ("OTEL_TRACES_SAMPLER", "sometimes"),
        ];
        Server::start_with_variables(&connection_string(&database.config()), &flags, &variables)
    };
    let server = start(file.to_str().unwrap());
    assert_eq!(server.get("/health/live").status, 200);
    let (head, body) = exports.recv().unwrap();
    assert!(head.starts_with("POST /traces HTTP/1.1\r\n"), "{head}");
    let resource = attributes(&body.resource_spans[0].resource.as_ref().unwrap().attributes);
    assert_eq!(resource["service.name"], "orders");
    // What the SDK has to say is in the log.
    let log = server.stop();
    assert!(log.contains("Unrecognized sampler type 'sometimes'"), "{log}");

    fs::write(&file, Authority::new("another").pem()).unwrap();
    let server = start(file.to_str().unwrap());
    assert_eq!(server.get("/health/live").status, 200);
    server.wait_for_metrics(|metrics| metrics.get("orderql_spans_dropped_total") >= 1);
    let log = server.stop();
    assert!(log.contains("spans of traces were dropped") && log.contains("invalid peer certificate"), "{log}");

    let server = start("/nowhere.pem");
    server.get("/health/live");
    let log = server.stop();
    assert!(log.contains("no traces are recorded") && log.contains("/nowhere.pem cannot be read"), "{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_are_answered_while_the_collector_is_away_and_without_one_there_are_no_traces() {
    let database = loaded_database().await;
    let address = connection_string(&database.config());
    // A port that nobody listens on.
    let away = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let endpoint = format!("http://{away}");
    let variables = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint.as_str()),
        ("OTEL_BSP_SCHEDULE_DELAY", "1"),
        ("OTEL_BSP_MAX_QUEUE_SIZE", "2"),
    ];
    let server = Server::start_with_variables(&address, &["--admin-listen", "0", "--log", "debug"], &variables);
    // All of them are dropped: those that find the queue full, and the others when the collector is given up.
    for _ in 0..10 {
        assert_eq!(server.get("/health/live").status, 200);
    }
    server.wait_for_metrics(|metrics| metrics.get("orderql_spans_dropped_total") >= 10);
    let log = server.stop();
    assert!(log.contains("too many spans wait") && log.contains("the collector cannot be reached"), "{log}");
    assert!(log.contains("Connection refused"), "{log}");

    let wrong = [("OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4318")];
    let server = Server::start_with_variables(&address, &[], &wrong);
    server.get("/health/live");
    let log = server.stop();
    assert!(log.contains("no traces are recorded") && log.contains("collector:4318"), "{log}");
    assert!(events(&log, "request").iter().all(|event| event.get("trace_id").is_none()), "{log}");
}
