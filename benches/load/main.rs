//! How fast we are, against what could be and what else there is: `./dev bench`.
//!
//! - [`workload`]: the four questions
//! - [`keys`]: the orders and places that they are asked of
//! - [`contestant`], [`contestants`]: who is asked
//! - [`equality`]: whether all answer the same
//! - [`rounds`]: the measurement
//! - [`targets`]: the ratios that are wanted
//! - [`report`]: tables and JSON

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "figures are rounded anyhow"
)]
#![allow(unreachable_pub, reason = "what a module has for the others")]

#[path = "../measure/mod.rs"]
mod measure;

mod workload;
mod keys;
mod contestant;
mod contestants;
mod equality;
mod rounds;
mod targets;
mod report;

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::rc::Rc;
use std::time::Duration;

use clap::Parser;

use contestant::{Contestant, Name, Window};
use contestants::peers::{self, Floor};
use contestants::pgbench::Pgbench;
use contestants::pipelined::Pipelined;
use contestants::served::{self, Served};
use keys::Keys;
use measure::Fault;
use measure::machine::Machine;
use measure::store::{self, Store};
use report::{Report, Settings};
use workload::Workload;

/// Answers of each workload that are compared before anything is measured.
const COMPARED: usize = 50;

/// Before a measurement counts.
const WARM_UP: Duration = Duration::from_millis(500);

/// Measure orderql against the limits and its peers.
///
/// Fills a private PostgreSQL with sample orders (kept for the next run), starts everybody, compares their answers, and then
/// measures them in turns: answers a second, latencies, CPU time a request of the server and of PostgreSQL, memory. The
/// figures go to standard output and, with everything else, into a JSON file; progress goes to standard error. What is not
/// installed is left out with a word.
///
/// CPU times are the figures to trust where the machine has other things to do.
#[derive(Debug, Parser)]
#[command(name = "./dev bench", max_term_width = 120)]
struct Arguments {
    /// Orders in the database
    #[arg(long, default_value_t = 300_000)]
    orders: u64,

    /// What orders, keys and turns are made from
    #[arg(long, default_value_t = 1)]
    seed: u64,

    /// Rounds in which everybody is measured once with every workload
    #[arg(long, default_value_t = 5)]
    rounds: usize,

    /// Seconds that each measurement takes
    #[arg(long, default_value_t = 5.0)]
    seconds: f64,

    /// Only these workloads
    #[arg(long, value_name = "WORKLOAD", value_delimiter = ',')]
    only: Vec<Workload>,

    /// Only these beside orderql itself
    #[arg(long, value_name = "CONTESTANT", value_delimiter = ',')]
    against: Vec<Name>,

    /// A flag for orderql's server, such as --server-flag=--pool-size=8; may be given several times
    #[arg(long, value_name = "FLAG", allow_hyphen_values = true)]
    server_flag: Vec<String>,

    /// Where the figures are stored [default: bench/load.json in the target folder]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,

    /// Where the private PostgreSQL keeps its data [default: bench-data in the target folder]
    #[arg(long, value_name = "FOLDER")]
    data: Option<PathBuf>,

    /// What cargo says to every bench
    #[arg(long, hide = true)]
    bench: bool,
}

fn main() -> ExitCode {
    match measure(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(fault) => {
            eprint!("{fault}");
            let mut cause = fault.source();
            while let Some(because) = cause {
                eprint!(": {because}");
                cause = because.source();
            }
            eprintln!();
            ExitCode::FAILURE
        }
    }
}

