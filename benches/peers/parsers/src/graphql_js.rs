//! graphql-js, on Node, warmed.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::json;

use crate::contestant::Fault;
use crate::documents::Document;

/// How long each document is read before it counts, in milliseconds.
const WARM: u32 = 1000;

/// The median nanoseconds of each document. Installs graphql-js where it is not.
pub fn times(sdl: &str, documents: &[Document]) -> Result<Vec<f64>, Fault> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../graphql-js");
    if !folder.join("node_modules").exists() {
        let install = Command::new("npm").args(["ci", "--no-audit", "--no-fund"]).current_dir(&folder).output();
        let output = install.map_err(|source| Fault::Start { program: "npm", source })?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            return Err(Fault::Failed { program: "npm", said });
        }
    }
    let texts: Vec<&str> = documents.iter().map(|document| document.text.as_str()).collect();
    let task = json!({ "sdl": sdl, "documents": texts, "warm": WARM, "rounds": 15 });
    let start = |source| Fault::Start { program: "node", source };
    let mut node = Command::new("node");
    node.arg("time.mjs").current_dir(&folder).env("NODE_ENV", "production");
    let mut node = node.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().map_err(start)?;
    if let Some(mut input) = node.stdin.take() {
        input.write_all(task.to_string().as_bytes()).map_err(start)?;
    }
    let output = node.wait_with_output().map_err(start)?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(Fault::Failed { program: "node", said });
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}
