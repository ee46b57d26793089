//! Builds and starts the peers in `benches/peers`.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::http::HttpTarget;
use super::{Context, Name};
use crate::error::{BenchError, Result};
use crate::output;
use crate::process::{ServerProcess, free_address};

fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/peers")
}

/// Builds the peers that are written in Rust; the folder of their programs.
pub fn build() -> Result<PathBuf> {
    eprintln!("building the peers");
    let folder = output::target_folder().join("peers");
    let mut cargo = Command::new(option_env!("CARGO").unwrap_or("cargo"));
    cargo.args(["build", "--release", "--quiet", "--manifest-path"]).arg(sources().join("Cargo.toml"));
    cargo.args(["--package", "peer-async-graphql", "--package", "peer-serve", "--target-dir"]).arg(&folder);
    if cargo.status().map_err(BenchError::io("start cargo"))?.success() {
        return Ok(folder.join("release"));
    }
    Err(BenchError::Program { program: "cargo build".to_owned(), output: "see above".to_owned() })
}

/// Starts the peer that is written with async-graphql.
pub fn async_graphql<'a>(programs: &Path, context: &'a Context<'a>) -> Result<HttpTarget<'a>> {
    let mut command = Command::new(programs.join("peer-async-graphql"));
    command.env("DATABASE_URL", context.database.url()).env("PORT", "0");
    let server = ServerProcess::start_anywhere(&mut command, "async-graphql.log")?;
    HttpTarget::peer(Name::AsyncGraphql, server, &sources().join("async-graphql/queries"), context)
}

/// Installs and starts `PostGraphile`.
pub fn postgraphile<'a>(context: &'a Context<'a>) -> Result<HttpTarget<'a>> {
    let folder = sources().join("postgraphile");
    for program in ["node", "npm"] {
        let version = Command::new(program).arg("--version").stdout(Stdio::null()).status();
        if !version.is_ok_and(|status| status.success()) {
            return Err(BenchError::NotInstalled(program));
        }
    }
    if !folder.join("node_modules").exists() {
        eprintln!("installing PostGraphile");
        let mut npm = Command::new("npm");
        npm.args(["ci", "--no-audit", "--no-fund", "--loglevel=error"]).current_dir(&folder);
        let output = npm.output().map_err(BenchError::io("start npm"))?;
        if !output.status.success() {
            let output = String::from_utf8_lossy(&output.stderr).into_owned();
            return Err(BenchError::Program { program: "npm ci".to_owned(), output });
        }
    }
    let mut command = Command::new(folder.join("serve"));
    // Its workers share a port, so that it has to be known beforehand.
    let port = free_address()?.port().to_string();
    command.env("DATABASE_URL", context.database.url()).env("PORT", port);
    let server = ServerProcess::start_anywhere(&mut command, "postgraphile.log")?;
    HttpTarget::peer(Name::Postgraphile, server, &folder.join("queries"), context)
}
