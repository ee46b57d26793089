//! The committed inputs: a small set that reaches what all known inputs reach.

use std::fs;
use std::process::{Command, Stdio};

use crate::session::files;
use crate::target::Target;
use crate::tools::{Tools, run};

/// The largest input that is committed, in bytes.
const MAX_INPUT: u64 = 8 * 1024;

/// Replaces the committed corpus of a target with a small one that reaches the same, and what was found.
pub fn keep(tools: &Tools, target: &Target) -> Result<(), String> {
    let old = target.corpus();
    let new = old.with_extension("new");
    let _ = fs::remove_dir_all(&new);
    fs::create_dir_all(&new).map_err(|error| format!("{}: {error}", new.display()))?;
    let mut merge = Command::new(tools.program(target));
    merge.args(["-set_cover_merge=1", &format!("-max_len={MAX_INPUT}")]).args([&new, &old]);
    merge.args(Some(target.found()).filter(|folder| folder.exists())).stderr(Stdio::null());
    run(&mut merge)?;
    fs::remove_dir_all(&old)
        .and_then(|()| fs::rename(&new, &old))
        .map_err(|error| format!("{}: {error}", old.display()))?;
    let sizes =
        files(&old).iter().filter_map(|path| path.metadata().ok()).map(|metadata| metadata.len()).collect::<Vec<_>>();
    println!("{}: {} inputs, {} bytes", target.name, sizes.len(), sizes.iter().sum::<u64>());
    Ok(())
}
