//! A server in callgrind, which counts its instructions.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use crate::error::{BenchError, Result};
use crate::orderql;
use crate::output;
use crate::process::ServerProcess;

/// What a server does for a request after the last byte of the response is done after this time.
const SETTLING: Duration = Duration::from_millis(300);

/// Reads and resets the count of a server.
#[derive(Debug)]
pub struct Counter {
    /// The server's process.
    id: u32,
    /// What the names of its profiles begin with. A number follows.
    pub profiles: PathBuf,
    /// How many there are.
    written: u32,
}

/// Fails if valgrind is not installed.
pub fn require() -> Result<()> {
    let is_installed = |program: &str| {
        let mut command = Command::new(program);
        command.arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    };
    if is_installed("valgrind") && is_installed("callgrind_control") {
        return Ok(());
    }
    let advice = "valgrind is not installed; the package has the same name (such as: apt-get install valgrind)";
    Err(BenchError::Data(advice.to_owned()))
}

/// Starts a server whose instructions are counted.
pub fn start(program: &Path, database: &str, flags: &[String]) -> Result<(ServerProcess, Counter)> {
    let profiles = output::file("callgrind/profile")?;
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--tool=callgrind", "--quiet"]);
    valgrind.arg(format!("--callgrind-out-file={}", profiles.display())).arg(program);
    let server = orderql::start_under(valgrind, database, flags)?;
    let counter = Counter { id: server.id(), profiles, written: 0 };
    Ok((server, counter))
}

impl Counter {
    /// Begins to count from zero.
    pub fn reset(&self) -> Result<()> {
        self.control("--zero")
    }

    /// The instructions since the last reading or reset, which their profile explains.
    pub fn read(&mut self) -> Result<u64> {
        self.written += 1;
        let path = PathBuf::from(format!("{}.{}", self.profiles.display(), self.written));
        // That of an earlier run.
        if let Err(error) = fs::remove_file(&path)
            && error.kind() != ErrorKind::NotFound
        {
            return Err(BenchError::io(format!("remove {}", path.display()))(error));
        }
        self.control("--dump")?;
        let profile = fs::read_to_string(&path).map_err(BenchError::io(format!("read {}", path.display())))?;
        let total = profile.lines().find_map(|line| line.strip_prefix("totals: ")?.trim().parse().ok());
        total.ok_or_else(|| BenchError::Data(format!("{} has no total", path.display())))
    }

    fn control(&self, action: &str) -> Result<()> {
        thread::sleep(SETTLING);
        let id = self.id.to_string();
        let output = Command::new("callgrind_control").args([action, &id]).output();
        let output = output.map_err(BenchError::io("start callgrind_control"))?;
        if output.status.success() {
            return Ok(());
        }
        let output = String::from_utf8_lossy(&output.stderr).into_owned();
        Err(BenchError::Program { program: format!("callgrind_control {action}"), output })
    }
}
