//! Where a file's bytes come from.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor};
use std::path::{Path, PathBuf};

use crate::load::LoadError;

/// The file in a folder that names its data files in the order to load them.
pub const ORDER_FILE: &str = "LOAD_ORDER.txt";

/// One data file.
#[derive(Debug, Clone)]
pub enum Source {
    /// A file of the file system.
    Path(PathBuf),
    /// Bytes in memory, such as a file that is built into the program.
    Bytes {
        /// What reports call it.
        name: String,
        /// Its content.
        bytes: Cow<'static, [u8]>,
    },
}

impl Source {
    /// The file at `path`; or, where `path` is a folder, the files that its `LOAD_ORDER.txt` names, a name a line (blank
    /// lines and lines that begin with `#` aside). Every file is seen to be there before the first is loaded.
    pub fn at(path: &Path) -> Result<Vec<Self>, LoadError> {
        if !metadata(path)?.is_dir() {
            return Ok(vec![Self::Path(path.to_owned())]);
        }
        let order = path.join(ORDER_FILE);
        let names =
            std::fs::read_to_string(&order).map_err(|source| LoadError::NoOrder { order: order.clone(), source })?;
        let names = names.lines().map(str::trim).filter(|name| !name.is_empty() && !name.starts_with('#'));
        names
            .map(|name| {
                let file = path.join(name);
                metadata(&file)?;
                Ok(Self::Path(file))
            })
            .collect()
    }

    /// What reports call it: the path as it was given, or the name.
    pub fn name(&self) -> String {
        match self {
            Self::Path(path) => path.display().to_string(),
            Self::Bytes { name, .. } => name.clone(),
        }
    }

    /// Its bytes from the start, and how many there are.
    pub(in crate::load) fn open(self) -> io::Result<(Box<dyn BufRead>, u64)> {
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

fn metadata(path: &Path) -> Result<std::fs::Metadata, LoadError> {
    std::fs::metadata(path).map_err(|source| LoadError::Read { file: path.display().to_string(), source })
}
