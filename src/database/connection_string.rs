//! The address of a database as operators write it: a URL, or `key=value` pairs.

use tokio_postgres::{Config, Error};

/// libpq's names of servers that tokio-postgres does not know, and the names that it knows. A primary accepts writes; a
/// standby does not.
const TARGETS: [(&str, &str); 2] = [("primary", "read-write"), ("standby", "read-only")];

/// Parses an address. As libpq, and unlike tokio-postgres, takes `primary` and `standby` as `target_session_attrs`.
pub fn parse(text: &str) -> Result<Config, Error> {
    let parsed = text.parse();
    if parsed.is_ok() {
        return parsed;
    }
    let known = TARGETS.iter().find_map(|(name, known)| replaced_target(text, name, known)?.parse().ok());
    known.map_or(parsed, Ok)
}

/// The text with another value of `target_session_attrs`; `None` if the value is not `name`.
fn replaced_target(text: &str, name: &str, other: &str) -> Option<String> {
    let key = "target_session_attrs";
    let after_key = text.rfind(key)? + key.len();
    let value = text[after_key..].trim_start().strip_prefix('=')?.trim_start();
    let value = value.strip_prefix('\'').unwrap_or(value);
    let rest = value.strip_prefix(name)?;
    let start = text.len() - value.len();
    Some(format!("{}{other}{rest}", &text[..start]))
}

#[cfg(test)]
mod tests {
    use tokio_postgres::config::TargetSessionAttrs::{self, Any, ReadOnly, ReadWrite};

    use super::*;

    fn target(text: &str) -> Option<TargetSessionAttrs> {
        parse(text).ok().map(|config| config.get_target_session_attrs())
    }

    #[test]
    fn takes_the_names_of_libpq() {
        for (name, expected) in [
            ("any", Some(Any)),
            ("read-write", Some(ReadWrite)),
            ("primary", Some(ReadWrite)),
            ("read-only", Some(ReadOnly)),
            ("standby", Some(ReadOnly)),
            ("prefer-standby", None),
            ("primaries", None),
            ("", None),
        ] {
            for text in [
                format!("postgresql://a:b@one,two/orders?target_session_attrs={name}"),
                format!("postgresql://a:b@one/orders?target_session_attrs={name}&connect_timeout=2"),
                format!("host=one target_session_attrs={name} user=a"),
                format!("host=one target_session_attrs = '{name}' user=a"),
            ] {
                assert_eq!(target(&text), expected, "{text}");
            }
        }
        assert_eq!(target("host=one user=a"), Some(Any));
    }
}
