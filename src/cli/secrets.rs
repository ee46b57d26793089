//! Secrets on the command line: an error about an argument does not repeat them, because errors end up in logs.

use clap::Error;
use clap::error::{ContextKind, ContextValue};

use crate::config::settings::SETTINGS;

/// The text that an error shows in place of a secret.
const HIDDEN: &str = "(a value that is not shown)";

/// The error, without values of secret settings and without texts that may have a password.
pub(crate) fn hide(mut error: Error) -> Error {
    let is_secret = matches!(error.get(ContextKind::InvalidArg), Some(ContextValue::String(flag)) if is_secret(flag));
    let hidden: Vec<_> = error
        .context()
        .filter_map(|(kind, value)| match value {
            ContextValue::String(text) => {
                let is_value = kind == ContextKind::InvalidValue && is_secret;
                (is_value || has_password(text)).then_some(kind)
            }
            _ => None,
        })
        .collect();
    for kind in hidden {
        error.insert(kind, ContextValue::String(HIDDEN.to_owned()));
    }
    error
}

/// Whether a flag, such as `--database-url <DATABASE>`, is of a secret setting.
fn is_secret(flag: &str) -> bool {
    let flag = flag.trim_start_matches('-');
    let flag = flag.split([' ', '=']).next();
    SETTINGS.iter().any(|setting| setting.secret && flag == Some(setting.name))
}

/// Whether a text looks like the address of a database or a key, wherever it was given.
fn has_password(text: &str) -> bool {
    text.contains("://") || text.to_ascii_lowercase().contains("password") || text.contains("-----BEGIN")
}
