//! A running `orderql serve`, and requests to it.

use std::env;
use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::mem;
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{self, Child, ChildStderr, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use base64::Engine;
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD};
use orderql::access::profile::Profile;
use serde_json::{Value, json};
use tokio_postgres::Config;
use tokio_postgres::config::Host;

use crate::support::database::{Database, migrated_database};
use crate::support::http::{JSON, Response, graphql_head, read_last_response, read_responses, with_body};
use crate::support::metrics::Metrics;
use crate::support::users::create_users;

/// The program that was built with the tests.
const PROGRAM: &str = env!("CARGO_BIN_EXE_orderql");

/// A test that waits longer than this for a byte has failed. No test measures it.
const TIMEOUT: Duration = Duration::from_mins(1);

/// The server process, on a port that it chose. Dropping it kills the process.
pub struct Server {
    program: Option<Child>,
    /// The log until the server listened.
    pub start: String,
    /// Reads the rest of the log.
    log: Option<JoinHandle<String>>,
    /// A folder that is removed with the server. The signing keys are in `keys`.
    pub folder: PathBuf,
    /// The listening address.
    pub address: SocketAddr,
    /// The operators' listening address, if there is one.
    pub admin_address: Option<SocketAddr>,
}

/// Starts a server on a migrated database with these users.
pub async fn server_with_users(users: &[(&str, Profile)], flags: &[&str]) -> (Server, Database) {
    let database = migrated_database().await;
    create_users(&mut database.connect().await, users).await;
    (Server::start(&database, flags), database)
}

/// Starts a server on a migrated database with the user `demo`, and returns a token of this user.
pub async fn server_with_demo_user(profile: Profile, flags: &[&str]) -> (Server, Database, String) {
    let (server, database) = server_with_users(&[("demo", profile)], flags).await;
    let token = server.token("demo");
    (server, database, token)
}

impl Server {
    /// Starts the server on a test's database and waits until it listens.
    pub fn start(database: &Database, flags: &[&str]) -> Self {
        Self::start_with_config(&database.config(), flags)
    }

    /// Starts the server on any database of a private cluster and waits until it listens.
    pub fn start_with_config(database: &Config, flags: &[&str]) -> Self {
        Self::start_on(&connection_string(database), flags)
    }

    /// Starts the server on the database with this address and waits until it listens.
    pub fn start_on(database: &str, flags: &[&str]) -> Self {
        Self::start_with_variables(database, flags, &[])
    }

    /// Starts another program on the database with this address and waits until it listens.
    pub fn start_program(program: &Path, database: &str, flags: &[&str]) -> Self {
        Self::read_log(Self::spawn(program, database, flags, &[]))
    }

    /// Starts the server with the key that all servers of this kind have, so that they accept each other's tokens.
    pub fn start_with_common_key(database: &str, flags: &[&str]) -> Self {
        let key = BASE64_URL_SAFE_NO_PAD.encode([7; 32]);
        let flags = [&["--token-algorithm", "HS256"], flags].concat();
        Self::start_with_variables(database, &flags, &[("ORDERQL_SIGNING_KEY", &key)])
    }

    /// Starts the server with these environment variables and waits until it listens.
    pub fn start_with_variables(database: &str, flags: &[&str], variables: &[(&str, &str)]) -> Self {
        Self::read_log(Self::spawn(Path::new(PROGRAM), database, flags, variables))
    }

    /// Reads what the server logs on a thread.
    fn read_log((mut server, log): (Self, BufReader<ChildStderr>)) -> Self {
        server.log = Some(thread::spawn(move || log.lines().map(|line| line.unwrap() + "\n").collect()));
        server
    }

    /// Starts the server and waits until it listens. What it logs afterwards is not read.
    pub fn start_with_unread_log(database: &Database, flags: &[&str]) -> (Self, BufReader<ChildStderr>) {
        Self::spawn(Path::new(PROGRAM), &connection_string(&database.config()), flags, &[])
    }

    fn spawn(
        program: &Path,
        database: &str,
        flags: &[&str],
        variables: &[(&str, &str)],
    ) -> (Self, BufReader<ChildStderr>) {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let folder = env::temp_dir().join(format!("orderql-server-{}-{number}", process::id()));
        fs::create_dir_all(&folder).unwrap();
        let mut program = Command::new(program);
        program.args(["serve", "--listen", "127.0.0.1:0", "--log-format", "json", "--database-url"]);
        program.arg(database).args(flags).env("ORDERQL_KEY_FOLDER", folder.join("keys"));
        program.envs(variables.iter().copied());
        let mut program = program.stderr(Stdio::piped()).spawn().unwrap();

        let mut log = BufReader::new(program.stderr.take().unwrap());
        let (mut start, mut admin_address) = (String::new(), None);
        let address = loop {
            let mut line = String::new();
            assert!(log.read_line(&mut line).unwrap() > 0, "the server ended before it listened: {start}");
            let event = serde_json::from_str::<Value>(&line).unwrap_or_default();
            start.push_str(&line);
            if event["message"] == "listening" {
                let address = event["address"].as_str().unwrap().parse();
                match event["endpoints"].as_str() {
                    // It may be a Unix socket.
                    Some("admin") => admin_address = address.ok(),
                    _ => break address.unwrap(),
                }
            }
        };
        (Self { program: Some(program), start, log: None, folder, address, admin_address }, log)
    }

    /// The process id.
    pub fn id(&self) -> u32 {
        self.program.as_ref().unwrap().id()
    }

    /// Opens a connection.
    pub fn connect(&self) -> TcpStream {
        connect(self.address)
    }

    /// Sends the bytes on a new connection and reads responses until the server closes it.
    pub fn exchange(&self, requests: impl AsRef<[u8]>) -> Vec<Response> {
        let mut stream = self.connect();
        // The server may close the connection before it has read everything.
        let _ = stream.write_all(requests.as_ref());
        read_responses(stream)
    }

