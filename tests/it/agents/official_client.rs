//! The official client of the protocol, in Python, with the packages that `tests/conformance/python/agents-requirements.txt` pins. Without
//! Python or its registry the test passes with a message.

use crate::agents::http::Listening;
use crate::agents::tools::demo_server;
use crate::clients::conformance::say;
use crate::clients::python::{Environment, text};

#[tokio::test(flavor = "multi_thread")]
async fn the_official_client_lists_and_calls_everything() {
    let environment = match Environment::install("agents-requirements.txt") {
        Ok(environment) => environment,
        Err(missing) => return say(&format!("the official client of agents is skipped, {missing}")),
    };
    let (server, _database, token) = demo_server().await;
    let listening = Listening::start(&server, &[]);
    let (url, address) = (format!("http://{}", server.address), format!("http://{}/mcp", listening.address));
    let output = environment.run(&["agents.py", env!("CARGO_BIN_EXE_orderql"), &url, &token, &address]);
    assert!(output.status.success(), "{}", text(&output));
}
