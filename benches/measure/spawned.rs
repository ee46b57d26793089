//! Servers that are started for a measurement, and ended with it.

use std::fs::{self, File};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::Fault;

/// A server that has not said where it listens by then has failed.
const PATIENCE: Duration = Duration::from_mins(1);

/// How long a server that is told to end may take.
const GRACE: Duration = Duration::from_secs(10);

/// A running server. Dropping it ends it.
#[derive(Debug)]
pub struct Spawned {
    child: Child,
    /// Where it listens.
    pub address: SocketAddr,
}

impl Spawned {
    /// Starts a server that listens where it is told, and waits until it does.
    pub fn at(command: &mut Command, address: SocketAddr, log: &Path) -> Result<Self, Fault> {
        start(command, log, |_| TcpStream::connect(address).ok().map(|_| address))
    }

    /// Starts a server that chooses its port, and waits until it says `listening on ADDRESS`.
    pub fn anywhere(command: &mut Command, log: &Path) -> Result<Self, Fault> {
        start(command, log, |said| {
            let line = said.lines().find_map(|line| line.split_once("listening on ").map(|(_, address)| address))?;
            line.trim().trim_start_matches("http://").parse().ok()
        })
    }

    /// The process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Spawned {
    fn drop(&mut self) {
        // Not killed at once: it may have children of its own to end.
        let told = Command::new("kill").args(["-TERM", &self.id().to_string()]).stderr(Stdio::null()).status();
        let until = Instant::now() + GRACE;
        while told.is_ok() && Instant::now() < until {
            if matches!(self.child.try_wait(), Ok(Some(_)) | Err(_)) {
                return;
            }
            thread::sleep(Duration::from_millis(10));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// An address on loopback that nobody listens on.
pub fn free_address() -> Result<SocketAddr, Fault> {
    let listener = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
    listener.map_err(Fault::system("there is no free port"))
}

fn start(command: &mut Command, log: &Path, ready: impl Fn(&str) -> Option<SocketAddr>) -> Result<Spawned, Fault> {
    let program = command.get_program().to_string_lossy().into_owned();
    let file = File::create(log).map_err(Fault::system(format!("{} cannot be written", log.display())))?;
    let errors = file.try_clone().map_err(Fault::system(format!("{} cannot be written", log.display())))?;
    let child = command.stdin(Stdio::null()).stdout(file).stderr(errors).spawn();
    let child = child.map_err(Fault::system(format!("{program} cannot be started")))?;
    let mut spawned = Spawned { child, address: SocketAddr::from(([127, 0, 0, 1], 0)) };
    let until = Instant::now() + PATIENCE;
    loop {
        let said = fs::read_to_string(log).unwrap_or_default();
        if let Some(address) = ready(&said) {
            spawned.address = address;
            return Ok(spawned);
        }
        let has_ended = matches!(spawned.child.try_wait(), Ok(Some(_)));
        if has_ended || Instant::now() > until {
            return Err(Fault::Program { program, said });
        }
        thread::sleep(Duration::from_millis(20));
    }
}
