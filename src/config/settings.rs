//! The table of settings, and `Config`, which has a typed value for each row.

use std::path::PathBuf;
use std::time::Duration;

use crate::access::caller_limits::DefaultLimits;
use crate::access::tokens::signing_key::Algorithm;
use crate::api::console_mode::ConsoleMode;
use crate::catalog::search_window::SearchWindow;
use crate::config::error::ConfigError;
use crate::config::limit_settings::{between, default_limits};
use crate::config::setting::Setting;
use crate::config::value_parser::{
    ACCESS_LOG, ADDRESS, ADDRESSES, ALGORITHM, CODINGS, CONSOLE, CONSTRAINTS, COUNT, COUNT_OR_NONE, COUNT_OR_OFF,
    DATABASE, DATABASES, FOLDER, LIMIT, LOG_FILTER, LOG_FORMAT, MODE, OPERATORS_ADDRESS, ORIGINS, PATH_OR_NONE,
    SEARCH_WINDOW, SIZE, SIZE_OR_OFF, STORE, SWITCH, TEXT, TEXT_OR_NONE, TIME, TIME_OR_FOREVER, TIME_OR_OFF, WHEN_AWAY,
};
use crate::config::values::SettingValues;
use crate::database::address::connection_string::ConnectionString;
use crate::http::address_range::AddressRange;
use crate::http::coding::Codings;
use crate::http::response::cors::Origins;
use crate::http::socket::address::ListenAddress;
use crate::limits::LIMITS;
use crate::preflight::Constraints;
use crate::shared_store::address::StoreAddress;
use crate::telemetry::access_log::AccessLog;
use crate::telemetry::log::Format;
use crate::throttle::shared_buckets::WhenAway;

/// What a row says beside its values.
enum Mark {
    Secret,
    Live,
}

