//! The table at the end.

use crate::session::Outcome;
use crate::target::fuzz_folder;

/// Prints a line for each target, and how to repeat each fault.
pub fn print(outcomes: &[Outcome]) {
    println!(
        "\n{:10} {:>13} {:>11} {:>15} {:>9} {:>11} {:>7}",
        "target", "executions", "a second", "edges", "features", "new inputs", "faults"
    );
    for outcome in outcomes {
        let seconds = outcome.elapsed.as_secs().max(1);
        let edges = format!("{}/{}", outcome.edges.0, outcome.edges.1);
        println!(
            "{:10} {:>13} {:>11} {edges:>15} {:>9} {:>11} {:>7}",
            outcome.target.name,
            outcome.executions,
            outcome.executions / seconds,
            outcome.features,
            outcome.new_inputs,
            outcome.faults.len()
        );
    }
    for outcome in outcomes.iter().filter(|outcome| !outcome.is_clean()) {
        let name = outcome.target.name;
        if outcome.faults.is_empty() {
            println!("\n{name}: the fuzzer failed; see its output above");
        }
        for fault in &outcome.faults {
            let shown = fault.strip_prefix(fuzz_folder().parent().unwrap_or(fuzz_folder())).unwrap_or(fault);
            println!("\n{name}: {}", shown.display());
            println!("  repeat it:          ./dev fuzz {name} {}", shown.display());
            println!("  once it is fixed:   mv {} fuzz/regressions/{name}/", shown.display());
        }
    }
}
