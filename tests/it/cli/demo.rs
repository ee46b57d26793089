//! `orderql demo` as a newcomer meets it: what it prints, what its users may do, how it ends and begins again.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{self, Child, Command, Stdio};
use std::thread::{self, JoinHandle};
use std::{env, fs};

use orderql::cli::demo::sample;
use orderql::database::connect::connect;
use orderql::sample::fill::fill;
use serde_json::{Value, json};

use crate::support::database::{loaded_database, table_digests};
use crate::support::http::read_responses;

/// A folder of a test's own for the demo's data, removed at its end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = env::temp_dir().join(format!("orderql-demo-{}-{name}", process::id()));
        fs::create_dir(&path).unwrap();
        // The demo's PostgreSQL may run as another user, who has to get in.
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        Self(path)
    }

    /// PostgreSQL's first process, while it runs.
    fn postgres(&self) -> Option<String> {
        let claim = fs::read_to_string(self.0.join("data/postmaster.pid")).ok()?;
        claim.lines().next().map(str::to_owned)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What a test that failed has left running.
        if let Some(process) = self.postgres() {
            let _ = Command::new("kill").args(["-QUIT", &process]).status();
        }
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A running demo that has said where it is.
struct Demo {
    program: Option<Child>,
    /// What it printed, from its first address to its last line.
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

    /// What stands behind that word.
    fn told(&self, word: &str) -> &str {
        let line = self.introduction.lines().find_map(|line| line.trim().strip_prefix(word));
        line.unwrap_or_else(|| panic!("{}", self.introduction)).trim()
    }

    /// The printed line that begins with this.
    fn line(&self, beginning: &str) -> &str {
        self.introduction.lines().find(|line| line.starts_with(beginning)).unwrap()
    }

    /// The printed token.
    fn token(&self) -> &str {
        self.line("export TOKEN=").strip_prefix("export TOKEN=").unwrap()
    }

    /// Sends one request.
    fn send(&self, head: &str, body: &str) -> (u16, Value) {
        let address = self.told("GraphQL").strip_prefix("http://").unwrap().split('/').next().unwrap();
        let mut stream = std::net::TcpStream::connect(address).unwrap();
        let length = body.len();
        let request = format!("{head}Host: a\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{body}");
        stream.write_all(request.as_bytes()).unwrap();
        let mut answers = read_responses(stream);
        assert_eq!(answers.len(), 1, "{answers:?}");
        (answers[0].status, answers.remove(0).json())
    }

    /// Signs a user in and asks a query.
    fn query(&self, user: &str, query: &str) -> (u16, Value) {
        use base64::Engine;
        let credentials = base64::prelude::BASE64_STANDARD.encode(format!("{user}:{user}"));
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

    /// What is in its database.
    async fn contents(&self, folder: &Folder) -> BTreeMap<String, String> {
        let mut config = tokio_postgres::Config::new();
        config.host_path(folder.0.join("socket")).user("postgres").dbname("orderql");
        orders_and_more(&connect(&config).await.unwrap()).await
    }

    /// As Ctrl-C does, to the whole of its process group; waits for its end, which must be in order, and returns what it
    /// said meanwhile.
    fn interrupt(mut self) -> String {
        let mut program = self.program.take().unwrap();
        assert!(signal("-INT", &format!("-{}", program.id())));
        assert_eq!(program.wait().unwrap().code(), Some(0));
        self.progress.take().unwrap().join().unwrap()
    }

    /// Ends it without a word.
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

/// What a demo is to have: what its files come to, and what is made up beside them.
async fn expected() -> BTreeMap<String, String> {
    let template = loaded_database().await;
    let mut client = template.connect().await;
    fill(&mut client, sample(), &mut |_| {}).await.unwrap();
    orders_and_more(&client).await
}

/// What the files and the sample came to: not the accounts, nor when it was.
async fn orders_and_more(client: &tokio_postgres::Client) -> BTreeMap<String, String> {
    let stamps = ["created_stamp", "created_tx_stamp", "last_updated_stamp", "last_updated_tx_stamp"];
    let mut contents = table_digests(client, &stamps).await;
    contents.retain(|table, _| !table.starts_with("orderql."));
    contents
}

/// The processes that work in the folder, where the system tells.
fn processes_in(folder: &Path) -> Vec<String> {
    let Ok(processes) = fs::read_dir("/proc") else { return Vec::new() };
    let working_there = |process: &PathBuf| fs::read_link(process.join("cwd")).is_ok_and(|at| at.starts_with(folder));
    let paths = processes.map(|process| process.unwrap().path()).filter(working_there);
    paths.map(|process| fs::read_to_string(process.join("comm")).unwrap_or_default()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_newcomer_is_shown_around_and_the_data_stays() {
    let folder = Folder::new("around");
    let demo = Demo::start(&folder.0);

    // The addresses are good.
    let (status, _) = demo.send("GET /health/ready HTTP/1.1\r\n", "");
    assert_eq!(status, 200);
    for (word, path) in [("GraphQL", "/rest/s1/graphql"), ("Schema", "/rest/s1/graphql/sdl"), ("Token", "/auth/token")]
    {
        assert!(demo.told(word).starts_with("http://127.0.0.1:") && demo.told(word).ends_with(path));
    }
    for user in ["demo", "bulk", "guest"] {
        assert!(demo.told("Users").contains(user));
    }

    // The commands work when they are pasted.
    if Command::new("curl").arg("--version").output().is_ok() {
        let pasted = format!("{}\n{}", demo.line("export "), demo.line("curl "));
        let said = Command::new("sh").arg("-c").arg(pasted).output().unwrap();
        assert!(said.status.success(), "{said:?}");
        let body: Value = serde_json::from_slice(&said.stdout).unwrap();
        assert_eq!(body.get("errors"), None, "{body}");
        let order = &body["data"]["order"];
        assert_eq!((&order["orderId"], &order["grandTotal"]), (&json!("DEMO10090"), &json!("50.85")), "{body}");
        let group = &order["shipGroups"]["edges"][0]["node"];
        assert_eq!(group["shipGroupSeqId"], "00001", "{body}");
        let items = group["orderItems"]["edges"].as_array().unwrap();
        assert!(!items.is_empty() && items.iter().all(|item| item["node"]["productId"].is_string()), "{body}");
    }
    let psql = demo.told("psql").strip_prefix("psql ").unwrap();
    if Command::new("psql").arg("--version").output().is_ok() {
        let said = Command::new("sh").arg("-c").arg(format!("psql {psql} -XAtc 'SELECT 42'")).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&said.stdout), "42\n", "{said:?}");
    }

    // The users are what they are said to be.
    let probe = "{ orders(first: 100) { edges { cursor } } }";
    for (user, most, rate) in [("demo", 1000, 50), ("bulk", 1_000_000_000, 1_000_000_000)] {
        let (status, body) = demo.query(user, probe);
        let throttle = &body["extensions"]["cost"]["throttleStatus"];
        assert_eq!(
            (status, &throttle["maximumAvailable"], &throttle["restoreRate"]),
            (200, &json!(most), &json!(rate))
        );
        // A large bucket is no large query.
        let (_, body) = demo
            .query(user, "{ orders(first: 100) { edges { node { orderItems(first: 10) { edges { cursor } } } } } }");
        assert_eq!(body["errors"][0]["extensions"]["maxCost"], 1000, "{body}");
    }
    let (status, body) = demo.query("guest", probe);
    assert_eq!((status, &body["errors"][0]["extensions"]["code"]), (403, &json!("FORBIDDEN")));

    // It has what its files and its sample have.
    let fresh = demo.contents(&folder).await;
    assert_eq!(fresh, expected().await);

    // It ends in order, with all that it started.
    let token = demo.token().to_owned();
    let said = demo.interrupt();
    assert!(said.contains("Loading") && !said.contains("ERROR"), "{said}");
    assert_eq!((folder.postgres(), processes_in(&folder.0)), (None, Vec::new()));

    // And again: the same data, which is not loaded a second time.
    let demo = Demo::start(&folder.0);
    assert_eq!(demo.contents(&folder).await, fresh);
    assert_eq!(demo.query("demo", probe).0, 200);
    assert_eq!(demo.query_with(&token, probe).0, 200, "the printed token is still valid");
    let postgres = folder.postgres().unwrap();
    demo.kill();

    // Killed, it leaves its PostgreSQL running; the next one takes it over, and ends it.
    let demo = Demo::start(&folder.0);
    assert_eq!(folder.postgres(), Some(postgres));
    assert_eq!(demo.contents(&folder).await, fresh);
    assert_eq!(demo.query("bulk", probe).0, 200);
    let said = demo.interrupt();
    assert!(!said.contains("Loading") && !said.contains("Making"), "{said}");
    assert_eq!((folder.postgres(), processes_in(&folder.0)), (None, Vec::new()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_demo_that_was_killed_while_it_loaded_loads_the_rest() {
    let folder = Folder::new("killed");
    let mut program = command(&folder.0).spawn().unwrap();
    let mut progress = BufReader::new(program.stderr.take().unwrap()).lines();
    while !progress.next().expect("it loads").unwrap().contains("Loading") {}
    program.kill().unwrap();
    program.wait().unwrap();

    let demo = Demo::start(&folder.0);
    assert_eq!(demo.contents(&folder).await, expected().await);
    assert_eq!(demo.query("guest", "{ __typename }").0, 403);
    assert!(demo.interrupt().contains("Loading"));
    assert_eq!((folder.postgres(), processes_in(&folder.0)), (None, Vec::new()));
}

#[test]
fn a_second_demo_on_the_same_data_is_told_so_and_disturbs_nobody() {
    let folder = Folder::new("second");
    let demo = Demo::start(&folder.0);
    let second = command(&folder.0).output().unwrap();
    let said = String::from_utf8_lossy(&second.stderr);
    assert_eq!(second.status.code(), Some(1));
    assert!(said.contains("another orderql uses") && said.contains("use another data folder"), "{said}");
    assert_eq!(demo.query("demo", "{ __typename }").0, 200);
    demo.interrupt();
}
