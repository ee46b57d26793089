//! The committed inputs of the fuzz targets. Those of a target are one archive, `fuzz/corpus/TARGET.tar.gz`, which is unpacked
//! where it is needed, into `fuzz/target/corpus/TARGET`.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{self, Command};

/// The folder with a target's committed inputs, unpacked if it is not there or older than the archive.
///
/// # Errors
/// If the archive cannot be unpacked.
pub fn unpacked(fuzz: &Path, target: &str) -> io::Result<PathBuf> {
    let (archive, folder) = (archive(fuzz, target), fuzz.join("target/corpus").join(target));
    let is_newer = |packed| Ok::<_, io::Error>(folder.metadata()?.modified()? > packed);
    if is_newer(archive.metadata()?.modified()?).unwrap_or(false) {
        return Ok(folder);
    }
    // Others may unpack it at the same time.
    let new = folder.with_extension(process::id().to_string());
    fs::create_dir_all(&new)?;
    tar(Command::new("tar").arg("-xzf").arg(&archive).arg("-C").arg(&new))?;
    let _ = fs::remove_dir_all(&folder);
    fs::rename(&new, &folder)?;
    Ok(folder)
}

/// Packs the inputs of a folder: the same ones make the same archive. It needs GNU tar.
///
/// # Errors
/// If the archive cannot be written.
pub fn pack(fuzz: &Path, target: &str, folder: &Path) -> io::Result<()> {
    let mut names = fs::read_dir(folder)?.map(|entry| Ok(entry?.file_name())).collect::<io::Result<Vec<OsString>>>()?;
    names.sort();
    let mut command = Command::new("tar");
    command.args(["--format=ustar", "--mtime=@0", "--owner=0", "--group=0", "--numeric-owner", "--mode=0644"]);
    command
        .args(["--use-compress-program=gzip -n9", "-cf"])
        .arg(archive(fuzz, target))
        .arg("-C")
        .arg(folder)
        .arg("--")
        .args(names);
    tar(&mut command)
}

fn archive(fuzz: &Path, target: &str) -> PathBuf {
    fuzz.join("corpus").join(format!("{target}.tar.gz"))
}

fn tar(command: &mut Command) -> io::Result<()> {
    let status = command.status()?;
    if status.success() { Ok(()) } else { Err(io::Error::other(format!("{command:?}: {status}"))) }
}
