//! Python's HTTP/2 client, with the packages that `tests/conformance/python/requirements.txt` pins. Without Python or its registry the test
//! passes with a message.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use orderql::access::profile::Profile;

use crate::clients::conformance::say;
use crate::support::server::server_with_demo_user;

#[tokio::test(flavor = "multi_thread")]
async fn python_sees_every_response_before_the_body_was_read() {
    if let Err(missing) = install() {
        say(&format!("Python is skipped, {missing}"));
        return;
    }
    let (server, _database, token) = server_with_demo_user(Profile::DEFAULT, &[]).await;
    let url = format!("http://{}", server.address);
    let output = run(Command::new(environment().join("bin/python")).args(["early_responses.py", &url, &token]));
    let output = output.unwrap();
    assert!(output.status.success(), "{}", text(&output));
}

/// Installs the packages into an environment of their own, unless it has those of these requirements.
fn install() -> Result<(), String> {
    // Locks out other test processes.
    let lock = File::options().create(true).append(true).open(environment().with_extension("lock")).unwrap();
    lock.lock().unwrap();
    let requirements = fs::read(folder().join("requirements.txt")).unwrap();
    let installed = environment().join("installed");
    if fs::read(&installed).is_ok_and(|installed| installed == requirements) {
        return Ok(());
    }
    let mut create = Command::new("python3");
    create.args(["-m", "venv", "--clear"]).arg(environment());
    let output = run(&mut create).map_err(|_| "it is not installed".to_owned())?;
    if !output.status.success() {
        return Err(format!("it makes no environment: {}", text(&output)));
    }
    let mut pip = Command::new(environment().join("bin/pip"));
    pip.args(["install", "--quiet", "--retries", "1", "--timeout", "15", "--require-hashes", "-r", "requirements.txt"]);
    let output = run(&mut pip).unwrap();
    let text = text(&output);
    if output.status.success() {
        fs::write(installed, requirements).unwrap();
        return Ok(());
    }
    assert!(text.contains("connection broken") || text.contains("ConnectTimeout"), "pip install fails: {text}");
    Err("pip cannot reach its registry, and the packages are not installed".to_owned())
}

fn run(program: &mut Command) -> std::io::Result<Output> {
    program.current_dir(folder()).output()
}

fn text(output: &Output) -> String {
    [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes)).concat()
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance/python")
}

/// In Cargo's folder for temporary files.
fn environment() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("python")
}
