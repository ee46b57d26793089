//! Node, with the packages that `tests/conformance/package-lock.json` pins.

use std::env;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{self, Command, Output, Stdio};

/// The oldest supported version, which is that of Debian 12.
const OLDEST: u32 = 18;

/// npm's error codes if it cannot reach the registry.
const OFFLINE: [&str; 8] = [
    "ENOTFOUND",
    "EAI_AGAIN",
    "ECONNREFUSED",
    "ECONNRESET",
    "ETIMEDOUT",
    "ENETUNREACH",
    "EHOSTUNREACH",
    "ERR_SOCKET_TIMEOUT",
];

/// An installed Node with the packages of the tests. The text is its version, such as `v20.1.0`.
pub struct Node(pub String);

impl Node {
    /// Finds Node and installs the packages if they are not installed. Fails with what is missing. Panics if npm fails for
    /// another reason than the network.
    pub fn ready() -> Result<Self, String> {
        let version = version()?;
        // Locks out other test processes and threads.
        let lock = File::options().create(true).append(true).open(temporary("conformance.lock")).unwrap();
        lock.lock().unwrap();
        install()?;
        Ok(Self(version))
    }
}

/// Runs a file of tests, given by its path in the folder. Fails with the output if one of them fails.
pub fn test(file: &str, variables: &[(&str, &str)]) -> Result<(), String> {
    let mut node = Command::new("node");
    node.args(["--test", "--test-reporter=spec", file]).envs(variables.iter().copied());
    let output = run(&mut node).unwrap();
    if output.status.success() { Ok(()) } else { Err(text(&output)) }
}

fn version() -> Result<String, String> {
    let output = run(Command::new("node").arg("--version")).map_err(|_| "Node is not installed".to_owned())?;
    let version = text(&output).trim().to_owned();
    let major = version.trim_start_matches('v').split('.').next().and_then(|major| major.parse().ok());
    match major {
        Some(OLDEST..) => Ok(version),
        _ => Err(format!("Node is {version}, and {OLDEST} is the oldest supported version")),
    }
}

/// Runs `npm ci`, unless the packages of this lock file are installed.
fn install() -> Result<(), String> {
    let lock_file = fs::read(folder().join("package-lock.json")).unwrap();
    let installed = folder().join("node_modules/.orderql-installed");
    if fs::read(&installed).is_ok_and(|installed| installed == lock_file) {
        return Ok(());
    }
    // The other tests of the same run do not wait for the network again.
    let run_id = env::var("NEXTEST_RUN_ID").unwrap_or_else(|_| process::id().to_string());
    let offline = temporary("conformance.offline");
    let unreachable = "npm cannot reach its registry, and the packages are not installed".to_owned();
    if fs::read_to_string(&offline).is_ok_and(|run| run == run_id) {
        return Err(unreachable);
    }
    let mut npm = Command::new("npm");
    npm.args(["ci", "--prefer-offline", "--no-progress", "--fetch-retries=1", "--fetch-retry-mintimeout=1000"]);
    let output = run(&mut npm).map_err(|_| "npm is not installed".to_owned())?;
    if output.status.success() {
        fs::write(installed, lock_file).unwrap();
        return Ok(());
    }
    let text = text(&output);
    assert!(OFFLINE.iter().any(|code| text.contains(code)), "npm ci fails in {}:\n{text}", folder().display());
    fs::write(offline, run_id).unwrap();
    Err(unreachable)
}

/// Runs a program in the folder, without the variable by which Node recognizes a nested test run.
fn run(program: &mut Command) -> std::io::Result<Output> {
    program.current_dir(folder()).stdin(Stdio::null()).env_remove("NODE_TEST_CONTEXT").output()
}

/// Standard output and standard error.
fn text(output: &Output) -> String {
    [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes)).concat()
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance")
}

/// A file in Cargo's folder for temporary files.
fn temporary(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}
