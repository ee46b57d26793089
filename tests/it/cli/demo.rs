//! `orderql demo`: its output, its users, its data, and how it stops and starts again.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::{self, JoinHandle};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use orderql::database::connection::connect::connect;
use serde_json::{Value, json};

use crate::support::database::{demo_database, table_digests};
use crate::support::http::read_responses;
use crate::support::test_folder::TestFolder;

/// A running demo that has printed its addresses.
struct Demo {
    program: Option<Child>,
    /// The output of the start.
    introduction: String,
    progress: Option<JoinHandle<String>>,
}

impl Demo {
    fn start(folder: &Path) -> Self {
        let mut program = command(folder).spawn().unwrap();
        let progress = read_all(program.stderr.take().unwrap());
        let mut introduction = String::new();
        let mut lines = BufReader::new(program.stdout.take().unwrap()).lines();
        while !introduction.contains("Ctrl-C") {
            let Some(line) = lines.next() else { panic!("the demo ended: {}", progress.join().unwrap()) };
            introduction.push_str(&line.unwrap());
            introduction.push('\n');
        }
        Self { program: Some(program), introduction, progress: Some(progress) }
    }

    /// The text after that word in the introduction.
    fn introduced(&self, word: &str) -> &str {
        let line = self.introduction.lines().find_map(|line| line.trim().strip_prefix(word));
        line.unwrap_or_else(|| panic!("{}", self.introduction)).trim()
    }

    /// The printed line with that prefix.
    fn line(&self, prefix: &str) -> &str {
        self.introduction.lines().find(|line| line.starts_with(prefix)).unwrap()
    }

    /// The printed token.
    fn token(&self) -> &str {
        self.line("export TOKEN=").strip_prefix("export TOKEN=").unwrap()
    }

    /// Sends one request.
    fn send(&self, head: &str, body: &str) -> (u16, Value) {
        let address = self.introduced("GraphQL").strip_prefix("http://").unwrap().split('/').next().unwrap();
        let mut stream = std::net::TcpStream::connect(address).unwrap();
        let length = body.len();
        let request = format!("{head}Host: a\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{body}");
        stream.write_all(request.as_bytes()).unwrap();
        let mut responses = read_responses(stream);
        assert_eq!(responses.len(), 1, "{responses:?}");
        (responses[0].status, responses.remove(0).json())
    }

    /// Signs a user in and sends a query.
    fn query(&self, user: &str, query: &str) -> (u16, Value) {
        let credentials = BASE64_STANDARD.encode(format!("{user}:{user}"));
        let (status, token) =
            self.send(&format!("POST /auth/token HTTP/1.1\r\nAuthorization: Basic {credentials}\r\n"), "");
        assert_eq!(status, 200, "{token}");
        self.query_with(token["access_token"].as_str().unwrap(), query)
    }

    /// Sends a query with a token.
    fn query_with(&self, token: &str, query: &str) -> (u16, Value) {
        let head = format!(
            "POST /rest/s1/graphql HTTP/1.1\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\n"
        );
        self.send(&head, &json!({ "query": query }).to_string())
    }

    /// Digests of the tables of its database.
    async fn digests(&self, folder: &TestFolder) -> BTreeMap<String, String> {
        let mut config = tokio_postgres::Config::new();
        config.host_path(folder.path().join("socket")).user("postgres").dbname("orderql");
        order_digests(&connect(&config).await.unwrap()).await
    }

    /// Interrupts its process group, as Ctrl-C does, waits until it has ended with success, and returns its messages.
    fn interrupt(mut self) -> String {
        let mut program = self.program.take().unwrap();
        assert!(signal("-INT", &format!("-{}", program.id())));
        assert_eq!(program.wait().unwrap().code(), Some(0));
        self.progress.take().unwrap().join().unwrap()
    }

    /// Kills it.
    fn kill(mut self) {
        let mut program = self.program.take().unwrap();
        program.kill().unwrap();
        program.wait().unwrap();
    }
}

impl Drop for Demo {
    fn drop(&mut self) {
        if let Some(mut program) = self.program.take() {
            let _ = program.kill();
            let _ = program.wait();
        }
    }
}

fn command(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_orderql"));
    command.args(["demo", "--listen", "127.0.0.1:0", "--data-dir"]).arg(folder);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    command
}

