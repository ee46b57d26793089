//! The files of libpq that hold passwords and services, and where they are by default.
//!
//! Source: PostgreSQL's documentation, sections "The Password File" and "The Connection Service File".

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::database::address::error::AddressError;

/// The environment of a client of libpq.
pub(super) struct Environment<'a> {
    /// The value of a variable.
    pub(super) variable: &'a dyn Fn(&str) -> Option<String>,
}

impl Environment<'_> {
    /// The value of a variable that is set and not empty.
    pub(super) fn get(&self, name: &str) -> Option<String> {
        (self.variable)(name).filter(|value| !value.is_empty())
    }

    /// A file in the home folder.
    pub(super) fn in_home(&self, name: &str) -> Option<PathBuf> {
        self.get("HOME").map(|home| Path::new(&home).join(name))
    }
}

/// The parameters of a service: of the user's file, or else of the system's.
pub(super) fn service(name: &str, environment: &Environment<'_>) -> Result<Vec<(String, String)>, AddressError> {
    let users = environment.get("PGSERVICEFILE").map(PathBuf::from).or_else(|| environment.in_home(".pg_service.conf"));
    let folder = environment.get("PGSYSCONFDIR").unwrap_or_else(|| "/etc/postgresql-common".to_owned());
    for path in users.into_iter().chain([Path::new(&folder).join("pg_service.conf")]) {
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            Err(source) => return Err(AddressError::File { path, source }),
        };
        if let Some(parameters) = section(&text, name) {
            return Ok(parameters);
        }
    }
    Err(AddressError::NoService { name: name.to_owned() })
}

/// The `name=value` lines below `[section]`.
fn section(text: &str, section: &str) -> Option<Vec<(String, String)>> {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let mut lines =
        lines.skip_while(|line| line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) != Some(section));
    lines.next()?;
    let parameters = lines.take_while(|line| !line.starts_with('[')).filter_map(|line| line.split_once('='));
    Some(parameters.map(|(name, value)| (name.trim_end().to_owned(), value.to_owned())).collect())
}

/// Who asks for a password, and of what.
pub(super) struct PasswordOf<'a> {
    pub(super) host: &'a str,
    pub(super) port: u16,
    pub(super) database: &'a str,
    pub(super) user: &'a str,
}

/// A password file's answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum FilePassword {
    /// The password of the first line that fits.
    Found(String),
    /// There is no such file, or no line fits.
    NotFound,
    /// The file is not used, because others than its owner may read it.
    Open,
}

/// Looks a password up.
pub(super) fn password(path: &Path, of: &PasswordOf<'_>) -> Result<FilePassword, AddressError> {
    let file = |source| AddressError::File { path: path.to_owned(), source };
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(FilePassword::NotFound),
        Err(error) => return Err(file(error)),
    };
    if !metadata.is_file() || metadata.mode() & 0o077 != 0 {
        return Ok(FilePassword::Open);
    }
    let text = fs::read_to_string(path).map_err(file)?;
    Ok(text.lines().find_map(|line| line_password(line, of)).map_or(FilePassword::NotFound, FilePassword::Found))
}

/// The password of a line `host:port:database:user:password`, in which `*` fits everything, if it is the one of these.
fn line_password(line: &str, of: &PasswordOf<'_>) -> Option<String> {
    if line.starts_with('#') {
        return None;
    }
    let port = of.port.to_string();
    let mut rest = line;
    for wanted in [of.host, &port, of.database, of.user] {
        let (value, after) = field(rest)?;
        if value != "*" && unescaped(value) != wanted {
            return None;
        }
        rest = after;
    }
    Some(unescaped(field(rest).map_or(rest, |(password, _)| password)))
}

/// The text up to the first `:` without a backslash, and what follows it.
fn field(text: &str) -> Option<(&str, &str)> {
    let mut is_escaped = false;
    for (at, character) in text.char_indices() {
        match character {
            ':' if !is_escaped => return Some((&text[..at], &text[at + 1..])),
            _ => is_escaped = character == '\\' && !is_escaped,
        }
    }
    None
}

fn unescaped(text: &str) -> String {
    let mut characters = text.chars();
    let mut read = String::with_capacity(text.len());
    while let Some(character) = characters.next() {
        read.push(if character == '\\' { characters.next().unwrap_or('\\') } else { character });
    }
    read
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_a_service() {
        let text = "# services\n[a]\nhost=one\n\n[b]\n host = two\npassword=x=y\n# more\nport=1\n[c]\nhost=three";
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(section(text, "b"), Some(vec![pair("host", " two"), pair("password", "x=y"), pair("port", "1")]));
        assert_eq!(section(text, "a"), Some(vec![pair("host", "one")]));
        assert_eq!(section(text, "d"), None);
    }

    #[test]
    fn finds_the_first_line_that_fits() {
        let of = PasswordOf { host: "db", port: 5432, database: "orders", user: "a:b" };
        for (line, expected) in [
            (r"db:5432:orders:a\:b:secret", Some("secret")),
            (r"*:*:*:*:se\:cr\\et", Some(r"se:cr\et")),
            (r"*:*:*:*:one:two", Some("one")),
            (r"*:*:*:*:", Some("")),
            (r"#*:*:*:*:secret", None),
            (r"db:5433:*:*:secret", None),
            (r"db:5432:orders:a:secret", None),
            (r"db:5432:orders", None),
            ("", None),
        ] {
            assert_eq!(line_password(line, &of).as_deref(), expected, "{line}");
        }
    }
}
