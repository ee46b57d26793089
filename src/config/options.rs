//! The modules' options, made from the configuration.

use std::env;
use std::thread;

use crate::access::grants::GrantOptions;
use crate::access::lockout::LockoutOptions;
use crate::access::tokens::options::{ExternalIssuerOptions, KeySource, TokenOptions};
use crate::api;
use crate::api::query_texts::QueryTextOptions;
use crate::config::error::ConfigError;
use crate::config::settings::Config;
use crate::database::address::connection_string::ConnectionString;
use crate::database::address::database_address::DatabaseAddress;
use crate::database::address::server_addresses::ServerAddresses;
use crate::database::pool::options::PoolOptions;
use crate::http;
use crate::http::response::cors;
use crate::http::socket::tls::TlsFiles;
use crate::limits::Limits;
use crate::orders::options::UpdateOptions;
use crate::replicas::options::{ReadOptions, ReadServerOptions};
use crate::telemetry::log;
use crate::throttle::queues::QueueBounds;
use crate::throttle::shared_buckets::LARGEST_CAPACITY;

/// The lengths of queues that all queues together may have.
const QUEUES: usize = 16;

/// Connections to the primary beside the pools of a server; see [`Config::connections`].
const OTHER_CONNECTIONS: usize = 9;

impl Config {
    /// Fails if values do not go together that are each valid.
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        let (body_limit, memory_budget) = (self.body_limit, self.memory_budget);
        if memory_budget / 2 < body_limit {
            return Err(ConfigError::BodyAboveBudget { body_limit, memory_budget });
        }
        let limits = self.limits.without_profile().query;
        let Limits { max_cost, bucket_size, .. } = limits;
        if max_cost == 0 {
            return Err(ConfigError::NoCost);
        }
        if !limits.bucket_covers_max_cost() {
            return Err(ConfigError::CostAboveBucket { max_cost, bucket_size });
        }
        if self.bucket_url.is_some() && bucket_size > LARGEST_CAPACITY {
            return Err(ConfigError::BucketTooLarge { bucket_size, largest: LARGEST_CAPACITY });
        }
        if self.tls_cert.is_some() != self.tls_key.is_some() {
            return Err(ConfigError::HalfOfTls);
        }
        self.tokens().map(drop)
    }

    /// The HTTP server's options.
    pub(crate) fn http(&self) -> http::options::HttpOptions {
        http::options::HttpOptions {
            listen: self.listen.clone(),
            admin_listen: self.admin_listen.clone(),
            listen_mode: self.listen_mode,
            tls: self.tls_files(),
            body_limit: self.body_limit,
            memory_budget: self.memory_budget,
            header_timeout: self.header_timeout,
            body_timeout: self.body_timeout,
            write_timeout: self.write_timeout,
            idle_timeout: self.idle_timeout,
            connection_limit: self.connection_limit,
            connections_per_address: self.connections_per_address,
            grace: self.grace,
            drain: self.drain,
            trusted_proxies: self.trusted_proxies.clone(),
            codings: self.compression.clone(),
            cors: cors::CorsOptions { origins: self.cors_origins.clone(), max_age: self.cors_max_age },
        }
    }

    /// The options of the endpoints.
    pub(crate) fn api(&self) -> api::options::Options {
        api::options::Options {
            max_wait: self.max_wait,
            queue_wait: self.queue_wait.unwrap_or_default(),
            queue_length: self.queue_length,
            parked_requests: self.parked_requests,
            export_time: self.export_time,
            persisted_queries: QueryTextOptions {
                capacity: self.persisted_queries,
                max_text: self.persisted_query_size,
            },
            slow_query: self.slow_query,
            console: self.console,
            publishes_granted: self.publish_granted,
        }
    }

    fn tls_files(&self) -> Option<TlsFiles> {
        Some(TlsFiles { certificate: self.tls_cert.clone()?, key: self.tls_key.clone()? })
    }

    /// The claims of tokens, and the keys that sign and verify them. Fails if the external issuer is not described whole.
    pub(crate) fn tokens(&self) -> Result<TokenOptions, ConfigError> {
        let external = match &self.external_jwks {
            None => None,
            Some(file) => Some(ExternalIssuerOptions {
                jwks_file: file.clone(),
                issuer: self
                    .external_issuer
                    .clone()
                    .ok_or(ConfigError::Missing { name: "external-issuer", variable: "ORDERQL_EXTERNAL_ISSUER" })?,
                audience: self
                    .external_audience
                    .clone()
                    .ok_or(ConfigError::Missing { name: "external-audience", variable: "ORDERQL_EXTERNAL_AUDIENCE" })?,
                user_claim: self.external_user_claim.clone(),
            }),
        };
        Ok(TokenOptions {
            issuer: self.issuer.clone(),
            audience: self.audience.clone(),
            lifetime: self.token_lifetime,
            leeway: self.token_leeway,
            algorithm: self.token_algorithm,
            keys: match &self.signing_key {
                Some(text) => KeySource::Text(text.clone()),
                None => KeySource::Folder(self.key_folder.clone()),
            },
            external,
        })
    }

    /// Passwords that are verified at the same time. By default they leave half of the cores to requests.
    pub(crate) fn password_checks(&self) -> usize {
        self.password_checks.unwrap_or_else(|| thread::available_parallelism().map_or(1, usize::from).div_ceil(2))
    }

    /// The settings that apply to all accounts.
    pub(crate) fn grants(&self) -> GrantOptions {
        GrantOptions { limits: self.limits, revokes_on_password_change: self.revoke_on_password_change }
    }

    /// The delays after wrong passwords.
    pub(crate) fn lockout(&self) -> LockoutOptions {
        LockoutOptions { attempts: self.login_attempts, longest: self.login_lock }
    }

    /// The log's format and filter.
    pub(crate) fn log(&self) -> log::LogOptions {
        log::LogOptions { format: self.log_format, filter: self.log.clone(), access: self.access_log }
    }

    /// The most connections that a server has to the primary, with those beside its pools: for grants and their notifications, for the
    /// audit, for the known values of search keys, for old rows, for the locks that queries and exports wait for, for ticks of change
    /// feeds, and for looking whether there are changes.
    pub(crate) fn connections(&self) -> usize {
        let position = usize::from(!self.replica_urls.is_empty());
        let shared = self.shared_connections.filter(|_| self.startup_options).unwrap_or(0);
        self.readers() + shared + self.exports + self.writer_pool_size + OTHER_CONNECTIONS + position
    }

    /// The connections that queries have for themselves.
    fn readers(&self) -> usize {
        // More statements than PostgreSQL has cores only take turns, and each finds the caches full of what the others
        // read. The number of its cores is not known; it often runs on this machine, or on one like it.
        self.pool_size.unwrap_or_else(|| 2 * thread::available_parallelism().map_or(1, usize::from) + 1)
    }

    /// The pool of connections that queries use.
    pub(crate) fn pool(&self, database: DatabaseAddress) -> PoolOptions {
        PoolOptions {
            database,
            size: self.readers(),
            shared: self.shared_connections.unwrap_or(0),
            wait: self.pool_wait,
        }
    }

    /// The servers that are read.
    pub(crate) fn reads(&self, servers: &ServerAddresses) -> ReadOptions {
        let server = |address: &DatabaseAddress| ReadServerOptions {
            queries: self.pool(address.clone()),
            exports: PoolOptions { size: self.exports, shared: 0, ..self.pool(address.clone()) },
        };
        ReadOptions {
            primary: server(&servers.primary),
            replicas: servers.replicas.iter().map(server).collect(),
            longest_lag: self.replica_lag,
        }
    }

    /// The pool of connections that order updates use.
    pub(crate) fn writer(&self, database: DatabaseAddress) -> PoolOptions {
        PoolOptions { database, size: self.writer_pool_size, shared: 0, wait: self.pool_wait }
    }

    /// How many queries may wait. A quarter of the memory for requests is theirs, and a caller may have an eighth of it.
    pub(crate) fn query_queues(&self) -> QueueBounds {
        let bytes = self.memory_budget / 4;
        QueueBounds { requests: QUEUES.saturating_mul(self.queue_length), bytes, bytes_per_caller: bytes / 8 }
    }

    /// How many order updates may wait. Their number is bounded for each caller.
    pub(crate) fn update_queues(&self) -> QueueBounds {
        QueueBounds { requests: usize::MAX, ..self.query_queues() }
    }

    /// The settings of order updates.
    pub(crate) fn updates(&self) -> UpdateOptions {
        UpdateOptions {
            rejections_lower_quantity_on_hand: self.reject_lowers_qoh,
            exclusion: self.reject_exclusion,
            has_position: !self.replica_urls.is_empty(),
        }
    }

    /// The database's address. Fails if neither the setting nor libpq's environment names a database.
    pub(crate) fn database(&self) -> Result<ConnectionString, ConfigError> {
        let is_in_environment =
            ["PGHOST", "PGHOSTADDR", "PGSERVICE", "PGDATABASE"].iter().any(|name| env::var_os(name).is_some());
        let from_environment = || is_in_environment.then(ConnectionString::default);
        self.database_url
            .clone()
            .or_else(from_environment)
            .ok_or(ConfigError::Missing { name: "database-url", variable: "ORDERQL_DATABASE_URL" })
    }
}