/// Makes [`Config`], [`Config::read`] and, for each group of rows, a list of its settings. A row is
/// `field: type = name, environment variable, default, parser [, mark];`, with its help as doc comment. The mark is `Secret` for
/// a value that is never shown, or `Live` for one that a reload puts in force.
macro_rules! settings {
    ($($group:ident { $(
        #[doc = $help:literal]
        $field:ident: $type:ty = $name:literal, $variable:literal, $default:literal, $parser:expr $(, $mark:ident)?;
    )* })*) => {
        /// A setting for each field of [`Config`].
        struct Settings {
            $($($field: Setting,)*)*
        }

        static ROWS: Settings = Settings {
            $($($field: Setting {
                name: $name,
                variable: $variable,
                default: $default,
                help: $help,
                placeholder: $parser.placeholder,
                wanted: $parser.wanted,
                secret: false $(|| matches!(Mark::$mark, Mark::Secret))?,
                live: false $(|| matches!(Mark::$mark, Mark::Live))?,
                accepts: |text| ($parser.parse)(text).is_some(),
            },)*)*
        };

        $(const $group: &[Setting] = &[$(ROWS.$field),*];)*

        /// The values in force.
        #[derive(Debug, Clone)]
        pub(crate) struct Config {
            /// The limits of a user without a profile.
            pub(crate) limits: DefaultLimits,
            $($(#[doc = $help] pub(crate) $field: $type,)*)*
        }

        impl Config {
            /// Parses every value. Fails at the first that its setting does not accept, and if values do not go together.
            pub(crate) fn read(values: &SettingValues) -> Result<Self, ConfigError> {
                let config = Self {
                    limits: default_limits(values)?,
                    $($($field: values.parse(&ROWS.$field, &$parser)?,)*)*
                };
                config.check()?;
                Ok(config)
            }
        }
    };
}

/// The settings, in the order in which they are shown.
pub static SETTINGS: &[Setting] =
    &between::<{ BEFORE_LIMITS.len() + LIMITS.len() + AFTER_LIMITS.len() }>(BEFORE_LIMITS, AFTER_LIMITS);

settings! {
    BEFORE_LIMITS {
        /// Address and port to listen on; or unix: and the path of a socket; or systemd, for a socket that it has opened.
        listen: ListenAddress = "listen", "ORDERQL_LISTEN", "127.0.0.1:8080", ADDRESS;
        /// A second address and port, or a port of the loopback address, for operators: probes, metrics and settings.
        admin_listen: Option<ListenAddress> = "admin-listen", "ORDERQL_ADMIN_LISTEN", "", OPERATORS_ADDRESS;
        /// Permissions of the file of a Unix socket.
        listen_mode: u32 = "listen-mode", "ORDERQL_LISTEN_MODE", "0660", MODE;
        /// PEM file of the server's certificate and of those between it and the root, for TLS; needs tls-key.
        tls_cert: Option<PathBuf> = "tls-cert", "ORDERQL_TLS_CERT", "", PATH_OR_NONE, Live;
        /// PEM file of the certificate's private key, which nobody else may read.
        tls_key: Option<PathBuf> = "tls-key", "ORDERQL_TLS_KEY", "", PATH_OR_NONE, Live;
        /// The database, as a URL (postgresql:, with user, password, host and name) or as host=… user=… dbname=….
        database_url: Option<ConnectionString> = "database-url", "ORDERQL_DATABASE_URL", "", DATABASE, Secret;
        /// Replicas of the database, one server each, in the same form with commas between; queries are read from them.
        replica_urls: Vec<ConnectionString> = "replica-urls", "ORDERQL_REPLICA_URLS", "", DATABASES, Secret;
        /// How old the data of a replica may be; an older replica is not read.
        replica_lag: Duration = "replica-lag", "ORDERQL_REPLICA_LAG", "2s", TIME;
        /// Where notifications of changed accounts and grants are received, if database-url delivers none, as poolers do.
        listen_url: Option<ConnectionString> = "listen-url", "ORDERQL_LISTEN_URL", "", DATABASE, Secret;
        /// Whether connections to the database bring their settings; off behind PgBouncer, where the role has to have the settings.
        startup_options: bool = "startup-options", "ORDERQL_STARTUP_OPTIONS", "on", SWITCH;
        /// Schema file to serve instead of the built-in schema, which shows how one is written.
        schema: Option<PathBuf> = "schema", "ORDERQL_SCHEMA", "", PATH_OR_NONE, Live;
        /// Documents that clients can name in place of a text: a folder of .graphql files, or a manifest of persisted queries (.json).
        documents: Option<PathBuf> = "documents", "ORDERQL_DOCUMENTS", "", PATH_OR_NONE, Live;
        /// Threads that serve requests; one for each core if not given.
        threads: Option<usize> = "threads", "ORDERQL_THREADS", "", COUNT_OR_NONE;
        /// Largest number of connections to the database; two for each core and one more if not given.
        pool_size: Option<usize> = "pool-size", "ORDERQL_POOL_SIZE", "", COUNT_OR_NONE;
        /// Further connections to the database, which queries of little work share, each with up to 16 queries on its way.
        shared_connections: Option<usize> = "shared-connections", "ORDERQL_SHARED_CONNECTIONS", "2", COUNT_OR_OFF;
        /// Largest number of connections to the database for order updates.
        writer_pool_size: usize = "writer-pool-size", "ORDERQL_WRITER_POOL_SIZE", "4", COUNT;
        /// How long a request waits for a free connection to the database.
        pool_wait: Duration = "pool-wait", "ORDERQL_POOL_WAIT", "2s", TIME;
    }
    AFTER_LIMITS {
        /// Folder of the keys that sign tokens, a file each; a first key is made where there is none.
        key_folder: PathBuf = "key-folder", "ORDERQL_KEY_FOLDER", "orderql-keys", FOLDER;
        /// The signing key itself, instead of a folder: an Ed25519 private key in PEM (for HS256 a secret in base64url); further keys after it only verify.
        signing_key: Option<String> = "signing-key", "ORDERQL_SIGNING_KEY", "", TEXT_OR_NONE, Secret;
        /// Algorithm that signs tokens; with HS256 everyone who can verify tokens can sign them, too.
        token_algorithm: Algorithm = "token-algorithm", "ORDERQL_TOKEN_ALGORITHM", "EdDSA", ALGORITHM;
        /// Issuer in the tokens; tokens with another issuer are rejected.
        issuer: String = "issuer", "ORDERQL_ISSUER", "orderql", TEXT;
        /// Audience in the tokens.
        audience: Option<String> = "audience", "ORDERQL_AUDIENCE", "", TEXT_OR_NONE;
        /// How long a token is valid.
        token_lifetime: Duration = "token-lifetime", "ORDERQL_TOKEN_LIFETIME", "1h", TIME;
        /// How far the clock of a token's issuer may be ahead of the server's.
        token_leeway: Duration = "token-leeway", "ORDERQL_TOKEN_LEEWAY", "5s", TIME;
        /// File of an external issuer's public keys (a JWK set); its tokens are accepted, too. Needs external-issuer and external-audience.
        external_jwks: Option<PathBuf> = "external-jwks", "ORDERQL_EXTERNAL_JWKS", "", PATH_OR_NONE;
        /// Issuer in the external issuer's tokens.
        external_issuer: Option<String> = "external-issuer", "ORDERQL_EXTERNAL_ISSUER", "", TEXT_OR_NONE;
        /// Audience that the external issuer's tokens must have.
        external_audience: Option<String> = "external-audience", "ORDERQL_EXTERNAL_AUDIENCE", "", TEXT_OR_NONE;
        /// Claim of the external issuer's tokens that has the user's name.
        external_user_claim: String = "external-user-claim", "ORDERQL_EXTERNAL_USER_CLAIM", "sub", TEXT;
        /// Whether a new password ends the user's earlier tokens.
        revoke_on_password_change: bool = "revoke-on-password-change", "ORDERQL_REVOKE_ON_PASSWORD_CHANGE", "off", SWITCH, Live;
        /// Passwords that are verified at the same time; each takes 19 MiB and a core, so half as many as there are cores if not given.
        password_checks: Option<usize> = "password-checks", "ORDERQL_PASSWORD_CHECKS", "", COUNT_OR_NONE;
        /// Wrong passwords in a row that lock an account for their address, for longer each time; ten times as many lock the address itself.
        login_attempts: u32 = "login-attempts", "ORDERQL_LOGIN_ATTEMPTS", "5", LIMIT, Live;
        /// Longest time that an account or address is locked.
        login_lock: Duration = "login-lock", "ORDERQL_LOGIN_LOCK", "5m", TIME, Live;
        /// Valkey or Redis, where servers of one database share the buckets of credits and the counts of wrong passwords.
        bucket_url: Option<StoreAddress> = "bucket-url", "ORDERQL_BUCKET_URL", "", STORE, Secret;
        /// What happens while bucket-url is away: each server has its share of each bucket (share), queries are free (open), or refused (closed).
        bucket_away: WhenAway = "bucket-away", "ORDERQL_BUCKET_AWAY", "share", WHEN_AWAY;
        /// How long rows of the audit trails (logins and changes, order updates) are kept, or forever.
        audit_keep: Option<Duration> = "audit-keep", "ORDERQL_AUDIT_KEEP", "365d", TIME_OR_FOREVER;
        /// Reverse proxies, or networks of them, whose X-Forwarded-For header gives the client's address.
        trusted_proxies: Vec<AddressRange> = "trusted-proxies", "ORDERQL_TRUSTED_PROXIES", "", ADDRESSES, Live;
        /// Whether database constraints must guarantee the schema's keys and non-null fields: required, or trusted.
        schema_constraints: Constraints = "schema-constraints", "ORDERQL_SCHEMA_CONSTRAINTS", "required", CONSTRAINTS, Live;
        /// Rows that a search may examine for each 50 rows of a page; if the page is not full by then, it ends early.
        search_window: SearchWindow = "search-window", "ORDERQL_SEARCH_WINDOW", "7500", SEARCH_WINDOW, Live;
        /// Bytes of query texts that are cached, so that a repeated query is not parsed and validated again.
        query_cache: usize = "query-cache", "ORDERQL_QUERY_CACHE", "16MiB", SIZE, Live;
        /// Whether rejecting an item as not in stock or as a mismatch lowers quantity on hand, and not only available-to-promise.
        reject_lowers_qoh: bool = "reject-lowers-qoh", "ORDERQL_REJECT_LOWERS_QOH", "off", SWITCH, Live;
        /// How long a rejected order item is not to be sent from the facility that rejected it, or off to record nothing.
        reject_exclusion: Option<Duration> = "reject-exclusion", "ORDERQL_REJECT_EXCLUSION", "30d", TIME_OR_OFF, Live;
        /// Bytes that a request's body may have.
        body_limit: usize = "body-limit", "ORDERQL_BODY_LIMIT", "1MiB", SIZE, Live;
        /// Bytes of requests and unread responses in memory; a connection may have an eighth of it. Beyond it requests get 503.
        memory_budget: usize = "memory-budget", "ORDERQL_MEMORY_BUDGET", "96MiB", SIZE, Live;
        /// How long a client may take to send a request's head.
        header_timeout: Duration = "header-timeout", "ORDERQL_HEADER_TIMEOUT", "10s", TIME, Live;
        /// How long a client may take to send a request's body.
        body_timeout: Duration = "body-timeout", "ORDERQL_BODY_TIMEOUT", "30s", TIME, Live;
        /// How long a client may leave a response unread.
        write_timeout: Duration = "write-timeout", "ORDERQL_WRITE_TIMEOUT", "30s", TIME, Live;
        /// How long a connection stays open without a request.
        idle_timeout: Duration = "idle-timeout", "ORDERQL_IDLE_TIMEOUT", "75s", TIME, Live;
        /// Connections that are served at the same time; if there are more, the longest idle ones are closed.
        connection_limit: usize = "connection-limit", "ORDERQL_CONNECTION_LIMIT", "4096", COUNT, Live;
        /// Connections of one address (of IPv6: of one /64 network) at the same time; trusted proxies have no such limit.
        connections_per_address: usize = "connections-per-address", "ORDERQL_CONNECTIONS_PER_ADDRESS", "256", COUNT, Live;
        /// Longest time that a query may wait for its credits or its place when its client asks for it (Prefer: wait=SECONDS).
        max_wait: Duration = "max-wait", "ORDERQL_MAX_WAIT", "30s", TIME, Live;
        /// How long a query waits unasked for a place where its caller runs as many queries as it may.
        queue_wait: Option<Duration> = "queue-wait", "ORDERQL_QUEUE_WAIT", "100ms", TIME_OR_OFF, Live;
        /// Queries of one caller that wait at the same time; sixteen times as many wait in all.
        queue_length: usize = "queue-length", "ORDERQL_QUEUE_LENGTH", "128", COUNT;
        /// Requests of one caller that wait for changes at the same time (Prefer: wait on a change feed, or an export of one).
        parked_requests: u32 = "parked-requests", "ORDERQL_PARKED_REQUESTS", "64", LIMIT, Live;
        /// Exports that run at the same time, each with a database connection of its own; a caller runs one.
        exports: usize = "exports", "ORDERQL_EXPORTS", "2", COUNT;
        /// How long an export reads from one snapshot of the database; then it ends, and its client can go on with another.
        export_time: Duration = "export-time", "ORDERQL_EXPORT_TIME", "15m", TIME, Live;
        /// How long running requests may take to finish when the server is stopped.
        grace: Duration = "grace", "ORDERQL_GRACE", "10s", TIME, Live;
        /// How long the server goes on, but is not ready, when SIGTERM asks it to stop, so that load balancers see it; or off.
        drain: Option<Duration> = "drain", "ORDERQL_DRAIN", "off", TIME_OR_OFF, Live;
        /// How long the server waits at its start for a database that is not up yet, or off.
        start_wait: Option<Duration> = "start-wait", "ORDERQL_START_WAIT", "30s", TIME_OR_OFF;
        /// Codings in which larger responses are compressed: on, off, or names, the preferred one first.
        compression: Codings = "compression", "ORDERQL_COMPRESSION", "on", CODINGS, Live;
        /// Bytes that stored query texts may take together, or off; clients send the hash of a stored text. Callers have equal shares.
        persisted_queries: Option<usize> = "persisted-queries", "ORDERQL_PERSISTED_QUERIES", "8MiB", SIZE_OR_OFF;
        /// Bytes that a query text may have to be stored.
        persisted_query_size: usize = "persisted-query-size", "ORDERQL_PERSISTED_QUERY_SIZE", "64KiB", SIZE;
        /// Origins of web pages whose scripts may read responses, with commas between, or * for all.
        cors_origins: Origins = "cors-origins", "ORDERQL_CORS_ORIGINS", "", ORIGINS, Live;
        /// How long a browser may cache the response to a preflight request.
        cors_max_age: Duration = "cors-max-age", "ORDERQL_CORS_MAX_AGE", "1h", TIME, Live;
        /// Whether the schema that is published without a token has the parts that need a grant (@grant in the schema file).
        publish_granted: bool = "publish-granted", "ORDERQL_PUBLISH_GRANTED", "on", SWITCH, Live;
        /// Where browsers get the console, a page to write queries: on for all clients, admin for operators (admin-listen), or off.
        console: ConsoleMode = "console", "ORDERQL_CONSOLE", "admin", CONSOLE, Live;
        /// How long a query may take; a slower query is logged with its steps. Or off.
        slow_query: Option<Duration> = "slow-query", "ORDERQL_SLOW_QUERY", "500ms", TIME_OR_OFF, Live;
        /// Which requests are logged: all, sampled:N for one in N, errors, or off.
        access_log: AccessLog = "access-log", "ORDERQL_ACCESS_LOG", "all", ACCESS_LOG, Live;
        /// Format of the log: text, json, or auto, which is text on a terminal and json elsewhere.
        log_format: Format = "log-format", "ORDERQL_LOG_FORMAT", "auto", LOG_FORMAT;
        /// What is logged: a level, or directives such as warn,orderql=debug.
        log: String = "log", "ORDERQL_LOG", "warn,orderql=info", LOG_FILTER, Live;
    }
}
