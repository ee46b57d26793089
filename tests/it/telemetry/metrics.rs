//! The metrics, of a server that is busy.

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::thread;

use orderql::access::profile::Profile;
use orderql::api::operators::state_metrics::markdown_table;

use crate::support::database::{Database, loaded_database};
use crate::support::http::{JSON, Response, graphql_head, graphql_request, read_responses, read_to_end, with_body};
use crate::support::server::{Server, wait_until};
use crate::support::store::{URLENCODED, update_request};
use crate::support::users::{UNLIMITED_PROFILE, create_users};

const GRAPHQL: &str = r#"http_request_method="POST",http_response_status_code="200",http_route="/rest/s1/graphql""#;

const ORDERS: &str =
    "{ orders(first: 3) { edges { node { orderId shipGroups(first: 2) { edges { node { shipGroupSeqId } } } } } } }";

/// How many clients send queries at the same time, and how many each.
const CLIENTS: u64 = 3;
const QUERIES: u64 = 20;

/// A server with orders and two users, of whom `poor` can pay one query a minute.
async fn busy_server() -> (Server, Database) {
    let database = loaded_database().await;
    let poor = Profile { bucket_size: Some(60), max_cost: Some(60), restore_rate: Some(1), ..Profile::default() };
    create_users(&mut database.connect().await, &[("demo", UNLIMITED_PROFILE), ("poor", poor)]).await;
    (Server::start(&database, &["--admin-listen", "127.0.0.1:0"]), database)
}

#[tokio::test(flavor = "multi_thread")]
async fn metrics_agree_with_what_was_requested() {
    let (server, _database) = busy_server().await;
    let token = server.token("demo");

    // Under load every reading is well-formed, and no counter goes back.
    let (mut cost, mut actual) = (0, 0);
    thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS)
            .map(|_| {
                scope.spawn(|| {
                    let costs = (0..QUERIES).map(|_| {
                        let cost = server.query(&token, ORDERS).json()["extensions"]["cost"].take();
                        [&cost["requestedQueryCost"], &cost["actualQueryCost"]].map(|cost| cost.as_u64().unwrap())
                    });
                    costs.fold([0, 0], |sums, costs| [sums[0] + costs[0], sums[1] + costs[1]])
                })
            })
            .collect();
        let mut last = server.metrics();
        while clients.iter().any(|client| !client.is_finished()) {
            let next = server.metrics();
            next.assert_not_below(&last);
            last = next;
        }
        for client in clients {
            let [requested, returned] = client.join().unwrap();
            (cost, actual) = (cost + requested, actual + returned);
        }
    });
    let requests = CLIENTS * QUERIES;
    let duration = format!("http_server_request_duration_seconds_count{{{GRAPHQL}}}");
    let metrics = server.wait_for_metrics(|metrics| metrics.get(&duration) >= requests);
    assert_eq!(metrics.get(&duration), requests);
    assert_eq!(metrics.get("orderql_cost_estimated_count"), requests);
    assert_eq!(metrics.get("orderql_cost_estimated_sum"), cost);
    assert_eq!(metrics.get("orderql_cost_actual_sum"), actual);
    let operations = |name: &str| {
        metrics.get(&format!(
            "db_client_operation_duration_seconds_count{{db_operation_name=\"{name}\",db_system_name=\"postgresql\"}}"
        ))
    };
    assert_eq!([operations("BEGIN"), operations("SELECT"), operations("COMMIT")], [0, requests, 0]);
    assert!(operations("PREPARE") >= 1 && operations("PREPARE") < requests);
    assert_eq!(
        metrics.get(r#"db_client_connection_wait_time_seconds_count{db_client_connection_pool_name="queries"}"#),
        requests
    );
    let texts = ["hit", "miss"]
        .map(|result| metrics.get(&format!("orderql_query_cache_lookups_total{{cache=\"text\",result=\"{result}\"}}")));
    assert!(texts[1] >= 1 && texts[1] <= CLIENTS && texts[0] + texts[1] == requests, "{texts:?}");
    assert!(metrics.get("orderql_query_cache_bytes") > 0);

    // Waiting, exports and operators are apart from queries.
    assert_eq!(metrics.get("orderql_query_duration_seconds_count"), requests);
    assert_eq!(metrics.get("orderql_query_wait_seconds_count"), requests);
    assert!(!metrics.samples.keys().any(|name| name.starts_with("http_server") && name.contains("/metrics")));
    let own = r#"orderql_admin_request_duration_seconds_count{http_response_status_code="200",http_route="/metrics"}"#;
    assert!(metrics.get(own) >= 1);
    let export = "{ orders(first: 3) { edges { node { orderId } } } }";
    assert_eq!(server.query_as("application/x-ndjson", &token, export).status, 200);
    let metrics = server.wait_for_metrics(|metrics| metrics.get("orderql_export_duration_seconds_count") >= 1);
    assert_eq!(metrics.get("orderql_query_duration_seconds_count"), requests);
}

