//! What metrics, the access log and an idle tracer cost: two servers are measured in turns, one with all of them and one that is
//! built without metrics and traces and writes no log.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use serde_json::json;

use crate::error::{BenchError, Result};
use crate::orderql::start_program;
use crate::output;
use crate::process::free_address;
use crate::report::Report;
use crate::rounds;
use crate::statistics::median;
use crate::targets::figures::{Figures, Window};
use crate::targets::http::HttpTarget;
use crate::targets::{CONNECTIONS, Context, Target as _};
use crate::workload::Workload;

/// The most that a request may cost, as a part of its cost without.
const BOUND: f64 = 1.02;

const WARM_UP: Duration = Duration::from_millis(500);

/// A server.
struct Variant<'a> {
    name: &'static str,
    target: HttpTarget<'a>,
}

/// Builds the program without, and measures both.
pub fn run(context: &Context<'_>, workloads: &[Workload], report: &mut Report) -> Result<()> {
    let admin = free_address()?.to_string();
    let with = ["--admin-listen", &admin, "--access-log", "all"];
    let without = ["--log", "warn", "--access-log", "off", "--slow-query", "off"];
    let bare = build()?;
    let variant = |name, program: PathBuf, flags: &[&str], log| -> Result<Variant<'_>> {
        let flags = flags.iter().copied().chain(context.server_flags.iter().map(String::as_str));
        let server = start_program(&program, &context.database.url(), flags, log)?;
        Ok(Variant { name, target: HttpTarget::of_server(context, server)? })
    };
    let full = PathBuf::from(env!("CARGO_BIN_EXE_orderql"));
    let mut variants = [variant("with", full, &with, "with.log")?, variant("without", bare, &without, "without.log")?];
    let mut turns = Vec::new();
    for workload in workloads {
        for (index, variant) in variants.iter_mut().enumerate() {
            variant.target.prepare(*workload)?;
            turns.push((*workload, index, Vec::new()));
        }
    }
    let window = Window::closed(WARM_UP, context.time);
    rounds::run(context.rounds, context.seed, &mut turns, |round, (workload, index, measured)| {
        let Variant { name, target } = &mut variants[*index];
        eprintln!("round {round} of {}: {workload:6} {name}", context.rounds);
        let requests = target.requests(*workload)?;
        measured.push(target.load(&requests, CONNECTIONS, window)?);
        Ok(())
    })?;
    for pair in turns.chunks_exact(2) {
        let [(workload, _, with), (_, _, without)] = pair else { continue };
        // Of each round by itself, because what else the machine does changes from one to the next.
        let ratios: Vec<f64> = with.iter().zip(without).filter_map(|(with, without)| ratio(with, without)).collect();
        if !ratios.is_empty() {
            report.at_most(&format!("{workload}: server CPU, with / without"), median(ratios), BOUND);
        }
        let row = |name: &str, rounds: &[Figures]| Figures::median(rounds).row(vec![("telemetry", json!(name))]);
        report.table(workload.name(), vec![row("with", with), row("without", without)]);
    }
    Ok(())
}

fn ratio(with: &Figures, without: &Figures) -> Option<f64> {
    Some(with.server_cpu_ms? / without.server_cpu_ms?)
}

/// The program without metrics and traces, built as this one.
fn build() -> Result<PathBuf> {
    let (profile, name) = if cfg!(debug_assertions) { ("dev", "debug") } else { ("bench", "release") };
    eprintln!("building the program without metrics and traces, which takes minutes");
    let folder = output::target_folder().join("unmeasured");
    let mut cargo = Command::new(option_env!("CARGO").unwrap_or("cargo"));
    cargo.args(["build", "--profile", profile, "--quiet", "--bin", "orderql", "--no-default-features"]);
    cargo.args(["--features", "unmeasured", "--manifest-path", concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")]);
    cargo.arg("--target-dir").arg(&folder);
    if cargo.status().map_err(BenchError::io("start cargo"))?.success() {
        return Ok(folder.join(name).join("orderql"));
    }
    Err(BenchError::Program { program: "cargo build".to_owned(), output: "see above".to_owned() })
}
