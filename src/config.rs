//! The configuration: one table of settings, from which flags, environment variables, the file's keys, `--help` and
//! `orderql config` are all made. Each room gets a small `Options` of its own; no room knows this file.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

pub mod value_parser;
pub mod layers;

use crate::access::caller_limits::DefaultLimits;
use crate::access::keys::{Algorithm, Source};
use crate::access::{external_issuer, jwt, lockout};
use crate::config::layers::{ConfigError, Values};
use crate::config::value_parser::{
    ADDRESS, ADDRESSES, ALGORITHM, CODINGS, COUNT, COUNT_OR_NONE, DATABASE, FOLDER, LIMIT, LOG_FILTER, LOG_FORMAT,
    ORIGINS, PATH_OR_NONE, SIZE, SIZE_OR_OFF, TEXT, TEXT_OR_NONE, TIME, limit_parser,
};
use crate::database::options::PoolOptions;
use crate::http;
use crate::http::coding::Codings;
use crate::http::cors::{self, Origins};
use crate::limits::{Limits, caller_limits};
use crate::telemetry::log;

/// A row of the table.
#[derive(Debug)]
pub struct Setting {
    /// The flag without its dashes, and the key in a file.
    pub name: &'static str,
    /// The environment variable.
    pub variable: &'static str,
    /// The default as it would be written; empty where there is none.
    pub default: &'static str,
    /// What it is for.
    pub help: &'static str,
    /// What stands for the value in `--help`.
    pub placeholder: &'static str,
    /// What a right value is.
    pub wanted: &'static str,
    /// Whether its value is never shown.
    pub secret: bool,
    accepts: fn(&str) -> bool,
}

