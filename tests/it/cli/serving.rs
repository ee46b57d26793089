//! A running server and its signals: reload, drain, and the service manager's notifications.

use std::collections::HashMap;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread::{self, JoinHandle};

use orderql::access::profile::Profile;
use orderql::schema_file::BUILT_IN;
use serde_json::json;

use crate::database::postgres::Postgres;
use crate::support::authority::Authority;
use crate::support::database::{Database, migrated_database};
use crate::support::http::{GRAPHQL_JSON, bearer, graphql_head, read_last_response, read_until, with_body};
use crate::support::server::{Server, connection_string, wait_until};
use crate::support::service_manager::ServiceManager;
use crate::support::users::{UNLIMITED_PROFILE, create_users};

const ORDER: &str = "{ order(orderId: \"NONE\") { orderId } }";
const FIELD: &str = "  \"The method of `shipmentMethodTypeId`, with its name.\"
  shippingMethod: ShipmentMethodType @one(by: [\"shipment_method_type_id\"])\n";

/// A server with a configuration file, under a service manager.
struct Managed {
    server: Server,
    manager: ServiceManager,
    database: Database,
}

impl Managed {
    async fn start(name: &str, profile: Profile, settings: &str, flags: &[&str]) -> Self {
        let database = migrated_database().await;
        create_users(&mut database.connect().await, &[("demo", profile)]).await;
        let manager = ServiceManager::start(name);
        let file = manager.folder.path().join("orderql.toml").display().to_string();
        fs::write(&file, settings).unwrap();
        let variables = [("NOTIFY_SOCKET", manager.path.as_str()), ("ORDERQL_CONFIG", &file)];
        let server = Server::start_with_variables(&connection_string(&database.config()), flags, &variables);
        manager.wait_for("READY=1");
        Self { server, manager, database }
    }

    fn path(&self, name: &str) -> String {
        self.manager.folder.path().join(name).display().to_string()
    }

    /// Has the server read these settings, and waits until it has.
    fn reload(&self, settings: &str) {
        fs::write(self.path("orderql.toml"), settings).unwrap();
        self.server.signal("-HUP");
        self.manager.wait_for("RELOADING=1");
        self.manager.wait_for("READY=1");
    }

    fn sdl(&self) -> String {
        self.server.get("/rest/s1/graphql/sdl").body
    }

    /// Whether scripts of the page may read responses.
    fn allows(&self, origin: &str) -> bool {
        let response = self.server.request("GET /health/live", &[&format!("Origin: {origin}")], "");
        response.header("access-control-allow-origin").is_some()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reload_puts_good_settings_in_force_and_bad_ones_change_nothing() {
    let folder = ServiceManager::start("reload-schema").folder;
    let schema = folder.path().join("schema.graphql");
    fs::write(&schema, BUILT_IN).unwrap();
    let settings = |more: &str| format!("schema = '{}'\n{more}", schema.display());
    let first = settings("max-cost = 1\nlogin-attempts = 1\n");
    let managed = Managed::start("reload", Profile::DEFAULT, &first, &["--body-limit", "2000"]).await;
    let Managed { server, .. } = &managed;
    let token = server.token("demo");
    let large = format!("{ORDER} #{}", "x".repeat(1000));
    assert_eq!(server.query(&token, ORDER).code(), "COST_EXCEEDED");
    assert!(managed.sdl().contains("shippingMethod") && !managed.allows("https://a.example"));
    assert_eq!(server.sign_in("/auth/token", "demo", "wrong").status, 401);
    assert_eq!(server.sign_in("/auth/token", "demo", "demo").status, 429);

    // Each of these is bad, so that nothing else of it is in force either.
    for (bad, schema_text) in [
        ("max-cost = 'many'\n", BUILT_IN.to_owned()),
        ("max-costs = 5\n", BUILT_IN.to_owned()),
        ("max-cost = 5000\n", BUILT_IN.to_owned()),
        ("pool-size = 0\n", BUILT_IN.to_owned()),
        ("tls-cert = '/nowhere'\ntls-key = '/nowhere'\n", BUILT_IN.to_owned()),
        ("", "type Query {".to_owned()),
        ("", BUILT_IN.replace(FIELD, "  shippingMethod: String @column(name: \"no_such_column\")\n")),
    ] {
        fs::write(&schema, schema_text).unwrap();
        let kept = [("max-cost =", "max-cost = 1\n"), ("login-attempts =", "login-attempts = 1\n")];
        let kept: String = kept.into_iter().filter(|(key, _)| !bad.contains(key)).map(|(_, line)| line).collect();
        managed.reload(&settings(&format!("cors-origins = 'https://a.example'\n{kept}{bad}")));
        assert!(!managed.allows("https://a.example"), "{bad}");
        assert!(managed.sdl().contains("shippingMethod: ShipmentMethodType"), "{bad}");
    }

    // A file that lost settings may be half written.
    managed.reload("cors-origins = 'https://a.example'\nmax-cost = 1000\n");
    assert!(!managed.allows("https://a.example"));

    fs::write(&schema, BUILT_IN.replace(FIELD, "")).unwrap();
    // A flag goes before the file, also in a reload.
    let last =
        "max-cost = 1000\nlogin-attempts = 5\ncors-origins = 'https://a.example'\nbody-limit = 100\npool-size = 3\n";
    managed.reload(&settings(last));
    assert!(managed.allows("https://a.example") && !managed.allows("https://b.example"));
    assert!(!managed.sdl().contains("shippingMethod"));
    let removed =
        "{ order(orderId: \"NONE\") { shipGroups(first: 1) { edges { node { shippingMethod { description } } } } } }";
    assert_eq!(server.query(&token, removed).code(), "GRAPHQL_VALIDATION_FAILED");
    // The limits of callers are read from the database anew.
    while server.query(&token, &large).code() == "COST_EXCEEDED" {}
    assert_eq!(server.query(&token, &large).json()["data"], json!({ "order": null }));

    let logged = server.get("/health/live").header("x-request-id").unwrap().to_owned();
    managed.reload(&settings(&format!("{last}log = 'orderql=error'\n")));
    let unlogged = managed.server.get("/health/live").header("x-request-id").unwrap().to_owned();

    let Managed { mut server, manager, database } = managed;
    server.terminate();
    manager.wait_for("STOPPING=1");
    let log = server.wait();
    let lines = |text: &str| log.lines().filter(|line| line.contains(text)).map(str::to_owned).collect::<Vec<_>>();
    let refused = lines("the settings cannot be used");
    for (at, expected) in [
        "max-cost is \\\"many\\\"",
        "there is no setting `max-costs`",
        "max-cost is 5000 and bucket-size is 1000",
        "pool-size is",
        "/nowhere cannot be read",
        "is no schema",
        "no_such_column",
        "no longer has login-attempts, schema,",
    ]
    .iter()
    .enumerate()
    {
        assert!(refused[at].contains(expected), "{expected}: {refused:#?}");
    }
    assert_eq!(refused.len(), 8, "{refused:#?}");
    let read = lines("the settings were read again");
    assert!(read.iter().all(|line| line.contains(r#""changed":"max-cost, login-attempts, cors-origins""#)), "{read:?}");
    assert!(lines("started again")[0].contains(r#""settings":"pool-size""#), "{log}");
    assert!(log.contains(&logged) && !log.contains(&unlogged), "{log}");
    drop((manager, database));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reload_of_the_memory_budget_changes_how_much_may_wait() {
    let profile = Profile { concurrent_queries: Some(1), ..UNLIMITED_PROFILE };
    let flags = ["--max-wait", "1h", "--deadline", "1h", "--body-limit", "128KiB", "--admin-listen", "127.0.0.1:0"];
    let managed = Managed::start("reload-memory", profile, "memory-budget = '1MiB'\n", &flags).await;
    let Managed { server, database, .. } = &managed;
    let token = server.token("demo");
    let mut client = database.connect().await;
    let lock = client.transaction().await.unwrap();
    lock.batch_execute("LOCK TABLE order_header").await.unwrap();
    let head = format!("{}Prefer: wait=3600\r\n", graphql_head(&token, GRAPHQL_JSON));
    let begin = |query: &str| {
        let mut stream = server.connect();
        stream.write_all(with_body(&head, &json!({ "query": query }).to_string()).as_bytes()).unwrap();
        stream
    };
    let running = begin(ORDER);
    database.wait_for_lock_waits(1).await;
    // A caller's waiting queries may take a thirty-second part of the budget.
    let large = format!("{ORDER} #{}", "x".repeat(50_000));
    assert_eq!(read_last_response(begin(&large)).0.status, 429);
    managed.reload("memory-budget = '64MiB'\n");
    let waiting = begin(&large);
    let is_waiting = || server.metrics().get(r#"orderql_queued_requests{kind="query"}"#) == 1;
    wait_until(is_waiting);
    lock.rollback().await.unwrap();
    for stream in [running, waiting] {
        assert_eq!(read_last_response(stream).0.status, 200);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reload_replaces_the_certificate_and_keeps_connections() {
    let (first, second) = (Authority::new("first"), Authority::new("second"));
    let files = ServiceManager::start("reload-files").folder;
    let [certificate, key] = ["server.crt", "server.key"].map(|name| files.path().join(name));
    first.write("api.example", &certificate, &key);
    let flags = ["--tls-cert", certificate.to_str().unwrap(), "--tls-key", key.to_str().unwrap()];
    let managed = Managed::start("reload-tls", Profile::DEFAULT, "", &flags).await;
    let live = |authority: &Authority| -> std::io::Result<String> {
        let mut stream = authority.connect("api.example", managed.server.connect());
        stream.write_all(b"GET /health/live HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")?;
        let mut response = String::new();
        stream.read_to_string(&mut response).map(|_| response)
    };
    let mut open = first.connect("api.example", managed.server.connect());
    let mut use_open = || {
        open.write_all(b"GET /health/live HTTP/1.1\r\nHost: a\r\n\r\n").unwrap();
        let mut response = [0; 15];
        open.read_exact(&mut response).unwrap();
        assert_eq!(&response, b"HTTP/1.1 200 OK");
        let mut byte = [0];
        while byte != *b"}" {
            open.read_exact(&mut byte).unwrap();
        }
    };
    use_open();
    second.write("api.example", &certificate, &key);
    managed.reload("");
    use_open();
    assert!(live(&second).is_ok() && live(&first).is_err());
    fs::write(&certificate, "").unwrap();
    managed.reload("");
    use_open();
    assert!(live(&second).is_ok());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reload_never_changes_whether_clients_are_served_over_tls() {
    let authority = Authority::new("first");
    let files = ServiceManager::start("reload-encryption-files").folder;
    let [certificate, key] = ["server.crt", "server.key"].map(|name| files.path().join(name));
    authority.write("api.example", &certificate, &key);
    let tls = format!("tls-cert = '{}'\ntls-key = '{}'\n", certificate.display(), key.display());

    let clear = Managed::start("reload-clear", Profile::DEFAULT, "", &[]).await;
    clear.reload(&format!("{tls}cors-origins = 'https://a.example'\n"));
    assert_eq!(clear.server.get("/health/live").status, 200, "it is still served in clear");
    assert!(!clear.allows("https://a.example"));

    let encrypted = Managed::start("reload-encrypted", Profile::DEFAULT, &tls, &[]).await;
    for without in ["", "tls-cert = ''\ntls-key = ''\n"] {
        encrypted.reload(without);
        let mut stream = authority.connect("api.example", encrypted.server.connect());
        stream.write_all(b"GET /health/live HTTP/1.1\r\nHost: a\r\n\r\n").unwrap();
        let mut response = [0; 15];
        stream.read_exact(&mut response).unwrap();
        assert_eq!(&response, b"HTTP/1.1 200 OK");
    }
    let (clear, encrypted) = (clear.server.stop(), encrypted.server.stop());
    assert!(clear.contains("tls-cert and tls-key were not set at the start"), "{clear}");
    assert!(encrypted.contains("no longer has tls-cert, tls-key, which it had at the start"), "{encrypted}");
    assert!(encrypted.contains("tls-cert and tls-key were set at the start"), "{encrypted}");
}

/// Clients that send queries until they are stopped. Each counts its complete responses, and fails at any other.
struct Load {
    stop: Arc<AtomicBool>,
    answered: Arc<AtomicU32>,
    clients: Vec<JoinHandle<()>>,
}

impl Load {
    /// Starts clients, every other with a new connection for each request.
    fn start(server: &Server, token: &str) -> Self {
        let (stop, answered) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU32::new(0)));
        let clients = (0..6).map(|index| {
            let (stop, answered, address) = (Arc::clone(&stop), Arc::clone(&answered), server.address);
            let body = json!({ "query": ORDER }).to_string();
            let request = format!("{}Content-Length: {}\r\n\r\n{body}", graphql_head(token, "*/*"), body.len());
            thread::spawn(move || {
                let mut stream = TcpStream::connect(address).unwrap();
                while !stop.load(Ordering::Relaxed) {
                    stream.write_all(request.as_bytes()).unwrap();
                    read_until(&stream, "HTTP/1.1 200 OK\r\n");
                    let head = read_until(&stream, r#""data":{"order":null}"#).to_ascii_lowercase();
                    read_until(&stream, "}}}}");
                    answered.fetch_add(1, Ordering::Relaxed);
                    if index % 2 == 1 || head.contains("connection: close\r\n") {
                        stream = TcpStream::connect(address).unwrap();
                    }
                }
            })
        });
        let clients = clients.collect();
        Self { stop, answered, clients }
    }

    /// Waits for more responses.
    fn go_on(&self) {
        let before = self.answered.load(Ordering::Relaxed);
        while self.answered.load(Ordering::Relaxed) < before + 30 {
            assert!(self.clients.iter().all(|client| !client.is_finished()));
        }
    }

    fn stop(self) {
        self.stop.store(true, Ordering::Relaxed);
        for client in self.clients {
            client.join().unwrap();
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn neither_a_reload_nor_a_stop_loses_an_answer_under_load() {
    let limits = |number: usize| {
        format!("query-cache = {}\nheader-timeout = '{}s'\ndrain = '1h'\n", 1 << 20 | number, 9 + number)
    };
    let managed = Managed::start("reload-load", UNLIMITED_PROFILE, &limits(1), &[]).await;
    let token = managed.server.token("demo");
    let load = Load::start(&managed.server, &token);
    for number in 2..8 {
        // Another cache, so that the service is made anew.
        managed.reload(&limits(number));
        load.go_on();
    }
    let Managed { mut server, manager, database } = managed;
    server.terminate();
    manager.wait_for("STOPPING=1");
    // Load balancers see it and send no more requests after a while, during which all is served.
    let ready = server.get("/health/ready");
    assert_eq!((ready.status, server.get("/health/live").status), (503, 200));
    assert!(ready.body.contains("about to stop"), "{}", ready.body);
    load.go_on();
    load.stop();
    // A second signal ends the wait.
    server.terminate();
    let log = server.wait();
    assert!(!log.contains("cut off") && !log.contains("panicked"), "{log}");
    assert_eq!(log.matches("the settings were read again").count(), 6);
    drop(database);

    let managed = Managed::start("drain-ends", UNLIMITED_PROFILE, "drain = '100ms'", &[]).await;
    let log = managed.server.stop();
    assert!(log.contains("not ready any more") && log.contains("stopping"), "{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_service_manager_is_notified_of_a_start_that_waits_and_that_the_server_runs() {
    let postgres = Postgres::start("start-wait").await;
    postgres.stop();
    let manager = ServiceManager::start("notify");
    let (address, path) = (connection_string(&postgres.config()), manager.path.clone());
    let starting = thread::spawn(move || {
        let variables = [("NOTIFY_SOCKET", &*path), ("WATCHDOG_USEC", "200000")];
        Server::start_with_variables(&address, &["--start-wait", "1h"], &variables)
    });
    manager.wait_for("EXTEND_TIMEOUT_USEC=");
    postgres.restart();
    let mut server = starting.join().unwrap();
    manager.wait_for("READY=1");
    for _ in 0..2 {
        manager.wait_for("WATCHDOG=1");
    }
    server.signal("-HUP");
    let reloading = manager.wait_for("RELOADING=1");
    let fields: HashMap<_, _> = reloading.lines().filter_map(|line| line.split_once('=')).collect();
    assert!(fields["MONOTONIC_USEC"].parse::<u64>().unwrap() > 0);
    manager.wait_for("READY=1");
    let token = server.token("demo");
    assert_eq!(server.request("GET /nowhere", &[&bearer(&token)], "").status, 404);
    server.signal("-INT");
    manager.wait_for("STOPPING=1");
    let log = server.wait();
    assert!(log.contains("the database is not up yet"), "{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reload_replaces_all_documents_and_a_broken_one_changes_nothing() {
    let folder = ServiceManager::start("reload-documents").folder;
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write("a.graphql", "query A { __typename }");
    let settings = format!("documents = '{}'\n", folder.path().display());
    let managed = Managed::start("documents", Profile::DEFAULT, &settings, &[]).await;
    let token = bearer(&managed.server.token("demo"));
    let status = |id: &str| {
        let headers = [token.as_str(), "Content-Type: application/json"];
        managed.server.request("POST /rest/s1/graphql", &headers, json!({ "documentId": id }).to_string()).status
    };
    assert_eq!((status("A"), status("B")), (200, 400));
    write("b.graphql", "query B { nothing }");
    managed.reload(&settings);
    assert_eq!((status("A"), status("B")), (200, 400));
    fs::remove_file(folder.path().join("a.graphql")).unwrap();
    write("b.graphql", "query B { __typename }");
    managed.reload(&settings);
    assert_eq!((status("A"), status("B")), (400, 200));
}
