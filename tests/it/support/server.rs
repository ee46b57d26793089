//! A running `orderql serve` and a client that writes and reads bytes as they are.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;
use std::{env, fs};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use orderql::access::accounts::{Profile, User, ensure_user};
use orderql::access::password::Passwords;
use serde_json::{Value, json};
use tokio_postgres::config::Host;
use tokio_postgres::{Client, Config};

use crate::support::database::Database;

/// A test that waits for longer than this for a byte has failed. Nothing is measured by it.
const HOPELESS: Duration = Duration::from_mins(1);

/// The program, serving a database on a port of its own choice.
pub struct Server {
    program: Option<Child>,
    log: Option<JoinHandle<String>>,
    /// A folder that goes with the server; its keys are in `keys`.
    pub folder: PathBuf,
    /// Where it listens.
    pub address: SocketAddr,
}

/// An answer as it came.
#[derive(Debug, Clone)]
pub struct Answer {
    pub status: u16,
    pub headers: HashMap<String, String>,
    pub body: String,
}

impl Server {
    /// Starts the program on a test's database and waits until it says where it listens.
    pub fn start(database: &Database, flags: &[&str]) -> Self {
        Self::start_on(&database.config(), flags)
    }

    /// Starts the program on any database of a private cluster.
    pub fn start_on(database: &Config, flags: &[&str]) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let folder = env::temp_dir().join(format!("orderql-served-{}-{number}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let mut program = Command::new(env!("CARGO_BIN_EXE_orderql"));
        program.args(["serve", "--listen", "127.0.0.1:0", "--log-format", "json", "--database-url"]);
        program.arg(connection_string(database)).args(flags).env("ORDERQL_KEY_FOLDER", folder.join("keys"));
        let mut program = program.stderr(Stdio::piped()).spawn().unwrap();

        let mut lines = BufReader::new(program.stderr.take().unwrap()).lines();
        let mut log = String::new();
        let address = loop {
            let Some(line) = lines.next() else { panic!("the server ended before it listened: {log}") };
            let line = line.unwrap();
            let event = serde_json::from_str::<Value>(&line).unwrap_or_default();
            log.push_str(&line);
            if event["message"] == "listening" {
                break event["address"].as_str().unwrap().parse().unwrap();
            }
        };
        let log = thread::spawn(move || {
            for line in lines {
                log.push('\n');
                log.push_str(&line.unwrap());
            }
            log
        });
        Self { program: Some(program), log: Some(log), folder, address }
    }

    /// The process.
    pub fn id(&self) -> u32 {
        self.program.as_ref().unwrap().id()
    }

    /// A connection.
    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(HOPELESS)).unwrap();
        stream.set_write_timeout(Some(HOPELESS)).unwrap();
        stream
    }

    /// Sends the bytes on a connection of their own, and reads answers until the server closes it.
    pub fn exchange(&self, requests: impl AsRef<[u8]>) -> Vec<Answer> {
        let mut stream = self.connect();
        // The server may close before it has read everything.
        let _ = stream.write_all(requests.as_ref());
        read_answers(stream)
    }

    /// Sends one request, whose head must not end yet, and returns its answer.
    pub fn ask(&self, head: &str) -> Answer {
        let closing = head.strip_suffix("\r\n").unwrap();
        let mut answers = self.exchange(format!("{closing}Connection: close\r\n\r\n"));
        assert_eq!(answers.len(), 1, "{head}: {answers:?}");
        answers.remove(0)
    }

    /// Gets a path.
    pub fn get(&self, path: &str) -> Answer {
        self.ask(&format!("GET {path} HTTP/1.1\r\nHost: a\r\n\r\n"))
    }

    /// Asks for a token.
    pub fn sign_in(&self, path: &str, user_id: &str, password: &str) -> Answer {
        let credentials = BASE64_STANDARD.encode(format!("{user_id}:{password}"));
        self.ask(&format!("POST {path} HTTP/1.1\r\nHost: a\r\nAuthorization: Basic {credentials}\r\n\r\n"))
    }

    /// A token.
    pub fn token(&self, user_id: &str) -> String {
        self.sign_in("/auth/token", user_id, user_id).json()["access_token"].as_str().unwrap().to_owned()
    }

    /// Sends a body to the GraphQL endpoint.
    pub fn post(&self, token: &str, accept: &str, body: impl AsRef<[u8]>) -> Answer {
        let body = body.as_ref();
        let length = body.len();
        let head = format!("{}Content-Length: {length}\r\nConnection: close\r\n\r\n", graphql_head(token, accept));
        let mut answers = self.exchange([head.as_bytes(), body].concat());
        assert_eq!(answers.len(), 1, "{answers:?}");
        answers.remove(0)
    }

    /// Asks a query.
    pub fn query(&self, token: &str, query: &str) -> Answer {
        self.post(token, JSON, json!({ "query": query }).to_string())
    }

    /// Tells the server to stop.
    pub fn tell_to_stop(&self) {
        assert!(Command::new("kill").args(["-TERM", &self.id().to_string()]).status().unwrap().success());
    }

    /// Tells the server to stop, waits until it has, and returns its log.
    pub fn stop(mut self) -> String {
        self.tell_to_stop();
        self.wait()
    }

    /// Waits until the server has ended in order, and returns its log.
    pub fn wait(&mut self) -> String {
        assert!(self.program.take().unwrap().wait().unwrap().success());
        self.log.take().unwrap().join().unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(mut program) = self.program.take() {
            let _ = program.kill();
            let _ = program.wait();
        }
        let _ = fs::remove_dir_all(&self.folder);
    }
}