fn measure(arguments: &Arguments) -> Result<(), Fault> {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap_or(Path::new("target"));
    let folder = target.join("bench");
    fs::create_dir_all(&folder).map_err(Fault::system(format!("{} cannot be made", folder.display())))?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
    let runtime = runtime.map_err(Fault::system("no runtime"))?;
    let options = store::Options {
        orders: arguments.orders,
        seed: arguments.seed,
        folder: arguments.data.clone().unwrap_or_else(|| target.join("bench-data")),
    };
    let store = Rc::new(runtime.block_on(Store::open(&options))?);
    let client = runtime.block_on(store.connect())?;
    let machine = runtime.block_on(Machine::read(&client))?;
    let keys = Rc::new(runtime.block_on(Keys::choose(&client, arguments.seed))?);
    drop(client);

    let workloads =
        Workload::ALL.into_iter().filter(|workload| arguments.only.is_empty() || arguments.only.contains(workload));
    let workloads: Vec<_> = workloads.collect();
    let place = Place { store: &store, keys: &keys, runtime: runtime.handle(), target, folder: &folder };
    let (mut contestants, skipped) = place.contestants(arguments, &workloads)?;
    for workload in &workloads {
        eprintln!("comparing answers: {workload}");
        equality::compare(&mut contestants, *workload, &keys, COMPARED)?;
    }
    let window = Window { warm_up: WARM_UP, time: Duration::from_secs_f64(arguments.seconds) };
    let results = rounds::run(&mut contestants, &workloads, arguments.rounds, window, arguments.seed)?;
    let report = Report {
        machine,
        settings: Settings {
            orders: arguments.orders,
            seed: arguments.seed,
            rounds: arguments.rounds,
            seconds: arguments.seconds,
            server_flags: arguments.server_flag.clone(),
        },
        skipped,
        ratios: targets::ratios(&results),
        workloads: report::measured(&results),
    };
    report::print(&report);
    let out = arguments.out.clone().unwrap_or_else(|| folder.join("load.json"));
    let text = serde_json::to_string_pretty(&report).map_err(|error| Fault::Data(error.to_string()))?;
    fs::write(&out, text).map_err(Fault::system(format!("{} cannot be written", out.display())))?;
    eprintln!("stored in {}", out.display());
    Ok(())
}

/// Who is left out, and why.
type Skipped = BTreeMap<Name, String>;

/// Where contestants are started.
struct Place<'a> {
    store: &'a Rc<Store>,
    keys: &'a Rc<Keys>,
    runtime: &'a tokio::runtime::Handle,
    target: &'a Path,
    folder: &'a Path,
}

impl Place<'_> {
    /// Starts everybody who is asked for and installed, ourselves first; and who is not, with the reason.
    fn contestants(
        &self,
        arguments: &Arguments,
        workloads: &[Workload],
    ) -> Result<(Vec<Box<dyn Contestant>>, Skipped), Fault> {
        let Self { store, keys, runtime, folder, .. } = *self;
        let mut ours = served::orderql(store, keys, folder, &arguments.server_flag)?;
        let mut others: Vec<Box<dyn Contestant>> = Vec::new();
        let mut skipped = Skipped::new();
        let wanted = |name: &Name| arguments.against.is_empty() || arguments.against.contains(name);
        let mut programs: Option<PathBuf> = None;
        for name in Name::ALL.into_iter().filter(wanted) {
            let mut programs = || match &programs {
                Some(known) => Ok(known.clone()),
                None => peers::build(self.target).inspect(|built| programs = Some(built.clone())),
            };
            let started: Result<Box<dyn Contestant>, Fault> = match name {
                Name::Orderql => continue,
                Name::A1 => match Pgbench::find(store, keys, runtime, folder.join("pgbench"))? {
                    Some(pgbench) => Ok(Box::new(pgbench)),
                    None => Err(Fault::Data("pgbench is not installed".to_owned())),
                },
                Name::A2 => {
                    let mut line = ours.line()?;
                    let cursors = keys.places.iter().map(|key| ours.cursor(&mut line, key));
                    let cursors = cursors.collect::<Result<_, _>>()?;
                    Ok(Box::new(Pipelined::new(store, keys, Rc::new(cursors), runtime)?))
                }
                Name::AsyncGraphql => programs().and_then(|programs| {
                    Ok(Box::new(peers::async_graphql(&programs, store, keys, folder)?) as Box<dyn Contestant>)
                }),
                Name::Postgraphile => {
                    peers::postgraphile(store, keys, folder).map(|served| Box::new(served) as Box<dyn Contestant>)
                }
                Name::Floor => programs().and_then(|programs| {
                    Ok(Box::new(floor(&programs, &mut ours, workloads, folder)?) as Box<dyn Contestant>)
                }),
            };
            match started {
                Ok(contestant) => others.push(contestant),
                Err(fault) => {
                    eprintln!("left out: {name} ({fault})");
                    skipped.insert(name, fault.to_string());
                }
            }
        }
        others.insert(0, Box::new(ours));
        Ok((others, skipped))
    }
}

/// The floor of each workload: a server whose answer is one of ours, of middling size.
fn floor(programs: &Path, ours: &mut Served, workloads: &[Workload], folder: &Path) -> Result<Floor, Fault> {
    let mut floor = Floor::new();
    for workload in workloads {
        let requests = ours.requests(*workload)?;
        let mut line = ours.line()?;
        let bodies = requests.iter().take(2 * COMPARED + 1).map(|request| line.body(request));
        let mut bodies = bodies.collect::<Result<Vec<_>, _>>()?;
        bodies.sort_by_key(Vec::len);
        floor.start(programs, *workload, &bodies[bodies.len() / 2], requests, folder)?;
    }
    Ok(floor)
}
