//! `orderql serve`: serves a database until it is told to stop.

use std::{env, sync::Arc};

use tokio::signal::unix::{SignalKind, signal};

use crate::{
    access::{follow::Follower, password::Passwords, token::Tokens},
    catalog::Catalog,
    cli::Outcome,
    compile::Compiler,
    config::{
        Config,
        source::{Flags, Values},
    },
    database::pool::Pool,
    http::{
        endpoint::sdl,
        listener::Listener,
        service::{RequestIds, Service},
    },
    telemetry::log,
    throttle::buckets::Buckets,
};

/// Takes every setting.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    flags: Flags,
}

/// Serves until SIGINT or SIGTERM.
pub fn run(args: &Args) -> Outcome {
    let values = Values::gather(&args.flags, |name| env::var_os(name))?;
    let config = Config::read(&values)?;
    log::open(&config.log())?;
    let database = config.database()?;
    tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(serve(&config, database))
}

/// Starts the service, or says what is missing; then serves until the process is told to stop.
pub async fn serve(config: &Config, database: tokio_postgres::Config) -> Outcome {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let stop = async {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    };
    let catalog = Catalog::built_in()?;
    let service = Service {
        sdl: sdl::Document::new(catalog.sdl().to_owned()),
        compiler: Compiler::new(Arc::new(catalog), config.query_cache),
        grants: Follower::start(database.clone(), config.access_defaults()).await?,
        pool: Pool::new(&config.pool(database))?,
        passwords: Passwords::new(config.password_checks)?,
        tokens: Tokens::open(config.tokens())?,
        buckets: Buckets::new(),
        options: config.http(),
        ids: RequestIds::default(),
    };
    let listener = Listener::bind(config.listen).await?;
    listener.serve(Arc::new(service), &config.http(), stop).await;
    Ok(())
}
