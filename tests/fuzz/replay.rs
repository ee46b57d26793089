//! Runs every target over its corpus and its regressions.

use std::collections::BTreeSet;
use std::fs;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};
use std::time::Instant;

use orderql_fuzz::targets::TARGETS;
use orderql_fuzz_corpora::unpacked;
use orderql_generator::choices::bytes_of_seed;

use crate::folder;

/// The files of a folder, in order; none if there is no such folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

#[test]
fn every_input_of_every_corpus_keeps_the_promises() {
    let mut broken = Vec::new();
    for (name, run) in TARGETS {
        let start = Instant::now();
        let corpus = files(&unpacked(&folder(), name).unwrap());
        assert!(!corpus.is_empty(), "{name} has no corpus");
        let inputs = [corpus, files(&folder().join("regressions").join(name))].concat();
        for path in &inputs {
            let data = fs::read(path).unwrap();
            if catch_unwind(|| run(&data)).is_err() {
                broken.push(path.clone());
            }
        }
        println!("{name}: {} inputs in {:.1?}", inputs.len(), start.elapsed());
    }
    assert!(broken.is_empty(), "these inputs break a promise: {broken:#?}");
}

#[test]
fn the_first_generated_requests_keep_the_promises() {
    for name in ["document", "plan"] {
        let (_, run) = TARGETS.iter().find(|(target, _)| *target == name).unwrap();
        for seed in 0..2000 {
            run(&bytes_of_seed(seed, 400));
        }
    }
}

#[test]
fn every_target_has_a_program() {
    let programs: BTreeSet<_> = files(&folder().join("fuzz_targets")).iter().map(|path| name(path)).collect();
    for (target, _) in TARGETS {
        assert!(programs.contains(*target), "{target} has no program in fuzz_targets");
    }
    assert_eq!(programs.len(), TARGETS.len(), "a program has no target");
}

fn name(path: &Path) -> String {
    path.file_stem().unwrap().to_string_lossy().into_owned()
}
