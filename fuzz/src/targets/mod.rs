//! The targets. Each file has one function, `run`, and says what the bytes are and what is checked.

pub mod compile;
pub mod cursor;
pub mod document;
pub mod parse;
pub mod plan;
pub mod schema;
pub mod search;
pub mod validate;
pub mod view;

#[cfg(feature = "server")]
pub mod form;
#[cfg(feature = "server")]
pub mod http_head;
#[cfg(feature = "server")]
pub mod json_out;
#[cfg(feature = "server")]
pub mod load;
#[cfg(feature = "server")]
pub mod token;

/// A target: its name, which is also that of its corpus, and its function.
pub type Target = (&'static str, fn(&[u8]));

/// Every target that is compiled.
pub const TARGETS: &[Target] = &[
    ("parse", parse::run),
    ("validate", validate::run),
    ("compile", compile::run),
    ("document", document::run),
    ("plan", plan::run),
    ("search", search::run),
    ("cursor", cursor::run),
    ("schema", schema::run),
    ("view", view::run),
    #[cfg(feature = "server")]
    ("form", form::run),
    #[cfg(feature = "server")]
    ("http_head", http_head::run),
    #[cfg(feature = "server")]
    ("token", token::run),
    #[cfg(feature = "server")]
    ("load", load::run),
    #[cfg(feature = "server")]
    ("json_out", json_out::run),
];