fn read_all(mut stream: impl Read + Send + 'static) -> JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

fn signal(signal: &str, process: &str) -> bool {
    Command::new("kill").args([signal, "--", process]).stderr(Stdio::null()).status().unwrap().success()
}

/// The digests that a demo must have: of the orders of `tests/data` and of the generated sample.
async fn expected() -> BTreeMap<String, String> {
    order_digests(&demo_database().await.connect().await).await
}

/// Digests without accounts and timestamps.
async fn order_digests(client: &tokio_postgres::Client) -> BTreeMap<String, String> {
    let stamps = ["created_stamp", "created_tx_stamp", "last_updated_stamp", "last_updated_tx_stamp"];
    let mut digests = table_digests(client, &stamps).await;
    digests.retain(|table, _| !table.starts_with("orderql."));
    digests
}

/// The processes whose working directory is in the folder, if the system has `/proc`.
fn processes_in(folder: &Path) -> Vec<String> {
    let Ok(processes) = fs::read_dir("/proc") else { return Vec::new() };
    let working_there = |process: &PathBuf| fs::read_link(process.join("cwd")).is_ok_and(|at| at.starts_with(folder));
    let paths = processes.map(|process| process.unwrap().path()).filter(working_there);
    paths.map(|process| fs::read_to_string(process.join("comm")).unwrap_or_default()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn introduces_its_addresses_and_users_and_keeps_its_data() {
    let folder = TestFolder::create("demo-around");
    let demo = Demo::start(folder.path());

    // The printed addresses work.
    let (status, _) = demo.send("GET /health/ready HTTP/1.1\r\n", "");
    assert_eq!(status, 200);
    for (word, path) in [("GraphQL", "/rest/s1/graphql"), ("Schema", "/rest/s1/graphql/sdl"), ("Token", "/auth/token")]
    {
        assert!(demo.introduced(word).starts_with("http://127.0.0.1:") && demo.introduced(word).ends_with(path));
    }
    for user in ["demo", "bulk", "guest"] {
        assert!(demo.introduced("Users").contains(user));
    }

    // The printed commands work.
    if Command::new("curl").arg("--version").output().is_ok() {
        let pasted = format!("{}\n{}", demo.line("export "), demo.line("curl "));
        let output = Command::new("sh").arg("-c").arg(pasted).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        let body: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(body.get("errors"), None, "{body}");
        let order = &body["data"]["order"];
        assert_eq!((&order["orderId"], &order["grandTotal"]), (&json!("DEMO10090"), &json!("50.85")), "{body}");
        let group = &order["shipGroups"]["edges"][0]["node"];
        assert_eq!(group["shipGroupSeqId"], "00001", "{body}");
        let items = group["orderItems"]["edges"].as_array().unwrap();
        assert!(!items.is_empty() && items.iter().all(|item| item["node"]["productId"].is_string()), "{body}");
    }
    let psql = demo.introduced("psql").strip_prefix("psql ").unwrap();
    if Command::new("psql").arg("--version").output().is_ok() {
        let output = Command::new("sh").arg("-c").arg(format!("psql {psql} -XAtc 'SELECT 42'")).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout), "42\n", "{output:?}");
    }

    // The users have the printed limits.
    let probe = "{ orders(first: 100) { edges { cursor } } }";
    for (user, most, rate) in [("demo", 1000, 50), ("bulk", 1_000_000_000, 1_000_000_000)] {
        let (status, body) = demo.query(user, probe);
        let throttle = &body["extensions"]["cost"]["throttleStatus"];
        assert_eq!(
            (status, &throttle["maximumAvailable"], &throttle["restoreRate"]),
            (200, &json!(most), &json!(rate))
        );
        // A large bucket does not raise the cost limit.
        let (_, body) = demo
            .query(user, "{ orders(first: 100) { edges { node { orderItems(first: 10) { edges { cursor } } } } } }");
        assert_eq!(body["errors"][0]["extensions"]["maxCost"], 1000, "{body}");
    }
    let (status, body) = demo.query("guest", probe);
    assert_eq!((status, &body["errors"][0]["extensions"]["code"]), (403, &json!("FORBIDDEN")));

    // A second demo on the same data fails, and leaves the first running.
    let second = command(folder.path()).output().unwrap();
    let errors = String::from_utf8_lossy(&second.stderr);
    assert_eq!(second.status.code(), Some(1));
    assert!(errors.contains("another orderql uses") && errors.contains("use another data folder"), "{errors}");
    assert_eq!(demo.query("demo", "{ __typename }").0, 200);

    // The database has the orders and the sample.
    let fresh = demo.digests(&folder).await;
    assert_eq!(fresh, expected().await);

    // It stops gracefully, with all processes that it started.
    let token = demo.token().to_owned();
    let messages = demo.interrupt();
    assert!(messages.contains("Loading") && !messages.contains("ERROR"), "{messages}");
    assert_eq!((folder.postmaster(), processes_in(folder.path())), (None, Vec::new()));

    // The next start has the same data, without loading it again.
    let demo = Demo::start(folder.path());
    assert_eq!(demo.digests(&folder).await, fresh);
    assert_eq!(demo.query("demo", probe).0, 200);
    assert_eq!(demo.query_with(&token, probe).0, 200, "the printed token is still valid");
    let postgres = folder.postmaster().unwrap();
    demo.kill();

    // A killed demo leaves its PostgreSQL running. The next one takes it over and stops it.
    let demo = Demo::start(folder.path());
    assert_eq!(folder.postmaster(), Some(postgres));
    assert_eq!(demo.digests(&folder).await, fresh);
    assert_eq!(demo.query("bulk", probe).0, 200);
    let messages = demo.interrupt();
    assert!(!messages.contains("Loading") && !messages.contains("Making"), "{messages}");
    assert_eq!((folder.postmaster(), processes_in(folder.path())), (None, Vec::new()));
}

#[tokio::test(flavor = "multi_thread")]
async fn loads_the_rest_after_it_was_killed_while_loading() {
    let folder = TestFolder::create("demo-killed");
    let mut program = command(folder.path()).spawn().unwrap();
    let mut progress = BufReader::new(program.stderr.take().unwrap()).lines();
    while !progress.next().expect("it loads").unwrap().contains("Loading") {}
    program.kill().unwrap();
    program.wait().unwrap();

    let demo = Demo::start(folder.path());
    assert_eq!(demo.digests(&folder).await, expected().await);
    assert_eq!(demo.query("guest", "{ __typename }").0, 403);
    assert!(demo.interrupt().contains("Loading"));
    assert_eq!((folder.postmaster(), processes_in(folder.path())), (None, Vec::new()));
}
