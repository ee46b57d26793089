//! The loops of docs/long-requests.md that follow a change feed, as they are printed there. Without `curl`, `jq` or Python the test of them passes with a
//! message.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use orderql::access::profile::Profile;
use serde_json::Value;
use tokio_postgres::Client;

use crate::clients::conformance::say;
use crate::support::database::Database;
use crate::support::server::{Server, server_with_demo_user, wait_until};
use crate::support::test_folder::TestFolder;

/// The functions that the documentation asks for. The first token is none.
const BASH: &str = r#"
login() { curl -sS -X POST -u demo:demo "$URL/auth/token" | jq -r .access_token; }
copy_all() { echo copied >>copies; }
TOKEN=none
"#;

const PYTHON: &str = r#"
import base64, itertools, os, sys

url = sys.argv[1]
tokens = itertools.chain(["none"], iter(lambda: sign_in(), None))

def sign_in():
    credentials = base64.b64encode(b"demo:demo").decode()
    request = urllib.request.Request(f"{url}/auth/token", b"", {"Authorization": f"Basic {credentials}"})
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)["access_token"]

def copy_all():
    with open("copies", "a") as file:
        print("copied", file=file)

def store(nodes, token):
    with open("changes", "a") as file:
        for node in nodes:
            print(json.dumps(node, separators=(",", ":")), file=file)
    with open("token", "w") as file:
        file.write(token)

follow(url, lambda: next(tokens), None, copy_all, store)
"#;

/// A program that is killed in the end, with those that it has started.
struct Loop {
    program: Child,
    folder: TestFolder,
}

impl Loop {
    fn start(name: &str, program: &mut Command) -> Self {
        use std::os::unix::process::CommandExt as _;
        let folder = TestFolder::create(name);
        let program = program.current_dir(folder.path()).process_group(0).stdout(Stdio::null());
        Self { program: program.spawn().unwrap(), folder }
    }

    fn lines(&self, file: &str) -> Vec<String> {
        let text = fs::read_to_string(self.folder.path().join(file)).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let group = format!("-{}", self.program.id());
        let _ = Command::new("kill").args(["-KILL", "--", &group]).status();
        let _ = self.program.wait();
    }
}

/// The block of docs/long-requests.md in that language which follows changes.
fn block(language: &str) -> String {
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/long-requests.md")).unwrap();
    let mut blocks = text.split("```").skip(1).step_by(2).filter_map(|block| block.strip_prefix(language));
    blocks.find(|block| block.contains("orderChanges")).unwrap().to_owned()
}

fn is_installed(program: &str) -> bool {
    Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
}

async fn server() -> (Server, Database, Client) {
    let (server, database, _) = server_with_demo_user(Profile::DEFAULT, &[]).await;
    let client = database.connect().await;
    (server, database, client)
}

/// What follows the feed has an order after it was inserted, also after the epoch's end and a copy of everything.
async fn check(follower: Loop, client: &Client) {
    wait_until(|| !follower.lines("token").is_empty());
    assert_eq!(follower.lines("copies").len(), 1);
    client.batch_execute("INSERT INTO order_header (order_id, status_id) VALUES ('X1', NULL)").await.unwrap();
    wait_until(|| follower.lines("changes").len() == 1);
    let change: Value = serde_json::from_str(&follower.lines("changes")[0]).unwrap();
    assert_eq!(change, serde_json::json!({ "orderId": "X1", "order": { "statusId": null } }));
    client.batch_execute("UPDATE orderql.sync_state SET counter = counter + 1").await.unwrap();
    // A change wakes the request, which finds its token invalid.
    client.batch_execute("INSERT INTO order_header (order_id) VALUES ('X2')").await.unwrap();
    wait_until(|| follower.lines("copies").len() == 2);
    let token = follower.lines("token");
    client.batch_execute("INSERT INTO order_header (order_id) VALUES ('X3')").await.unwrap();
    wait_until(|| follower.lines("changes").iter().any(|line| line.contains("X3")));
    wait_until(|| follower.lines("token") != token);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_loop_with_curl_survives_errors() {
    if !["bash", "curl", "jq"].into_iter().all(is_installed) {
        say("the loop with curl is skipped, bash, curl or jq is not installed");
        return;
    }
    let (server, _database, client) = server().await;
    let script = format!("{BASH}{}", block("bash"));
    let url = format!("http://{}", server.address);
    let mut program = Command::new("bash");
    check(Loop::start("changes-curl", program.args(["-c", &script]).env("URL", url)), &client).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_loop_in_python_survives_errors() {
    if !is_installed("python3") {
        say("the loop in Python is skipped, it is not installed");
        return;
    }
    let (server, _database, client) = server().await;
    let script = format!("{}{PYTHON}", block("python"));
    let url = format!("http://{}", server.address);
    check(Loop::start("changes-python", Command::new("python3").args(["-c", &script, &url])), &client).await;
}