    /// Sends one complete request and returns its response.
    pub fn send(&self, request: impl AsRef<[u8]>) -> Response {
        let mut responses = self.exchange(request);
        assert_eq!(responses.len(), 1, "{responses:?}");
        responses.remove(0)
    }

    /// Sends a request on a new connection and returns the response. `line` is the request line without its version.
    pub fn request(&self, line: &str, headers: &[&str], body: impl AsRef<[u8]>) -> Response {
        let (mut response, body) = self.request_bytes(line, headers, body);
        response.body = String::from_utf8(body).unwrap();
        response
    }

    /// Like `request`, for a response whose body may not be text: the body is returned beside the response.
    pub fn request_bytes(&self, line: &str, headers: &[&str], body: impl AsRef<[u8]>) -> (Response, Vec<u8>) {
        let body = body.as_ref();
        let mut request = format!("{line} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n");
        for header in headers {
            let _ = write!(request, "{header}\r\n");
        }
        if !body.is_empty() {
            let _ = write!(request, "Content-Length: {}\r\n", body.len());
        }
        let mut stream = self.connect();
        // The server may close the connection before it has read everything.
        let _ = stream.write_all(&[request.as_bytes(), b"\r\n", body].concat());
        read_last_response(stream)
    }

    /// Sends a GET request.
    pub fn get(&self, path: &str) -> Response {
        self.request(&format!("GET {path}"), &[], "")
    }

    /// Sends a GET request to the operators' listener.
    pub fn get_as_operator(&self, path: &str) -> Response {
        let mut stream = connect(self.admin_address.unwrap());
        stream.write_all(format!("GET {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").as_bytes()).unwrap();
        read_responses(stream).remove(0)
    }

    /// Sends a request to the operators' listener.
    pub fn as_operator(&self, line: &str, headers: &[&str], body: &str) -> Response {
        let headers: String = headers.iter().flat_map(|header| [header, "\r\n"]).collect();
        let mut stream = connect(self.admin_address.unwrap());
        let request = with_body(&format!("{line} HTTP/1.1\r\nHost: a\r\n{headers}"), body);
        stream.write_all(request.as_bytes()).unwrap();
        read_responses(stream).remove(0)
    }

    /// What the metrics read now.
    pub fn metrics(&self) -> Metrics {
        Metrics::parse(&self.get_as_operator("/metrics").body)
    }

    /// Waits until the metrics are so. A request is measured a moment after its client has the response.
    pub fn wait_for_metrics(&self, are_so: impl Fn(&Metrics) -> bool) -> Metrics {
        let begin = Instant::now();
        loop {
            let metrics = self.metrics();
            if are_so(&metrics) {
                return metrics;
            }
            assert!(begin.elapsed() < TIMEOUT, "{metrics:#?}");
        }
    }

    /// Requests a token.
    pub fn sign_in(&self, path: &str, user_id: &str, password: &str) -> Response {
        let credentials = BASE64_STANDARD.encode(format!("{user_id}:{password}"));
        self.request(&format!("POST {path}"), &[&format!("Authorization: Basic {credentials}")], "")
    }

    /// A token of a user whose password is the user id.
    pub fn token(&self, user_id: &str) -> String {
        self.sign_in("/auth/token", user_id, user_id).json()["access_token"].as_str().unwrap().to_owned()
    }

    /// Sends a body to the GraphQL endpoint.
    pub fn post(&self, token: &str, accept: &str, body: impl AsRef<[u8]>) -> Response {
        let body = body.as_ref();
        let head = graphql_head(token, accept);
        let head = format!("{head}Content-Length: {}\r\nConnection: close\r\n\r\n", body.len());
        self.send([head.as_bytes(), body].concat())
    }

    /// Sends a query and accepts `application/json`.
    pub fn query(&self, token: &str, query: &str) -> Response {
        self.query_as(JSON, token, query)
    }

    /// Sends a query and accepts that media type.
    pub fn query_as(&self, accept: &str, token: &str, query: &str) -> Response {
        self.post(token, accept, json!({ "query": query }).to_string())
    }

    /// Sends SIGTERM to the server.
    pub fn terminate(&self) {
        self.signal("-TERM");
    }

    /// Sends that signal to the server.
    pub fn signal(&self, signal: &str) {
        assert!(Command::new("kill").args([signal, &self.id().to_string()]).status().unwrap().success());
    }

    /// Sends SIGTERM to the server, waits until it has ended, and returns its log.
    pub fn stop(mut self) -> String {
        self.terminate();
        self.wait()
    }

    /// Waits until the server has ended with success, and returns its log.
    pub fn wait(&mut self) -> String {
        assert!(self.program.take().unwrap().wait().unwrap().success());
        let rest = self.log.take().map(|log| log.join().unwrap());
        mem::take(&mut self.start) + &rest.unwrap_or_default()
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

/// Asks again and again until it is so.
pub fn wait_until(is_so: impl Fn() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < TIMEOUT, "it does not become so");
    }
}

fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(TIMEOUT)).unwrap();
    stream.set_write_timeout(Some(TIMEOUT)).unwrap();
    stream
}

/// The value of `--database-url` for a database of a private cluster.
pub fn connection_string(config: &Config) -> String {
    let [Host::Unix(folder)] = config.get_hosts() else { panic!("tests use a Unix socket") };
    let (port, user, name) = (config.get_ports()[0], config.get_user().unwrap(), config.get_dbname().unwrap());
    let options = config.get_options().unwrap_or_default().replace('\\', r"\\");
    format!("host={} port={port} user={user} dbname={name} options='{options}'", folder.display())
}
