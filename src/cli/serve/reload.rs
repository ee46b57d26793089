//! Reads the settings again. All of them are checked first, so that bad ones change nothing.

use std::env;
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::{task, time};

use crate::api::service::CurrentService;
use crate::api::service::Service;
use crate::cli::schema::Unfit;
use crate::cli::serve::database_wait::connect_once;
use crate::cli::serve::schema_checks::SchemaChecks;
use crate::cli::serve::served_schema::{ReadSchema, SchemaSource, ServedSchema};
use crate::config::flags::Flags;
use crate::config::layers;
use crate::config::report::report;
use crate::config::settings::{Config, SETTINGS};
use crate::config::values::SettingValues;
use crate::database::address::server_addresses::ServerAddresses;
use crate::http::handler::HttpState;
use crate::http::socket::tls;
use crate::telemetry::emit;
use crate::telemetry::event::Event;
use crate::telemetry::log::Log;

/// How long another schema may take to be checked against the database.
const SCHEMA_TIMEOUT: Duration = Duration::from_secs(30);

/// The sources of the settings, and the settings in force.
pub(crate) struct Settings<'a> {
    pub(crate) flags: &'a Flags,
    pub(crate) values: SettingValues,
    pub(crate) log: &'a Log,
}

/// Why settings that are valid are not put in force.
#[derive(Debug, thiserror::Error)]
enum ReloadError {
    /// The file may be half written, or another one.
    #[error(
        "the configuration file no longer has {names}, which it had at the start; write the defaults out to return to them, or \
         start the server again"
    )]
    LostSettings { names: String },
    /// Passwords and tokens would be sent in clear, or clients be locked out.
    #[error(
        "tls-cert and tls-key were {before} at the start; start the server again to change whether clients are served over TLS"
    )]
    Encryption { before: &'static str },
}

/// Reads the settings of a running server.
pub(super) struct Reloader<'a> {
    settings: Settings<'a>,
    /// The settings that the configuration file had at the start.
    in_file: Vec<&'static str>,
    schema: SchemaSource,
    checks: SchemaChecks,
    servers: ServerAddresses,
}

/// The findings of a reload.
struct ReloadFindings {
    /// The settings that have another value now.
    made: String,
    /// The settings that would have another value after a new start.
    left: String,
}

impl<'a> Reloader<'a> {
    /// For a server with these settings and this schema.
    pub(super) fn new(
        settings: Settings<'a>,
        schema: SchemaSource,
        checks: SchemaChecks,
        servers: ServerAddresses,
    ) -> Self {
        let in_file = settings.values.in_file().collect();
        Self { settings, in_file, schema, checks, servers }
    }

    /// Waits until the schema is to be compared with the tables.
    pub(super) async fn check_due(&mut self) {
        self.checks.due().await;
    }

    /// Compares the schema with the tables, and serves them as they are now, if they fit.
    pub(super) async fn check_schema(&mut self, services: &CurrentService) {
        // Not on a thread that serves others: a large schema takes a core for seconds.
        let (source, servers, runtime) = (self.schema.clone(), self.servers.clone(), Handle::current());
        let opening = task::spawn_blocking(move || {
            let schema = source.parse(None)?;
            runtime.block_on(open(&source, schema, &servers))
        });
        let opened = opening.await.unwrap_or_else(|panicked| Err(panicked.into()));
        let service = services.get();
        match &opened {
            Ok(_) => emit(&Event::SchemaFits),
            Err(error) => {
                // Without a connection nothing is known.
                let found = error.downcast_ref().map(Unfit::first);
                if found.is_some() && service.schema_fit.mismatch().as_deref() != found.as_ref() {
                    emit(&Event::SchemaUnfit { error: &**error });
                    service.schema_fit.checked(found);
                }
            }
        }
        self.checks.made(opened.is_ok());
        if let Ok(served) = opened {
            services.replace(serve(Service::clone(&service), served));
        }
    }

    /// Reads the settings, the schema file, the documents and the certificate. What cannot be used is reported, and then nothing changes.
    pub(super) async fn reload(&mut self, services: &CurrentService) {
        match self.try_reload(services).await {
            Ok(ReloadFindings { made, left }) => {
                emit(&Event::Reloaded { changed: &made });
                if !left.is_empty() {
                    emit(&Event::RestartNeeded { settings: &left });
                }
            }
            Err(error) => emit(&Event::ReloadFailed { error: &*error }),
        }
    }

    async fn try_reload(&mut self, services: &CurrentService) -> Result<ReloadFindings, Box<dyn Error + Send + Sync>> {
        let Settings { flags, values, log } = &mut self.settings;
        let found = layers::gather(flags, |name| env::var_os(name))?;
        // Settings that need a new start are checked as well: the start should not fail then.
        Config::read(&found)?;
        let lost: Vec<_> = self.in_file.iter().copied().filter(|name| !found.has(name)).collect();
        if !lost.is_empty() {
            return Err(ReloadError::LostSettings { names: lost.join(", ") }.into());
        }
        let reloaded = values.reloaded(&found, SETTINGS);
        let config = Config::read(&reloaded)?;
        let options = config.http();
        let tls = options.tls.as_ref().map(tls::read).transpose()?;
        let (schema, read, documents) = SchemaSource::read(&config)?;
        let mut service = Service::clone(&services.get());
        if tls.is_some() != service.http.tls.is_some() {
            let before = if tls.is_some() { "not set" } else { "set" };
            return Err(ReloadError::Encryption { before }.into());
        }
        let served = if schema == self.schema { None } else { Some(open(&schema, read, &self.servers).await?) };
        log.change(&config.log())?;

        // Nothing fails from here on.
        match served {
            Some(served) => service = serve(service, served),
            None => self.checks.request_at_once(),
        }
        service.grants.set_options(config.grants());
        service.logins.set_lockout(config.lockout());
        let memory = service.http.memory.clone();
        memory.resize(options.memory_budget, options.body_limit);
        service.admission.resize(config.query_queues());
        for queues in [&service.updates, &service.exports, &service.parked] {
            queues.resize(config.update_queues());
        }
        let http = HttpState { options, memory, tls, is_draining: Arc::clone(&service.http.is_draining) };
        let settings = Arc::new(report(&reloaded));
        services.replace(Service {
            http,
            documents,
            options: config.api(),
            settings,
            update_options: config.updates(),
            ..service
        });
        let names = |older: &SettingValues, newer: &SettingValues| -> String {
            let differing = SETTINGS.iter().filter(|setting| older.differs(newer, setting));
            differing.map(|setting| setting.name).collect::<Vec<_>>().join(", ")
        };
        let changes = ReloadFindings { made: names(values, &reloaded), left: names(&reloaded, &found) };
        (*values, self.schema) = (reloaded, schema);
        Ok(changes)
    }
}

/// Compares a schema with the tables, and prepares to serve it.
async fn open(
    source: &SchemaSource,
    schema: ReadSchema,
    servers: &ServerAddresses,
) -> Result<ServedSchema, Box<dyn Error + Send + Sync>> {
    let open = async {
        let client = connect_once(servers).await?;
        source.open(schema, &client, servers).await
    };
    time::timeout(SCHEMA_TIMEOUT, open).await?
}

/// The service with another schema.
fn serve(service: Service, served: ServedSchema) -> Service {
    let ServedSchema { catalog, constraints, views, vocabularies } = served;
    service.servers.serve_schema(catalog, constraints);
    service.schema_fit.checked(None);
    Service { views, vocabularies, ..service }
}
