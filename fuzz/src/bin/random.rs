//! Runs a target over its corpus, and then over random bytes and random changes of that corpus, which are the same in every run.
//! It finds less than a fuzzer does in the same time, but needs none: it builds on stable Rust, without instrumentation.
//!
//! usage: random TARGET SECONDS
//!
//! Prints the number of executions. Exits with 1 if the target panics.

use std::fs;
use std::io;
use std::panic::catch_unwind;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use orderql_fuzz::targets::TARGETS;
use orderql_fuzz_corpora::unpacked;
use orderql_generator::choices::{Choices, bytes_of_seed};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let target = arguments.first().and_then(|name| TARGETS.iter().find(|(known, _)| known == name));
    let seconds = arguments.get(1).and_then(|text| text.parse().ok());
    let (Some((name, run)), Some(seconds)) = (target, seconds) else {
        eprintln!("usage: random TARGET SECONDS");
        return ExitCode::from(2);
    };
    let corpus = match corpus(name) {
        Ok(corpus) => corpus,
        Err(error) => {
            eprintln!("the corpus of {name}: {error}");
            return ExitCode::from(2);
        }
    };
    let end = Instant::now() + Duration::from_secs(seconds);
    let mut executions = 0;
    while Instant::now() < end {
        for _ in 0..16 {
            let input = input(&corpus, executions);
            executions += 1;
            if catch_unwind(|| run(&input)).is_err() {
                println!("{executions} executions");
                eprintln!("found by {input:?}");
                return ExitCode::FAILURE;
            }
        }
    }
    println!("{executions} executions");
    ExitCode::SUCCESS
}

fn corpus(target: &str) -> io::Result<Vec<Vec<u8>>> {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = [unpacked(package, target)?, package.join("regressions").join(target)];
    let entries = folders.into_iter().filter_map(|folder| fs::read_dir(folder).ok()).flatten();
    let mut paths: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    paths.iter().map(fs::read).collect()
}

/// The input with that number: those of the corpus first.
fn input(corpus: &[Vec<u8>], number: usize) -> Vec<u8> {
    if let Some(input) = corpus.get(number) {
        return input.clone();
    }
    let bytes = bytes_of_seed(number as u64, 1200);
    let mut choices = Choices::new(&bytes);
    if choices.chance(50) {
        let length = choices.below(1000);
        return bytes_of_seed(number as u64 + 1, length);
    }
    let mut input = choices.pick(corpus).cloned().unwrap_or_default();
    for _ in 0..=choices.below(4) {
        let (at, length) = (choices.below(input.len()), 1 + choices.below(16));
        let end = (at + length).min(input.len());
        match choices.below(4) {
            0 => drop(input.drain(at..end)),
            1 => {
                let copy = input[at..end].to_vec();
                let to = choices.below(input.len());
                input.splice(to..to, copy);
            }
            2 => {
                let other =
                    choices.pick(corpus).map_or(&[][..], |other| &other[choices.below(other.len()).min(other.len())..]);
                input.truncate(at);
                input.extend_from_slice(other);
            }
            _ => {
                let byte = u8::try_from(choices.below(256)).unwrap_or_default();
                input.splice(at..end.min(at + 1), [byte]);
            }
        }
    }
    input
}
