//! Server processes that are started for a measurement.

use std::fs::{self, File};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::error::{BenchError, Result};
use crate::output;

/// How long a server may take to listen.
const START: Duration = Duration::from_mins(1);

/// How long a server may take to stop.
const GRACE: Duration = Duration::from_secs(10);

/// A running server. Dropping it stops the process.
#[derive(Debug)]
pub struct ServerProcess {
    child: Child,
    /// Where it listens.
    pub address: SocketAddr,
}

impl ServerProcess {
    /// Starts a server that was given its address, and waits until it accepts connections.
    pub fn start_at(command: &mut Command, address: SocketAddr, log: &str) -> Result<Self> {
        Self::start(command, log, |_| TcpStream::connect(address).ok().map(|_| address))
    }

    /// Starts a server that was given its address, and waits until it accepts connections. Its standard error is a pipe that
    /// nobody reads.
    pub fn start_unread(command: &mut Command, address: SocketAddr) -> Result<Self> {
        let program = command.get_program().to_string_lossy().into_owned();
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn();
        let child = child.map_err(BenchError::io(format!("start {program}")))?;
        let server = Self { child, address };
        let until = Instant::now() + START;
        while TcpStream::connect(address).is_err() {
            if Instant::now() > until {
                return Err(BenchError::Program { program, output: "nothing".to_owned() });
            }
            thread::sleep(Duration::from_millis(20));
        }
        Ok(server)
    }

    /// Starts a server that chooses its port, and waits until it prints `listening on ADDRESS`.
    pub fn start_anywhere(command: &mut Command, log: &str) -> Result<Self> {
        Self::start(command, log, |printed| {
            let (_, address) = printed.lines().find_map(|line| line.split_once("listening on "))?;
            address.trim().trim_start_matches("http://").parse().ok()
        })
    }

    fn start(command: &mut Command, log: &str, ready: impl Fn(&str) -> Option<SocketAddr>) -> Result<Self> {
        let program = command.get_program().to_string_lossy().into_owned();
        let path = output::file(log)?;
        let failed = || BenchError::io(format!("write {}", path.display()));
        let file = File::create(&path).map_err(failed())?;
        let errors = file.try_clone().map_err(failed())?;
        let child = command.stdin(Stdio::null()).stdout(file).stderr(errors).spawn();
        let child = child.map_err(BenchError::io(format!("start {program}")))?;
        let mut server = Self { child, address: SocketAddr::from(([127, 0, 0, 1], 0)) };
        let until = Instant::now() + START;
        loop {
            let output = fs::read_to_string(&path).unwrap_or_default();
            if let Some(address) = ready(&output) {
                server.address = address;
                return Ok(server);
            }
            if matches!(server.child.try_wait(), Ok(Some(_))) || Instant::now() > until {
                return Err(BenchError::Program { program, output });
            }
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// The process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        // SIGTERM lets a server end its own child processes.
        let signal = Command::new("kill").args(["-TERM", &self.id().to_string()]).stderr(Stdio::null()).status();
        let until = Instant::now() + GRACE;
        while signal.is_ok() && Instant::now() < until {
            if matches!(self.child.try_wait(), Ok(Some(_)) | Err(_)) {
                return;
            }
            thread::sleep(Duration::from_millis(10));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// An address on loopback with a free port.
pub fn free_address() -> Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
    listener.map_err(BenchError::io("find a free port"))
}