#[tokio::test(flavor = "multi_thread")]
async fn errors_logins_updates_bytes_and_connections_are_counted() {
    let (server, _database) = busy_server().await;
    let [token, poor] = ["demo", "poor"].map(|user| server.token(user));
    let query = "{ orders(first: 30) { edges { node { orderId } } } }";
    assert_eq!([(); 3].map(|()| server.query(&poor, query).code()), ["", "THROTTLED", "THROTTLED"]);
    server.sign_in("/auth/token", "demo", "wrong");
    server.request("POST /auth/token", &[], "");
    let update = "facilityId=A&box_shipmentId_0=NONE&0_box_rowSubmit=0&box_shipmentBoxTypeId_0=YOURPACKNG";
    let rejected = server.send(update_request(&token, &[URLENCODED], update));
    assert_eq!(rejected.status, 404, "{}", rejected.body);
    let update = r#"http_server_request_duration_seconds_count{http_request_method="POST",http_response_status_code="404",http_route="/api/updateOrder"}"#;
    let metrics = server.wait_for_metrics(|metrics| metrics.get(update) >= 1);
    for (name, value) in [
        (r#"orderql_errors_total{code="THROTTLED"}"#, 2),
        (r#"orderql_errors_total{code="UNAUTHENTICATED"}"#, 2),
        ("orderql_throttled_credits_total", 120),
        (r#"orderql_logins_total{outcome="succeeded"}"#, 2),
        (r#"orderql_logins_total{outcome="wrong"}"#, 1),
        (r#"orderql_logins_total{outcome="no_credentials"}"#, 1),
        (r#"orderql_logins_total{outcome="locked"}"#, 0),
        (r#"orderql_updates_total{outcome="rejected"}"#, 1),
        (r#"orderql_updates_total{outcome="applied"}"#, 0),
        ("orderql_accounts", 2),
        ("orderql_buckets", 1),
        (r#"orderql_queued_requests{kind="query"}"#, 0),
        ("orderql_ready", 1),
        (r#"orderql_part_ok{part="database"}"#, 1),
        ("orderql_panics_total", 0),
        ("orderql_log_lines_dropped_total", 0),
        (r#"db_client_connection_max{db_client_connection_pool_name="updates"}"#, 4),
        // The request for the metrics themselves.
        ("http_server_active_requests", 1),
    ] {
        assert_eq!(metrics.get(name), value, "{name}");
    }
    let idle =
        r#"db_client_connection_count{db_client_connection_pool_name="queries",db_client_connection_state="idle"}"#;
    assert!(metrics.get(idle) >= 1);
    assert!(
        metrics.get("process_resident_memory_bytes") > 1_000_000 && metrics.samples["process_cpu_seconds_total"] > 0.0
    );

    // Bytes and connections.
    let bytes = ["orderql_received_bytes_total", "orderql_sent_bytes_total"]
        .map(|name| format!("{name}{{listener=\"public\"}}"));
    let before = bytes.each_ref().map(|name| metrics.get(name));
    let request = with_body(&graphql_head(&token, JSON), r#"{"query":"{ __typename }"}"#);
    let mut stream = server.connect();
    stream.write_all(request.as_bytes()).unwrap();
    let response = read_to_end(stream);
    let lengths = [request.len(), response.len()].map(|length| length as u64);
    let expected = [before[0] + lengths[0], before[1] + lengths[1]];
    server.wait_for_metrics(|metrics| bytes.each_ref().map(|name| metrics.get(name)) == expected);
    let open = r#"orderql_connections{listener="public"}"#;
    server.wait_for_metrics(|metrics| metrics.get(open) == 0);
    let connections = [(); 3].map(|()| server.connect());
    server.wait_for_metrics(|metrics| metrics.get(open) == 3);
    drop(connections);
    server.wait_for_metrics(|metrics| metrics.get(open) == 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn refusals_that_follow_each_other_closely_are_held_back_and_counted() {
    let (server, _database) = busy_server().await;
    let poor = server.token("poor");
    let query = "{ orders(first: 30) { edges { node { orderId } } } }";
    assert_eq!([(); 2].map(|()| server.query(&poor, query).code()), ["", "THROTTLED"]);
    let request = graphql_request(&poor, JSON, query);
    let kept_open = request.replace("Connection: close\r\n", "");
    let requests = kept_open.repeat(19) + &request;
    let held_back = "orderql_refusals_held_back_total";
    assert!(server.metrics().get(held_back) <= 1);
    // How closely depends on the machine, so they are sent until some came within a millisecond.
    wait_until(|| {
        let clients: Vec<_> = [(); 8].map(|()| server.connect()).into();
        for mut client in &clients {
            client.write_all(requests.as_bytes()).unwrap();
        }
        for client in clients {
            let codes: Vec<_> = read_responses(client).iter().map(Response::code).collect();
            assert_eq!(codes, ["THROTTLED"; 20]);
        }
        server.metrics().get(held_back) > 1
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_cannot_add_series_and_nothing_of_theirs_is_in_them() {
    let database = loaded_database().await;
    create_users(&mut database.connect().await, &[("invented_user", UNLIMITED_PROFILE)]).await;
    let server = Server::start(&database, &["--admin-listen", "127.0.0.1:0"]);
    let token = server.token("invented_user");
    let send_all = |round: u64| {
        let mut requests = String::new();
        for number in 0..20 {
            let name = format!("invented_{round}_{number}");
            let query =
                format!("query {name} {{ {name}: orders(first: 1) {{ edges {{ node {{ {name}: orderId }} }} }} }}");
            assert_eq!(server.query(&token, &query).status, 200);
            server.query(&token, &format!("{{ {name} }}"));
            let _ = write!(
                requests,
                "INVENTED{number} /{name} HTTP/1.1\r\nHost: {name}\r\n\r\nGET /{name}?{name} HTTP/1.1\r\nHost: a\r\n\r\n\
                 DELETE /auth/token HTTP/1.1\r\nHost: a\r\n{name}: {name}\r\n\r\n"
            );
            if number == 0 {
                server.sign_in("/auth/token", &name, &name);
            }
        }
        server.exchange(requests + "GET /health/live HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
        server.metrics();
        let other = r#"http_server_request_duration_seconds_count{http_request_method="_OTHER",http_response_status_code="404"}"#;
        server.wait_for_metrics(|metrics| metrics.get(other) >= 20 * (round + 1))
    };
    let first = send_all(0);
    let second = send_all(1);
    let added: Vec<_> = second.samples.keys().filter(|name| !first.samples.contains_key(*name)).collect();
    assert_eq!(added, [""; 0]);
    assert!(!second.samples.keys().any(|name| name.to_lowercase().contains("invented")));
    let known = [
        "cache",
        "code",
        "db_client_connection_pool_name",
        "db_client_connection_state",
        "db_operation_name",
        "db_system_name",
        "error_type",
        "feed",
        "http_request_method",
        "http_response_status_code",
        "http_route",
        "kind",
        "le",
        "listener",
        "outcome",
        "part",
        "reason",
        "result",
        "server",
        "version",
    ];
    assert_eq!(second.labels.iter().map(String::as_str).collect::<Vec<_>>(), known);
    // Every metric is documented, under the name that it has.
    let table = markdown_table();
    for (family, kind) in &second.kinds {
        let name = if kind == "counter" { format!("{family}_total") } else { family.clone() };
        assert!(table.contains(&format!("| `{name}` | {kind} |")), "{name}");
    }
    check_with_promtool(&server.get_as_operator("/metrics").body);
}

/// Has `promtool` check the text, where it is installed.
fn check_with_promtool(text: &str) {
    let promtool =
        Command::new("promtool").args(["check", "metrics"]).stdin(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let Ok(mut promtool) = promtool else {
        println!("promtool is not installed");
        return;
    };
    promtool.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = promtool.wait_with_output().unwrap();
    // It reads the older format, and with 3 finds fault with names that come from OpenTelemetry.
    assert!(matches!(output.status.code(), Some(0 | 3)), "{}", String::from_utf8_lossy(&output.stderr));
}
