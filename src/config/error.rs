//! Why the configuration cannot be used.

use std::io;
use std::path::PathBuf;

use crate::config::origin::SettingOrigin;

/// Why the configuration cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConfigError {
    /// A value that its setting does not accept.
    #[error("{name} is {value}, as {origin} says; expected {wanted}")]
    BadValue {
        /// The setting.
        name: &'static str,
        /// The value in quotes, or that it is not shown.
        value: String,
        /// The source of the value.
        origin: SettingOrigin,
        /// A description of valid values.
        wanted: &'static str,
    },
    /// A setting without a default has no value.
    #[error("{name} is not set; give --{name}, {variable} or `{name} = …` in a configuration file")]
    Missing {
        /// The setting.
        name: &'static str,
        /// Its environment variable.
        variable: &'static str,
    },
    /// No query that reads a row would be allowed.
    #[error("max-cost is 0, so that no query could read a row; give 1 or more")]
    NoCost,
    /// Queries are allowed that no bucket can ever cover.
    #[error(
        "max-cost is {max_cost} and bucket-size is {bucket_size}; a query that costs more than a full bucket holds can \
         never run; raise bucket-size to {max_cost} or more, or lower max-cost to {bucket_size} or less"
    )]
    CostAboveBucket {
        /// Credits that one query may cost.
        max_cost: u64,
        /// Credits in a full bucket.
        bucket_size: u64,
    },
    /// A bucket would be larger than a shared store can count.
    #[error(
        "bucket-size is {bucket_size}, and a store counts up to {largest} credits exactly; lower it, or leave bucket-url out"
    )]
    BucketTooLarge {
        /// Credits in a full bucket.
        bucket_size: u64,
        /// The most that a store can count.
        largest: u64,
    },
    /// Bodies are allowed that take more of the memory budget than one request should.
    #[error(
        "body-limit is {body_limit} and memory-budget is {memory_budget} bytes; raise memory-budget to twice the body-limit \
         or more"
    )]
    BodyAboveBudget {
        /// Bytes that a request's body may have.
        body_limit: usize,
        /// Bytes that requests and unread responses may take together.
        memory_budget: usize,
    },
    /// A certificate without its key, or a key without its certificate.
    #[error("tls-cert and tls-key belong together: set both")]
    HalfOfTls,
    /// An environment variable is not text.
    #[error("the environment variable {0} is not valid UTF-8")]
    NotText(&'static str),
    /// The file cannot be read.
    #[error("cannot read the configuration file {}", .0.display())]
    Unreadable(PathBuf, #[source] io::Error),
    /// The file is not TOML.
    #[error("{}:{line} is not TOML: {message}", .file.display())]
    NotToml {
        file: PathBuf,
        /// The line, from 1. It is not shown, because it may have a password.
        line: usize,
        /// The mistake, in words.
        message: String,
    },
    /// A key of the file is not the name of a setting.
    #[error("{}: there is no setting `{key}`; did you mean `{nearest}`?", .file.display())]
    UnknownKey {
        file: PathBuf,
        key: String,
        /// The setting with the most similar name.
        nearest: &'static str,
    },
    /// A key of the file has a value that is neither text nor a number.
    #[error("{}: `{key}` is of the type {found}; expected {wanted}", .file.display())]
    NotScalar {
        file: PathBuf,
        key: &'static str,
        /// The value's type in TOML.
        found: &'static str,
        /// A description of valid values.
        wanted: &'static str,
    },
}
