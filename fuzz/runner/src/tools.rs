//! What has to be installed, and builds.
//!
//! The library forbids unsafe code, so the address sanitizer could only find errors of dependencies, and halves the number of
//! executions. The default is to build without it.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::target::{Target, fuzz_folder};

/// The programs that build targets.
pub struct Tools {
    /// `+nightly` where rustup is installed. Stable Rust builds the targets, too, without sanitizers.
    toolchain: Option<&'static str>,
    host: String,
    /// Whether the targets compare with other implementations.
    oracles: bool,
}

/// Instrumentation that counts basic blocks. LLVM has it in every toolchain.
const COUNTING: &str =
    "-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=3 -Cllvm-args=-sanitizer-coverage-trace-pc";

/// Installs what is missing. `is_stable`: no fuzzer is needed.
pub fn install(is_stable: bool, oracles: bool) -> Result<Tools, String> {
    let toolchain = if is_stable {
        None
    } else if succeeds(Command::new("rustup").arg("--version")) {
        if !succeeds(Command::new("rustc").args(["+nightly", "--version"])) {
            eprintln!("the nightly toolchain is not installed: installing it");
            run(Command::new("rustup").args(["toolchain", "install", "nightly", "--profile", "minimal"]))?;
        }
        Some("+nightly")
    } else {
        None
    };
    if !is_stable && !succeeds(Command::new("cargo").args(["fuzz", "--version"])) {
        eprintln!("cargo-fuzz is not installed: installing it");
        run(Command::new("cargo").args(["install", "cargo-fuzz", "--locked"]))?;
    }
    let version = output(Command::new("rustc").args(toolchain).arg("-vV"))?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).ok_or("rustc does not name its host")?;
    Ok(Tools { toolchain, host: host.to_owned(), oracles })
}

impl Tools {
    /// Builds targets, with debug assertions and checks of overflow.
    pub fn build(&self, targets: &[&Target], sanitizer: Option<&str>) -> Result<(), String> {
        for target in targets {
            let mut command = self.cargo_fuzz("build", targets);
            command.args(["--sanitizer", sanitizer.unwrap_or("none"), "--debug-assertions", "--target-dir"]);
            command.arg(build_folder(target));
            if target.is_structured() {
                command.arg("--no-trace-compares");
            }
            command.arg(target.name);
            run(&mut command)?;
        }
        Ok(())
    }

    /// Runs the tests that count steps.
    pub fn count_steps(&self) -> Result<(), String> {
        let mut cargo = Command::new("cargo");
        // With a target, what runs during the build is not counted.
        cargo.args(["test", "-p", "orderql-fuzz-steps", "--target", &self.host, "--target-dir", "target/steps"]);
        cargo.args(["--", "--nocapture"]).env("RUSTFLAGS", COUNTING).current_dir(fuzz_folder());
        run(&mut cargo)
    }

    /// A command of cargo-fuzz, with the features that these targets need. Those of the pure half are built much faster alone.
    pub fn cargo_fuzz(&self, command: &str, targets: &[&Target]) -> Command {
        let server = if targets.iter().all(|target| target.is_pure()) { "" } else { ",server" };
        let oracles = if self.oracles { ",apollo,pg_query" } else { "" };
        let mut cargo = Command::new("cargo");
        cargo.args(self.toolchain).args([
            "fuzz",
            command,
            "--features",
            &format!("fuzzer{server}{oracles}"),
            "--fuzz-dir",
        ]);
        cargo.arg(fuzz_folder()).current_dir(fuzz_folder());
        cargo
    }

    /// The program of a target.
    pub fn program(&self, target: &Target) -> PathBuf {
        build_folder(target).join(&self.host).join("release").join(target.name)
    }

    /// The program of a target that counts the lines it reaches.
    pub fn coverage_program(&self, target: &Target) -> PathBuf {
        let folder = fuzz_folder().join("target").join(&self.host).join("coverage");
        folder.join(&self.host).join("release").join(target.name)
    }

    /// One of LLVM's tools that belong to the toolchain.
    pub fn llvm(&self, name: &str) -> Result<PathBuf, String> {
        let sysroot = output(Command::new("rustc").args(self.toolchain).args(["--print", "sysroot"]))?;
        let path = Path::new(sysroot.trim()).join("lib/rustlib").join(&self.host).join("bin").join(name);
        if !path.exists() {
            run(Command::new("rustup").args(["component", "add", "llvm-tools", "--toolchain", "nightly"]))?;
        }
        Ok(path)
    }
}

/// Where a target is built. Each kind of instrumentation has its own folder.
fn build_folder(target: &Target) -> PathBuf {
    fuzz_folder().join("target").join(if target.is_structured() { "structured" } else { "bytes" })
}

fn succeeds(command: &mut Command) -> bool {
    command.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

/// Runs a command. Fails unless it succeeds.
pub fn run(command: &mut Command) -> Result<(), String> {
    let status = command.status().map_err(|error| format!("{command:?}: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("{command:?}: {status}")) }
}

/// What a command prints.
pub fn output(command: &mut Command) -> Result<String, String> {
    let output = command.stderr(Stdio::inherit()).output().map_err(|error| format!("{command:?}: {error}"))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        Err(format!("{command:?}: {}", output.status))
    }
}
