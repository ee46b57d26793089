//! A private Valkey or Redis.

use std::env;
use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};

const PROGRAMS: [&str; 2] = ["valkey-server", "redis-server"];

/// A store on a port of its own, whose data is in memory only. Dropping it kills the process.
pub struct StoreServer {
    program: Child,
    command: &'static str,
    flags: Vec<String>,
    pub port: u16,
}

impl StoreServer {
    /// Starts a store; `None` where none is installed, unless `ORDERQL_REQUIRE_STORE` is set.
    pub fn start() -> Option<Self> {
        Self::start_with(|port| vec!["--port".to_owned(), port.to_string()])
    }

    /// The same with the flags for a port.
    pub fn start_with(flags: impl Fn(u16) -> Vec<String>) -> Option<Self> {
        for command in PROGRAMS {
            // Somebody else may take the port in between.
            for _ in 0..10 {
                let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
                let flags = flags(port);
                let Some(program) = spawn(command, &flags) else { break };
                let mut server = Self { program, command, flags, port };
                if server.listens() {
                    return Some(server);
                }
            }
        }
        assert!(env::var_os("ORDERQL_REQUIRE_STORE").is_none(), "none of {PROGRAMS:?} is installed");
        println!("skipped: none of {PROGRAMS:?} is installed");
        None
    }

    /// The value of `--bucket-url`.
    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}/0", self.port)
    }

    /// Runs a command, and returns its response without the types of the protocol: a line for each part.
    pub fn command(&self, words: &[&str]) -> String {
        let mut request = format!("*{}\r\n", words.len());
        for word in words {
            write!(request, "${}\r\n{word}\r\n", word.len()).unwrap();
        }
        let mut stream = BufReader::new(TcpStream::connect(("127.0.0.1", self.port)).unwrap());
        stream.get_mut().write_all(request.as_bytes()).unwrap();
        read(&mut stream)
    }

    /// How often a command was executed, also by scripts.
    pub fn executed(&self, command: &str) -> u64 {
        let statistics = self.command(&["INFO", "commandstats"]);
        let line = statistics.lines().find_map(|line| line.strip_prefix(&format!("cmdstat_{command}:calls=")));
        line.map_or(0, |line| line.split(',').next().unwrap().parse().unwrap())
    }

    /// Sends a signal to the process: `-STOP` and `-CONT`.
    pub fn signal(&self, signal: &str) {
        let id = self.program.id().to_string();
        assert!(Command::new("kill").args([signal, &id]).status().unwrap().success());
    }

    /// Kills the process. What was stored is lost.
    pub fn kill(&mut self) {
        let _ = self.program.kill();
        let _ = self.program.wait();
    }

    /// Starts it again on its port, after it was killed.
    pub fn start_again(&mut self) {
        loop {
            self.program = spawn(self.command, &self.flags).unwrap();
            if self.listens() {
                return;
            }
        }
    }

    /// Waits until the process listens. False if it has ended: the port is taken.
    fn listens(&mut self) -> bool {
        loop {
            if self.program.try_wait().unwrap().is_some() {
                return false;
            }
            if TcpStream::connect(("127.0.0.1", self.port)).is_ok() {
                return true;
            }
        }
    }
}

impl Drop for StoreServer {
    fn drop(&mut self) {
        self.kill();
    }
}

fn spawn(command: &str, flags: &[String]) -> Option<Child> {
    let mut command = Command::new(command);
    command.args(["--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir"]).arg(env::temp_dir());
    command.args(flags).stdin(Stdio::null()).stdout(Stdio::null()).spawn().ok()
}

fn read(stream: &mut BufReader<TcpStream>) -> String {
    let mut line = String::new();
    stream.read_line(&mut line).unwrap();
    let (kind, rest) = line.trim_end().split_at(1);
    match kind {
        "$" if rest == "-1" => String::new(),
        "$" => {
            let mut text = vec![0; rest.parse::<usize>().unwrap() + 2];
            stream.read_exact(&mut text).unwrap();
            String::from_utf8(text).unwrap().trim_end().to_owned()
        }
        "*" => {
            let parts = (0..rest.parse::<i64>().unwrap().max(0)).map(|_| read(stream));
            parts.collect::<Vec<_>>().join("\n")
        }
        _ => rest.to_owned(),
    }
}
