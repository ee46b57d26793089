//! Node, with the packages of this folder installed as `package-lock.json` pins them.

use std::env;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{self, Command, Output, Stdio};

/// The oldest version that runs the tests: that of Debian 12.
const OLDEST: u32 = 18;

/// What npm says where it cannot reach what it wants to install.
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

/// An installed Node with what its tests need; its version, as `v20.1.0`.
pub struct Node(pub String);

impl Node {
    /// Finds Node and installs the packages, unless they are; what is missing otherwise. Whatever else keeps npm from
    /// installing them is a fault of the folder and panics.
    pub fn ready() -> Result<Self, String> {
        let version = version()?;
        // One test process at a time.
        let lock = File::options().create(true).append(true).open(temporary("conformance.lock")).unwrap();
        lock.lock().unwrap();
        install()?;
        Ok(Self(version))
    }
}

/// Runs a file of tests, by its path in the folder; everything that it said where one of them fails.
pub fn test(file: &str, variables: &[(&str, &str)]) -> Result<(), String> {
    let mut node = Command::new("node");
    node.args(["--test", "--test-reporter=spec", file]).envs(variables.iter().copied());
    let output = run(&mut node).unwrap();
    if output.status.success() { Ok(()) } else { Err(told(&output)) }
}

fn version() -> Result<String, String> {
    let output = run(Command::new("node").arg("--version")).map_err(|_| "Node is not installed".to_owned())?;
    let version = told(&output).trim().to_owned();
    let major = version.trim_start_matches('v').split('.').next().and_then(|major| major.parse().ok());
    match major {
        Some(OLDEST..) => Ok(version),
        _ => Err(format!("Node is {version}, and {OLDEST} is the oldest that will do")),
    }
}

/// `npm ci`, where it has not been done for this very lock file. It takes away what an older one asked for.
fn install() -> Result<(), String> {
    let wanted = fs::read(folder().join("package-lock.json")).unwrap();
    let installed = folder().join("node_modules/.orderql-installed");
    if fs::read(&installed).is_ok_and(|lock_file| lock_file == wanted) {
        return Ok(());
    }
    // Who comes next in the same run need not wait for the network again.
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
        fs::write(installed, wanted).unwrap();
        return Ok(());
    }
    let told = told(&output);
    assert!(OFFLINE.iter().any(|code| told.contains(code)), "npm ci fails in {}:\n{told}", folder().display());
    fs::write(offline, run_id).unwrap();
    Err(unreachable)
}

/// Runs a program in the folder. The variables by which runners of tests know each other are not for this one's tests.
fn run(program: &mut Command) -> std::io::Result<Output> {
    program.current_dir(folder()).stdin(Stdio::null()).env_remove("NODE_TEST_CONTEXT").output()
}

fn told(output: &Output) -> String {
    [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes)).concat()
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance")
}

/// A file beside what the build leaves behind.
fn temporary(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}
