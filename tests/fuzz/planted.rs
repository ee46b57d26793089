//! The faults of `./dev fuzz --selftest` can be planted: code that changes must not leave them behind.

use std::fs::{self, File};
use std::process::Command;

#[test]
fn every_planted_fault_applies_to_the_code() {
    let fuzz = crate::folder();
    let mut patches = 0;
    for entry in fs::read_dir(fuzz.join("planted")).unwrap() {
        let path = entry.unwrap().path();
        let mut command = Command::new("patch");
        command.args(["-p1", "--forward", "--dry-run", "--directory"]).arg(env!("CARGO_MANIFEST_DIR"));
        let output = command.stdin(File::open(&path).unwrap()).output().expect("`patch` is installed");
        assert!(output.status.success(), "{}: {}", path.display(), String::from_utf8_lossy(&output.stdout));
        patches += 1;
    }
    assert!(patches >= 10);
}
