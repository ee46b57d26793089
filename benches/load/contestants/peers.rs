//! How the peers in `benches/peers` are built and started. What is not installed is left out.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::rc::Rc;

use serde_json::Value;

use crate::contestant::{Contestant, Figures, Name, Window};
use crate::contestants::served::{CONNECTIONS, Served, load, peer};
use crate::keys::{Key, Keys};
use crate::measure::Fault;
use crate::measure::driver::Requests;
use crate::measure::spawned::{Spawned, free_address};
use crate::measure::store::Store;
use crate::workload::Workload;

/// Where the peers' sources are.
fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/peers")
}

/// Builds the peers that are written in Rust, and says where their programs are.
pub fn build(target: &Path) -> Result<PathBuf, Fault> {
    let folder = target.join("peers");
    let manifest = sources().join("Cargo.toml");
    if !manifest.exists() {
        return Err(Fault::Data(format!("{} is not there", manifest.display())));
    }
    eprintln!("building the peers");
    let cargo = option_env!("CARGO").unwrap_or("cargo");
    let mut command = Command::new(cargo);
    command.args(["build", "--release", "--quiet", "--manifest-path"]).arg(manifest);
    command.args(["--package", "peer-async-graphql", "--package", "peer-floor"]);
    let status = command.arg("--target-dir").arg(&folder).status();
    if status.map_err(Fault::system("cargo cannot be started"))?.success() {
        return Ok(folder.join("release"));
    }
    Err(Fault::Program { program: "cargo build".to_owned(), said: "see above".to_owned() })
}

/// Starts the peer that is written with async-graphql.
pub fn async_graphql(programs: &Path, store: &Store, keys: &Rc<Keys>, folder: &Path) -> Result<Served, Fault> {
    let mut command = Command::new(programs.join("peer-async-graphql"));
    let server = Spawned::anywhere(environment(&mut command, store), &folder.join("async-graphql.log"))?;
    peer(Name::AsyncGraphql, server, &sources().join("async-graphql/queries"), store, keys)
}

/// Installs and starts `PostGraphile`; nothing, with a word, where there is no Node.
pub fn postgraphile(store: &Store, keys: &Rc<Keys>, folder: &Path) -> Result<Served, Fault> {
    let sources = sources().join("postgraphile");
    let has =
        |program| Command::new(program).arg("--version").stdout(Stdio::null()).status().is_ok_and(|s| s.success());
    if !has("node") || !has("npm") {
        return Err(Fault::Data("Node is not installed".to_owned()));
    }
    if !sources.join("package.json").exists() {
        return Err(Fault::Data(format!("{} is not there", sources.display())));
    }
    if !sources.join("node_modules").exists() {
        eprintln!("installing PostGraphile");
        let mut install = Command::new("npm");
        install.args(["ci", "--no-audit", "--no-fund", "--loglevel=error"]).current_dir(&sources);
        let output = install.output().map_err(Fault::system("npm cannot be started"))?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            return Err(Fault::Program { program: "npm ci".to_owned(), said });
        }
    }
    let mut command = Command::new(sources.join("serve"));
    // Its workers share a port, which has to be known beforehand.
    let port = free_address()?.port().to_string();
    let command = environment(&mut command, store).env("PORT", port);
    let server = Spawned::anywhere(command, &folder.join("postgraphile.log"))?;
    peer(Name::Postgraphile, server, &sources.join("queries"), store, keys)
}

fn environment<'a>(command: &'a mut Command, store: &Store) -> &'a mut Command {
    command.env("DATABASE_URL", store.url()).env("PORT", "0")
}

/// Starts a bare hyper server that answers everything with that body.
pub fn floor(programs: &Path, name: &str, body: &[u8], folder: &Path) -> Result<Spawned, Fault> {
    let file = folder.join(name).with_extension("body");
    fs::write(&file, body).map_err(Fault::system(format!("{} cannot be written", file.display())))?;
    let mut command = Command::new(programs.join("peer-floor"));
    Spawned::anywhere(command.env("BODY", &file).env("PORT", "0"), &folder.join(format!("floor-{name}.log")))
}

/// The bare hyper servers: one that runs for each workload, each sent the very requests that we are.
pub struct Floor {
    servers: BTreeMap<Workload, (Spawned, Requests)>,
}

impl Floor {
    /// No server yet.
    pub fn new() -> Self {
        Self { servers: BTreeMap::new() }
    }

    /// Starts the server that answers a workload with that body.
    pub fn start(
        &mut self,
        programs: &Path,
        workload: Workload,
        body: &[u8],
        requests: Requests,
        folder: &Path,
    ) -> Result<(), Fault> {
        let server = floor(programs, workload.name(), body, folder)?;
        self.servers.insert(workload, (server, requests));
        Ok(())
    }
}

impl Contestant for Floor {
    fn name(&self) -> Name {
        Name::Floor
    }

    fn answer(&mut self, _: Workload, _: &Key) -> Result<Option<Value>, Fault> {
        Ok(None)
    }

    fn prepare(&mut self, _: Workload) -> Result<(), Fault> {
        Ok(())
    }

    fn measure(&mut self, workload: Workload, window: Window) -> Result<Figures, Fault> {
        let server = self.servers.get(&workload);
        let (server, requests) = server.ok_or_else(|| Fault::Data(format!("no floor for {workload}")))?;
        load(server, Rc::clone(requests), window, None, CONNECTIONS)
    }
}
