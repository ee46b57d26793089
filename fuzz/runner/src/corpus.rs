//! The committed inputs: a small set that reaches what all known inputs reach.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use orderql_fuzz_corpora::pack;

use crate::session::files;
use crate::target::{Target, fuzz_folder};
use crate::tools::{Tools, run};

/// The largest input that is committed, in bytes.
const MAX_INPUT: u64 = 8 * 1024;

/// The most bytes of the found inputs in a committed corpus. The largest inputs are left out.
const MAX_CORPUS: u64 = 32 * 1024;

/// Replaces what was found before in the committed corpus of a target with a small set that reaches the same, and what was found
/// since, and packs it. Inputs with names of their own stay.
pub fn keep(tools: &Tools, target: &Target) -> Result<(), String> {
    let old = target.corpus()?;
    let new = old.with_extension("new");
    let _ = fs::remove_dir_all(&new);
    fs::create_dir_all(&new).map_err(failed(&new))?;
    let mut merge = Command::new(tools.program(target));
    merge.args(["-set_cover_merge=1", &format!("-max_len={MAX_INPUT}")]).args([&new, &old]);
    merge.args(Some(target.found()).filter(|folder| folder.exists())).stderr(Stdio::null());
    run(&mut merge)?;
    for path in files(&old).iter().filter(|path| is_found(path)) {
        fs::remove_file(path).map_err(failed(path))?;
    }
    let size = |path: &PathBuf| Some((path.metadata().ok()?.len(), path.clone()));
    let mut inputs: Vec<_> = files(&new).iter().filter_map(size).collect();
    inputs.sort();
    let (mut kept, mut bytes) = (0, 0);
    for (size, path) in inputs {
        if let Some(name) = path.file_name().filter(|_| bytes + size <= MAX_CORPUS) {
            fs::rename(&path, old.join(name)).map_err(failed(&path))?;
            kept += 1;
            bytes += size;
        }
    }
    fs::remove_dir_all(&new).map_err(failed(&new))?;
    pack(fuzz_folder(), target.name, &old).map_err(failed(&old))?;
    println!("{}: {kept} inputs, {bytes} bytes", target.name);
    Ok(())
}

/// Packs what is in the unpacked folder of a target.
pub fn pack_again(target: &Target) -> Result<(), String> {
    let folder = target.corpus()?;
    pack(fuzz_folder(), target.name, &folder).map_err(failed(&folder))?;
    println!("{}: {} inputs", target.name, files(&folder).len());
    Ok(())
}

/// Whether the fuzzer found the input, and named it by its hash. Others were chosen by hand.
fn is_found(path: &Path) -> bool {
    let name = path.file_name().map(OsStr::as_encoded_bytes).unwrap_or_default();
    name.len() == 40 && name.iter().all(u8::is_ascii_hexdigit)
}

fn failed(path: &Path) -> impl Fn(std::io::Error) -> String {
    move |error| format!("{}: {error}", path.display())
}
