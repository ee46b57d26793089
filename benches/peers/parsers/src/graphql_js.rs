//! graphql-js, which runs in Node.

use std::io::{self, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::json;

use crate::documents::Document;

/// Prints the times of parsing and validating; a reason if that is not possible.
pub fn run(sdl: &str, documents: &[Document]) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../graphql-js");
    let documents: Vec<_> = documents.iter().map(|document| json!([document.name, document.text])).collect();
    let input = json!({ "sdl": sdl, "documents": documents });
    if let Err(error) = install(&folder).and_then(|()| node(&folder, &input.to_string())) {
        eprintln!("graphql-js is left out: {error}");
    }
}

fn install(folder: &Path) -> io::Result<()> {
    if folder.join("node_modules").exists() {
        return Ok(());
    }
    let status =
        Command::new("npm").args(["ci", "--no-audit", "--no-fund", "--silent"]).current_dir(folder).status()?;
    if status.success() { Ok(()) } else { Err(io::Error::other("npm failed")) }
}

fn node(folder: &Path, input: &str) -> io::Result<()> {
    let mut node = Command::new("node");
    let mut node =
        node.arg("time.mjs").current_dir(folder).env("NODE_ENV", "production").stdin(Stdio::piped()).spawn()?;
    if let Some(mut stdin) = node.stdin.take() {
        stdin.write_all(input.as_bytes())?;
    }
    if node.wait()?.success() { Ok(()) } else { Err(io::Error::other("node failed")) }
}
