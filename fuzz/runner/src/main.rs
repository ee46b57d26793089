//! `./dev fuzz`: builds the fuzz targets, runs them, and ends with a table.
//!
//! - `arguments`: the command line
//! - `target`: the targets and their folders
//! - `tools`: what has to be installed, and builds
//! - `session`: one target under libFuzzer
//! - `corpus`: the committed inputs
//! - `coverage`: the lines that a corpus reaches
//! - `report`: the table

mod arguments;
mod corpus;
mod coverage;
mod report;
mod session;
mod target;
mod tools;

use std::process::ExitCode;

use arguments::{Arguments, Task};
use session::Outcome;

fn main() -> ExitCode {
    let Some(arguments) = Arguments::parse(std::env::args().skip(1)) else {
        eprintln!("{}", arguments::USAGE);
        return ExitCode::from(2);
    };
    match run(&arguments) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Whether no fault was found.
fn run(arguments: &Arguments) -> Result<bool, String> {
    let tools = tools::install(matches!(arguments.task, Task::Steps | Task::Pack), arguments.oracles)?;
    match &arguments.task {
        Task::Fuzz { seconds } => {
            tools.build(&arguments.targets, arguments.sanitizer.as_deref())?;
            let mut outcomes = Vec::new();
            for target in &arguments.targets {
                outcomes.push(session::run(&tools, target, *seconds, arguments.schema.as_deref())?);
            }
            report::print(&outcomes);
            Ok(outcomes.iter().all(Outcome::is_clean))
        }
        Task::Replay { input } => {
            tools.build(&arguments.targets, arguments.sanitizer.as_deref())?;
            session::replay(&tools, arguments.targets[0], input, arguments.schema.as_deref())
        }
        Task::Keep => {
            tools.build(&arguments.targets, None)?;
            arguments.targets.iter().try_for_each(|target| corpus::keep(&tools, target))?;
            Ok(true)
        }
        Task::Pack => {
            arguments.targets.iter().try_for_each(|target| corpus::pack_again(target))?;
            Ok(true)
        }
        Task::Coverage => {
            coverage::print(&tools, &arguments.targets)?;
            Ok(true)
        }
        Task::Steps => tools.count_steps().map(|()| true),
    }
}
