//! The floor of HTTP: a bare hyper server for each workload, with a constant response. It gets the requests that orderql
//! gets.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use super::figures::{Figures, Window, measure};
use super::http::HttpTarget;
use super::{Name, Target};
use crate::client::Endpoint;
use crate::driver::Requests;
use crate::error::{BenchError, Result};
use crate::output;
use crate::process::ServerProcess;
use crate::workload::Workload;

/// The response is the median one, by size, of so many of orderql's.
const SIZED: usize = 101;

/// The servers.
pub struct Floor {
    servers: BTreeMap<Workload, (ServerProcess, Requests)>,
}

impl Floor {
    /// Starts a server for each workload.
    pub fn start(programs: &Path, orderql: &mut HttpTarget<'_>, workloads: &[Workload]) -> Result<Self> {
        let mut servers = BTreeMap::new();
        for workload in workloads {
            let requests = orderql.requests(*workload)?;
            let mut connection = orderql.connect()?;
            let bodies = requests.iter().take(SIZED).map(|request| Ok(connection.send(request)?.1));
            let mut bodies = bodies.collect::<Result<Vec<_>>>()?;
            bodies.sort_by_key(Vec::len);
            let server = serve(programs, workload.name(), &bodies[bodies.len() / 2])?;
            servers.insert(*workload, (server, requests));
        }
        Ok(Self { servers })
    }
}

/// Starts a server that responds to everything with this body.
pub fn serve(programs: &Path, name: &str, body: &[u8]) -> Result<ServerProcess> {
    let file = output::file(&format!("{name}.body"))?;
    fs::write(&file, body).map_err(BenchError::io(format!("write {}", file.display())))?;
    let mut command = Command::new(programs.join("peer-floor"));
    ServerProcess::start_anywhere(command.env("BODY", &file).env("PORT", "0"), &format!("floor-{name}.log"))
}

impl Target for Floor {
    fn name(&self) -> Name {
        Name::Floor
    }

    fn measure(&mut self, workload: Workload, connections: usize, window: Window) -> Result<Figures> {
        let server = self.servers.get(&workload);
        let (server, requests) = server.ok_or_else(|| BenchError::Data(format!("no floor for {workload}")))?;
        let endpoint = Endpoint::Http(server.address);
        measure(endpoint, requests, connections, window, Some(server.id()), None)
    }
}
