//! One target under libFuzzer, on all cores: `-fork` runs jobs in processes of their own, gathers what they find in one corpus,
//! and has the statistics of all of them.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::available_parallelism;
use std::time::{Duration, Instant};

use crate::target::{Target, fuzz_folder};
use crate::tools::Tools;

/// Seconds after which an input counts as one that hangs.
const TIMEOUT: u32 = 10;

/// What became of a target.
pub struct Outcome {
    pub target: &'static Target,
    pub executions: u64,
    pub elapsed: Duration,
    /// The edges of the program that were reached, and how many there are.
    pub edges: (u64, u64),
    /// Edges, and how often.
    pub features: u64,
    pub new_inputs: usize,
    /// The inputs that break a promise.
    pub faults: Vec<PathBuf>,
    /// Whether the fuzzer ended as it should.
    pub is_complete: bool,
}

impl Outcome {
    pub fn is_clean(&self) -> bool {
        self.faults.is_empty() && self.is_complete
    }
}

/// Looks for inputs that break a promise.
pub fn run(tools: &Tools, target: &'static Target, seconds: u64, schema: Option<&Path>) -> Result<Outcome, String> {
    for folder in [target.found(), target.artifacts()] {
        fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    let (known, faults) = (files(&target.found()), files(&target.artifacts()));
    let cores = available_parallelism().map_or(1, usize::from);
    let mut command = program(tools, target, schema);
    command.args([format!("-fork={cores}"), format!("-max_total_time={seconds}"), format!("-timeout={TIMEOUT}")]);
    // Choosing inputs by how rare what they reach is took half of the time of the targets that reach most.
    command.arg("-entropic=0");
    command.arg(format!("-artifact_prefix={}/", target.artifacts().display()));
    if let Some(name) = target.dictionary {
        command.arg(format!("-dict={}", fuzz_folder().join("dictionaries").join(format!("{name}.dict")).display()));
    }
    // New inputs go to the first folder.
    command.arg(target.found()).arg(target.corpus()?);
    command.args(Some(target.regressions()).filter(|folder| folder.exists()));

    eprintln!("{}: {seconds} s on {cores} cores", target.name);
    let start = Instant::now();
    let mut child = command.stderr(Stdio::piped()).spawn().map_err(|error| format!("{command:?}: {error}"))?;
    let mut last = Statistics::default();
    let mut shown = Instant::now();
    let mut log = Vec::new();
    for line in BufReader::new(child.stderr.take().ok_or("no output")?).lines().map_while(Result::ok) {
        if let Some(statistics) = Statistics::parse(&line) {
            last = Statistics { edges_of: last.edges_of, ..statistics };
            if shown.elapsed() > Duration::from_secs(5) {
                shown = Instant::now();
                eprintln!("  {} executions, {} edges, {} s", last.executions, last.edges, start.elapsed().as_secs());
            }
        } else if let Some(edges) = edges_of(&line) {
            last.edges_of = edges;
        } else {
            log.push(line);
        }
    }
    let status = child.wait().map_err(|error| error.to_string())?;
    let faults: Vec<PathBuf> = files(&target.artifacts()).difference(&faults).cloned().collect();
    if !status.success() {
        eprintln!("{}", log.join("\n"));
    }
    Ok(Outcome {
        target,
        executions: last.executions,
        elapsed: start.elapsed(),
        edges: (last.edges, last.edges_of),
        features: last.features,
        new_inputs: files(&target.found()).difference(&known).count(),
        faults,
        is_complete: status.success(),
    })
}

/// Runs one input. Whether it keeps the promises.
pub fn replay(tools: &Tools, target: &Target, input: &Path, schema: Option<&Path>) -> Result<bool, String> {
    let mut command = program(tools, target, schema);
    let status = command.arg(input).status().map_err(|error| format!("{command:?}: {error}"))?;
    Ok(status.success())
}

fn program(tools: &Tools, target: &Target, schema: Option<&Path>) -> Command {
    let mut command = Command::new(tools.program(target));
    command.current_dir(fuzz_folder());
    if let Some(schema) = schema {
        command.env("ORDERQL_FUZZ_SCHEMA", schema);
    }
    command
}

/// A line of libFuzzer such as `#123: cov: 45 ft: 67 corp: 8 exec/s: 9 …`.
#[derive(Default)]
struct Statistics {
    executions: u64,
    edges: u64,
    edges_of: u64,
    features: u64,
}

impl Statistics {
    fn parse(line: &str) -> Option<Self> {
        let (executions, rest) = line.strip_prefix('#')?.split_once(':')?;
        let words: Vec<&str> = rest.split_whitespace().collect();
        let after =
            |name: &str| words.iter().position(|word| *word == name).and_then(|at| words.get(at + 1)?.parse().ok());
        Some(Self {
            executions: executions.trim().parse().ok()?,
            edges: after("cov:")?,
            edges_of: 0,
            features: after("ft:")?,
        })
    }
}

/// The number in `INFO: Loaded 1 modules   (1234 inline 8-bit counters): …`.
fn edges_of(line: &str) -> Option<u64> {
    let (before, _) = line.split_once(" inline 8-bit counters): ")?;
    before.rsplit_once('(')?.1.parse().ok()
}

/// The files of a folder; none if there is no such folder.
pub fn files(folder: &Path) -> BTreeSet<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    entries.filter_map(|entry| Some(entry.ok()?.path())).collect()
}
