//! Python's HTTP/2 client, with the packages that `tests/conformance/python/requirements.txt` pins. Without Python or its registry the test
//! passes with a message. Environments with other packages serve other tests.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use orderql::access::profile::Profile;

use crate::clients::conformance::say;
use crate::support::server::server_with_demo_user;

#[tokio::test(flavor = "multi_thread")]
async fn python_sees_every_response_before_the_body_was_read() {
    let environment = match Environment::install("requirements.txt") {
        Ok(environment) => environment,
        Err(missing) => return say(&format!("Python is skipped, {missing}")),
    };
    let (server, _database, token) = server_with_demo_user(Profile::DEFAULT, &[]).await;
    let url = format!("http://{}", server.address);
    let output = environment.run(&["early_responses.py", &url, &token]);
    assert!(output.status.success(), "{}", text(&output));
}

/// Python with the packages of a file.
pub struct Environment(PathBuf);

impl Environment {
    /// Installs the packages into an environment of their own, in Cargo's folder for temporary files, unless it has those of this file.
    pub fn install(file: &str) -> Result<Self, String> {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("python").join(file.trim_end_matches(".txt"));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        // Locks out other test processes.
        let lock = File::options().create(true).append(true).open(path.with_extension("lock")).unwrap();
        lock.lock().unwrap();
        let requirements = fs::read(folder().join(file)).unwrap();
        let installed = path.join("installed");
        if fs::read(&installed).is_ok_and(|installed| installed == requirements) {
            return Ok(Self(path));
        }
        let mut create = Command::new("python3");
        create.args(["-m", "venv", "--clear"]).arg(&path);
        let output = run(&mut create).map_err(|_| "it is not installed".to_owned())?;
        if !output.status.success() {
            return Err(format!("it makes no environment: {}", text(&output)));
        }
        let mut pip = Command::new(path.join("bin/pip"));
        pip.args(["install", "--quiet", "--retries", "1", "--timeout", "15", "--require-hashes", "-r", file]);
        let output = run(&mut pip).unwrap();
        let text = text(&output);
        if output.status.success() {
            fs::write(installed, requirements).unwrap();
            return Ok(Self(path));
        }
        assert!(text.contains("connection broken") || text.contains("ConnectTimeout"), "pip install fails: {text}");
        Err("pip cannot reach its registry, and the packages are not installed".to_owned())
    }

    /// Runs a program of the folder.
    pub fn run(&self, arguments: &[&str]) -> Output {
        run(Command::new(self.0.join("bin/python")).args(arguments)).unwrap()
    }
}

fn run(program: &mut Command) -> std::io::Result<Output> {
    program.current_dir(folder()).output()
}

/// What a program wrote.
pub fn text(output: &Output) -> String {
    [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes)).concat()
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance/python")
}
