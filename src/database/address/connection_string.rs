//! The address of a database as operators write it, with libpq's parameters: a URL, or `key=value` pairs.
//!
//! Source: PostgreSQL's documentation, "Database Connection Control Functions", sections "Connection Strings" and "Parameter
//! Key Words".

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use thiserror::Error;
use tokio_postgres::Config;

/// Why a text is not the address of a database. No error repeats the text, which may hold a password.
#[derive(Debug, Error)]
pub(crate) enum ConnectionStringError {
    #[error("neither a URL such as postgresql://user@host:5432/name nor pairs such as host=/run/postgresql user=me")]
    Syntax,
    #[error("{}", cause(.0))]
    Parameter(#[source] tokio_postgres::Error),
    #[error("sslmode is disable, allow, prefer, require, verify-ca or verify-full")]
    SslMode,
    #[error("target_session_attrs is any, read-write, read-only, primary, standby or prefer-standby")]
    Target,
}

/// What is wrong, without "invalid configuration" before it.
fn cause(error: &tokio_postgres::Error) -> String {
    std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string)
}

/// How a connection is encrypted and whom it trusts, by libpq's names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum SslMode {
    /// Never encrypted.
    Disable,
    /// Encrypted if the server offers it; its certificate is not looked at. libpq's `allow` is taken as this.
    Prefer,
    /// Encrypted. The certificate is verified if there is a root certificate.
    Require,
    /// Encrypted, with a certificate that a trusted authority has signed.
    VerifyCa,
    /// As `VerifyCa`, and the certificate is for this host.
    VerifyFull,
}

impl FromStr for SslMode {
    type Err = ConnectionStringError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "disable" => Ok(Self::Disable),
            "allow" | "prefer" => Ok(Self::Prefer),
            "require" => Ok(Self::Require),
            "verify-ca" => Ok(Self::VerifyCa),
            "verify-full" => Ok(Self::VerifyFull),
            _ => Err(ConnectionStringError::SslMode),
        }
    }
}

/// Which servers are meant, by libpq's names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SessionTarget {
    Any,
    /// Those whose transactions may write by default: no standby, and `default_transaction_read_only` is off.
    ReadWrite,
    /// All others.
    ReadOnly,
    /// Those that are not in recovery.
    Primary,
    /// Those in recovery.
    Standby,
    /// A standby if there is one, and otherwise all.
    PreferStandby,
}

impl FromStr for SessionTarget {
    type Err = ConnectionStringError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "any" => Ok(Self::Any),
            "read-write" => Ok(Self::ReadWrite),
            "read-only" => Ok(Self::ReadOnly),
            "primary" => Ok(Self::Primary),
            "standby" => Ok(Self::Standby),
            "prefer-standby" => Ok(Self::PreferStandby),
            _ => Err(ConnectionStringError::Target),
        }
    }
}

/// An address that has been read, but for the files and the environment that it leaves open: see
/// [`DatabaseAddress`](crate::database::address::database_address::DatabaseAddress).
#[derive(Clone, Default, PartialEq, Eq)]
pub(crate) struct ConnectionString {
    /// A URL up to its parameters.
    base: Option<String>,
    /// The parameters by name. The last one of a name counts.
    parameters: BTreeMap<String, String>,
}

impl FromStr for ConnectionString {
    type Err = ConnectionStringError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let is_url = ["postgres://", "postgresql://"].iter().any(|scheme| text.starts_with(scheme));
        let read = if is_url { url(text) } else { pairs(text).map(|parameters| Self { base: None, parameters }) };
        let read = read.ok_or(ConnectionStringError::Syntax)?;
        read.ssl_mode()?;
        read.target()?;
        read.config()?;
        Ok(read)
    }
}

/// Shows the names of the parameters, not their values: one may be a password.
impl fmt::Debug for ConnectionString {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_set().entries(self.parameters.keys()).finish_non_exhaustive()
    }
}

impl ConnectionString {
    /// The value of a parameter that is not part of a URL's base.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.parameters.get(name).map(String::as_str)
    }

    /// Adds parameters that the address does not have.
    pub(super) fn or(
        mut self,
        more: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Self, ConnectionStringError> {
        let given = self.config()?;
        for (name, value) in more {
            let is_in_base = match &*name {
                "host" | "hostaddr" => !given.get_hosts().is_empty() || !given.get_hostaddrs().is_empty(),
                "port" => !given.get_ports().is_empty(),
                "user" => given.get_user().is_some(),
                "password" => given.get_password().is_some(),
                "dbname" => given.get_dbname().is_some(),
                _ => false,
            };
            if !is_in_base {
                self.parameters.entry(name).or_insert(value);
            }
        }
        self.ssl_mode()?;
        self.target()?;
        Ok(self)
    }

    /// The parameter `sslmode`.
    pub(super) fn ssl_mode(&self) -> Result<Option<SslMode>, ConnectionStringError> {
        self.get("sslmode").map(str::parse).transpose()
    }

    /// The parameter `target_session_attrs`.
    pub(super) fn target(&self) -> Result<Option<SessionTarget>, ConnectionStringError> {
        self.get("target_session_attrs").map(str::parse).transpose()
    }

    /// The parameters that are left to tokio-postgres.
    pub(super) fn config(&self) -> Result<Config, ConnectionStringError> {
        const OWN: [&str; 7] =
            ["sslmode", "sslrootcert", "sslcert", "sslkey", "passfile", "service", "target_session_attrs"];
        let known = self.parameters.iter().filter(|(name, _)| !OWN.contains(&name.as_str()));
        let text = if let Some(base) = &self.base {
            let known: Vec<_> = known.map(|(name, value)| format!("{}={}", encoded(name), encoded(value))).collect();
            format!("{base}?{}", known.join("&"))
        } else {
            let quoted = |value: &str| value.replace('\\', r"\\").replace('\'', r"\'");
            let known: Vec<_> = known.map(|(name, value)| format!("{name}='{}'", quoted(value))).collect();
            known.join(" ")
        };
        text.parse().map_err(ConnectionStringError::Parameter)
    }
}

