//! The queries that were asked at the prompt: a file of the user's, a JSON string a line.

use std::env;
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// The most queries that are kept.
const LENGTH: usize = 500;

/// The queries, the oldest first.
#[derive(Debug)]
pub(super) struct History {
    /// `None` if they are not kept.
    path: Option<PathBuf>,
    queries: Vec<String>,
}

impl History {
    /// Without a file.
    #[cfg(test)]
    pub(super) fn empty() -> Self {
        Self { path: None, queries: Vec::new() }
    }

    /// The user's. What cannot be read is left out.
    pub(super) fn of_user() -> Self {
        // An empty or relative XDG_STATE_HOME counts as not set, as its specification says.
        let state = env::var_os("XDG_STATE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
        let home = || env::home_dir().filter(|home| home.is_absolute()).map(|home| home.join(".local/state"));
        Self::read(state.or_else(home).map(|folder| folder.join("orderql/history")))
    }

    fn read(path: Option<PathBuf>) -> Self {
        let text = path.as_deref().and_then(|path| fs::read_to_string(path).ok()).unwrap_or_default();
        let mut queries: Vec<String> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        queries.drain(..queries.len().saturating_sub(LENGTH));
        Self { path, queries }
    }

    /// Adds a query, unless it is the last one. One that cannot be kept is known until the prompt ends.
    pub(super) fn add(&mut self, query: &str) {
        if self.queries.last().is_some_and(|last| last == query) {
            return;
        }
        self.queries.push(query.to_owned());
        if let Some(path) = &self.path {
            let _ = write(path, &self.queries);
        }
    }

    /// The query with a number, from 1; `!` is the last one.
    pub(super) fn get(&self, number: &str) -> Option<&str> {
        let index = if number == "!" { self.queries.len() } else { number.parse().ok()? };
        self.queries.get(index.checked_sub(1)?).map(String::as_str)
    }

    /// The last queries with their numbers.
    pub(super) fn last(&self, count: usize) -> impl Iterator<Item = (usize, &str)> {
        let skipped = self.queries.len().saturating_sub(count);
        self.queries.iter().enumerate().skip(skipped).map(|(index, query)| (index + 1, query.as_str()))
    }
}

/// Writes the file anew, for its user alone: queries have names and numbers of customers.
fn write(path: &Path, queries: &[String]) -> io::Result<()> {
    use std::os::unix::fs::OpenOptionsExt as _;
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut text = String::new();
    for query in &queries[queries.len().saturating_sub(LENGTH)..] {
        text.push_str(&serde_json::to_string(query)?);
        text.push('\n');
    }
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)?;
    file.write_all(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_are_kept_with_their_lines() {
        let folder = env::temp_dir().join(format!("orderql-history-{}", std::process::id()));
        let path = folder.join("orderql/history");
        let mut history = History::read(Some(path.clone()));
        for query in ["{ a }", "{\n  b\n}", "{\n  b\n}"] {
            history.add(query);
        }
        let read = History::read(Some(path));
        fs::remove_dir_all(&folder).unwrap();
        assert_eq!(read.last(9).collect::<Vec<_>>(), [(1, "{ a }"), (2, "{\n  b\n}")]);
        assert_eq!((read.get("1"), read.get("!")), (Some("{ a }"), Some("{\n  b\n}")));
        assert_eq!((read.get("0"), read.get("3"), read.get("x")), (None, None, None));
    }
}
