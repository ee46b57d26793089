//! The data files to load, on disk or in memory.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor};
use std::path::{Path, PathBuf};

use crate::load::error::LoadError;

/// The file in a folder that names its data files in load order.
pub(crate) const ORDER_FILE: &str = "LOAD_ORDER.txt";

/// One data file.
#[derive(Debug, Clone)]
pub enum InputFile {
    /// A file on disk.
    Path(PathBuf),
    /// A file in memory, such as one embedded in the program.
    Bytes {
        /// The name in reports.
        name: String,
        /// The content.
        bytes: Cow<'static, [u8]>,
    },
}

impl InputFile {
    /// The file at `path`. For a folder, the files that its `LOAD_ORDER.txt` names, one per line; blank lines and lines
    /// that begin with `#` are skipped. A file that does not exist fails when it is loaded.
    pub fn from_path(path: &Path) -> Result<Vec<Self>, LoadError> {
        if !path.is_dir() {
            return Ok(vec![Self::Path(path.to_owned())]);
        }
        let order = path.join(ORDER_FILE);
        let names =
            std::fs::read_to_string(&order).map_err(|source| LoadError::NoOrder { order: order.clone(), source })?;
        let names = names.lines().map(str::trim).filter(|name| !name.is_empty() && !name.starts_with('#'));
        Ok(names.map(|name| Self::Path(path.join(name))).collect())
    }

    /// The name in reports: the path as given, or the name.
    pub fn name(&self) -> String {
        match self {
            Self::Path(path) => path.display().to_string(),
            Self::Bytes { name, .. } => name.clone(),
        }
    }

    /// Opens the file. Returns its content and its length in bytes.
    pub(super) fn open(self) -> io::Result<(Box<dyn BufRead>, u64)> {
        match self {
            Self::Path(path) => {
                let file = File::open(path)?;
                let length = file.metadata()?.len();
                Ok((Box::new(BufReader::with_capacity(1 << 16, file)), length))
            }
            Self::Bytes { bytes, .. } => {
                let length = bytes.len() as u64;
                Ok((Box::new(Cursor::new(bytes)), length))
            }
        }
    }
}