/// Makes [`SETTINGS`], [`Config`] and the way from one to the other out of one row a setting:
/// `field: type = name, variable, default, parser [, secret];`, with its help as doc comment. The rows of
/// [`caller_limits`] come between those under `before_limits` and those under `after_limits`.
macro_rules! settings {
    (
        query { $($query:tt)* }
        service { $($service:tt)* }
        before_limits { $($before:tt)* }
        after_limits { $($after:tt)* }
    ) => {
        settings! { limits { $($query)* $($service)* } { $($before)* } { $($after)* } }
        defaults! { query { $($query)* } service { $($service)* } }
    };
    (
        limits {
            $(
                #[doc = $help:literal]
                $field:ident: $type:ty =
                    $name:literal, $variable:literal, $default:literal, $unit:ident, $column:ident;
            )*
        }
        { $($before:tt)* }
        { $($after:tt)* }
    ) => {
        settings! {
            $($before)*
            $(#[doc = $help] $field: $type = $name, $variable, concat!($default), limit_parser!($unit);)*
            $($after)*
        }
    };
    ($(
        #[doc = $help:literal]
        $field:ident: $type:ty = $name:literal, $variable:literal, $default:expr, $parser:expr $(, $secret:ident)?;
    )*) => {
        /// Every setting there is, in the order in which they are shown.
        pub static SETTINGS: &[Setting] = &[$(
            Setting {
                name: $name,
                variable: $variable,
                default: $default,
                help: $help,
                placeholder: $parser.placeholder,
                wanted: $parser.wanted,
                secret: false $(|| stringify!($secret).len() > 0)?,
                accepts: |text| ($parser.parse)(text).is_some(),
            },
        )*];

        /// The values in force.
        #[derive(Debug, Clone)]
        pub struct Config {
            $(#[doc = $help] pub $field: $type,)*
        }

        impl Config {
            /// Reads every value, or says which one is wrong.
            pub fn read(values: &Values) -> Result<Self, ConfigError> {
                let mut settings = SETTINGS.iter();
                // Fields and rows are made from the same list, so they are in the same order.
                $(let $field = match settings.next() {
                    Some(setting) => values.read(setting, &$parser)?,
                    None => return Err(ConfigError::Missing { name: $name, variable: $variable }),
                };)*
                Ok(Self { $($field),* })
            }
        }
    };
}

/// Makes [`Config::default_limits`] from the table of limits.
macro_rules! defaults {
    (
        query {
            $(
                #[doc = $query_help:literal]
                $query_limit:ident: $query_type:ty = $query_name:literal, $query_variable:literal,
                    $query_default:literal, $query_unit:ident, $query_column:ident;
            )*
        }
        service {
            $(
                #[doc = $help:literal]
                $limit:ident: $type:ty =
                    $name:literal, $variable:literal, $default:literal, $unit:ident, $column:ident;
            )*
        }
    ) => {
        impl Config {
            /// The limits of a user without a profile.
            pub fn default_limits(&self) -> DefaultLimits {
                DefaultLimits {
                    query: Limits { $($query_limit: self.$query_limit),* },
                    $($limit: self.$limit,)*
                }
            }
        }
    };
}

caller_limits! { settings!
    before_limits {
    /// Address and port to listen on.
    listen: SocketAddr = "listen", "ORDERQL_LISTEN", "127.0.0.1:8080", ADDRESS;
    /// The database, as a URL (postgresql:, with user, password, host and name) or as host=… user=… dbname=….
    database_url: Option<tokio_postgres::Config> = "database-url", "ORDERQL_DATABASE_URL", "", DATABASE, secret;
    /// Schema file to serve instead of the built-in schema, which shows how one is written.
    schema: Option<PathBuf> = "schema", "ORDERQL_SCHEMA", "", PATH_OR_NONE;
    /// Threads that serve; one for each core if not given.
    threads: Option<usize> = "threads", "ORDERQL_THREADS", "", COUNT_OR_NONE;
    /// Connections to the database that are kept at most; two for each core and one more if not given.
    pool_size: Option<usize> = "pool-size", "ORDERQL_POOL_SIZE", "", COUNT_OR_NONE;
    /// Connections to the database that are kept for order updates at most.
    writer_pool_size: usize = "writer-pool-size", "ORDERQL_WRITER_POOL_SIZE", "4", COUNT;
    /// How long a request waits for a free connection to the database.
    pool_wait: Duration = "pool-wait", "ORDERQL_POOL_WAIT", "2s", TIME;
    }
    after_limits {
    /// Folder of the keys that sign tokens, a file each; made with a first key where there is none.
    key_folder: PathBuf = "key-folder", "ORDERQL_KEY_FOLDER", "orderql-keys", FOLDER;
    /// The signing key itself, instead of a folder: an Ed25519 private key in PEM (for HS256 a secret in base64url); further ones after it verify.
    signing_key: Option<String> = "signing-key", "ORDERQL_SIGNING_KEY", "", TEXT_OR_NONE, secret;
    /// Algorithm that signs tokens; with HS256 whoever can verify can sign, too.
    token_algorithm: Algorithm = "token-algorithm", "ORDERQL_TOKEN_ALGORITHM", "EdDSA", ALGORITHM;
    /// Issuer that tokens name; tokens of others are refused.
    issuer: String = "issuer", "ORDERQL_ISSUER", "orderql", TEXT;
    /// Audience that tokens name.
    audience: Option<String> = "audience", "ORDERQL_AUDIENCE", "", TEXT_OR_NONE;
    /// How long a token is good for.
    token_lifetime: Duration = "token-lifetime", "ORDERQL_TOKEN_LIFETIME", "1h", TIME;
    /// How far the clock of who made a token may run ahead of ours.
    token_leeway: Duration = "token-leeway", "ORDERQL_TOKEN_LEEWAY", "5s", TIME;
    /// File of an outside issuer's public keys (a JWK set), whose tokens are accepted too; needs its issuer and audience.
    outside_jwks: Option<PathBuf> = "outside-jwks", "ORDERQL_OUTSIDE_JWKS", "", PATH_OR_NONE;
    /// Issuer that the outside issuer's tokens name.
    outside_issuer: Option<String> = "outside-issuer", "ORDERQL_OUTSIDE_ISSUER", "", TEXT_OR_NONE;
    /// Audience that the outside issuer's tokens must name.
    outside_audience: Option<String> = "outside-audience", "ORDERQL_OUTSIDE_AUDIENCE", "", TEXT_OR_NONE;
    /// Claim of the outside issuer's tokens that names the user.
    outside_user_claim: String = "outside-user-claim", "ORDERQL_OUTSIDE_USER_CLAIM", "sub", TEXT;
    /// Passwords that are verified at the same time; each takes 19 MiB and a core.
    password_checks: usize = "password-checks", "ORDERQL_PASSWORD_CHECKS", "2", COUNT;
    /// Wrong passwords in a row that lock an account, for a second first, then twice as long each; ten times as many lock an address.
    login_attempts: u32 = "login-attempts", "ORDERQL_LOGIN_ATTEMPTS", "5", LIMIT;
    /// The longest that an account or address is locked.
    login_lock: Duration = "login-lock", "ORDERQL_LOGIN_LOCK", "5m", TIME;
    /// Reverse proxies whose X-Forwarded-For tells where a login comes from.
    trusted_proxies: Vec<IpAddr> = "trusted-proxies", "ORDERQL_TRUSTED_PROXIES", "", ADDRESSES;
    /// Bytes of query texts that are remembered, so that a repeated query is not parsed and validated again.
    query_cache: usize = "query-cache", "ORDERQL_QUERY_CACHE", "16MiB", SIZE;
    /// Bytes that a request's body may have.
    body_limit: usize = "body-limit", "ORDERQL_BODY_LIMIT", "1MiB", SIZE;
    /// How long a client may take to send a request's head.
    header_timeout: Duration = "header-timeout", "ORDERQL_HEADER_TIMEOUT", "10s", TIME;
    /// How long a client may take to send a request's body.
    body_timeout: Duration = "body-timeout", "ORDERQL_BODY_TIMEOUT", "30s", TIME;
    /// How long a client may leave an answer unread.
    write_timeout: Duration = "write-timeout", "ORDERQL_WRITE_TIMEOUT", "30s", TIME;
    /// How long a connection is kept open without a request.
    idle_timeout: Duration = "idle-timeout", "ORDERQL_IDLE_TIMEOUT", "75s", TIME;
    /// Connections that are served at the same time; further ones wait to be accepted.
    connection_limit: usize = "connection-limit", "ORDERQL_CONNECTION_LIMIT", "4096", COUNT;
    /// How long running requests may take to finish when the server is stopped.
    grace: Duration = "grace", "ORDERQL_GRACE", "10s", TIME;
    /// Codings in which larger answers are compressed: on, off, or names, the preferred one first.
    compression: Codings = "compression", "ORDERQL_COMPRESSION", "on", CODINGS;
    /// Bytes of query texts that are kept so that clients can send their hashes instead, or off.
    persisted_queries: Option<usize> = "persisted-queries", "ORDERQL_PERSISTED_QUERIES", "8MiB", SIZE_OR_OFF;
    /// Origins of web pages whose scripts may read answers, with commas between, or * for all.
    cors_origins: Origins = "cors-origins", "ORDERQL_CORS_ORIGINS", "", ORIGINS;
    /// How long a browser may remember what a preflight request was told.
    cors_max_age: Duration = "cors-max-age", "ORDERQL_CORS_MAX_AGE", "1h", TIME;
    /// Format of the log: text, json, or auto, which is text on a terminal and json elsewhere.
    log_format: log::Format = "log-format", "ORDERQL_LOG_FORMAT", "auto", LOG_FORMAT;
    /// What is logged: a level, or directives such as warn,orderql=debug.
    log: String = "log", "ORDERQL_LOG", "warn,orderql=info", LOG_FILTER;
    }
}

impl Config {
    /// What the door is to keep to.
    pub fn http(&self) -> http::options::Options {
        http::options::Options {
            listen: self.listen,
            body_limit: self.body_limit,
            header_timeout: self.header_timeout,
            body_timeout: self.body_timeout,
            write_timeout: self.write_timeout,
            idle_timeout: self.idle_timeout,
            connection_limit: self.connection_limit,
            grace: self.grace,
            trusted_proxies: self.trusted_proxies.clone(),
            codings: self.compression.clone(),
            persisted_queries: self.persisted_queries,
            cors: cors::Options { origins: self.cors_origins.clone(), max_age: self.cors_max_age },
        }
    }

    /// What tokens say, and who signs them.
    pub fn tokens(&self) -> Result<jwt::Options, ConfigError> {
        let outside = match &self.outside_jwks {
            None => None,
            Some(file) => Some(external_issuer::Options {
                jwks_file: file.clone(),
                issuer: self
                    .outside_issuer
                    .clone()
                    .ok_or(ConfigError::Missing { name: "outside-issuer", variable: "ORDERQL_OUTSIDE_ISSUER" })?,
                audience: self
                    .outside_audience
                    .clone()
                    .ok_or(ConfigError::Missing { name: "outside-audience", variable: "ORDERQL_OUTSIDE_AUDIENCE" })?,
                user_claim: self.outside_user_claim.clone(),
            }),
        };
        Ok(jwt::Options {
            issuer: self.issuer.clone(),
            audience: self.audience.clone(),
            lifetime: self.token_lifetime,
            leeway: self.token_leeway,
            algorithm: self.token_algorithm,
            keys: match &self.signing_key {
                Some(text) => Source::Given(text.clone()),
                None => Source::Folder(self.key_folder.clone()),
            },
            outside,
        })
    }

    /// How guessing passwords is slowed down.
    pub fn lockout(&self) -> lockout::Options {
        lockout::Options { attempts: self.login_attempts, longest: self.login_lock }
    }

    /// What is logged.
    pub fn log(&self) -> log::Options {
        log::Options { format: self.log_format, filter: self.log.clone() }
    }

    /// What a database's pool is made of.
    pub fn pool(&self, database: tokio_postgres::Config) -> PoolOptions {
        // More statements at once than PostgreSQL has cores for only take turns, and each finds the caches full of what
        // the others read. Its cores are not known; ours are often the same, or as many.
        let size = self.pool_size.unwrap_or_else(|| 2 * thread::available_parallelism().map_or(1, usize::from) + 1);
        PoolOptions { config: database, size, wait: self.pool_wait }
    }

    /// What the pool of order updates is made of.
    pub fn writer(&self, database: tokio_postgres::Config) -> PoolOptions {
        PoolOptions { config: database, size: self.writer_pool_size, wait: self.pool_wait }
    }

    /// The database, which has no default.
    pub fn database(&self) -> Result<tokio_postgres::Config, ConfigError> {
        self.database_url.clone().ok_or(ConfigError::Missing { name: "database-url", variable: "ORDERQL_DATABASE_URL" })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::ffi::OsString;
    use std::fs;

    use clap::{Args, FromArgMatches};

    use super::layers::Flags;
    use super::*;
    use crate::throttle::bucket::Rate;

    fn flags(arguments: &[&str]) -> Result<Flags, clap::Error> {
        let command = Flags::augment_args(clap::Command::new("serve"));
        command.try_get_matches_from([&["serve"], arguments].concat()).and_then(|m| Flags::from_arg_matches(&m))
    }

    fn gather(arguments: &[&str], environment: &[(&str, &str)]) -> Result<Config, ConfigError> {
        let look = |name: &str| environment.iter().find(|pair| pair.0 == name).map(|pair| OsString::from(pair.1));
        Config::read(&Values::gather(&flags(arguments).unwrap(), look)?)
    }

    /// A configuration file that goes with the test.
    struct File(PathBuf);

    impl File {
        fn new(name: &str, text: &str) -> Self {
            let path = std::env::temp_dir().join(format!("orderql-config-{}-{name}.toml", std::process::id()));
            fs::write(&path, text).unwrap();
            Self(path)
        }

        fn path(&self) -> &str {
            self.0.to_str().unwrap()
        }
    }

    impl Drop for File {
        fn drop(&mut self) {
            let _ = fs::remove_file(&self.0);
        }
    }

    #[test]
    fn the_table_is_regular_and_its_defaults_can_be_read() {
        let names: HashSet<_> = SETTINGS.iter().map(|setting| setting.name).collect();
        assert_eq!(names.len(), SETTINGS.len());
        for setting in SETTINGS {
            assert_eq!(setting.variable, format!("ORDERQL_{}", setting.name.to_uppercase().replace('-', "_")));
            assert!((setting.accepts)(setting.default), "{}", setting.name);
        }
        let config = gather(&[], &[]).unwrap();
        let limits = config.default_limits();
        assert_eq!(limits.query, Limits::default());
        let rate = Rate { capacity: limits.bucket_size, restore_per_second: limits.restore_rate };
        assert_eq!(rate, Rate::default());
        assert_eq!(config.body_limit, 1 << 20);
    }

    #[test]
    fn a_flag_goes_before_a_variable_before_the_file_before_the_default() {
        let file = File::new("order", "pool-size = 3\ndeadline = '3s'\nmax-cost = 3\n");
        let config = gather(
            &["--config", file.path(), "--pool-size", "1"],
            &[("ORDERQL_POOL_SIZE", "2"), ("ORDERQL_DEADLINE", "2s")],
        )
        .unwrap();
        assert_eq!((config.pool_size, config.deadline), (Some(1), Duration::from_secs(2)));
        assert_eq!((config.max_cost, config.max_depth), (3, 6));
        assert_eq!(gather(&[], &[("ORDERQL_CONFIG", file.path())]).unwrap().max_cost, 3);
    }

    #[test]
    fn the_pool_goes_by_the_cores_unless_it_is_told() {
        let size = |arguments: &[&str]| gather(arguments, &[]).unwrap().pool(tokio_postgres::Config::new()).size;
        let cores = thread::available_parallelism().unwrap().get();
        assert_eq!((size(&[]), size(&["--pool-size", "4"])), (cores + cores + 1, 4));
    }

    #[test]
    fn a_wrong_value_is_named_with_its_origin_and_what_would_be_right() {
        let error = gather(&[], &[("ORDERQL_DEADLINE", "soon")]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "deadline is \"soon\", as the variable ORDERQL_DEADLINE says; expected a time above zero, such as 500ms, \
             10s, 5m or 1h"
        );
        let error = flags(&["--listen", "localhost"]).unwrap_err().to_string();
        assert!(error.contains("'--listen <ADDRESS>': expected an IP address and a port"), "{error}");
    }

    #[test]
    fn a_key_that_is_no_setting_is_refused_with_the_nearest_name() {
        let file = File::new("unknown", "pool_sise = 3");
        let error = gather(&["--config", file.path()], &[]).unwrap_err().to_string();
        assert!(error.ends_with("there is no setting `pool_sise`; did you mean `pool-size`?"), "{error}");
        let file = File::new("list", "pool-size = [3]");
        let error = gather(&["--config", file.path()], &[]).unwrap_err().to_string();
        assert!(
            error.ends_with("`pool-size` is of the type array; expected a whole number from 1 to 1000000"),
            "{error}"
        );
        let file = File::new("broken", "pool-size == 3");
        assert!(matches!(gather(&["--config", file.path()], &[]), Err(ConfigError::NotToml(..))));
        assert!(matches!(gather(&["--config", "/nowhere/at.toml"], &[]), Err(ConfigError::Unreadable(..))));
    }

    #[test]
    fn a_database_must_be_given() {
        let error = gather(&[], &[("ORDERQL_DATABASE_URL", "postgresql://me:geheim@host:port/x")]).unwrap_err();
        assert!(!error.to_string().contains("geheim") && error.to_string().contains("expected a URL"), "{error}");
        let error = gather(&[], &[]).unwrap().database().unwrap_err().to_string();
        assert!(error.contains("--database-url") && error.contains("ORDERQL_DATABASE_URL"), "{error}");
    }

    #[test]
    fn help_tells_defaults_and_variables() {
        let help = Flags::augment_args(clap::Command::new("serve").term_width(200)).render_long_help().to_string();
        for setting in SETTINGS {
            assert!(help.contains(&format!("--{} <{}>", setting.name, setting.placeholder)), "{help}");
            assert!(help.contains(&format!("[env: {}]", setting.variable)), "{help}");
        }
    }
}
