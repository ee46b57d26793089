//! Starting the contestants. Who is not installed, or does not start, is left out with a word.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use crate::contestant::{Contestant, Name};
use crate::contestants::peers::{self, Floor};
use crate::contestants::pgbench::Pgbench;
use crate::contestants::pipelined::Pipelined;
use crate::contestants::served::{self, Served};
use crate::keys::Keys;
use crate::measure::Fault;
use crate::measure::store::Store;
use crate::workload::Workload;

/// Of so many of our answers, the floor's is the one of middling size.
const SIZED: usize = 101;

/// Who is left out, and why.
pub type Skipped = BTreeMap<Name, String>;

/// Who is there beside ourselves.
pub struct Started {
    /// Who was started.
    pub others: Vec<Box<dyn Contestant>>,
    /// Who was not.
    pub skipped: Skipped,
}

/// Where contestants are started.
pub struct Place<'a> {
    /// The database.
    pub store: &'a Rc<Store>,
    /// What they are asked for.
    pub keys: &'a Rc<Keys>,
    /// What asks the database between measurements.
    pub runtime: &'a tokio::runtime::Handle,
    /// Where peers are built.
    pub target: &'a Path,
    /// Where logs, keys and scripts are kept.
    pub folder: &'a Path,
    /// Flags for our server.
    pub flags: &'a [String],
}

impl Place<'_> {
    /// Starts ourselves.
    pub fn ours(&self) -> Result<Served, Fault> {
        served::orderql(self.store, self.keys, self.folder, self.flags)
    }

    /// Builds the peers that are written in Rust, and says where their programs are.
    pub fn programs(&self) -> Result<PathBuf, Fault> {
        peers::build(self.target)
    }

    /// Starts the others, or those that are named.
    pub fn others(&self, ours: &mut Served, named: &[Name], workloads: &[Workload]) -> Started {
        let is_wanted = |name: &Name| *name != Name::Orderql && (named.is_empty() || named.contains(name));
        let mut started = Started { others: Vec::new(), skipped: Skipped::new() };
        let programs = OnceCell::new();
        for name in Name::ALL.into_iter().filter(is_wanted) {
            let programs = || programs.get_or_init(|| self.programs().map_err(|fault| fault.to_string()));
            let programs = || programs().as_deref().map_err(|said| Fault::Data(said.clone()));
            let outcome: Result<Box<dyn Contestant>, Fault> = match name {
                Name::Orderql => continue,
                Name::A1 => self.pgbench(),
                Name::A2 => self.pipelined(ours),
                Name::AsyncGraphql => programs().and_then(|programs| {
                    let peer = peers::async_graphql(programs, self.store, self.keys, self.folder)?;
                    Ok(Box::new(peer) as Box<dyn Contestant>)
                }),
                Name::Postgraphile => peers::postgraphile(self.store, self.keys, self.folder)
                    .map(|peer| Box::new(peer) as Box<dyn Contestant>),
                Name::Floor => programs().and_then(|programs| self.floor(programs, ours, workloads)),
            };
            match outcome {
                Ok(contestant) => started.others.push(contestant),
                Err(fault) => {
                    let why = fault.to_string();
                    eprintln!("left out: {name} ({why})");
                    started.skipped.insert(name, why);
                }
            }
        }
        started
    }

    fn pgbench(&self) -> Result<Box<dyn Contestant>, Fault> {
        let pgbench = Pgbench::find(self.store, self.keys, self.runtime, self.folder.join("pgbench"))?;
        let pgbench = pgbench.ok_or_else(|| Fault::Data("pgbench is not installed".to_owned()))?;
        Ok(Box::new(pgbench))
    }

    fn pipelined(&self, ours: &Served) -> Result<Box<dyn Contestant>, Fault> {
        let mut line = ours.line()?;
        let cursors = self.keys.places.iter().map(|key| ours.cursor(&mut line, key));
        let cursors = Rc::new(cursors.collect::<Result<_, _>>()?);
        Ok(Box::new(Pipelined::new(self.store, self.keys, cursors, self.runtime)?))
    }

    /// The floor of each workload: a server whose answer is one of ours.
    fn floor(&self, programs: &Path, ours: &mut Served, workloads: &[Workload]) -> Result<Box<dyn Contestant>, Fault> {
        let mut floor = Floor::new();
        for workload in workloads {
            let requests = ours.requests(*workload)?;
            let mut line = ours.line()?;
            let bodies = requests.iter().take(SIZED).map(|request| line.body(request));
            let mut bodies = bodies.collect::<Result<Vec<_>, _>>()?;
            bodies.sort_by_key(Vec::len);
            floor.start(programs, *workload, &bodies[bodies.len() / 2], requests, self.folder)?;
        }
        Ok(Box::new(floor))
    }
}
