//! PostgreSQL's server programs on this machine.

use std::cmp::Reverse;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::private_cluster::error::ClusterError;

/// The oldest supported major version.
const MIN_VERSION: u32 = 14;

/// The places where package managers install versions of PostgreSQL side by side: a folder, and the prefix before the version in its
/// entries' names.
const PACKAGE_FOLDERS: [(&str, &str); 6] = [
    ("/usr/lib/postgresql", ""),
    ("/usr", "pgsql-"),
    ("/usr/libexec", "postgresql"),
    ("/opt/homebrew/opt", "postgresql@"),
    ("/home/linuxbrew/.linuxbrew/opt", "postgresql@"),
    ("/usr/local/opt", "postgresql@"),
];

/// An installed PostgreSQL.
#[derive(Debug, Clone)]
pub(super) struct Programs {
    folder: PathBuf,
    /// The major version.
    pub(super) version: u32,
}

impl Programs {
    /// Finds PostgreSQL: only in `configured` if it is given, else in the folder that `pg_config` prints, in PATH, and where
    /// package managers install it, newest version first. `data_version` is the major version of the data directory, which no
    /// other version can read.
    pub(super) fn find(configured: Option<&Path>, data_version: Option<u32>) -> Result<Self, ClusterError> {
        let found: Vec<Self> = match configured {
            Some(folder) => {
                let programs =
                    Self::at(folder).ok_or_else(|| ClusterError::ProgramsNotIn { folder: folder.to_owned() })?;
                vec![programs]
            }
            None => candidate_folders().iter().filter_map(|folder| Self::at(folder)).collect(),
        };
        let newest = found.first().ok_or(ClusterError::ProgramsNotFound)?.version;
        match data_version {
            Some(made_by) => found
                .into_iter()
                .find(|programs| programs.version == made_by)
                .ok_or(ClusterError::OtherVersion { made_by, found: newest }),
            None => found
                .into_iter()
                .find(|programs| programs.version >= MIN_VERSION)
                .ok_or(ClusterError::ProgramsTooOld { found: newest }),
        }
    }

    /// The path of a program.
    pub(super) fn path(&self, program: &str) -> PathBuf {
        self.folder.join(program)
    }

    fn at(folder: &Path) -> Option<Self> {
        if !["initdb", "pg_ctl", "postgres"].iter().all(|program| folder.join(program).is_file()) {
            return None;
        }
        let version = output(&folder.join("postgres"), "--version")?;
        Some(Self { folder: folder.to_owned(), version: major_version(&version)? })
    }
}

/// The major version in "postgres (PostgreSQL) 15.4 (Debian 15.4-1)" or "16beta2".
fn major_version(output: &str) -> Option<u32> {
    let version = output.split_once("(PostgreSQL) ")?.1;
    let digits = version.find(|c: char| !c.is_ascii_digit()).unwrap_or(version.len());
    version[..digits].parse().ok()
}

fn candidate_folders() -> Vec<PathBuf> {
    let mut folders = Vec::new();
    folders.extend(output(Path::new("pg_config"), "--bindir").map(PathBuf::from));
    if let Some(path) = env::var_os("PATH") {
        folders.extend(env::split_paths(&path));
    }
    folders.extend(package_folders());
    folders
}

/// The program folders of packaged versions, newest first.
fn package_folders() -> Vec<PathBuf> {
    let mut versions: Vec<(u32, PathBuf)> = Vec::new();
    for (parent, prefix) in PACKAGE_FOLDERS {
        for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let version = name.to_str().and_then(|name| name.strip_prefix(prefix)?.parse().ok());
            versions.extend(version.map(|version| (version, entry.path().join("bin"))));
        }
    }
    versions.sort_by_key(|(version, _)| Reverse(*version));
    versions.into_iter().map(|(_, folder)| folder).collect()
}

/// A program's standard output. `None` if the program does not exist or fails.
fn output(program: &Path, argument: &str) -> Option<String> {
    let output = Command::new(program).arg(argument).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::major_version;

    #[test]
    fn reads_the_major_version_from_the_output_of_postgres() {
        assert_eq!(major_version("postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)"), Some(15));
        assert_eq!(major_version("postgres (PostgreSQL) 18beta1"), Some(18));
        assert_eq!(major_version("postgres (EnterpriseDB) x"), None);
    }
}
