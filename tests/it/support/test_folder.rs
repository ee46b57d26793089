//! A folder for one test.

use std::env;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{self, Command};

/// A folder in the temporary folder. Dropping it kills a PostgreSQL server that a failed test has left in it, and removes it.
pub struct TestFolder(PathBuf);

impl TestFolder {
    /// Creates the folder. `name` is unique among all tests.
    pub fn create(name: &str) -> Self {
        let path = env::temp_dir().join(format!("orderql-{name}-{}", process::id()));
        fs::create_dir(&path).unwrap();
        // PostgreSQL may run as another user, which has to read the folder.
        fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
        Self(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The process id of the PostgreSQL server that runs in the folder.
    pub fn postmaster(&self) -> Option<String> {
        let pid_file = fs::read_to_string(self.0.join("data/postmaster.pid")).ok()?;
        pid_file.lines().next().map(str::to_owned)
    }
}

impl Drop for TestFolder {
    fn drop(&mut self) {
        // A test of a stale file writes its own process id there.
        if let Some(process) = self.postmaster().filter(|process| *process != process::id().to_string()) {
            let _ = Command::new("kill").args(["-QUIT", &process]).status();
        }
        let _ = fs::remove_dir_all(&self.0);
    }
}
