//! A private `HAProxy`.

use std::fmt::Write as _;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use crate::support::test_folder::TestFolder;

/// An `HAProxy` before some servers, which sends what none of them has begun to answer to another one, as `tests/cluster/run.sh` has it.
/// Dropping it kills the process.
pub struct Balancer {
    program: Child,
    folder: TestFolder,
    pub address: SocketAddr,
}

impl Balancer {
    /// Starts it before these servers; `None` where `HAProxy` is not installed. `name` is unique among all tests.
    pub fn start(name: &str, servers: &[SocketAddr]) -> Option<Self> {
        let folder = TestFolder::create(name);
        let file = folder.path().join("haproxy.cfg");
        // Somebody else may take the port in between.
        loop {
            let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
            fs::write(&file, configuration(&control(&folder), address, servers)).unwrap();
            let mut command = Command::new("haproxy");
            command.arg("-db").arg("-f").arg(&file).stdout(Stdio::null()).stderr(Stdio::null());
            let Ok(mut program) = command.spawn() else {
                println!("skipped: HAProxy is not installed");
                return None;
            };
            while program.try_wait().unwrap().is_none() {
                if TcpStream::connect(address).is_ok() && UnixStream::connect(control(&folder)).is_ok() {
                    return Some(Self { program, folder, address });
                }
            }
        }
    }

    /// Puts a server in the place of another one.
    pub fn replace(&self, place: usize, server: SocketAddr) {
        let command = format!("set server servers/server{place} addr {} port {}\n", server.ip(), server.port());
        self.command(&command);
    }

    /// How often a request was sent to another server.
    pub fn repeats(&self) -> u64 {
        let statistics = self.command("show stat servers 2 -1\n");
        let names: Vec<_> = statistics.lines().next().unwrap().split(',').collect();
        let column = names.iter().position(|name| *name == "wredis").unwrap();
        let totals = statistics.lines().filter(|line| line.contains("BACKEND"));
        totals.map(|line| line.split(',').nth(column).unwrap().parse::<u64>().unwrap()).sum()
    }

    fn command(&self, command: &str) -> String {
        let mut stream = UnixStream::connect(control(&self.folder)).unwrap();
        stream.write_all(command.as_bytes()).unwrap();
        let mut response = String::new();
        stream.read_to_string(&mut response).unwrap();
        response
    }
}

impl Drop for Balancer {
    fn drop(&mut self) {
        let _ = self.program.kill();
        let _ = self.program.wait();
    }
}

/// The socket of its commands.
fn control(folder: &TestFolder) -> PathBuf {
    folder.path().join("control")
}

fn configuration(control: &std::path::Path, address: SocketAddr, servers: &[SocketAddr]) -> String {
    let mut text = format!(
        "global
    stats socket {} level admin
defaults
    mode http
    timeout connect 10s
    timeout client 60s
    timeout server 60s
    timeout check 10s
    retries 3
    option redispatch 1
    retry-on conn-failure empty-response 503
listen servers
    bind {address}
    option httpchk GET /health/ready
    default-server check inter 200ms fall 2 rise 1
",
        control.display()
    );
    for (place, server) in servers.iter().enumerate() {
        let _ = writeln!(text, "    server server{place} {server}");
    }
    text
}
