//! The lines that a corpus reaches, in the files that its target is meant to reach.

use std::process::{Command, Stdio};

use crate::target::{Target, fuzz_folder};
use crate::tools::{Tools, output, run};

/// Prints the share of lines for each target.
pub fn print(tools: &Tools, targets: &[&Target]) -> Result<(), String> {
    // cargo-fuzz needs it, and does not install it.
    tools.llvm("llvm-profdata")?;
    let mut lines = Vec::new();
    for target in targets {
        let mut command = tools.cargo_fuzz("coverage", targets);
        command.args(["--sanitizer", "none", target.name]).arg(target.corpus()?);
        command.args([target.found(), target.regressions()].into_iter().filter(|folder| folder.exists()));
        run(command.stderr(Stdio::null()))?;
        let (reached, all) = share(tools, target)?;
        lines.push(format!(
            "{:10} {:>5.1} % of {all} lines in {}",
            target.name,
            percent(reached, all),
            target.sources.join(", ")
        ));
    }
    println!("{}", lines.join("\n"));
    Ok(())
}

/// The number of lines that were reached, and of all.
fn share(tools: &Tools, target: &Target) -> Result<(u64, u64), String> {
    let repository = fuzz_folder().parent().ok_or("the folder `fuzz` is in no repository")?;
    let profile = fuzz_folder().join("coverage").join(target.name).join("coverage.profdata");
    let mut command = Command::new(tools.llvm("llvm-cov")?);
    command.args(["export", "--format=lcov"]).arg(tools.coverage_program(target));
    command.arg(format!("--instr-profile={}", profile.display()));
    command.args(target.sources.iter().map(|path| repository.join(path)));
    let lcov = output(&mut command)?;
    let sum = |key: &str| lcov.lines().filter_map(|line| line.strip_prefix(key)?.parse::<u64>().ok()).sum();
    Ok((sum("LH:"), sum("LF:")))
}

#[expect(clippy::cast_precision_loss, reason = "no file has so many lines")]
fn percent(part: u64, whole: u64) -> f64 {
    100.0 * part as f64 / whole.max(1) as f64
}