impl Answer {
    /// A header's value.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }

    /// The body as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// What `extensions.cost` says is left.
    pub fn available(&self) -> u64 {
        let left = &self.json()["extensions"]["cost"]["throttleStatus"]["currentlyAvailable"];
        left.as_u64().unwrap_or_else(|| panic!("{self:?}"))
    }

    /// The first error's code, or nothing.
    pub fn code(&self) -> String {
        self.json()["errors"][0]["extensions"]["code"].as_str().unwrap_or_default().to_owned()
    }
}

/// The media type whose answers have the status 200 wherever GraphQL answers, and the one whose status tells more.
pub const JSON: &str = "application/json";
pub const NEWER: &str = "application/graphql-response+json";

/// The head of a GraphQL request, up to its length.
pub fn graphql_head(token: &str, accept: &str) -> String {
    format!(
        "POST /rest/s1/graphql HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {token}\r\nAccept: {accept}\r\n\
         Content-Type: application/json\r\n"
    )
}

/// Makes users whose passwords are their names: `guest` without a grant, everybody else with all of them.
pub async fn make_users(client: &mut Client, users: &[(&str, Profile)]) {
    let passwords = Passwords::new(1).unwrap();
    for (user_id, profile) in users {
        let groups = if *user_id == "guest" { &[][..] } else { &["API"] };
        let user = User { user_id, password: user_id, groups, profile: *profile };
        ensure_user(client, &passwords, &user).await.unwrap();
    }
}

/// Everything until the server closes the connection.
pub fn read_text(mut stream: TcpStream) -> String {
    let mut bytes = Vec::new();
    match stream.read_to_end(&mut bytes) {
        Ok(_) => {}
        // A connection that is cut off may be reset; what came before counts.
        Err(error) if error.kind() == ErrorKind::ConnectionReset => {}
        Err(error) => panic!("{error} after {:?}", String::from_utf8_lossy(&bytes)),
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Every whole answer until the server closes the connection.
pub fn read_answers(stream: TcpStream) -> Vec<Answer> {
    let text = read_text(stream);
    let mut rest = text.as_str();
    let mut answers = Vec::new();
    while let Some((head, after)) = rest.split_once("\r\n\r\n") {
        let mut lines = head.split("\r\n");
        let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
        let headers: HashMap<_, _> = lines
            .map(|line| line.split_once(": ").unwrap_or((line, "")))
            .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
            .collect();
        let (body, next) = match (status, headers.get("content-length")) {
            (100..=199 | 204 | 304, _) => (String::new(), after),
            (_, Some(length)) => {
                let (body, next) = after.split_at(length.parse().unwrap());
                (body.to_owned(), next)
            }
            (_, None) if headers.contains_key("transfer-encoding") => read_chunks(after),
            (_, None) => (String::new(), after),
        };
        answers.push(Answer { status, headers, body });
        rest = next;
    }
    assert_eq!(rest, "", "half an answer");
    answers
}

/// A body of chunks, and what follows it. Chunks that do not end as they should are no answer.
fn read_chunks(mut text: &str) -> (String, &str) {
    let mut body = String::new();
    loop {
        let (size, rest) = text.split_once("\r\n").unwrap();
        let size = usize::from_str_radix(size, 16).unwrap();
        body.push_str(&rest[..size]);
        text = rest[size..].strip_prefix("\r\n").unwrap();
        if size == 0 {
            return (body, text);
        }
    }
}

/// An address as `--database-url` takes it.
pub fn connection_string(config: &Config) -> String {
    let [Host::Unix(folder)] = config.get_hosts() else { panic!("tests use a Unix socket") };
    let (port, user, name) = (config.get_ports()[0], config.get_user().unwrap(), config.get_dbname().unwrap());
    let options = config.get_options().unwrap_or_default().replace('\\', r"\\");
    format!("host={} port={port} user={user} dbname={name} options='{options}'", folder.display())
}

/// Reads until the text has come, and nothing beyond it.
pub fn until(mut stream: &TcpStream, text: &str) {
    let mut read = String::new();
    while !read.ends_with(text) {
        let mut byte = [0];
        stream.read_exact(&mut byte).unwrap_or_else(|error| panic!("{error} after {read:?}"));
        read.push(char::from(byte[0]));
    }
}