fn encoded(text: &str) -> String {
    utf8_percent_encode(text, NON_ALPHANUMERIC).to_string()
}

fn url(text: &str) -> Option<ConnectionString> {
    let (base, parameters) = text.split_once('?').unwrap_or((text, ""));
    let decoded = |text: &str| Some(percent_decode_str(text).decode_utf8().ok()?.into_owned());
    let parameters = parameters.split('&').filter(|parameter| !parameter.is_empty()).map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        Some((decoded(name)?, decoded(value)?))
    });
    Some(ConnectionString { base: Some(base.to_owned()), parameters: parameters.collect::<Option<_>>()? })
}

/// Reads `name = value` pairs. A value may be quoted, and a backslash takes the next character as it is.
fn pairs(text: &str) -> Option<BTreeMap<String, String>> {
    let mut parameters = BTreeMap::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let (name, value) = rest.split_once('=')?;
        let name = name.trim_end();
        if name.is_empty() || name.contains(char::is_whitespace) {
            return None;
        }
        let (value, after) = pair_value(value.trim_start())?;
        parameters.insert(name.to_owned(), value);
        rest = after.trim_start();
    }
    Some(parameters)
}

/// The value at the start of a text, and what follows it.
fn pair_value(text: &str) -> Option<(String, &str)> {
    let (is_quoted, text) = text.strip_prefix('\'').map_or((false, text), |rest| (true, rest));
    let mut value = String::new();
    let mut characters = text.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '\\' => value.push(characters.next()?.1),
            '\'' if is_quoted => return Some((value, &text[at + 1..])),
            _ if !is_quoted && character.is_whitespace() => return Some((value, &text[at..])),
            _ => value.push(character),
        }
    }
    (!is_quoted).then_some((value, ""))
}

#[cfg(test)]
mod tests {
    use tokio_postgres::config::Host;

    use super::*;

    fn config(text: &str) -> Option<Config> {
        text.parse::<ConnectionString>().ok().map(|read| read.config().unwrap())
    }

    fn target(text: &str) -> Result<Option<SessionTarget>, ConnectionStringError> {
        text.parse::<ConnectionString>()?.target()
    }

    #[test]
    fn takes_the_names_of_libpq() {
        for (name, expected) in [
            ("any", Some(SessionTarget::Any)),
            ("read-write", Some(SessionTarget::ReadWrite)),
            ("primary", Some(SessionTarget::Primary)),
            ("read-only", Some(SessionTarget::ReadOnly)),
            ("standby", Some(SessionTarget::Standby)),
            ("prefer-standby", Some(SessionTarget::PreferStandby)),
            ("primaries", None),
            ("", None),
        ] {
            for text in [
                format!("postgresql://a:b@one,two/orders?target_session_attrs={name}"),
                format!("postgresql://a:b@one/orders?target_session_attrs={name}&connect_timeout=2"),
                format!("host=one target_session_attrs='{name}' user=a"),
                format!("host=one target_session_attrs = '{name}' user=a"),
            ] {
                assert_eq!(target(&text).ok().flatten(), expected, "{text}");
            }
        }
        assert_eq!(target("host=one user=a").unwrap(), None);
    }

    #[test]
    fn reads_quoted_and_escaped_values() {
        let read = config(r"host = one user='a \'b\\ c' password=d\ e dbname='' port=1").unwrap();
        assert_eq!(read.get_user(), Some(r"a 'b\ c"));
        assert_eq!(read.get_password(), Some(&b"d e"[..]));
        let read =
            config("postgresql://a%40:b%3F@[::1]:5433,two/c%20d?options=-c%20a%3Db&application_name=x%26y").unwrap();
        assert_eq!(read.get_user(), Some("a@"));
        assert_eq!(read.get_password(), Some(&b"b?"[..]));
        assert_eq!(read.get_hosts(), [Host::Tcp("::1".to_owned()), Host::Tcp("two".to_owned())]);
        assert_eq!(read.get_options(), Some("-c a=b"));
        assert_eq!(read.get_application_name(), Some("x&y"));
        for text in
            ["host", "=a", "host=a user='b", "a b=c", "host=a\\", "sslmode=on", "postgresql://a/b?c", "color=red"]
        {
            assert!(text.parse::<ConnectionString>().is_err(), "{text}");
        }
    }

    #[test]
    fn prefers_what_the_address_says() {
        let more =
            [("host", "other"), ("user", "other"), ("dbname", "more"), ("sslmode", "verify-full"), ("port", "1")];
        let more = more.map(|(name, value)| (name.to_owned(), value.to_owned()));
        // A URL's host has a port, if only the default one.
        for (text, port) in [("postgresql://me@one?sslmode=require", 5432), ("host=one user=me sslmode=require", 1)] {
            let read = text.parse::<ConnectionString>().unwrap().or(more.clone()).unwrap();
            let config = read.config().unwrap();
            assert_eq!(config.get_hosts(), [Host::Tcp("one".to_owned())], "{text}");
            assert_eq!(
                (config.get_user(), config.get_dbname(), config.get_ports()),
                (Some("me"), Some("more"), &[port][..])
            );
            assert_eq!(read.ssl_mode().unwrap(), Some(SslMode::Require));
        }
    }

    #[test]
    fn does_not_show_values() {
        let read: ConnectionString = "host=one password=secret".parse().unwrap();
        assert!(!format!("{read:?}").contains("secret"));
    }
}
