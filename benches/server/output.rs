//! Where results, logs and the peers' builds are written.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::error::{BenchError, Result};

/// Cargo's target folder.
pub fn target_folder() -> &'static Path {
    Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap_or(Path::new("target"))
}

/// A file of the benchmarks, in a folder that is created if it is missing.
pub fn file(name: &str) -> Result<PathBuf> {
    let path = target_folder().join("bench").join(name);
    let folder = path.parent().unwrap_or(&path);
    fs::create_dir_all(folder).map_err(BenchError::io(format!("create {}", folder.display())))?;
    Ok(path)
}

/// Writes a file, and says so on standard error.
pub fn write(path: &Path, text: &str) -> Result<()> {
    fs::write(path, text).map_err(BenchError::io(format!("write {}", path.display())))?;
    eprintln!("wrote {}", path.display());
    Ok(())
}

/// Writes a report as JSON.
pub fn write_json(path: &Path, report: &impl Serialize) -> Result<()> {
    write(path, &serde_json::to_string_pretty(report)?)
}
